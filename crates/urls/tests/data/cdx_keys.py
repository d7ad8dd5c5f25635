"""Writes cdx_keys.tsv: what cdxj-indexer answers for URLs of every nasty kind.

Needs the packages `cdxj-indexer` and `surt`. Run it as `python cdx_keys.py > cdx_keys.tsv`. Each line holds a URL and its
key, both as JSON strings.
"""

import json
import warnings

warnings.simplefilter("ignore")

from cdxj_indexer.main import CDXJIndexer

HEX = "0123456789abcdefABCDEF0123456789"
ASP = "lit3py55t21z5v55vlm25s55"

URLS = [
    # plain
    "http://example.com", "http://example.com/", "https://example.com/", "http://www.example.com/a/b.html",
    "http://WWW.EXAMPLE.COM/A/B.HTML", "http://www2.example.com/", "http://www12.example.com/x", "http://www.com/",
    "http://wwwx.example.com/", "http://www.www.example.com/", "http://www-2.example.com/", "https://www1.org",
    "http://sub.domain.example.co.uk/path/", "http://localhost/", "http://localhost:8080/x",
    "http://example.com/index.html#top", "http://example.com#top", "http://example.com/#", "http://example.com/?#x",
    # ports and user information
    "http://example.com:80/", "https://example.com:443/", "http://example.com:443/", "https://example.com:80/",
    "http://example.com:8080/a", "http://example.com:/a", "http://example.com::/a", "http://example.com:0/a",
    "http://example.com:65535/", "http://example.com:65536/", "http://example.com:port/", "http://example.com:080/",
    "HTTP://example.com:80/", "ftp://example.com:21/x", "http://user:pass@example.com/", "http://user@example.com:81/",
    "http://a@b@example.com/", "http://user:pa:ss@example.com/", "http://:80/x", "http://@/x",
    # paths
    "http://example.com/a/", "http://example.com/a//", "http://example.com//a", "http://example.com/a//b///c",
    "http://example.com/a/./b", "http://example.com/a/../b", "http://example.com/../a", "http://example.com/../../a/b",
    "http://example.com/a/b/..", "http://example.com/a/b/.", "http://example.com/.", "http://example.com/..",
    "http://example.com//..//x", "http://example.com/a/%2e%2e/b", "http://example.com/%7Euser/", "http://example.com/~user",
    "http://example.com/a%2Fb", "http://example.com/a%252Fb", "http://example.com/%25%32%35", "http://example.com/100%",
    "http://example.com/%%34%31", "http://example.com/%zz", "http://example.com/%4", "http://example.com/a b",
    "http://example.com/a%20b", "http://example.com/a+b", "http://example.com/\u00e4", "http://example.com/%C3%A4",
    "http://example.com/%c3%a4", "http://example.com/%E4", "http://example.com/\u65e5\u672c", "http://example.com/a%00b",
    "http://example.com/a%0Ab", "http://example.com/a%23b", "http://example.com/a%3Fb", "http://example.com/a;b=c",
    "http://example.com/a\\b", "http://example.com/<a>\"b\"{c}|d^e`f", "http://example.com/a'b(c)*!$,@:",
    "http://example.com/A%C3%84", "http://example.com/%7f", "http://example.com/\u007f",
    # queries
    "http://example.com/?", "http://example.com?", "http://example.com?a=b", "http://example.com/?a", "http://example.com/?a=",
    "http://example.com/?b=2&a=1", "http://example.com/?b&a", "http://example.com/?a=2&a=1", "http://example.com/?a=&a",
    "http://example.com/?a&&b", "http://example.com/?&", "http://example.com/?&&", "http://example.com/?a=b&",
    "http://example.com/?A=B&C=d", "http://example.com/?a=b=c", "http://example.com/?=", "http://example.com/?q=a+b%20c",
    "http://example.com/?q=%26", "http://example.com/?q=%2526", "http://example.com/?q=%3D&p=%23", "http://example.com/?q=100%",
    "http://example.com/?q=\u00e4", "http://example.com/?q=%E4", "http://example.com/?url=http://other.com/?x=y",
    "http://example.com/?a=1?b=2", "http://example.com/a?b/c/../d", "http://example.com/?a.b=1&a=2&a-b=3", "http://example.com/?x#y?z",
    # session ids
    f"http://example.com/?jsessionid={HEX}", f"http://example.com/?a=1&JSESSIONID={HEX}&b=2",
    f"http://example.com/?PHPSESSID={HEX}&a=1", f"http://example.com/?a=1&phpsessid={HEX}", f"http://example.com/?sid={HEX}",
    f"http://example.com/?a=1&sid={HEX}x", f"http://example.com/?xsid={HEX}&b=1", f"http://example.com/?sid={HEX}&sid={HEX}",
    "http://example.com/?sid=9682993c8daa2c5497996114facdc805&b=1", "http://example.com/?sid=short",
    "http://example.com/?jsessionid=0123456789abcdef0123456789abcdef&sid=0123456789abcdef0123456789abcdef",
    "http://example.com/?ASPSESSIONIDABCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX&q=1", "http://example.com/?aspsessionidabcdefgh=abcdefghijklmnopqrstuvw1",
    "http://example.com/?CFID=1234&CFTOKEN=5678", "http://example.com/?a=1&cfid=1234&cftoken=5678&b=2", "http://example.com/?cftoken=1&cfid=2",
    f"http://example.com/a;jsessionid={HEX}", f"http://example.com/a;jsessionid={HEX}?b=c",
    f"http://example.com/(S({ASP}))/default.aspx", f"http://example.com/app/(S({ASP}))/d.aspx?x=1", f"http://example.com/({ASP})/d.aspx",
    f"http://example.com/(A({ASP})S({ASP}))/d.aspx", f"http://example.com/(S({ASP}))/d.html", f"http://example.com/(S({ASP}))/(S({ASP}))/d.aspx",
    f"http://example.com/({ASP})/({ASP})/d.aspx", f"http://example.com/?a=1&(S({ASP}))/d.aspx",
    # hosts
    "http://EXAMPLE.com./", "http://example..com/", "http://.example.com/", "http://example...com/", "http://./x", "http://../x",
    "http://ex%61mple.com/", "http://ex%41mple.com/", "http://example.com%2Fevil/", "http://exa mple.com/", "http://a_b.example.com/",
    "http://b\u00fccher.example/", "http://B\u00dcCHER.example/x", "http://xn--bcher-kva.example/", "http://fa\u00df.example/",
    "http://\u65e5\u672c\u8a9e.jp/", "http://www.\u0444\u044b\u0432\u0430.\u0440\u0444/", "http://b%C3%BCcher.example/", "http://%FF.example/",
    "http://\u00fc..example/", "http://example\u3002com/", "http://" + "\u00fc" * 70 + ".example/",
    # addresses
    "http://127.0.0.1/", "http://127.0.0.1:8080/x", "http://192.168.1.10/a?b", "http://0x7f.0.0.1/", "http://017700000001/", "http://2130706433/",
    "http://99999999999/", "http://127.1/", "http://127.0.1/", "http://0177.0.0.1/", "http://192.168.010.1/", "http://1.2.3.4./", "http://0/",
    "http://00/", "http://1.2.3.4.5/", "http://1.2.3.4x/", "http://[::1]/", "http://[::1]:8080/x", "http://[2001:DB8::1]/", "http://[::ffff:1.2.3.4]/",
    "http://[::1", "http://::1/", "http://" + "9" * 4300 + "/", "http://" + "9" * 4301 + "/",
    # schemes and things that are hardly URLs
    "example.com", "example.com/a?b=c", "www.example.com", "//example.com/a", "/a/b", "example.com:8080/a", "localhost:8080", "http:example.com/a",
    "http:/example.com/a", "http:///example.com/a", "http:////////example.com/a", "http://", "http:", "http://?a", "http://http://example.com/",
    "http://https://example.com/a", "https://http://https://example.com/", "http://https/order.example.com", "httpx://example.com/", "httpx:/example.com/a",
    "mailto:Joe@Example.com", "dns:www.example.com", "dns://ns/www.example.com", "whois://whois.example/Q", "urn:uuid:F81D4FAE-7DEC/", "data:text/plain,A%20B",
    "javascript:void(0)", "about:blank", "metadata://gnu.org/x", "warcinfo:/x.warc.gz/Version", "urn:pageinfo:http://example.com/A", "screenshot:http://example.com/",
    "filedesc:foo.arc.gz", "filedesc", "ftp://FTP.example.com/Pub/A.txt", "file:///etc/Passwd", "HTTPS://Example.com/", "a:", "1a:b", ":", "?", "#", "?a=b", " ", "", "  http://example.com/a  ",
    "http://exam\nple.com/a\tb\r\n", "\u00a0http://example.com/", "http://example.com/\u00a0", "http://example.com/a\u2028b", "\u000bhttp://example.com/\u000c",
    # what pages are made of
    "https://en.wikipedia.org/wiki/Web_crawler", "https://de.wikipedia.org/wiki/Stra%C3%9Fe_(Begriffskl%C3%A4rung)", "https://example.com/p?id=1&utm_source=x&PHPSESSID=1",
    "https://fonts.example.com/css?family=Open+Sans:400,700|Roboto&display=swap", "https://example.com/a.php?x[]=1&x[]=2", "https://example.com/img@2x.png?v=1.2.3",
    "https://web.archive.org/web/2020/http://example.com/", "https://example.com/#!/route?x=y", "https://example.com/search?q=caf%C3%A9&lang=FR",
]

for url in URLS:
    print(json.dumps(url), json.dumps(CDXJIndexer.get_url_key(None, url)), sep="\t")
