//! Who is to be notified of changes, and where?

use crate::examine::Wrong;
use crate::settings::without_user;
use crate::units::HumanDuration;
use orb_page::Flag;
use orb_urls::{Canonicaliser, Rules};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// Maximum webhooks per project.
const MOST_HOOKS: usize = 16;

/// Section `[outputs]`: what is written about changes after a run. Paths are relative to the
/// project's directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OutputSettings {
    /// An Atom file of the latest changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub atom: Option<PathBuf>,
    /// Maximum changes in it.
    pub atom_entries: usize,
    /// A JSON Lines file that grows with each change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jsonl: Option<PathBuf>,
    /// A directory with the pages that changed, as Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub markdown: Option<PathBuf>,
    /// Webhooks.
    pub webhook: Vec<WebhookSettings>,
}

impl Default for OutputSettings {
    fn default() -> Self {
        Self { atom: None, atom_entries: 200, jsonl: None, markdown: None, webhook: Vec::new() }
    }
}

/// A webhook.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebhookSettings {
    /// Its URL.
    pub url: String,
    /// The signing secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// The environment variable with the signing secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_env: Option<String>,
    /// What it is told of.
    #[serde(default = "changes_alone")]
    pub events: Vec<HookEvent>,
    /// Which changes are delivered.
    #[serde(default = "every_change")]
    pub flags: Vec<FlagName>,
    /// Maximum changes per request.
    #[serde(default = "a_batch")]
    pub batch: usize,
    /// Timeout of a response.
    #[serde(default = "a_wait")]
    pub timeout: HumanDuration,
    /// Retries after the first attempt.
    #[serde(default = "some_retries")]
    pub retries: u32,
}

impl std::fmt::Debug for WebhookSettings {
    /// Omits the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "WebhookSettings({}, secret: {})", without_user(&self.url), self.secret.is_some())
    }
}

/// What a webhook can be told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HookEvent {
    /// What a run has found changed.
    #[serde(rename = "changes")]
    Changes,
    /// That a run has ended.
    #[serde(rename = "run.finished")]
    RunFinished,
    /// That a run could not go on.
    #[serde(rename = "run.failed")]
    RunFailed,
}

impl HookEvent {
    /// Its name, which is the type of what is sent.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Changes => "changes",
            Self::RunFinished => "run.finished",
            Self::RunFailed => "run.failed",
        }
    }
}

fn changes_alone() -> Vec<HookEvent> {
    vec![HookEvent::Changes]
}

/// A flag in a project file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum FlagName {
    /// Seen for the first time.
    New,
    /// Changed.
    Upd,
    /// Gone.
    Mis,
    /// Could not be fetched this time.
    Err,
}

impl FlagName {
    /// The flag.
    pub const fn flag(self) -> Flag {
        match self {
            Self::New => Flag::New,
            Self::Upd => Flag::Updated,
            Self::Mis => Flag::Missing,
            Self::Err => Flag::Error,
        }
    }
}

fn every_change() -> Vec<FlagName> {
    vec![FlagName::New, FlagName::Upd, FlagName::Mis]
}

const fn a_batch() -> usize {
    100
}

const fn a_wait() -> HumanDuration {
    HumanDuration(Duration::from_secs(10))
}

const fn some_retries() -> u32 {
    3
}

impl OutputSettings {
    /// Whether nothing is configured.
    pub fn is_empty(&self) -> bool {
        self.atom.is_none() && self.jsonl.is_none() && self.markdown.is_none() && self.webhook.is_empty()
    }

    /// What is invalid.
    pub(crate) fn examine(&self) -> Vec<Wrong> {
        let mut wrongs = Vec::new();
        if !(1..=10_000).contains(&self.atom_entries) {
            wrongs.push(Wrong::new("outputs.atom_entries", "a feed holds 1 to 10000 entries"));
        }
        let paths = [("atom", &self.atom), ("jsonl", &self.jsonl), ("markdown", &self.markdown)];
        for (n, (name, path)) in paths.iter().enumerate() {
            let key = format!("outputs.{name}");
            match path {
                Some(path) if path.as_os_str().is_empty() => wrongs.push(Wrong::new(key, "an empty path")),
                Some(path) if paths[..n].iter().any(|(_, other)| other.as_ref() == Some(path)) => {
                    wrongs.push(Wrong::new(key, "two outputs are written to the same place"));
                }
                _ => {}
            }
        }
        if self.webhook.len() > MOST_HOOKS {
            wrongs.push(Wrong::new(
                format!("outputs.webhook[{MOST_HOOKS}]"),
                format!("a project has {MOST_HOOKS} webhooks at most"),
            ));
        }
        let hooks = self.webhook.iter().enumerate();
        wrongs.extend(hooks.flat_map(|(n, hook)| hook.examine(n, &self.webhook[..n])));
        wrongs
    }
}

impl WebhookSettings {
    fn examine(&self, n: usize, before: &[Self]) -> Vec<Wrong> {
        let wrong = |key: &str, what: String| Wrong::new(format!("outputs.webhook[{n}].{key}"), what);
        let read = Canonicaliser::new(Rules { strip_userinfo: false, ..Rules::default() }).parse_seed(&self.url);
        let http = read.is_ok() && ["http://", "https://"].iter().any(|scheme| self.url.starts_with(scheme));
        let twice = before.iter().any(|other| other.url == self.url);
        [
            ("url", !http, format!("'{}' is not a webhook URL; write it like https://example.org/hook", self.url)),
            ("url", twice, "two webhooks have the same URL".to_owned()),
            (
                "secret_env",
                self.secret.is_some() && self.secret_env.is_some(),
                "say secret or secret_env, not both".to_owned(),
            ),
            ("events", self.events.is_empty(), "a webhook without events never receives anything".to_owned()),
            ("flags", self.flags.is_empty(), "a webhook without flags never receives anything".to_owned()),
            ("batch", !(1..=10_000).contains(&self.batch), "a batch holds 1 to 10000 changes".to_owned()),
            ("timeout", self.timeout.0.is_zero(), "a wait of nothing".to_owned()),
            (
                "retries",
                self.retries > 20,
                "20 retries at most: what fails is sent again after the next run".to_owned(),
            ),
        ]
        .into_iter()
        .filter(|(_, is_so, _)| *is_so)
        .map(|(key, _, what)| wrong(key, what))
        .collect()
    }
}
