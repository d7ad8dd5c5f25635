//! How does a user describe the path to the pages, and their credentials?

mod examine;
mod secrets;

pub(crate) use examine::examine;
pub use secrets::credentials;
pub(crate) use secrets::{examine as examine_auth, is_telltale, without_secrets};

use crate::render::RenderWhen;
use orb_page::UrlKey;
use orb_urls::scope::{Mode, ScopeRule};
use orb_urls::{Scope, ScopeError, ScopeSpec};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// A row of `[[steps]]`: pages to start with, a form to fill in, what to expect, how far to go.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StepSettings {
    /// Its unique name.
    pub name: String,
    /// Where it starts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub start: Vec<String>,
    /// A CSS selector: it starts at the links that this matches on the pages of the previous step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<String>,
    /// A regular expression: of those links, or of all, the ones whose URL matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links_matching: Option<String>,
    /// A form to fill in, on the pages where it starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<FormSettings>,
    /// Text that must occur on its first pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<String>,
    /// A CSS selector that must match on its first pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect_selector: Option<String>,
    /// Text that must not occur there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect_not: Option<String>,
    /// A CSS selector that must not match there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect_not_selector: Option<String>,
    /// Whether its pages are collected, or only passed through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collect: Option<bool>,
    /// Maximum distance from its first pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Its scope mode, in place of that of `[scope]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Whether it is walked only while nothing has come of it: later runs know where it led.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub once: Option<bool>,
    /// When its pages are rendered, in place of what `[render]` says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub render: Option<RenderWhen>,
    /// Rules on URLs, in place of those of `[scope]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<Vec<ScopeRule>>,
}

impl StepSettings {
    /// What `links` says for links to other hosts, whatever the pages are written in.
    pub const ELSEWHERE: &str = "elsewhere";
    /// What it begins with for the links that a CSS selector chooses, wherever they lead.
    pub const ANYWHERE: &str = "anywhere:";
    /// What it says for the entries of a feed.
    pub const FEED: &str = "feed";
    /// What it begins with for addresses in JSON: a pointer follows, with `*` for every entry.
    pub const JSON: &str = "json:";

    /// Whether its links may lead anywhere: they are not chosen by a CSS selector alone.
    pub fn chooses_by_kind(&self) -> bool {
        self.links.as_deref().is_some_and(|links| {
            links == Self::ELSEWHERE
                || links == Self::FEED
                || [Self::JSON, Self::ANYWHERE].iter().any(|start| links.starts_with(start))
        })
    }

    /// The CSS selector that chooses its links, if one does.
    pub fn link_selector(&self) -> Option<&str> {
        let links = self.links.as_deref()?;
        links.strip_prefix(Self::ANYWHERE).or_else(|| (!self.chooses_by_kind()).then_some(links))
    }

    /// Whether its pages are collected.
    pub fn collects(&self) -> bool {
        self.collect.unwrap_or(true)
    }

    /// Whether it starts at links of the previous step.
    pub fn chooses(&self) -> bool {
        self.links.is_some() || self.links_matching.is_some()
    }

    /// Whether it continues from the previous step.
    pub fn goes_on(&self) -> bool {
        self.start.is_empty()
    }

    /// Whether it expects anything on its first pages.
    pub fn expects(&self) -> bool {
        let words = [&self.expect, &self.expect_selector, &self.expect_not, &self.expect_not_selector];
        words.iter().any(|word| word.is_some())
    }
}

/// Which form, and its values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FormSettings {
    /// Its action, as the page writes it or in full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Its `id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its `name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its position among the forms of the page, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<usize>,
    /// Values of its fields by name; all others keep the page's values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, FieldValue>,
}

/// The value of a field.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "a text, a number, true or false, a list of texts, { env = \"NAME\" }, \
                 { file = \"path\" } or { secret = \"name\" }"
)]
pub enum FieldValue {
    /// A check box ticked or not, a button pressed or not.
    Switch(bool),
    /// A number.
    Number(i64),
    /// A text, or one of the offered values.
    Text(String),
    /// Several of the offered values.
    Many(Vec<String>),
    /// A text that is stored elsewhere.
    Hidden(SecretSource),
}

impl fmt::Debug for FieldValue {
    /// Omits the value, which may be a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FieldValue")
    }
}

/// Where a secret is stored.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretSource {
    /// In an environment variable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<String>,
    /// In a file; trailing newlines are ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Under this name, where the browser's users keep theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// The secret, once it was looked up; never written.
    #[serde(skip)]
    pub found: Option<String>,
    /// The only site it may be sent to, once it was looked up.
    #[serde(skip)]
    pub site: Option<String>,
}

/// A row of `[[auth]]`: credentials for one host.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuthSettings {
    /// `example.org`, `example.org:8080` or `https://example.org`; for other protocols than the
    /// web's with the scheme, such as `ftp://example.org`.
    pub host: String,
    /// Only for this realm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub realm: Option<String>,
    /// The name, for Basic and Digest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    /// The environment variable that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password_env: Option<String>,
    /// The file that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password_file: Option<PathBuf>,
    /// The private key, for SFTP; the password, if there is one, unlocks it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_file: Option<PathBuf>,
    /// Whether the password may be sent without TLS, by FTP and NNTP.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub allow_plain: bool,
    /// The token, for Bearer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The environment variable that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_env: Option<String>,
    /// The file that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_file: Option<PathBuf>,
}

impl fmt::Debug for AuthSettings {
    /// Omits the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AuthSettings({}, {:?})", self.host, self.user)
    }
}

/// The number of a step in the catalogue: derived from its name, so that steps may be added and
/// moved.
pub fn number(name: &str) -> u32 {
    u32::try_from(UrlKey::of(name).0 & 0x7fff_ffff).unwrap_or(1).max(1)
}

/// A regular expression on URLs, as a scope of what matches.
pub fn matching(regex: &str) -> Result<Scope, ScopeError> {
    let rules = vec![ScopeRule::Allow(regex.to_owned())];
    Scope::new(&ScopeSpec { mode: Mode::Any, rules, ..ScopeSpec::default() }, &[])
}
