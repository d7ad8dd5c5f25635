//! Is a page empty without its scripts?
//!
//! Asked of every HTML page where a browser is at hand, before the page is read: so this is no
//! parser but a walk over the tags that notes a few signs. A shell has scripts, hardly any text and
//! hardly any links; or it has the empty element into which a framework mounts its page, or asks
//! for JavaScript in a `<noscript>`, and little text. Frames and refreshes have their content
//! elsewhere, where the crawl finds it without a browser. Fields of forms and pictures count as
//! text, and a script that counts visitors is none that could add something.

use memchr::memchr;
use memchr::memmem;

/// Visible characters from which a page says something by itself.
const TEXT: usize = 200;

/// The same for a page with a mount point, or one that asks for JavaScript: a banner and a footer
/// say that much.
const TEXT_AROUND: usize = 600;

/// Links from which a page leads on by itself.
const LINKS: usize = 3;

/// What a field of a form and what a picture says, in characters: both are there without scripts,
/// and two fields are a page of their own, such as that of a login.
const FIELD: usize = 100;
const PICTURE: usize = 25;

/// Parts of the addresses, and of the few lines, of scripts that count visitors and show nothing.
const COUNTERS: [&[u8]; 14] = [
    b"googletagmanager.com",
    b"google-analytics.com",
    b"cloudflareinsights.com",
    b"plausible.io",
    b"matomo",
    b"piwik",
    b"umami",
    b"goatcounter",
    b"clarity.ms",
    b"hotjar.com",
    b"statcounter.com",
    b"gtag(",
    b"_paq.push",
    b"ga('send'",
];

/// A script that does more than count is longer than this.
const COUNTER: usize = 2_000;

/// Counting beyond this changes nothing.
const ENOUGH: usize = 4 * TEXT_AROUND;

/// Ids of the elements into which frameworks mount a page.
const MOUNTS: [&str; 11] = [
    "root",
    "app",
    "__next",
    "__nuxt",
    "svelte",
    "q-app",
    "___gatsby",
    "react-root",
    "main-app",
    "ember-app",
    "app-root",
];

/// Elements whose content is not shown.
const UNSEEN: [&str; 7] = ["script", "style", "noscript", "template", "title", "textarea", "select"];

/// What a page looks like without its scripts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShellSigns {
    /// Whether it has a script that could add something.
    pub scripts: bool,
    /// Visible characters, white space aside.
    pub text: usize,
    /// Links to follow.
    pub links: usize,
    /// Whether its content is in frames, or elsewhere.
    pub elsewhere: bool,
    /// Whether it has an empty mount point.
    pub mount: bool,
    /// Whether it asks for JavaScript.
    pub asks: bool,
}

impl ShellSigns {
    /// Whether a browser would find more than is there.
    pub fn is_shell(self) -> bool {
        let bare = self.text < TEXT && self.links < LINKS;
        let framed = (self.mount || self.asks) && self.text < TEXT_AROUND;
        self.scripts && !self.elsewhere && (bare || framed)
    }
}

