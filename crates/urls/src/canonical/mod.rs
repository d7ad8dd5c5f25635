//! What is the one spelling of this URL?
//!
//! A page is identified by its address, so every spelling of a URL must canonicalise to the same
//! text, and no two pages may share one. Parsing follows the WHATWG URL standard, as browsers do:
//! white space, backslashes, dot segments, case of scheme and host, default ports, international
//! domain names, unusual spellings of IPv4 addresses. On top of it come the normalisations of RFC
//! 3986 section 6.2.2 for percent escapes ([`percent`]); the fragment and the trailing dot of a
//! host name are dropped. Anything beyond that is optional and lives in [`Rules`].
//!
//! Resolving links is the most frequent operation of a crawl. Most links are already canonical and
//! take a fast path that only splits them ([`plain`]); the rules inspect first and allocate only
//! when something must change. After a change the URL is parsed again until it reaches a fixed
//! point, so canonicalisation is idempotent: removing the path parameter from
//! `/a/..;jsessionid=1/b` leaves a dot segment behind.

mod percent;
pub(crate) mod plain;
mod query;

use crate::address::is_local;
use crate::{Address, NewsReference, Refused, scheme, session, site};
use plain::SplicePlan;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use url::{Host, ParseOptions, Position, Url};

/// Maximum length of an address in bytes.
pub const MAX_LENGTH: usize = 8 * 1024;

/// How many passes a URL may take to reach its fixed point before it is refused. No known input
/// needs more than two.
const ROUNDS: usize = 8;

/// Optional normalisations, applied after the mandatory ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rules {
    /// Lower-case path and query, for servers that ignore case.
    pub lowercase: bool,
    /// Remove `user:password@`.
    pub strip_userinfo: bool,
    /// Remove `www.` from hosts that still have a registrable domain without it.
    pub strip_www: bool,
    /// Remove the session ids that [`session`] recognises.
    pub strip_session_ids: bool,
    /// Learn unnamed session ids host by host during the crawl. Canonicalisation itself does not
    /// use them.
    pub learn_sessions: bool,
    /// Remove an empty query, empty parameters, and exact duplicates of a parameter.
    pub tidy_query: bool,
    /// Sort query parameters by name. The sort is stable.
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

/// Parses URLs into addresses under one set of rules.
#[derive(Clone, Debug, Default)]
pub struct Canonicaliser {
    rules: Rules,
}

impl Canonicaliser {
    /// A canonicaliser with these rules.
    pub const fn new(rules: Rules) -> Self {
        Self { rules }
    }

    /// The rules in effect.
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Parses an absolute URL.
    pub fn parse(&self, input: &str) -> Result<Address, Refused> {
        match plain::absolute(input).and_then(|cut| self.kept(cut, "", input)) {
            Some(address) => Ok(address),
            None => self.read(input, Url::options()),
        }
    }

