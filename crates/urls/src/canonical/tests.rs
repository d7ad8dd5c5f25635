use super::*;
use proptest::prelude::*;

fn canon(input: &str) -> String {
    Canonicaliser::default().parse(input).unwrap_or_else(|e| panic!("{input:?}: {e}")).into_string()
}

fn refusal(input: &str) -> &'static str {
    Canonicaliser::default().parse(input).map(|a| panic!("{input:?} became {a}")).unwrap_err().code()
}

fn with(change: impl FnOnce(&mut Rules)) -> Canonicaliser {
    let mut rules = Rules::default();
    change(&mut rules);
    Canonicaliser::new(rules)
}

#[test]
fn every_spelling_of_a_page_ends_in_one() {
    for (from, to) in [
        ("HTTP://EXAMPLE.com", "http://example.com/"),
        ("http://example.com:80/", "http://example.com/"),
        ("https://example.com:443/a", "https://example.com/a"),
        ("http://example.com:443/", "http://example.com:443/"),
        ("http://example.com./a", "http://example.com/a"),
        ("http://example.com.:8080/a", "http://example.com:8080/a"),
        ("http://example.com/a/./b/../c/%2e%2E/d", "http://example.com/a/d"),
        ("http://example.com/../../x", "http://example.com/x"),
        ("http://example.com/%7euser/%c3%a4", "http://example.com/~user/%C3%A4"),
        ("http://example.com/ä ö?ü ß", "http://example.com/%C3%A4%20%C3%B6?%C3%BC%20%C3%9F"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://BÜCHER.example/", "http://xn--bcher-kva.example/"),
        ("HTTP:\\\\EXAMPLE.com\\x", "http://example.com/x"),
        ("  http://exam\tple.com/a\nb \r\n", "http://example.com/ab"),
        ("http:///x", "http://x/"),
        ("http://user:pass@example.com/", "http://example.com/"),
        ("http://example.com@evil.example/", "http://evil.example/"),
        ("http://example.com\\@evil.example/", "http://example.com/@evil.example/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://0177.0.0.1/", "http://127.0.0.1/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://127.1../", "http://127.0.0.1/"),
        ("http://１２７.0.0.1/", "http://127.0.0.1/"),
        ("http://[0:0::1]:80/", "http://[::1]/"),
        ("http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
        ("http://example.com/?", "http://example.com/"),
        ("http://example.com/?a=1&&b=2&a=1&#x", "http://example.com/?a=1&b=2"),
        ("http://example.com/#!/route", "http://example.com/"),
        ("http://example.com/a;jsessionid=99?PHPSESSID=12", "http://example.com/a"),
        ("http://example.com/a/..;jsessionid=1/b", "http://example.com/b"),
    ] {
        assert_eq!(canon(from), to, "{from:?}");
    }
}

#[test]
fn what_a_server_may_tell_apart_is_kept_apart() {
    for url in [
        "http://example.com/A",
        "http://example.com/a/",
        "http://example.com//a",
        "http://example.com/a%2Fb",
        "http://example.com/?b=1&a=2",
        "http://example.com/?a=%26",
        "http://example.com/?a=1+2",
        "http://example.com/?a=1%202",
        "http://example.com/?a",
        "http://example.com/?a=",
        "http://example.com/index.html",
        "http://www.example.com/",
        "http://example.com/100%",
        "http://example.com/%2541",
        "https://example.com/",
        "http://example.com:8080/",
    ] {
        assert_eq!(canon(url), url);
    }
}

#[test]
fn what_is_no_address_is_refused_by_its_kind() {
    for (input, code) in [
        ("mailto:joe@example.com", "not-web"),
        ("JavaScript:void(0)", "not-web"),
        ("java\nscript:void(0)", "not-web"),
        (" \u{1}javascript:void(0)", "not-web"),
        ("data:text/html,<p>", "not-web"),
        ("tel:+49123", "not-web"),
        ("irc://irc.example/x", "not-web"),
        ("news:comp.lang", "not-web"),
        ("telnet://x", "not-web"),
        ("wais://x", "not-web"),
        ("gopher://x/", "not-web"),
        ("about:blank", "not-web"),
        ("blob:http://x/1", "not-web"),
        ("localhost:8080/x", "not-web"),
        ("ws://example.com/x", "unsupported"),
        ("wss://example.com/x", "unsupported"),
        ("file://server/share", "no-host"),
        ("http://a\u{0}b", "invalid"),
        ("http://[::1", "invalid"),
        ("http://999.1.1.1", "invalid"),
        ("http://1.2.3.4.5..", "invalid"),
        ("http://a b/", "invalid"),
        ("http://x:99999/", "invalid"),
        ("http://x:y/", "invalid"),
        ("//", "invalid"),
        ("?", "invalid"),
        ("", "invalid"),
        ("example.com", "invalid"),
        ("http://", "no-host"),
        ("http://?a", "no-host"),
        ("http://user@/x", "no-host"),
        ("http://./", "no-host"),
        ("http://.../", "no-host"),
    ] {
        assert_eq!(refusal(input), code, "{input:?}");
    }
}

#[test]
fn an_address_has_eight_kilobytes_at_the_most() {
    let long = format!("http://x/{}", "a".repeat(64 * 1024));
    assert_eq!(refusal(&long), "too-long");
    assert_eq!(refusal(&format!("http://x/{}", "ä".repeat(3000))), "too-long");
    assert_eq!(refusal(&format!("javascript:{}", "a".repeat(64 * 1024))), "not-web");
    assert_eq!(canon(&format!("http://x/#{}", "a".repeat(64 * 1024))), "http://x/");
    let longest = format!("http://x/{}", "a".repeat(MAX_LENGTH - 9));
    assert_eq!(canon(&longest), longest);
}

#[test]
fn links_are_resolved_as_browsers_do() {
    let canonicaliser = Canonicaliser::default();
    let base = canonicaliser.parse("https://example.com/a/b/c?d=e").unwrap();
    for (href, to) in [
        ("", "https://example.com/a/b/c?d=e"),
        (" ", "https://example.com/a/b/c?d=e"),
        ("#top", "https://example.com/a/b/c?d=e"),
        ("?f=g", "https://example.com/a/b/c?f=g"),
        ("?", "https://example.com/a/b/c"),
        ("x.html#y", "https://example.com/a/b/x.html"),
        ("../x", "https://example.com/a/x"),
        ("/x", "https://example.com/x"),
        ("\\x", "https://example.com/x"),
        ("//other.example/x", "https://other.example/x"),
        ("http://other.example", "http://other.example/"),
        ("https:x", "https://example.com/a/b/x"),
        ("./a:b", "https://example.com/a/b/a:b"),
        ("x y", "https://example.com/a/b/x%20y"),
    ] {
        assert_eq!(canonicaliser.resolve(&base, href).unwrap().as_str(), to, "{href:?}");
    }
    assert_eq!(canonicaliser.resolve(&base, "//"), Err(Refused::NoHost));
    assert_eq!(canonicaliser.resolve(&base, "mailto:x").unwrap_err().code(), "not-web");
}

#[test]
fn a_query_is_written_in_the_encoding_of_its_page() {
    let canonicaliser = Canonicaliser::default();
    let base = canonicaliser.parse("http://example.com/ä").unwrap();
    fn latin1(text: &str) -> Cow<'_, [u8]> {
        text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect()
    }
    let link = canonicaliser.resolve_encoded(&base, "/ö?q=ü", &latin1).unwrap();
    assert_eq!(link.as_str(), "http://example.com/%C3%B6?q=%FC");
}

#[test]
fn a_base_is_used_unless_it_is_no_address() {
    let canonicaliser = Canonicaliser::default();
    let page = canonicaliser.parse("http://example.com/a/b").unwrap();
    let base = |href| canonicaliser.canonical_base(&page, href).into_owned().into_string();
    assert_eq!(base(Some("/c/d#e")), "http://example.com/c/d");
    assert_eq!(base(Some("//cdn.example")), "http://cdn.example/");
    for unusable in [None, Some("javascript:x"), Some("data:,"), Some("http://[")] {
        assert_eq!(base(unusable), "http://example.com/a/b");
    }
}

#[test]
fn a_seed_may_lack_its_scheme() {
    let seed = |input: &str| Canonicaliser::default().parse_seed(input).map(Address::into_string);
    for (input, to) in [
        ("example.com/x", "http://example.com/x"),
        ("example.com", "http://example.com/"),
        ("localhost:8080/x", "http://localhost:8080/x"),
        ("example.com:8080", "http://example.com:8080/"),
        ("//example.com/x", "http://example.com/x"),
        (" HTTPS://example.com ", "https://example.com/"),
        ("[::1]:8080", "http://[::1]:8080/"),
        ("127.0.0.1:9", "http://127.0.0.1:9/"),
        ("bücher.example", "http://xn--bcher-kva.example/"),
    ] {
        assert_eq!(seed(input).as_deref(), Ok(to), "{input:?}");
    }
    for (input, code) in [
        ("/etc/passwd", "invalid"),
        ("./x", "invalid"),
        ("", "invalid"),
        ("mailto:a@b", "not-web"),
        ("foo:bar", "not-web"),
        ("c:\\x", "not-web"),
        ("ws://x/", "unsupported"),
    ] {
        assert_eq!(seed(input).map_err(|e| e.code()), Err(code), "{input:?}");
    }
}

#[test]
fn each_rule_does_what_it_says_and_can_be_left_out() {
    let spelt = |c: Canonicaliser, url: &str| c.parse(url).unwrap().into_string();
    assert_eq!(spelt(with(|r| r.lowercase = true), "http://x/A%2FB?C=%C3"), "http://x/a%2Fb?c=%C3");
    assert_eq!(spelt(with(|r| r.strip_userinfo = false), "http://u:p@x/"), "http://u:p@x/");
    assert_eq!(spelt(with(|r| r.strip_www = true), "http://www.www.example.com/"), "http://example.com/");
    assert_eq!(spelt(with(|r| r.strip_www = true), "http://www.co.uk/"), "http://www.co.uk/");
    assert_eq!(spelt(with(|r| r.strip_session_ids = false), "http://x/;jsessionid=1"), "http://x/;jsessionid=1");
    assert_eq!(spelt(with(|r| r.tidy_query = false), "http://x/?&a&a"), "http://x/?&a&a");
    assert_eq!(spelt(with(|r| r.sort_query = true), "http://x/?b=1&a=2&b=0"), "http://x/?a=2&b=1&b=0");
}

#[test]
fn rules_are_read_by_name_and_strangers_refused() {
    let rules: Rules = toml::from_str("strip_www = true").unwrap();
    assert_eq!(rules, Rules { strip_www: true, ..Rules::default() });
    assert!(toml::from_str::<Rules>("strip_wwww = true").is_err());
}

fn any_rules() -> impl Strategy<Value = Rules> {
    any::<[bool; 6]>().prop_map(|[lowercase, strip_userinfo, strip_www, strip_session_ids, tidy_query, sort_query]| {
        Rules { lowercase, strip_userinfo, strip_www, strip_session_ids, tidy_query, sort_query, ..Rules::default() }
    })
}

fn nasty_url() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-zA-Z0-9]{1,3}",
        "[/\\\\?#&;=.:@%()+|^`{}\\[\\]<>'\" \t~_-]{1,2}",
        "%[0-9a-fA-F]{1,2}",
        Just("..;jsessionid=1".to_owned()),
        Just("(S(abcdefgh12345678))".to_owned()),
        Just("sid=0123456789abcdef".to_owned()),
        Just("www.".to_owned()),
        Just("%2e%2e/".to_owned()),
        Just("ß。é\u{301}".to_owned()),
        any::<char>().prop_map(|c| c.to_string()),
    ];
    (prop_oneof!["https?:[/\\\\]{0,3}", "(http://)?x"], prop::collection::vec(piece, 0..16))
        .prop_map(|(head, pieces)| head + &pieces.concat())
}