/// Looks at an HTML page in any encoding that contains ASCII.
pub fn shell_signs(html: &[u8]) -> ShellSigns {
    let mut signs = ShellSigns::default();
    let mut rest = html;
    while let Some(at) = memchr(b'<', rest) {
        signs.see_text(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with(b"<!--") {
            rest = after(rest, b"-->");
            continue;
        }
        let Some(end) = tag_end(rest) else { return signs };
        let (tag, behind) = rest.split_at(end);
        rest = behind;
        let name = tag_name(tag);
        signs.see_tag(&name, tag, behind);
        if UNSEEN.contains(&name.as_str()) {
            let close = format!("</{name}");
            let until = find_ignoring_case(rest, close.as_bytes()).unwrap_or(rest.len());
            if name == "script" {
                signs.scripts |= is_program(tag) && !is_counter(tag, &rest[..until]);
            }
            if name == "noscript" {
                signs.asks |= find_ignoring_case(&rest[..until], b"javascript").is_some();
            }
            rest = &rest[until..];
        }
    }
    signs.see_text(rest);
    signs
}

impl ShellSigns {
    fn see_text(&mut self, text: &[u8]) {
        if self.text < ENOUGH {
            self.text += text.iter().map(|byte| weight(*byte)).sum::<usize>();
        }
    }

    fn see_tag(&mut self, name: &str, tag: &[u8], behind: &[u8]) {
        match name {
            "img" | "video" | "audio" | "object" | "embed" => self.text += PICTURE,
            "input" if !attribute(tag, b"type").is_some_and(|kind| kind.eq_ignore_ascii_case(b"hidden")) => {
                self.text += FIELD;
            }
            "select" | "textarea" => self.text += FIELD,
            "a" | "area" => self.links += usize::from(leads_on(tag)),
            "frame" | "frameset" => self.elsewhere = true,
            "meta" if find_ignoring_case(tag, b"refresh").is_some() => self.elsewhere = true,
            _ => {}
        }
        let is_mount = name == "app-root"
            || attribute(tag, b"id").is_some_and(|id| MOUNTS.iter().any(|known| known.as_bytes() == id));
        if is_mount {
            let inside = behind.trim_ascii_start();
            self.mount |= inside.starts_with(b"</") || inside.starts_with(b"<!--");
        }
    }
}

/// How many characters a byte of text stands for. One of several bytes counts once, and one of a
/// script that writes syllables or words by single characters twice.
const fn weight(byte: u8) -> usize {
    match byte {
        b' ' | b'\t' | b'\n' | b'\r' | 0x0c | 0x80..=0xbf => 0,
        // The first bytes of U+3000 to U+DFFF in UTF-8: kana, Han, Hangul.
        0xe3..=0xed => 2,
        _ => 1,
    }
}

/// Whether a script counts visitors and shows nothing.
fn is_counter(tag: &[u8], program: &[u8]) -> bool {
    let said = attribute(tag, b"src").unwrap_or(program);
    said.len() < COUNTER && COUNTERS.iter().any(|known| find_ignoring_case(said, known).is_some())
}

/// Whether a `<script>` is one that runs.
fn is_program(tag: &[u8]) -> bool {
    attribute(tag, b"type").is_none_or(|kind| {
        kind.is_empty()
            || kind == b"module"
            || find_ignoring_case(kind, b"javascript").is_some()
            || find_ignoring_case(kind, b"ecmascript").is_some()
    })
}

/// Whether a link leads to another page.
fn leads_on(tag: &[u8]) -> bool {
    attribute(tag, b"href").is_some_and(|target| {
        !target.is_empty()
            && !target.starts_with(b"#")
            && !target.get(..11).is_some_and(|start| start.eq_ignore_ascii_case(b"javascript:"))
    })
}

/// Where a tag ends; a `>` in a quoted value does not end it.
fn tag_end(tag: &[u8]) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in tag.iter().enumerate().skip(1) {
        match (quote, byte) {
            (None, b'>') => return Some(at + 1),
            (None, b'"' | b'\'') if tag[at - 1] == b'=' || tag[..at].trim_ascii_end().ends_with(b"=") => {
                quote = Some(byte);
            }
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    None
}

/// The name of a start tag in lower case; empty for anything else.
fn tag_name(tag: &[u8]) -> String {
    let name =
        tag[1..].split(|byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/')).next().unwrap_or_default();
    String::from_utf8_lossy(name).to_ascii_lowercase()
}

/// The value of an attribute, as written.
fn attribute<'t>(tag: &'t [u8], name: &[u8]) -> Option<&'t [u8]> {
    let mut from = 0;
    while let Some(found) = tag.get(from..).and_then(|rest| find_ignoring_case(rest, name)) {
        let (start, end) = (from + found, from + found + name.len());
        from = end;
        let value = tag[end..].trim_ascii_start();
        let starts = tag[..start]
            .last()
            .is_some_and(|before| before.is_ascii_whitespace() || matches!(before, b'"' | b'\'' | b'/'));
        let Some(value) = value.strip_prefix(b"=").filter(|_| starts) else { continue };
        let value = value.trim_ascii_start();
        return match value.first() {
            Some(quote @ (b'"' | b'\'')) => value[1..].split(|byte| byte == quote).next(),
            _ => value.split(|byte| byte.is_ascii_whitespace() || *byte == b'>').next(),
        };
    }
    None
}

/// What follows a needle; nothing if it is not there.
fn after<'h>(haystack: &'h [u8], needle: &[u8]) -> &'h [u8] {
    memmem::find(haystack, needle).map_or(&[], |at| &haystack[at + needle.len()..])
}

