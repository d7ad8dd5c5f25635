//! What goes into the jar from one URL, and what comes out for another?

use super::*;

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

/// The `Cookie` that a jar filled from `from` sends to `to`.
fn said(from: &str, set: &[&str], to: &str) -> String {
    let jar = Jar::default();
    jar.store(&url(from), set.iter().map(|s| s.as_bytes()), at(1_000));
    jar.header(&url(to), at(2_000)).unwrap_or_default()
}

#[test]
fn a_cookie_goes_back_to_its_host_alone() {
    assert_eq!(said("http://a.example/", &["k=v"], "http://a.example/x"), "k=v");
    assert_eq!(said("http://a.example/", &["k=v"], "http://b.a.example/"), "");
    assert_eq!(said("http://a.example/", &["k=v"], "http://example/"), "");
}

#[test]
fn a_domain_cookie_goes_to_the_names_below() {
    let set = &["k=v; Domain=.Site.Example"];
    assert_eq!(said("http://www.site.example/", set, "http://img.site.example/"), "k=v");
    assert_eq!(said("http://www.site.example/", set, "http://site.example/"), "k=v");
    assert_eq!(said("http://www.site.example/", set, "http://notsite.example/"), "");
    assert_eq!(said("http://other.example/", set, "http://site.example/"), "");
}

#[test]
fn nobody_sets_cookies_for_a_public_suffix() {
    assert_eq!(said("http://www.shop.co.uk/", &["k=v; Domain=co.uk"], "http://bank.co.uk/"), "");
    assert_eq!(said("http://me.github.io/", &["k=v; Domain=github.io"], "http://you.github.io/"), "");
    assert_eq!(said("http://127.0.0.1/", &["k=v; Domain=0.0.1"], "http://127.0.0.1/"), "");
    assert_eq!(said("http://a.uk/", &["k=v; Domain=uk"], "http://b.uk/"), "");
    assert_eq!(
        said("http://a.intranet/", &["k=v; Domain=intranet"], "http://b.intranet/"),
        "",
        "an unknown suffix is one too"
    );
    assert_eq!(said("http://co.uk/", &["k=v; Domain=co.uk"], "http://shop.co.uk/"), "");
    assert_eq!(said("http://[::1]/", &["k=v; Domain=::1", "l=w"], "http://[::1]/"), "l=w");
}

#[test]
fn paths_are_matched_by_whole_segments_longest_first() {
    let set = &["a=1; Path=/", "b=2; Path=/docs", "c=3"];
    assert_eq!(said("http://h.example/docs/x", set, "http://h.example/docs/y"), "b=2; c=3; a=1");
    assert_eq!(said("http://h.example/docs/x", set, "http://h.example/docsy"), "a=1");
}

#[test]
fn secure_cookies_keep_to_tls() {
    assert_eq!(said("https://h.example/", &["k=v; Secure"], "http://h.example/"), "");
    assert_eq!(said("https://h.example/", &["k=v; Secure"], "https://h.example/"), "k=v");
    assert_eq!(said("http://h.example/", &["k=v; Secure"], "https://h.example/"), "");
    assert_eq!(said("https://h.example/", &["__Host-k=v; Secure"], "https://h.example/"), "");
    assert_eq!(said("https://h.example/", &["__Secure-k=v"], "https://h.example/"), "");
    assert_eq!(said("https://h.example/", &["__host-k=v; Secure; Path=/; Domain=h.example"], "https://h.example/"), "");
    let jar = Jar::default();
    jar.store(&url("https://h.example/"), [&b"k=safe; Secure"[..]], at(0));
    jar.store(&url("http://h.example/"), [&b"k=laid"[..], b"k=; Max-Age=0"], at(0));
    assert_eq!(jar.header(&url("https://h.example/"), at(1)).as_deref(), Some("k=safe"));
    assert_eq!(said("https://h.example/", &["__Host-k=v; Secure; Path=/"], "https://h.example/"), "__Host-k=v");
}

#[test]
fn cookies_end_when_they_say_or_when_they_are_taken_back() {
    assert_eq!(said("http://h.example/", &["k=v; Max-Age=500"], "http://h.example/"), "");
    assert_eq!(said("http://h.example/", &["k=v; Max-Age=5000"], "http://h.example/"), "k=v");
    assert_eq!(said("http://h.example/", &["k=v", "k=w; Max-Age=0"], "http://h.example/"), "");
    assert_eq!(said("http://h.example/", &["k=v", "k=w"], "http://h.example/"), "k=w");
}

#[test]
fn a_flood_of_cookies_is_bounded() {
    let jar = Jar { total: 100_000, ..Jar::default() };
    for n in 0..2_000 {
        let from = url(&format!("http://h{}.example/", n / 100));
        jar.store(&from, [format!("k{n}={}", "x".repeat(100)).as_bytes()], at(0));
        jar.store(&from, [format!("huge={}", "x".repeat(5_000)).as_bytes()], at(0));
    }
    let last = jar.header(&url("http://h19.example/"), at(1)).unwrap();
    assert_eq!(last.split("; ").count(), PER_DOMAIN);
    assert!(!last.contains("huge") && last.contains("k1999="));
    assert_eq!(jar.header(&url("http://h0.example/"), at(1)), None, "the oldest domain went first");
    assert!(jar.shelves.lock().unwrap().bytes <= 100_000);
}

#[test]
fn cookies_never_make_a_request_too_large_to_be_answered() {
    let jar = Jar::default();
    for n in 0..PER_DOMAIN {
        let set = format!("k{n}={}; Domain=site.example", "x".repeat(4_000));
        jar.store(&url("http://bomb.site.example/"), [set.as_bytes()], at(0));
    }
    let field = jar.header(&url("http://other.site.example/"), at(1)).unwrap();
    assert!(field.len() <= LONGEST_FIELD && field.starts_with("k0="), "{}", field.len());
}
