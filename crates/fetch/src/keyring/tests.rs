use super::*;
use orb_page::{Body, ResponseKind};

fn password(host: &str, realm: Option<&str>) -> Credential {
    Credential::new(host, realm, Proof::Password { user: "me".into(), password: "pw".into() }).unwrap()
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn answer(status: u16, fields: &[(&str, &str)]) -> Response {
    Response {
        status,
        kind: ResponseKind::Resource { conversation: None },
        headers: fields.iter().copied().collect(),
        wire: Body::empty(),
        body: Body::empty(),
        truncated: None,
        excess: false,
        challenged: false,
        peer: None,
        protocol: "http/1.1",
    }
}

fn asks(question: &str) -> Response {
    answer(401, &[("WWW-Authenticate", question)])
}

#[test]
fn questions_are_read_however_they_are_written() {
    let all = challenge::parse(r#"Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="simple""#);
    assert_eq!(all.len(), 2);
    assert_eq!((all[0].get("title"), all[0].get("type")), (Some(r#"Login to "apps""#), Some("1")));
    assert_eq!((all[1].scheme.as_str(), all[1].realm()), ("basic", "simple"));
    for odd in ["", ",,", "=", "\"", "a=b", "Negotiate abc==, Basic realm=x", "Basic realm=\"open", "é=\"", "Basic é"]
    {
        challenge::parse(odd);
    }
    assert_eq!(challenge::parse("Negotiate abc==, Basic realm=x")[1].realm(), "x");
    assert!(challenge::parse(&"a ".repeat(100_000)).len() <= 64);
}

#[test]
fn a_password_is_told_only_when_its_host_asks_and_to_no_other() {
    let ring = Keyring::new(vec![password("site.test", None)]);
    let (site, other) = (url("http://site.test/a"), url("http://other.test/a"));
    assert_eq!(ring.tell(&site, "GET"), None);
    assert!(!ring.hear(&other, &asks("Basic realm=x"), None));
    assert!(ring.hear(&site, &asks("Basic realm=x"), None));
    assert_eq!(ring.tell(&url("http://site.test/b"), "GET").as_deref(), Some("Basic bWU6cHc="));
    for elsewhere in ["http://other.test/", "http://site.test:81/", "https://site.test/", "http://www.site.test/"] {
        assert_eq!(ring.tell(&url(elsewhere), "GET"), None, "{elsewhere}");
    }
}

#[test]
fn the_strongest_way_is_taken() {
    let ring = Keyring::new(vec![password("site.test", None)]);
    let site = url("http://site.test/");
    let question = r#"Basic realm="x", Digest realm="x", nonce="a", qop="auth", Digest realm="x", nonce="b", qop="auth", algorithm=SHA-256"#;
    assert!(ring.hear(&site, &asks(question), None));
    assert!(ring.tell(&site, "GET").is_some_and(|told| told.contains("nonce=\"b\"") && told.contains("SHA-256")));
}

#[test]
fn a_refused_password_is_not_told_again_and_a_stale_nonce_is_no_refusal() {
    let ring = Keyring::new(vec![password("site.test", None)]);
    let site = url("http://site.test/");
    let question = |more: &str| asks(&format!("Digest realm=\"x\", nonce=\"{more}\", qop=\"auth\"{more}"));
    assert!(ring.hear(&site, &question(""), None));
    assert!(ring.hear(&site, &question(", stale=TRUE"), Some("Digest …")));
    assert!(!ring.hear(&site, &question(""), Some("Digest …")));
    assert_eq!(ring.tell(&site, "GET"), None);
    assert!(!ring.hear(&site, &question(""), None));
}

#[test]
fn a_password_that_was_right_once_is_told_again_when_a_server_forgets() {
    let ring = Keyring::new(vec![password("site.test", None)]);
    let site = url("http://site.test/");
    assert!(ring.hear(&site, &asks("Digest realm=x, nonce=1"), None));
    assert!(!ring.hear(&site, &answer(200, &[("Authentication-Info", "nextnonce=\"2\"")]), Some("Digest …")));
    assert!(ring.tell(&site, "GET").is_some_and(|told| told.contains("nonce=\"2\"")));
    assert!(ring.hear(&site, &asks("Digest realm=x, nonce=3"), Some("Digest …")));
}

#[test]
fn a_realm_gets_its_own_password_and_an_unknown_one_none() {
    let other = Proof::Password { user: "you".into(), password: "pw".into() };
    let ring = Keyring::new(vec![
        password("site.test", Some("mine")),
        Credential::new("site.test", Some("yours"), other).unwrap(),
    ]);
    let site = url("http://site.test/");
    assert!(!ring.hear(&site, &asks("Basic realm=theirs"), None));
    assert!(ring.hear(&site, &asks("Basic realm=yours"), None));
    assert_eq!(ring.tell(&site, "GET").as_deref(), Some("Basic eW91OnB3"));
}

#[test]
fn a_token_goes_along_unasked_to_its_host_alone() {
    let ring = Keyring::new(vec![Credential::new("https://api.test:8443", None, Proof::Token("abc".into())).unwrap()]);
    assert_eq!(ring.tell(&url("https://api.test:8443/x"), "GET").as_deref(), Some("Bearer abc"));
    for elsewhere in ["http://api.test:8443/", "https://api.test/", "https://www.api.test:8443/"] {
        assert_eq!(ring.tell(&url(elsewhere), "GET"), None, "{elsewhere}");
    }
    assert!(!format!("{ring:?}").contains("abc"));
}

#[test]
fn a_credential_that_cannot_work_is_refused() {
    let token = |text: &str| Proof::Token(text.to_owned());
    for (host, proof) in [
        ("", token("a")),
        ("gopher://a.test", token("a")),
        ("a.test/path", token("a")),
        ("u@a.test", token("a")),
        ("a.test", token("")),
        ("a.test", token("a\r\nEvil: yes")),
        ("a.test", Proof::Password { user: "a:b".into(), password: String::new() }),
        ("a.test", Proof::Password { user: "a".into(), password: "b\n".into() }),
    ] {
        assert!(Credential::new(host, None, proof).is_err(), "{host}");
    }
}

#[test]
fn a_login_in_a_seed_is_for_its_server_alone() {
    let keyring = Keyring::new(vec![Credential::of_seed("ftp://me:s%40cret@Files.example:2121/pub/").unwrap()]);
    let of = |url: &str| {
        let address = Address::from_canonical(url).unwrap();
        keyring.login(&address).map(|login| (login.user.to_owned(), login.password.to_owned(), login.in_clear))
    };
    assert_eq!(of("ftp://files.example:2121/x"), Some(("me".to_owned(), "s@cret".to_owned(), true)));
    for other in ["ftp://files.example/x", "ftps://files.example:2121/x", "ftp://other.example:2121/x"] {
        assert_eq!(of(other), None, "{other}");
    }
    assert!(Credential::of_seed("http://me:secret@h/").is_none() && Credential::of_seed("ftp://h/").is_none());
}
