//! Who are we, for a host that asks?
//!
//! The user gives credentials per host. A token goes with every request to its host; a password
//! only after the host has asked for it (RFC 9110, 11), by the strongest scheme it offers: Digest
//! with SHA-256, Digest with MD5 (RFC 7616), Basic (RFC 7617). The challenged request is not
//! repeated here: that would be a second request under one lease. Instead the response is marked as
//! [`challenged`](orb_page::Response::challenged), and the driver asks the frontier for another
//! lease.
//!
//! What must never happen: a secret goes to another host, or repeatedly to one that has rejected
//! it, which may lock the account.

mod challenge;
mod digest;

use crate::FetchError;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use challenge::Challenge;
use digest::Digest;
use orb_page::Response;
use orb_urls::Address;
use percent_encoding::percent_decode_str;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use url::{Position, Url};

/// What proves who we are.
#[derive(Clone, PartialEq, Eq)]
pub enum Proof {
    /// A name and a password, for Basic and Digest.
    Password {
        /// The name.
        user: String,
        /// The password.
        password: String,
    },
    /// A token, for Bearer.
    Token(String),
}

impl fmt::Debug for Proof {
    /// Omits the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Password { user, .. } => write!(f, "Password({user})"),
            Self::Token(_) => f.write_str("Token"),
        }
    }
}

/// A credential for one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    scheme: Option<String>,
    host: String,
    port: Option<u16>,
    realm: Option<String>,
    proof: Proof,
    in_clear: bool,
}

/// The schemes whose servers ask for credentials.
const SCHEMES: [&str; 7] = ["http", "https", "ftp", "ftps", "sftp", "nntp", "nntps"];

/// A name and a password for a server that is not of the web.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Login<'a> {
    pub(crate) user: &'a str,
    pub(crate) password: &'a str,
    /// Whether they may be sent where anybody on the way can read them.
    pub(crate) in_clear: bool,
}

impl Credential {
    /// A credential for a host as a user writes it (`example.org`, `example.org:8080`,
    /// `https://example.org`), optionally for one realm.
    pub fn new(host: &str, realm: Option<&str>, proof: Proof) -> Result<Self, FetchError> {
        let wrong = |why: &'static str| FetchError::Credential { host: host.to_owned(), why };
        let (scheme, rest) = host.split_once("://").map_or((None, host), |(scheme, rest)| (Some(scheme), rest));
        if scheme.is_some_and(|s| !SCHEMES.contains(&s)) {
            return Err(wrong("servers of this scheme ask for no credentials"));
        }
        let url = Url::parse(&format!("http://{rest}")).map_err(|_| wrong("this is not a host name"))?;
        let name = url.host_str().filter(|name| !name.is_empty()).ok_or_else(|| wrong("this is not a host name"))?;
        if url.path() != "/" || url.query().is_some() || url.fragment().is_some() || !url.username().is_empty() {
            return Err(wrong("write the host alone, such as example.org or example.org:8080"));
        }
        let said = rest.trim_end_matches('/').rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        let unsendable = |text: &str| text.chars().any(char::is_control);
        match &proof {
            Proof::Password { user, .. } if user.contains(':') => return Err(wrong("a user has no colon in its name")),
            Proof::Password { user, password } if unsendable(user) || unsendable(password) => {
                return Err(wrong("user or password holds characters that cannot be sent"));
            }
            Proof::Token(token) if token.is_empty() || !token.bytes().all(|b| b.is_ascii_graphic()) => {
                return Err(wrong("the token is empty or holds characters that cannot be sent"));
            }
            _ => {}
        }
        let (scheme, realm) = (scheme.map(str::to_owned), realm.map(str::to_owned));
        Ok(Self { scheme, host: name.to_owned(), port: said, realm, proof, in_clear: false })
    }

    /// The login that a seed of another protocol than the web's is written with.
    pub fn of_seed(seed: &str) -> Option<Self> {
        let url = Url::parse(seed.trim()).ok()?;
        if url.username().is_empty() || matches!(url.scheme(), "http" | "https") {
            return None;
        }
        let said = |text: &str| percent_decode_str(text).decode_utf8().ok().map(std::borrow::Cow::into_owned);
        let proof =
            Proof::Password { user: said(url.username())?, password: said(url.password().unwrap_or_default())? };
        let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
        let host = format!("{}://{}{port}", url.scheme(), url.host_str()?);
        Self::new(&host, None, proof).ok().map(|credential| credential.in_clear(true))
    }

    /// The same, to be sent without TLS, too, where the protocol has nothing better: FTP and NNTP.
    #[must_use]
    pub fn in_clear(self, in_clear: bool) -> Self {
        Self { in_clear, ..self }
    }

    /// Whether it applies to the host of this URL.
    fn is_for(&self, url: &Url) -> bool {
        url.host_str() == Some(&self.host)
            && self.scheme.as_deref().is_none_or(|scheme| scheme == url.scheme())
            && self.port.is_none_or(|port| url.port_or_known_default() == Some(port))
    }
}

