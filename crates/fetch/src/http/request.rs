//! What do we request, and in which words?
//!
//! A request is built from a lease and rendered once: the same bytes go to the socket and to the
//! archive, except passwords, which are redacted from the archive.

use crate::FetchConfig;
use crate::config::{Proxy, bare_host};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use orb_page::{Failure, FailureKind, Lease, Purpose, RequestBody};
use percent_encoding::percent_decode_str;
use std::borrow::Cow;
use std::net::IpAddr;
use url::Url;

const ACCEPT: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const ACCEPT_ENCODING: &str = "gzip, br, zstd, deflate";
const CONTENT_LENGTH: &str = "Content-Length";
const COOKIE: &str = "Cookie";

/// The request method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// The page.
    #[default]
    Get,
    /// Its headers only.
    Head,
    /// With a request body.
    Post,
}

impl Method {
    /// Its name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
        }
    }
}

/// The validators of the last response, for a conditional request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validators {
    /// Its `ETag`, for `If-None-Match`.
    pub etag: Option<String>,
    /// Its `Last-Modified`, for `If-Modified-Since`.
    pub last_modified: Option<String>,
}

/// Who we say we are in a request.
#[derive(Clone, Default)]
pub(super) struct Asker {
    /// The value of `Cookie`.
    pub(super) cookie: Option<String>,
    /// The value of `Authorization`.
    pub(super) authorization: Option<String>,
}

/// One request.
#[derive(Clone, Debug)]
pub struct HttpRequest<'a> {
    /// GET, HEAD or POST.
    pub method: Method,
    /// The URL to request.
    pub url: Url,
    /// The only address to connect to; resolved if absent.
    pub addr: Option<IpAddr>,
    /// The URL of the page that linked here.
    pub referrer: Option<&'a str>,
    /// The request body.
    pub payload: Option<&'a RequestBody>,
    /// For a conditional request.
    pub validators: Validators,
    /// Whether to fetch media types that are not accepted, too.
    pub any_type: bool,
    /// Whether it is made for a page of another site: then neither cookies nor credentials of ours
    /// go along, and no cookie is kept.
    pub foreign: bool,
    /// Additional header fields. One of them replaces ours of the same name, except cookies, which
    /// are sent besides those of the jar.
    pub more: Vec<(Cow<'static, str>, String)>,
}

impl<'a> HttpRequest<'a> {
    /// The request that a lease permits.
    pub fn of(lease: &'a Lease) -> Result<Self, Failure> {
        let unsupported = |why: String| Failure::new(FailureKind::Unsupported, format!("{}: {why}", lease.url));
        let url = Url::parse(lease.request_url()).map_err(|e| unsupported(e.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(unsupported(format!("the scheme {} is not fetched over HTTP", url.scheme())));
        }
        Ok(Self {
            method: Method::Get,
            url,
            addr: lease.addr,
            referrer: lease.referrer.as_deref(),
            payload: None,
            validators: validators(lease),
            any_type: lease.purpose == Purpose::Robots,
            foreign: false,
            more: Vec::new(),
        })
    }

    /// A POST request with its own header fields, for webhooks.
    pub fn post(url: &str, payload: &'a RequestBody, more: Vec<(&'static str, String)>) -> Result<Self, Failure> {
        let unsupported = |why: String| Failure::new(FailureKind::Unsupported, format!("{url}: {why}"));
        let url = Url::parse(url).map_err(|e| unsupported(e.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(unsupported(format!("the scheme {} is not HTTP", url.scheme())));
        }
        let (method, payload) = (Method::Post, Some(payload));
        let more = more.into_iter().map(|(name, value)| (Cow::Borrowed(name), value)).collect();
        let (addr, referrer, validators) = (None, None, Validators::default());
        Ok(Self { method, url, addr, referrer, payload, validators, any_type: true, foreign: false, more })
    }

    /// Whether it uses TLS.
    pub(super) fn is_tls(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// The host without brackets.
    pub(super) fn host(&self) -> &str {
        bare_host(self.url.host_str().unwrap_or_default())
    }

    /// The port, or the scheme's default.
    pub(super) fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or(80)
    }

    /// Host and port as in `Host` and `:authority`.
    pub(super) fn authority(&self) -> &str {
        let (from, to) = (url::Position::BeforeHost, url::Position::AfterPort);
        &self.url[from..to]
    }

    /// The header fields after `Host`, in the order sent.
    pub(super) fn fields<'b>(&'b self, config: &'b FetchConfig, asker: &'b Asker) -> Vec<(&'b str, Cow<'b, str>)> {
        let mut fields: Vec<(&'b str, Cow<'b, str>)> = vec![
            ("User-Agent", config.user_agent.as_str().into()),
            ("Accept", ACCEPT.into()),
            ("Accept-Encoding", ACCEPT_ENCODING.into()),
        ];
        let referrer = self.referrer.filter(|_| config.referer).and_then(|r| shown_referrer(r, &self.url));
        fields.extend(referrer.map(|r| ("Referer", r.into())));
        fields.extend(self.payload.map(|p| ("Content-Type", p.mime.as_str().into())));
        fields.extend(self.payload.map(|p| (CONTENT_LENGTH, p.bytes.len().to_string().into())));
        fields.extend(self.cookies(asker).map(|c| (COOKIE, c)));
        let own = basic_authorization(&self.url).map(Cow::from);
        let authorization = own.or_else(|| asker.authorization.as_deref().map(Cow::from));
        fields.extend(authorization.map(|a| ("Authorization", a)));
        fields.extend(self.validators.etag.as_deref().map(|e| ("If-None-Match", e.into())));
        fields.extend(self.validators.last_modified.as_deref().map(|m| ("If-Modified-Since", m.into())));
        if !self.more.is_empty() {
            let given = |name: &str| self.more.iter().any(|(more, _)| more.eq_ignore_ascii_case(name));
            fields.retain(|(name, _)| *name == COOKIE || !given(name));
            let more = self.more.iter().filter(|(name, _)| !name.eq_ignore_ascii_case(COOKIE) && is_name(name));
            fields.extend(more.map(|(name, value)| (&**name, value.as_str().into())));
        }
        fields.retain(|(_, value)| is_sendable(value));
        fields
    }

