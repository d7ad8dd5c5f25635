//! What is the one spelling of this URL?
//!
//! A page is known by its address, so every way of writing it must end in the same text, and no two pages may. The
//! WHATWG URL standard, which browsers follow, says how a reference is read: white space, backslashes, dot segments, case
//! of scheme and host, default ports, international names, strange spellings of IPv4 addresses. On top of it, by RFC 3986
//! section 6.2.2, escapes are written one way ([`percent`]); the fragment and the dot after a host name go. Whatever goes
//! further is one of [`Rules`].
//!
//! Reading a link is the most frequent thing a crawl does. Most are spelt as they should be and are only taken to pieces
//! ([`plain`]); the rules only look, and allocate when there is something to change. What was changed is read again until nothing changes, so that the form is stable: a path parameter
//! taken from `/a/..;jsessionid=1/b` leaves a dot segment behind.

mod percent;
pub(crate) mod plain;
mod query;

use crate::{Address, Refused, scheme, session, site};
use plain::Cut;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use url::{ParseOptions, Position, Url};

/// The longest address that is kept, in bytes.
pub const MAX_LENGTH: usize = 8 * 1024;

/// How often a URL may be respelt before it is given up; two is the most any has needed.
const ROUNDS: usize = 8;

/// What canonical form does beyond what every URL undergoes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rules {
    /// Write path and query in lower case, for servers that do not tell the difference.
    pub lowercase: bool,
    /// Take out `user:password@`.
    pub strip_userinfo: bool,
    /// Take `www.` off hosts that keep a registrable domain without it.
    pub strip_www: bool,
    /// Take out the session ids that [`session`] knows.
    pub strip_session_ids: bool,
    /// Learn the session ids that no name gives away, host by host, while crawling. Canonical form itself knows nothing of them.
    pub learn_sessions: bool,
    /// Take out an empty query, empty parts of one, and exact repetitions of a part.
    pub tidy_query: bool,
    /// Sort the parameters of the query by name; those of one name keep their order.
    pub sort_query: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            lowercase: false,
            strip_userinfo: true,
            strip_www: false,
            strip_session_ids: true,
            learn_sessions: true,
            tidy_query: true,
            sort_query: false,
        }
    }
}

/// Reads URLs into addresses by one set of rules.
#[derive(Clone, Debug, Default)]
pub struct Canonicaliser {
    rules: Rules,
}

impl Canonicaliser {
    /// A reader with these rules.
    pub const fn new(rules: Rules) -> Self {
        Self { rules }
    }

    /// The rules it reads by.
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Reads an absolute URL.
    pub fn parse(&self, input: &str) -> Result<Address, Refused> {
        match plain::absolute(input).and_then(|cut| self.kept(cut, "", input)) {
            Some(address) => Ok(address),
            None => self.read(input, Url::options()),
        }
    }