fn find_ignoring_case(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    let (first, upper) = (needle.first()?.to_ascii_lowercase(), needle.first()?.to_ascii_uppercase());
    let mut from = 0;
    while let Some(found) = memchr::memchr2(first, upper, haystack.get(from..)?) {
        let at = from + found;
        if haystack.get(at..at + needle.len())?.eq_ignore_ascii_case(needle) {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_shell(html: &str) -> bool {
        shell_signs(html.as_bytes()).is_shell()
    }

    #[test]
    fn what_a_framework_builds_is_a_shell() {
        for html in [
            "<!doctype html><title>A long title that says a lot about the page it belongs to</title><div id=\"root\"></div><script type=module src=/a.js></script>",
            "<body><app-root></app-root><script src=main.js></script>",
            "<div id=app> </div><noscript>We're sorry but this doesn't work without JavaScript enabled.</noscript><script src=x></script>",
            "<BODY><SCRIPT SRC=a.js></SCRIPT><p>Loading…</p>",
            "<img src=logo.png><img src=wheel.gif><input type=hidden name=token><script src=a.js></script>",
            "<script src='https://plausible.io/js/script.js'></script><main></main><script>start()</script>",
            "<header><a href=/>a</a><a href=/b>b</a><a href=/c>c</a><a href=/d>d</a></header><main id='__next'></main><script>x()</script>",
        ] {
            assert!(is_shell(html), "{html}: {:?}", shell_signs(html.as_bytes()));
        }
    }

    #[test]
    fn what_says_something_or_says_it_elsewhere_is_none() {
        let text = "All human beings are born free. ".repeat(10);
        let long = text.repeat(4);
        for html in [
            format!("<p>{text}</p><script src=a.js></script>"),
            format!(
                "<p>{long}</p><div id=app></div><noscript>Please enable JavaScript to view the comments.</noscript><script></script>"
            ),
            "<p>short, but without a script</p><script type='application/ld+json'>{}</script>".to_owned(),
            "<a href=a>1</a><a href=b>2</a><a href=c>3</a><script src=a.js></script>".to_owned(),
            "<frameset><frame src=a></frameset><script></script>".to_owned(),
            "<form>Name <input name=a> Password <input type=password><input type=submit></form><script src=a.js></script>"
                .to_owned(),
            "<h1>Thank you</h1><script async src='https://www.googletagmanager.com/gtag/js?id=G-1'></script>\
             <script>function gtag() {} gtag('js', new Date())</script>"
                .to_owned(),
            format!("<p>{}</p><script src=a.js></script>", "天地玄黃，宇宙洪荒。日月盈昃，辰宿列張。".repeat(6)),
            "<meta http-equiv=Refresh content='0; url=/b'><script></script>".to_owned(),
        ] {
            assert!(!is_shell(&html), "{html}: {:?}", shell_signs(html.as_bytes()));
        }
    }

    #[test]
    fn broken_markup_ends() {
        for html in ["<", "<script", "<a href='", "<!--", "<noscript>", "<a id", "</", "<a href= >", "<p id==>"] {
            let _ = shell_signs(html.as_bytes());
            let _ = shell_signs(html.repeat(1_000).as_bytes());
        }
    }
}