    /// The value of `Cookie`: those of the jar, and those given that the jar does not know.
    fn cookies<'b>(&'b self, asker: &'b Asker) -> Option<Cow<'b, str>> {
        let given = self.more.iter().find(|(name, _)| name.eq_ignore_ascii_case(COOKIE)).map(|(_, value)| value);
        let (Some(own), Some(given)) = (asker.cookie.as_deref(), given) else {
            return asker.cookie.as_deref().or(given.map(String::as_str)).map(Cow::from);
        };
        let name = |pair: &str| pair.split('=').next().unwrap_or_default().trim().to_owned();
        let known: Vec<String> = own.split(';').map(name).collect();
        let more = given.split(';').map(str::trim).filter(|pair| !known.contains(&name(pair)));
        Some(std::iter::once(own).chain(more).collect::<Vec<_>>().join("; ").into())
    }

    /// The request on the wire; in absolute form for a plain-text proxy.
    pub(super) fn render(&self, config: &FetchConfig, asker: &Asker, proxy: Option<&Proxy>) -> Bytes {
        let target = &self.url[url::Position::BeforePath..url::Position::AfterQuery];
        let mut head = String::with_capacity(512);
        let mut line = |parts: &[&str]| {
            parts.iter().for_each(|p| head.push_str(p));
            head.push_str("\r\n");
        };
        let (scheme, authority) = if proxy.is_some() { ("http://", self.authority()) } else { ("", "") };
        line(&[self.method.name(), " ", scheme, authority, target, " HTTP/1.1"]);
        line(&["Host: ", self.authority()]);
        for (name, value) in self.fields(config, asker) {
            line(&[name, ": ", &value]);
        }
        if let Some(authorization) = proxy.and_then(|p| p.authorization.as_deref()) {
            line(&["Proxy-Authorization: ", authorization]);
        }
        line(&[]);
        match self.payload {
            None => head.into(),
            Some(payload) => [head.as_bytes(), &payload.bytes].concat().into(),
        }
    }

    /// A rendered request as it may be archived: without passwords in its head, and with the
    /// redacted body.
    pub(super) fn kept(&self, rendered: &Bytes) -> Bytes {
        let Some(payload) = self.payload else { return without_passwords(rendered) };
        let head = without_passwords(&rendered.slice(..rendered.len().saturating_sub(payload.bytes.len())));
        let length = |bytes: &Bytes| format!("\r\n{CONTENT_LENGTH}: {}\r\n", bytes.len());
        let (sent, kept) = (length(&payload.bytes), length(&payload.kept));
        let at = memchr::memmem::find(&head, sent.as_bytes()).unwrap_or(0);
        let rest = head.get(at + sent.len()..).unwrap_or_default();
        [&head[..at], kept.as_bytes(), rest, &payload.kept].concat().into()
    }
}

/// The validators of the known version, if a 304 is acceptable.
fn validators(lease: &Lease) -> Validators {
    let known = lease.before.as_ref().filter(|before| before.there && !lease.again).and_then(|b| b.latest.as_ref());
    known.map_or_else(Validators::default, |version| Validators {
        etag: version.etag.clone(),
        last_modified: version.last_modified.clone(),
    })
}