    /// Reads what a person typed: like [`parse`](Self::parse), with `http://` where there is no scheme.
    pub fn parse_seed(&self, input: &str) -> Result<Address, Refused> {
        let input: Cow<'_, str> = match trimmed(input) {
            // Browsers leave these out wherever they stand, so they must not hide a scheme.
            plain if plain.contains(['\t', '\n', '\r']) => plain.replace(['\t', '\n', '\r'], "").into(),
            plain => plain.into(),
        };
        let input = input.as_ref();
        let begins_with_host = match scheme::of(input) {
            Some(scheme) => scheme::lookup(scheme).is_none() && names_port(&input[scheme.len() + 1..]),
            None => input.starts_with(|c: char| c.is_alphanumeric() || c == '['),
        };
        if begins_with_host {
            self.parse(&format!("http://{input}"))
        } else if input.starts_with("//") {
            self.parse(&format!("http:{input}"))
        } else {
            self.parse(input)
        }
    }

    /// Reads a link on a page, with the page's base.
    pub fn resolve(&self, base: &Address, href: &str) -> Result<Address, Refused> {
        let href = trimmed(href);
        if href.is_empty() || href.starts_with('#') {
            return Ok(base.clone());
        }
        self.resolve_cut(base, href, plain::cut(base, href))
    }

    /// Like [`resolve`](Self::resolve), in the memory of the link where it has room.
    pub fn resolve_owned(&self, base: &Address, href: String) -> Result<Address, Refused> {
        if href.is_empty() || href.starts_with('#') || trimmed(&href).len() < href.len() {
            return self.resolve(base, &href);
        }
        match plain::cut(base, &href) {
            Some(cut) if self.leaves(&cut) => Ok(cut.spliced(base.as_str(), href)),
            cut => self.resolve_cut(base, &href, cut),
        }
    }

    fn resolve_cut(&self, base: &Address, href: &str, cut: Option<Cut>) -> Result<Address, Refused> {
        match cut.and_then(|cut| self.kept(cut, base.as_str(), href)) {
            Some(address) => Ok(address),
            None => self.read(href, Url::options().base_url(Some(&Url::parse(base.as_str())?))),
        }
    }

    /// Like [`resolve`](Self::resolve) for a page in another encoding than UTF-8: browsers write a query in the bytes of
    /// the page's own encoding, which `encode` supplies.
    pub fn resolve_encoded(
        &self,
        base: &Address,
        href: &str,
        encode: &dyn Fn(&str) -> Cow<'_, [u8]>,
    ) -> Result<Address, Refused> {
        if href.is_ascii() {
            return self.resolve(base, href);
        }
        self.read(href, Url::options().base_url(Some(&Url::parse(base.as_str())?)).encoding_override(Some(encode)))
    }

    /// What the links of a page are resolved against: its `<base href>` where there is one that can be used, as in
    /// browsers, otherwise the page itself.
    pub fn canonical_base<'a>(&self, page: &'a Address, base_href: Option<&str>) -> Cow<'a, Address> {
        match base_href.map(|href| self.resolve(page, href)) {
            Some(Ok(base)) => Cow::Owned(base),
            _ => Cow::Borrowed(page),
        }
    }

    /// An address that is spelt as browsers would, if it is spelt as the rules want it, too.
    fn kept(&self, cut: Cut, base: &str, href: &str) -> Option<Address> {
        let leaves = self.leaves(&cut);
        let address = cut.joined(base, href);
        let fits = address.as_str().len() <= MAX_LENGTH && !self.rules.strip_www;
        (leaves || (fits && self.respelt(address.path_and_query()).is_none())).then_some(address)
    }

    /// Whether the rules need not look at an address.
    fn leaves(&self, cut: &Cut) -> bool {
        cut.bare && cut.len() <= MAX_LENGTH && !self.rules.strip_www && !self.rules.lowercase
    }

    fn read(&self, input: &str, options: ParseOptions<'_>) -> Result<Address, Refused> {
        let input = trimmed(input);
        if let Some(scheme) = scheme::of(input) {
            scheme::check(scheme)?;
        }
        // The sign stays, as the space before it in `/a #b` belongs to the path and would be trimmed at the end.
        let input = memchr::memchr(b'#', input.as_bytes()).map_or(input, |at| &input[..=at]);
        if input.len() > MAX_LENGTH + 1 {
            return Err(Refused::TooLong);
        }
        let mut url = options.parse(input)?;
        url.set_fragment(None);
        self.settled(url)
    }

    fn settled(&self, mut url: Url) -> Result<Address, Refused> {
        scheme::check(url.scheme())?;
        if self.rules.strip_userinfo && !(url.username().is_empty() && url.password().is_none()) {
            url.set_username("").and_then(|()| url.set_password(None)).map_err(|()| Refused::NoHost)?;
        }
        self.settle_host(&mut url)?;
        for _ in 0..ROUNDS {
            let tail = &url[Position::BeforePath..];
            let Some(tail) = self.respelt(tail) else {
                return if url.as_str().len() > MAX_LENGTH { Err(Refused::TooLong) } else { Address::checked(url) };
            };
            let head = &url[..Position::BeforePath];
            let mut text = String::with_capacity(head.len() + tail.len());
            text.push_str(head);
            text.push_str(&tail);
            url = Url::parse(&text)?;
        }
        Err(Refused::Invalid { detail: "it does not settle into one spelling" })
    }

    /// Takes the dot after a host name away, and `www.` where the rules say so.
    fn settle_host(&self, url: &mut Url) -> Result<(), Refused> {
        let Some(written) = url.host_str() else { return Err(Refused::NoHost) };
        let mut host = written.trim_end_matches('.');
        while self.rules.strip_www
            && let Some(rest) = host.strip_prefix("www.")
            && site::registrable(host) != host
        {
            host = rest;
        }
        if host.is_empty() {
            return Err(Refused::NoHost);
        }
        if host.len() != written.len() {
            let host = host.to_owned();
            url.set_host(Some(&host))?;
        }
        Ok(())
    }

    /// Path and query by the rules, or nothing where they stand that way already.
    fn respelt(&self, tail: &str) -> Option<String> {
        let rules = self.rules;
        let mut out = percent::normalised(tail);
        let mut apply = |wanted: bool, rule: fn(&str) -> Option<String>| {
            if wanted && let Some(changed) = rule(out.as_deref().unwrap_or(tail)) {
                out = Some(changed);
            }
        };
        apply(rules.lowercase, percent::lowercase);
        apply(rules.strip_session_ids, session::without);
        apply(rules.tidy_query, query::tidied);
        apply(rules.sort_query, query::sorted);
        out
    }
}

/// Without the spaces and control characters around it, as browsers read an attribute.
fn trimmed(input: &str) -> &str {
    match input.as_bytes() {
        [first, .., last] if *first > b' ' && *last > b' ' => input,
        _ => input.trim_matches(|c: char| c <= ' '),
    }
}

/// Whether what follows a name and a colon is a port, and so the name a host.
fn names_port(rest: &str) -> bool {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && matches!(rest.as_bytes().get(digits), None | Some(b'/' | b'?' | b'#' | b'\\'))
}

#[cfg(test)]
mod tests;