/// All credentials of a crawl, and what their hosts have asked for.
#[derive(Debug, Default)]
pub struct Keyring {
    credentials: Vec<Credential>,
    /// By origin.
    asked: Mutex<HashMap<String, Asked>>,
}

/// How an origin wants to be authenticated to.
#[derive(Debug)]
struct Asked {
    /// Index of the credential it takes.
    credential: usize,
    realm: String,
    way: AuthState,
    /// Whether it has ever been accepted.
    proven: bool,
}

#[derive(Debug)]
enum AuthState {
    Basic,
    Digest(Box<Digest>),
    /// It was sent and rejected.
    Refused,
}

impl Keyring {
    /// A keyring with these credentials.
    pub fn new(credentials: Vec<Credential>) -> Self {
        Self { credentials, asked: Mutex::default() }
    }

    /// The login for a server of another scheme than the web's, which the credential must name.
    pub(crate) fn login(&self, address: &Address) -> Option<Login<'_>> {
        let is_for = |c: &&Credential| {
            c.scheme.as_deref() == Some(address.scheme())
                && c.host == address.host()
                && c.port.is_none_or(|port| port == address.port())
        };
        self.credentials.iter().filter(is_for).find_map(|c| match &c.proof {
            Proof::Password { user, password } => Some(Login { user, password, in_clear: c.in_clear }),
            Proof::Token(_) => None,
        })
    }

    /// The `Authorization` value for a request, if its host needs one.
    pub(crate) fn tell(&self, url: &Url, method: &str) -> Option<String> {
        if self.credentials.is_empty() {
            return None;
        }
        let token = self.credentials.iter().find_map(|c| match &c.proof {
            Proof::Token(token) if c.is_for(url) => Some(format!("Bearer {token}")),
            _ => None,
        });
        if token.is_some() {
            return token;
        }
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = asked.get_mut(&origin(url))?;
        let Proof::Password { user, password } = &self.credentials.get(asked.credential)?.proof else { return None };
        match &mut asked.way {
            AuthState::Refused => None,
            AuthState::Basic => Some(format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")))),
            AuthState::Digest(digest) => {
                Some(digest.answer(user, password, method, &url[Position::BeforePath..Position::AfterQuery]))
            }
        }
    }

    /// Processes the response to a request with this `Authorization`; returns whether a retry would
    /// send more.
    pub(crate) fn hear(&self, url: &Url, response: &Response, said: Option<&str>) -> bool {
        if self.credentials.is_empty() || !self.credentials.iter().any(|c| c.is_for(url)) {
            return false;
        }
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let known = asked.get_mut(&origin(url));
        if response.status != 401 {
            if let Some(known) = known.filter(|_| said.is_some()) {
                known.heard(response);
            }
            return false;
        }
        let Some((credential, challenge)) = self.choose(url, response) else { return false };
        let realm = challenge.realm().to_owned();
        if let Some(known) = known.filter(|known| known.realm == realm) {
            let told = said.is_some() && !known.proven && !challenge.is_stale();
            if told || matches!(known.way, AuthState::Refused) {
                known.way = AuthState::Refused;
                return false;
            }
        }
        let way = Digest::of(&challenge).map_or(AuthState::Basic, |digest| AuthState::Digest(Box::new(digest)));
        asked.insert(origin(url), Asked { credential, realm, way, proven: false });
        true
    }

    /// The strongest supported challenge of a response, and the index of the credential for it.
    fn choose(&self, url: &Url, response: &Response) -> Option<(usize, Challenge)> {
        let fields = response.headers.all("www-authenticate");
        let mut all: Vec<Challenge> = fields.flat_map(|field| challenge::parse(&field)).collect();
        all.sort_by_key(|challenge| std::cmp::Reverse(strength(challenge)));
        all.into_iter().filter(|challenge| strength(challenge) > 0).find_map(|challenge| {
            let fits = |c: &Credential, realm: Option<&str>| {
                c.realm.as_deref() == realm && c.is_for(url) && matches!(c.proof, Proof::Password { .. })
            };
            let place = |realm| self.credentials.iter().position(|c| fits(c, realm));
            place(Some(challenge.realm())).or_else(|| place(None)).map(|at| (at, challenge))
        })
    }
}

impl Asked {
    /// Authenticated successfully: what was right may become stale, but is not wrong.
    fn heard(&mut self, response: &Response) {
        self.proven = true;
        if let (AuthState::Digest(digest), Some(told)) = (&mut self.way, response.headers.get("authentication-info")) {
            digest.renew(&told);
        }
    }
}

/// The preference of a scheme; 0 if unsupported.
fn strength(challenge: &Challenge) -> u8 {
    match challenge.scheme.as_str() {
        "digest" => Digest::of(challenge).map_or(0, |digest| digest.strength()),
        "basic" => 1,
        _ => 0,
    }
}

fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

#[cfg(test)]
mod tests;