/// The `Referer` under `strict-origin-when-cross-origin`: everything but user and fragment on the
/// same origin, only the origin on another, nothing when leaving TLS.
fn shown_referrer(referrer: &str, to: &Url) -> Option<String> {
    let mut from = Url::parse(referrer).ok().filter(|u| matches!(u.scheme(), "http" | "https"))?;
    if from.scheme() == "https" && to.scheme() == "http" {
        return None;
    }
    if from.origin() != to.origin() {
        return Some(format!("{}/", from.origin().ascii_serialization()));
    }
    from.set_fragment(None);
    from.set_username("").and_then(|()| from.set_password(None)).ok()?;
    Some(from.into())
}

/// A head as it may be archived: without the lines that contain a password of the user.
fn without_passwords(head: &Bytes) -> Bytes {
    let is_secret = |line: &&[u8]| line.starts_with(b"Authorization: ") || line.starts_with(b"Proxy-Authorization: ");
    if memchr::memmem::find(head, b"uthorization: ").is_none() {
        return head.clone();
    }
    let kept: Vec<&[u8]> = head.split_inclusive(|b| *b == b'\n').filter(|line| !is_secret(line)).collect();
    kept.concat().into()
}

/// Whether this can be the name of a header field.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// Whether a value is safe in a header field (no header injection).
fn is_sendable(value: &str) -> bool {
    value.bytes().all(|b| b == b'\t' || !b.is_ascii_control())
}