    /// Parses what a user typed: like [`parse`](Self::parse), but assumes `http://` if there is no
    /// scheme.
    pub fn parse_seed(&self, input: &str) -> Result<Address, Refused> {
        let input: Cow<'_, str> = match trimmed(input) {
            // Browsers drop tabs and newlines anywhere in a URL, so they must not hide a scheme.
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

    /// Resolves a link on a page against the page's base.
    pub fn resolve(&self, base: &Address, href: &str) -> Result<Address, Refused> {
        let href = trimmed(href);
        if href.is_empty() || href.starts_with('#') {
            return Ok(base.clone());
        }
        if let Some(news) = news_on(base, href) {
            return self.parse(&news);
        }
        self.resolve_cut(base, href, plain::cut(base, href))
    }

    /// Like [`resolve`](Self::resolve), but reuses the link's buffer if it has the capacity.
    pub fn resolve_owned(&self, base: &Address, href: String) -> Result<Address, Refused> {
        if href.is_empty()
            || href.starts_with('#')
            || base.scheme().starts_with("nntp")
            || trimmed(&href).len() < href.len()
        {
            return self.resolve(base, &href);
        }
        match plain::cut(base, &href) {
            Some(cut) if self.leaves(&cut) => Ok(cut.spliced(base.as_str(), href)),
            cut => self.resolve_cut(base, &href, cut),
        }
    }

    fn resolve_cut(&self, base: &Address, href: &str, cut: Option<SplicePlan>) -> Result<Address, Refused> {
        match cut.and_then(|cut| self.kept(cut, base.as_str(), href)) {
            Some(address) => Ok(address),
            None => {
                let target = self.read(href, Url::options().base_url(Some(&Url::parse(base.as_str())?)))?;
                linked(base, target)
            }
        }
    }

    /// Like [`resolve`](Self::resolve) for a page that is not in UTF-8: browsers percent-encode a
    /// query in the page's own encoding, which `encode` supplies.
    pub fn resolve_encoded(
        &self,
        base: &Address,
        href: &str,
        encode: &dyn Fn(&str) -> Cow<'_, [u8]>,
    ) -> Result<Address, Refused> {
        if href.is_ascii() {
            return self.resolve(base, href);
        }
        let own = Url::parse(base.as_str())?;
        linked(base, self.read(href, Url::options().base_url(Some(&own)).encoding_override(Some(encode)))?)
    }

    /// The base URL of a page's links: its `<base href>` if usable, as in browsers, otherwise the
    /// page itself.
    pub fn canonical_base<'a>(&self, page: &'a Address, base_href: Option<&str>) -> Cow<'a, Address> {
        match base_href.map(|href| self.resolve(page, href)) {
            Some(Ok(base)) => Cow::Owned(base),
            _ => Cow::Borrowed(page),
        }
    }

    /// The address, if the fast path's result also satisfies the rules.
    fn kept(&self, cut: SplicePlan, base: &str, href: &str) -> Option<Address> {
        let leaves = self.leaves(&cut);
        let address = cut.joined(base, href);
        let fits = address.as_str().len() <= MAX_LENGTH && !self.rules.strip_www;
        (leaves || (fits && self.respelt(address.path_and_query()).is_none())).then_some(address)
    }

    /// Whether no rule can change this address.
    fn leaves(&self, cut: &SplicePlan) -> bool {
        cut.bare && cut.len() <= MAX_LENGTH && !self.rules.strip_www && !self.rules.lowercase
    }

    fn read(&self, input: &str, options: ParseOptions<'_>) -> Result<Address, Refused> {
        let input = trimmed(input);
        if let Some(scheme) = scheme::of(input) {
            scheme::check(scheme)?;
        }
        // Keep the `#`: the space before it in `/a #b` belongs to the path, but would be trimmed at
        // the end of the input.
        let input = memchr::memchr(b'#', input.as_bytes()).map_or(input, |at| &input[..=at]);
        if input.len() > MAX_LENGTH + 1 {
            return Err(Refused::TooLong);
        }
        let mut url = options.parse(input)?;
        url.set_fragment(None);
        self.settled(url)
    }

    fn settled(&self, mut url: Url) -> Result<Address, Refused> {
        let port = scheme::check(url.scheme())?;
        if self.rules.strip_userinfo && !(url.username().is_empty() && url.password().is_none()) {
            url.set_username("").and_then(|()| url.set_password(None)).map_err(|()| Refused::NoHost)?;
        }
        if !url.is_special() {
            settle_like_web(&mut url, port)?;
        }
        if !is_local(url.scheme()) {
            self.settle_host(&mut url)?;
        }
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

    /// Removes the trailing dot of a host name, and `www.` if the rules say so.
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

    /// Path and query after the rules, or `None` if nothing changed.
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

/// Gives a URL of a scheme that the URL standard does not know what the standard gives to those of
/// the web: a host in lower case and ASCII, no default port, and a path.
fn settle_like_web(url: &mut Url, port: u16) -> Result<(), Refused> {
    let Some(written) = url.host_str() else { return Err(Refused::NoHost) };
    // Decoding may leave trailing dots, and what is left without them may be a number.
    let host = Host::parse(Host::parse(written)?.to_string().trim_end_matches('.'))?.to_string();
    if host != written {
        url.set_host(Some(&host))?;
    }
    if url.port() == Some(port) {
        url.set_port(None).map_err(|()| Refused::NoHost)?;
    }
    if url.path().is_empty() {
        url.set_path("/");
    }
    Ok(())
}

/// A target, unless it is a file of this machine that a page from elsewhere names.
fn linked(base: &Address, target: Address) -> Result<Address, Refused> {
    if is_local(target.scheme()) && !is_local(base.scheme()) {
        return Err(Refused::Unsupported { scheme: "file".into() });
    }
    Ok(target)
}

/// The address of an article or a group that a link on a news server names without the server
/// (`news:id@example.org`, RFC 5538): it is on the same server.
fn news_on(base: &Address, href: &str) -> Option<String> {
    if !base.scheme().starts_with("nntp") {
        return None;
    }
    let server = &base.as_str()[..base.as_str().len() - base.path_and_query().len()];
    Some(NewsReference::of(href).filter(|news| news.server.is_none())?.on(server))
}

/// Trims the leading and trailing spaces and control characters that browsers trim from attributes.
fn trimmed(input: &str) -> &str {
    match input.as_bytes() {
        [first, .., last] if *first > b' ' && *last > b' ' => input,
        _ => input.trim_matches(|c: char| c <= ' '),
    }
}

/// Whether the text after `name:` is a port, which makes the name a host and not a scheme.
fn names_port(rest: &str) -> bool {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && matches!(rest.as_bytes().get(digits), None | Some(b'/' | b'?' | b'#' | b'\\'))
}

#[cfg(test)]
mod tests;