/// A scheme that only these tests know.
fn registered() -> &'static str {
    let manners = scheme::Manners { port: 70, robots: false, resolve: true };
    scheme::register("x-canon", manners).unwrap();
    "x-canon"
}

#[test]
fn a_registered_scheme_is_spelt_like_the_web() {
    registered();
    for (from, to) in [
        ("X-Canon://EXAMPLE.com", "x-canon://example.com/"),
        ("x-canon://example.com:70/a/../b", "x-canon://example.com/b"),
        ("x-canon://me:secret@b\u{fc}cher.example./%7ea#part", "x-canon://xn--bcher-kva.example/~a"),
        ("x-canon://[::1]:71/a", "x-canon://[::1]:71/a"),
        ("x-canon://0x7f.1/", "x-canon://127.0.0.1/"),
    ] {
        assert_eq!(canon(from), to);
    }
    assert_eq!((refusal("x-canon:a"), refusal("x-canon://a b/")), ("no-host", "invalid"));
    let directory = Canonicaliser::default().parse("x-canon://example.com/dir/").unwrap();
    for (link, to) in [
        ("sub/", "x-canon://example.com/dir/sub/"),
        ("/file", "x-canon://example.com/file"),
        ("../up", "x-canon://example.com/up"),
        ("//other.example/x", "x-canon://other.example/x"),
        ("http://example.com/", "http://example.com/"),
    ] {
        assert_eq!(Canonicaliser::default().resolve(&directory, link).unwrap().as_str(), to);
    }
    assert_eq!((directory.port(), directory.unusual_port()), (70, None));
    assert_eq!(directory.origin().to_string(), "x-canon://example.com");
    assert_eq!(crate::surt::surt(&directory), "x-canon://(com,example,)/dir/");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn canonical_form_of_a_registered_scheme_is_stable(url in nasty_url(), rules in any_rules()) {
        let url = url.split_once(':').map_or(url.clone(), |(_, rest)| format!("{}:{rest}", registered()));
        let canonicaliser = Canonicaliser::new(rules);
        if let Ok(once) = canonicaliser.parse(&url) {
            prop_assert_eq!(canonicaliser.parse(once.as_str()), Ok(once.clone()));
            prop_assert_eq!(Address::from_canonical(once.as_str()), Ok(once));
        }
    }

    #[test]
    fn canonical_form_is_stable(url in nasty_url(), rules in any_rules()) {
        let canonicaliser = Canonicaliser::new(rules);
        if let Ok(once) = canonicaliser.parse(&url) {
            prop_assert!(!once.as_str().contains('#') && once.as_str().is_ascii() && !once.host().is_empty());
            prop_assert_eq!(canonicaliser.parse(once.as_str()), Ok(once.clone()));
            prop_assert_eq!(Address::from_canonical(once.as_str()), Ok(once));
        }
    }

    #[test]
    fn a_link_resolves_to_something_stable_or_nothing(href in nasty_url(), text in ".{0,20}") {
        let canonicaliser = Canonicaliser::default();
        let base = canonicaliser.parse("https://example.com/a/b?c").unwrap();
        for href in [href, text] {
            if let Ok(once) = canonicaliser.resolve(&base, &href) {
                prop_assert_eq!(canonicaliser.parse(once.as_str()), Ok(once.clone()));
                prop_assert_eq!(canonicaliser.resolve(&base, once.as_str()), Ok(once));
            }
        }
    }
}

#[test]
fn a_news_link_in_an_article_leads_to_the_same_server() {
    let canonical = Canonicaliser::default();
    let page = canonical.parse("nntp://news.test:1119/comp.lang.c/12").unwrap();
    for (href, path) in [
        ("news:comp.lang.d", "/comp.lang.d/"),
        ("news:comp.*", "/comp.*"),
        ("news:<1@a.test>", "/1@a.test"),
        ("NEWS:1@a.test", "/1@a.test"),
    ] {
        let target = canonical.resolve(&page, href).unwrap();
        assert_eq!(target.as_str(), format!("nntp://news.test:1119{path}"), "{href}");
        assert_eq!(canonical.resolve_owned(&page, href.to_owned()).unwrap(), target);
    }
    assert!(canonical.resolve(&page, "news://other.test/a.b").is_err());
    let web = canonical.parse("http://a.test/").unwrap();
    assert!(canonical.resolve(&web, "news:comp.lang.d").is_err());
}
