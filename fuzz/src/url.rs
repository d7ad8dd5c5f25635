//! Does every reference have one canonical spelling?

use crate::{lines, options};
use orb_urls::scheme::{SCHEMES, Treatment};
use orb_urls::{Address, Canonicaliser, MAX_LENGTH, Refused, Rules, session, surt};
use url::Url;

/// Canonical form, session ids and keys: any reference, under any rules, against any base. Input:
/// an option byte (the rules), the base, the reference.
pub fn url(bytes: &[u8]) {
    let (options, text) = options(bytes);
    let reader = Canonicaliser::new(Rules {
        lowercase: options & 1 != 0,
        strip_userinfo: options & 2 != 0,
        strip_www: options & 4 != 0,
        strip_session_ids: options & 8 != 0,
        learn_sessions: false,
        tidy_query: options & 16 != 0,
        sort_query: options & 32 != 0,
    });
    let [base, reference] = lines(&text);
    session(reference);
    sessions(base, reference);
    surt(reference);
    check(&reader, reader.parse(reference));
    check(&reader, reader.parse_seed(reference));
    if let Ok(base) = reader.parse(base) {
        check(&reader, reader.resolve(&base, reference));
        check(&reader, reader.resolve_encoded(&base, reference, &|text| text.as_bytes().to_vec().into()));
        let written = reader.canonical_base(&base, Some(reference)).into_owned();
        assert!(
            reader.resolve(&base, reference).map_or(written == base, |found| found == written),
            "{base} {reference}"
        );
    }
}

fn check(reader: &Canonicaliser, read: Result<Address, Refused>) {
    let address = match read {
        Ok(address) => address,
        Err(refused) => return assert_eq!(refused.to_string().lines().count(), 1, "{refused}"),
    };
    let text = address.as_str();
    assert_eq!(reader.parse(text).as_ref(), Ok(&address), "read again");
    assert_eq!(reader.resolve(&address, text).as_ref(), Ok(&address), "resolved against itself");
    assert_eq!(reader.parse_seed(text).as_ref(), Ok(&address), "read as a seed");
    assert_eq!(Address::from_canonical(text).as_ref(), Ok(&address), "taken from where it was stored");
    assert!(text.bytes().all(|b| b.is_ascii_graphic() && b != b'#') && text.len() <= MAX_LENGTH, "{text}");
    let fetched =
        |(name, treatment): &(&str, Treatment)| *name == address.scheme() && matches!(treatment, Treatment::Fetched(_));
    assert!(SCHEMES.iter().any(fetched), "{text}");
    // Files of this machine have no host, and only the web has keys and sites.
    if !matches!(address.scheme(), "http" | "https") {
        return;
    }
    let host = address.host();
    assert!(!host.is_empty() && !host.ends_with('.') && !host.bytes().any(|b| b.is_ascii_uppercase()), "{text}");
    assert!(host.ends_with(address.site()) && address.path().starts_with('/'), "{text}");
    assert!(text.ends_with(address.path_and_query()), "{text}");
    assert!(text.starts_with(&address.origin().to_string()) || has_userinfo(text), "{text}");
    assert!(surt::surt(&address).ends_with(address.path_and_query()), "{text}");
    let rules = reader.rules();
    if rules.strip_userinfo {
        assert!(!has_userinfo(text), "{text}");
    }
    if rules.strip_session_ids {
        assert_eq!(session::found(text), [], "{text}");
    }
}

fn has_userinfo(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| !url.username().is_empty() || url.password().is_some())
}

/// Session ids: exactly what is found is removed, and no host changes.
fn session(text: &str) {
    let (found, without) = (session::found(text), session::strip(text));
    assert_eq!(found.is_empty(), without == text, "{text}");
    assert!(without.len() <= text.len(), "{text}");
    for id in &found {
        assert!(text.contains(&id.name) && text.contains(&id.value), "{text}: {id:?}");
    }
    if let (Ok(before), Ok(after)) = (Url::parse(text), Url::parse(&without))
        && before.as_str() == text
    {
        assert_eq!(
            (before.scheme(), before.host_str(), before.port()),
            (after.scheme(), after.host_str(), after.port()),
            "{text}"
        );
    }
}

/// Learnt session ids: whatever two links have in common, a URL without its ids is stable, and a
/// URL with renewed ids has the same identity.
fn sessions(one: &str, two: &str) {
    let site = session::one_session(&[one, two]);
    let next = session::two_sessions(&[one, two], &[two, one]);
    for site in [
        &site,
        &next,
        &site.observe(one, &[two, two]).unwrap_or_default(),
        &site.redirected(one, two).unwrap_or_default(),
    ] {
        for text in [one, two] {
            let identity = site.identity(text);
            assert_eq!(site.identity(&identity), identity, "{text}");
            let renewed = site.renew(text, &identity);
            assert_eq!(site.identity(&renewed), identity, "{text} became {renewed}");
        }
    }
}

/// Archive keys and scope prefixes.
fn surt(text: &str) {
    assert!(!surt::cdx_key(text).is_empty());
    let prefix = surt::prefix(text);
    let reader = Canonicaliser::default();
    let Ok(address) = reader.parse(text) else { return };
    let key = surt::cdx_key(address.as_str());
    assert!(key.bytes().all(|b| b.is_ascii_graphic()), "{key}");
    assert_eq!(key, key.to_ascii_lowercase(), "{address}");
    let comparable = surt::comparable(&address);
    let is_plain = text.starts_with("http://") && !text.contains([',', '(', '\\', '\t', '\n', '\r']);
    if let Some(prefix) = prefix.filter(|_| is_plain) {
        assert!(comparable.starts_with(&prefix), "{text} means {prefix}, which is no prefix of {comparable}");
    }
}