/// The `Authorization` value for the user and password in a URL.
pub(crate) fn basic_authorization(url: &Url) -> Option<String> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let mut pair: Vec<u8> = percent_decode_str(url.username()).collect();
    pair.push(b':');
    pair.extend(percent_decode_str(url.password().unwrap_or_default()));
    Some(format!("Basic {}", BASE64_STANDARD.encode(&pair)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(url: &str) -> Lease {
        Lease { referrer: Some("http://from.example/#part".to_owned()), ..Lease::plain(url) }
    }

    fn rendered(url: &str, config: &FetchConfig, cookie: Option<&str>, proxy: Option<&Proxy>) -> String {
        let lease = lease(url);
        let asker = Asker { cookie: cookie.map(str::to_owned), authorization: None };
        let head = HttpRequest::of(&lease).unwrap().render(config, &asker, proxy);
        String::from_utf8(head.to_vec()).unwrap()
    }

    #[test]
    fn a_request_reads_as_a_polite_crawlers() {
        let config = FetchConfig { user_agent: "orb".to_owned(), ..FetchConfig::default() };
        assert_eq!(
            rendered("http://h.example:8080/a%20b?c#d", &config, Some("k=v"), None),
            "GET /a%20b?c HTTP/1.1\r\nHost: h.example:8080\r\nUser-Agent: orb\r\n\
             Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n\
             Accept-Encoding: gzip, br, zstd, deflate\r\nCookie: k=v\r\n\r\n"
        );
    }

    #[test]
    fn the_referrer_is_sent_when_asked_for_and_tells_others_nothing_but_its_origin() {
        let config = FetchConfig { referer: true, ..FetchConfig::default() };
        assert!(rendered("http://h.example/", &config, None, None).contains("\r\nReferer: http://from.example/\r\n"));
        let shown = |from: &str, to: &str| shown_referrer(from, &Url::parse(to).unwrap());
        assert_eq!(shown("http://u:p@a.example/x?y#z", "http://a.example/").as_deref(), Some("http://a.example/x?y"));
        assert_eq!(shown("http://u:p@a.example:81/x?y", "http://b.example/").as_deref(), Some("http://a.example:81/"));
        assert_eq!(shown("https://a.example/x", "http://a.example/"), None);
        assert_eq!(shown("ftp://a.example/x", "http://a.example/"), None);
    }

    #[test]
    fn what_is_kept_of_a_request_holds_no_password() {
        let proxy: Proxy = "http://a:b@proxy.example".parse().unwrap();
        let sent =
            rendered("http://me:pw@h.example/", &FetchConfig::default(), Some("Authorization: no=1"), Some(&proxy));
        let kept = without_passwords(&sent.clone().into());
        let gone = "Authorization: Basic bWU6cHc=\r\nProxy-Authorization: Basic YTpi\r\n";
        assert_eq!(kept, sent.replace(gone, "").as_bytes());
        assert!(sent.contains(gone) && kept.ends_with(b"Cookie: Authorization: no=1\r\n\r\n"));
    }

    #[test]
    fn what_is_told_to_a_listener_has_fields_of_its_own_and_no_line_more() {
        let payload = RequestBody { mime: "application/json".to_owned(), bytes: "{}".into(), kept: "{}".into() };
        let more = vec![("webhook-id", "a".to_owned()), ("webhook-signature", "x\r\nEvil: y".to_owned())];
        let request = HttpRequest::post("http://h.example/hook", &payload, more).unwrap();
        let sent = request.render(&FetchConfig::default(), &Asker::default(), None);
        let sent = String::from_utf8_lossy(&sent);
        assert!(sent.starts_with("POST /hook HTTP/1.1\r\n") && sent.ends_with("webhook-id: a\r\n\r\n{}"), "{sent}");
        assert!(HttpRequest::post("ftp://h.example/", &payload, Vec::new()).is_err());
    }

    #[test]
    fn what_is_sent_along_is_kept_as_far_as_anybody_may_know_it() {
        let lease = lease("http://h.example/in");
        let (bytes, kept) = ("a=1&password=hunter2".into(), "a=1&password=***".into());
        let payload = RequestBody { mime: "application/x-www-form-urlencoded".to_owned(), bytes, kept };
        assert!(!format!("{payload:?}").contains("hunter2"));
        let request = HttpRequest { method: Method::Post, payload: Some(&payload), ..HttpRequest::of(&lease).unwrap() };
        let asker = Asker { cookie: Some("k=v".into()), authorization: Some("Bearer abc".into()) };
        let sent = request.render(&FetchConfig::default(), &asker, None);
        let head = "POST /in HTTP/1.1\r\nHost: h.example\r\n";
        let (sent_text, kept) = (String::from_utf8_lossy(&sent), request.kept(&sent));
        let kept = String::from_utf8_lossy(&kept);
        assert!(sent_text.starts_with(head) && kept.starts_with(head));
        let typed = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length";
        assert!(sent_text.ends_with(&format!(
            "{typed}: 20\r\nCookie: k=v\r\nAuthorization: Bearer abc\r\n\r\na=1&password=hunter2"
        )));
        assert!(kept.ends_with(&format!("{typed}: 16\r\nCookie: k=v\r\n\r\na=1&password=***")), "{kept}");
    }

    #[test]
    fn a_proxy_is_asked_in_absolute_form_and_told_no_password_of_ours() {
        let proxy: Proxy = "http://a:b@proxy.example".parse().unwrap();
        let head = rendered("http://me:pw@[::1]:81/x?y", &FetchConfig::default(), None, Some(&proxy));
        assert!(head.starts_with("GET http://[::1]:81/x?y HTTP/1.1\r\nHost: [::1]:81\r\n"), "{head}");
        assert!(
            head.contains("\r\nAuthorization: Basic bWU6cHc=\r\n")
                && head.contains("\r\nProxy-Authorization: Basic YTpi\r\n")
        );
    }

    #[test]
    fn nothing_smuggles_a_second_field_in() {
        let lease = lease("http://h.example/");
        let mut request = HttpRequest::of(&lease).unwrap();
        request.validators.etag = Some("\"x\"\r\nEvil: yes".to_owned());
        let asker = Asker { cookie: Some("a=b\nEvil: yes".into()), authorization: Some("Basic x\r\nEvil: yes".into()) };
        let head = request.render(&FetchConfig::default(), &asker, None);
        assert!(!String::from_utf8_lossy(&head).contains("Evil"));
    }

    #[test]
    fn given_fields_replace_ours_and_given_cookies_join_those_of_the_jar() {
        let lease = lease("http://h.example/");
        let given = |name: &'static str, value: &str| (Cow::Borrowed(name), value.to_owned());
        let more = vec![given("accept", "application/json"), given("cookie", "a=2; b=3"), given("x y", "no")];
        let request = HttpRequest { more, ..HttpRequest::of(&lease).unwrap() };
        let sent = |cookie: Option<&str>| {
            let asker = Asker { cookie: cookie.map(str::to_owned), authorization: None };
            let head = request.render(&FetchConfig::default(), &asker, None);
            String::from_utf8_lossy(&head).lines().skip(3).collect::<Vec<_>>().join("\n")
        };
        let rest = "Accept-Encoding: gzip, br, zstd, deflate";
        assert_eq!(sent(Some("a=1")), format!("{rest}\nCookie: a=1; b=3\naccept: application/json\n"));
        assert_eq!(sent(None), format!("{rest}\nCookie: a=2; b=3\naccept: application/json\n"));
    }

    #[test]
    fn what_cannot_be_asked_over_http_is_unsupported() {
        for url in ["ftp://h.example/", "not a url", "http://", "mailto:a@b.example"] {
            assert_eq!(HttpRequest::of(&lease(url)).unwrap_err().kind, FailureKind::Unsupported, "{url}");
        }
    }
}
