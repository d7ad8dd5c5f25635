//! What did the user ask for?
//!
//! One TOML file per project, with sections named like the crates. [`Settings`] is what is written
//! there, every key with its default; command line flags override single keys. Unknown keys are
//! refused with the nearest known one.

use crate::documents::DocumentSettings;
use crate::examine::Wrong;
use crate::hours::LimitSettings;
use crate::index::{IndexSettings, SearchSettings};
use crate::outputs::OutputSettings;
use crate::position::TextPosition;
use crate::render::RenderSettings;
use crate::steps::{self, AuthSettings, StepSettings};
use crate::timetable::ScheduleSettings;
use crate::track::TrackSettings;
use crate::units::{ByteSize, HumanDuration, Rate};
use crate::ways::{EngineSettings, read_seeds};
use orb_frontier::TrapLimits;
use orb_urls::{Rules, ScopeSpec};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A project as written in its file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The project's name; by default the file's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where to start: URLs, `@file` with one URL per line, `?phrase` for the search engine, or a
    /// URL with `follow-only`.
    #[serde(deserialize_with = "read_seeds")]
    pub seeds: Vec<String>,
    /// The machines that may work on it, where several share it; none means all.
    pub machines: Vec<String>,
    /// Who is asked for phrases.
    pub search_engine: EngineSettings,
    /// Canonical form of URLs.
    pub urls: Rules,
    /// What belongs to the collection.
    pub scope: ScopeSpec,
    /// What next, and when.
    pub frontier: FrontierSettings,
    /// How to fetch.
    pub fetch: FetchSettings,
    /// When to use a browser.
    pub render: RenderSettings,
    /// How to speak FTP.
    pub ftp: FtpSettings,
    /// How to speak SFTP.
    pub sftp: SftpSettings,
    /// Where newsgroups are.
    pub nntp: NntpSettings,
    /// Which files of this machine may be read.
    pub files: FileSettings,
    /// Documents that are no web pages.
    pub documents: DocumentSettings,
    /// How much of a shared line, and when.
    pub limits: LimitSettings,
    /// What to store.
    pub store: StoreSettings,
    /// How to run.
    pub crawl: CrawlSettings,
    /// The text index.
    pub index: IndexSettings,
    /// How to search in it.
    pub search: SearchSettings,
    /// How to revisit.
    pub track: TrackSettings,
    /// When to run.
    pub schedule: ScheduleSettings,
    /// Who is notified of changes, and how.
    pub outputs: OutputSettings,
    /// The path to the pages, step by step.
    pub steps: Vec<StepSettings>,
    /// Credentials for hosts that ask.
    pub auth: Vec<AuthSettings>,
    /// The logins of the netrc file, once it is read; never kept.
    #[serde(skip)]
    pub netrc_logins: Vec<AuthSettings>,
}

/// The order in which pages are fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OrderName {
    /// Breadth first.
    #[default]
    Bfs,
    /// Depth first.
    Dfs,
    /// Best first.
    Best,
    /// At random.
    Random,
}

/// Section `[frontier]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FrontierSettings {
    /// `bfs`, `dfs`, `best` or `random`.
    pub order: OrderName,
    /// Minimum delay between two requests to one host, and to one address.
    pub delay: HumanDuration,
    /// Maximum concurrent requests to one host; with a delay there is never more than one.
    pub per_host: usize,
    /// Maximum distance from a seed in links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Stop after this many pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_pages: Option<u64>,
    /// Stop after this many bytes of bodies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<ByteSize>,
    /// Stop after this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_time: Option<HumanDuration>,
    /// Retries after a temporary failure.
    pub retries: u32,
    /// Maximum length of a redirect chain.
    pub max_redirects: u8,
    /// Whether to fetch what robots.txt disallows, too.
    pub ignore_robots: bool,
    /// Maximum age of a robots.txt before it is fetched again.
    pub robots_max_age: HumanDuration,
    /// Maximum Crawl-delay honoured; a longer one counts as this.
    pub max_crawl_delay: HumanDuration,
    /// Maximum back-off of a failing host.
    pub max_backoff: HumanDuration,
    /// Whether to read the sitemaps that robots.txt lists.
    pub sitemaps: bool,
    /// Whether to follow `nofollow` links, and links on `nofollow` pages.
    pub follow_nofollow: bool,
    /// Whether to learn which addresses of a host lead to one page, and fetch only one of them.
    pub learn_aliases: bool,
    /// Words that make a page important in best-first order.
    pub topic: Vec<String>,
    /// Maximum hosts in memory; the others wait on disk.
    pub workbench: usize,
    /// Which failures are transient.
    pub retry: RetrySettings,
    /// Limits against endless sites.
    pub traps: TrapLimits,
}

impl Default for FrontierSettings {
    fn default() -> Self {
        Self {
            order: OrderName::Bfs,
            delay: HumanDuration(Duration::from_secs(1)),
            per_host: 8,
            depth: None,
            max_pages: None,
            max_bytes: None,
            max_time: None,
            retries: 2,
            max_redirects: 10,
            ignore_robots: false,
            robots_max_age: HumanDuration(Duration::from_secs(86_400)),
            max_crawl_delay: HumanDuration(Duration::from_secs(60)),
            max_backoff: HumanDuration(Duration::from_secs(300)),
            sitemaps: true,
            learn_aliases: true,
            follow_nofollow: false,
            topic: Vec::new(),
            workbench: 10_000,
            retry: RetrySettings::default(),
            traps: TrapLimits::default(),
        }
    }
}

/// Section `[frontier.retry]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetrySettings {
    /// Status codes that are retried. Broken connections and timeouts always are.
    pub codes: Vec<u16>,
}

impl Default for RetrySettings {
    fn default() -> Self {
        Self { codes: orb_frontier::RETRY_CODES.to_vec() }
    }
}

/// Section `[fetch]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FetchSettings {
    /// The user agent; its first word is the name looked up in robots.txt.
    pub user_agent: String,
    /// Maximum open connections, including those still closing.
    pub connections: usize,
    /// Timeout for the start of a response, and between two parts of it.
    pub timeout: HumanDuration,
    /// Timeout for a connection, and for its TLS handshake.
    pub connect_timeout: HumanDuration,
    /// Maximum duration of a whole response.
    pub total_timeout: HumanDuration,
    /// Larger bodies are truncated; the page is BINARY.
    pub max_size: ByteSize,
    /// Media types to fetch, such as `text/html` or `image/*`; none means all.
    pub accept: Vec<String>,
    /// A proxy: `http://[user:password@]host:port`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// Fixed addresses: `HOST:PORT:ADDR`.
    pub resolve: Vec<String>,
    /// A name server to use instead of the system's: `ADDR:PORT`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dns: Option<String>,
    /// The address of this machine that connections come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<IpAddr>,
    /// Total rate of all downloads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Rate>,
    /// Whether private addresses are allowed everywhere, not only for seeds.
    pub allow_private: bool,
    /// Whether a seed with a private address opens its own host.
    pub private_seeds: bool,
    /// Whether to keep cookies during a run.
    pub cookies: bool,
    /// Initial cookies: a browser's cookies.txt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cookies_file: Option<PathBuf>,
    /// Whether FTP logs in with what the user's netrc file says.
    pub netrc: bool,
    /// Whether to offer HTTP/2 over TLS.
    pub http2: bool,
    /// Additional root certificates (PEM).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
    /// Accept any certificate.
    pub insecure: bool,
}

impl Default for FetchSettings {
    fn default() -> Self {
        Self {
            user_agent: format!("Orbweaver/{}", env!("CARGO_PKG_VERSION")),
            connections: 128,
            timeout: HumanDuration(Duration::from_secs(20)),
            connect_timeout: HumanDuration(Duration::from_secs(10)),
            total_timeout: HumanDuration(Duration::from_secs(300)),
            max_size: ByteSize(10_000_000),
            accept: Vec::new(),
            proxy: None,
            resolve: Vec::new(),
            dns: None,
            source: None,
            bandwidth: None,
            allow_private: false,
            private_seeds: true,
            cookies: true,
            cookies_file: None,
            netrc: false,
            http2: true,
            ca_file: None,
            insecure: false,
        }
    }
}

/// Section `[ftp]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FtpSettings {
    /// `try`, `require` or `off`.
    pub tls: FtpTlsName,
}

/// Whether FTP is spoken under TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FtpTlsName {
    /// Where the server offers it.
    #[default]
    Try,
    /// Or not at all.
    Require,
    /// Never.
    Off,
}

/// Section `[sftp]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SftpSettings {
    /// The program that speaks SSH.
    pub program: PathBuf,
    /// The keys that servers may have, in the format of OpenSSH.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known_hosts: Option<PathBuf>,
}

impl Default for SftpSettings {
    fn default() -> Self {
        Self { program: "ssh".into(), known_hosts: None }
    }
}

/// Section `[nntp]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NntpSettings {
    /// The server that `news:` seeds are on: `host`, `host:port`, `nntp://host` or `nntps://host`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
}

/// Section `[files]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FileSettings {
    /// Directories that may be read besides those of the seeds.
    pub roots: Vec<PathBuf>,
}

/// Section `[store]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StoreSettings {
    /// Whether to store the bytes in WARC files.
    pub archive: bool,
    /// Whether to keep the link table.
    pub links: bool,
    /// Size at which a WARC file is rotated.
    pub warc_size: ByteSize,
    /// gzip level of the WARC files, 1 (fast) to 12 (small).
    pub warc_level: u8,
    /// Pause while there is less free disk space than this.
    pub min_free: ByteSize,
    /// Maximum memory for known URLs.
    pub index_memory: ByteSize,
    /// On a shared store, how many shards a new project has; by default as the store says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shards: Option<u16>,
}

impl Default for StoreSettings {
    fn default() -> Self {
        Self {
            archive: true,
            links: true,
            warc_size: ByteSize(1_000_000_000),
            warc_level: 1,
            min_free: ByteSize(200_000_000),
            index_memory: ByteSize(800_000_000),
            shards: None,
        }
    }
}

/// Section `[crawl]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CrawlSettings {
    /// Number of reading threads; 0 means one per core.
    pub workers: usize,
    /// Prefix of the workers' names.
    pub worker_name: String,
    /// Maximum pages fetched and not yet recorded; one half is recorded while the other is fetched.
    pub batch_pages: usize,
    /// How long a page waits for others to be recorded with.
    pub batch_time: HumanDuration,
}

impl Default for CrawlSettings {
    fn default() -> Self {
        Self {
            workers: 0,
            worker_name: "orb".to_owned(),
            batch_pages: 1_000,
            batch_time: HumanDuration(Duration::from_millis(500)),
        }
    }
}

/// What is wrong with a project file.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// It cannot be read.
    #[error("cannot read {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Its content is invalid.
    #[error("{path}:{}:{}: {what}", place.line, place.column)]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Its position.
        place: TextPosition,
        /// The path of the key; `None` if the text is not TOML there, or says something unknown.
        key: Option<String>,
        /// What is wrong there.
        what: String,
    },
    /// Its end is missing.
    #[error("{path} is cut off: put it back, or end it with the line '{end}' if it is as you want it")]
    CutOff {
        /// The file.
        path: PathBuf,
        /// The line that should be its last.
        end: &'static str,
    },
}

impl SettingsError {
    /// An invalid setting with its position in the text it was parsed from.
    pub(crate) fn at(wrong: Wrong, text: &str, path: &Path) -> Self {
        let place = TextPosition::of_key(text, &wrong.key);
        Self::Malformed { path: path.to_owned(), place, key: Some(wrong.key), what: wrong.what }
    }
}

impl Settings {
    /// Reads and validates a project file that a user wrote.
    pub fn read(path: &Path) -> Result<Self, SettingsError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| SettingsError::Read { path: path.to_owned(), source })?;
        Self::parse(&text, path)?.examined(&text, path)
    }

    /// Parses the text of a project file; `path` is only for messages.
    pub fn parse(text: &str, path: &Path) -> Result<Self, SettingsError> {
        Self::parse_as(text, path)
    }

    /// Parses another file of that kind, with the same error messages.
    pub fn parse_as<T: serde::de::DeserializeOwned>(text: &str, path: &Path) -> Result<T, SettingsError> {
        toml::from_str(text).map_err(|e: toml::de::Error| {
            let place = TextPosition::of(text, e.span().map_or(0, |s| s.start));
            SettingsError::Malformed { path: path.to_owned(), place, key: None, what: explain(e.message()) }
        })
    }

    /// Validates the settings; errors carry the position in the text they were parsed from.
    pub fn examined(self, text: &str, path: &Path) -> Result<Self, SettingsError> {
        match self.examine() {
            Ok(()) => Ok(self),
            Err(wrong) => Err(SettingsError::at(wrong, text, path)),
        }
    }

    /// An error with its position in the file; `None` if the file cannot be read or does not
    /// contain the key.
    pub fn blamed(path: &Path, wrong: &Wrong) -> Option<SettingsError> {
        let text = std::fs::read_to_string(path).ok()?;
        let section = wrong.key.split(['[', '.']).next().unwrap_or_default();
        let says = text.parse::<toml::Table>().is_ok_and(|table| table.contains_key(section));
        says.then(|| SettingsError::at(wrong.clone(), &text, path))
    }

    /// The same without passwords, as it may be stored with the collection.
    pub fn without_passwords(&self) -> Self {
        let mut shown = self.clone();
        let hooks = shown.outputs.webhook.iter_mut().map(|hook| {
            hook.secret = None;
            &mut hook.url
        });
        let urls = shown.seeds.iter_mut().chain(&mut shown.fetch.proxy).chain(hooks);
        urls.for_each(|url| *url = without_user(url));
        steps::without_secrets(&mut shown.steps, &mut shown.auth);
        shown
    }

    /// Whether pages are judged differently than under the settings of an earlier run, given as
    /// text.
    pub fn judges_otherwise(&self, before: &str) -> bool {
        toml::from_str::<Self>(before).is_ok_and(|before| {
            before.scope != self.scope
                || before.without_passwords().seeds != self.without_passwords().seeds
                || before.steps != self.without_passwords().steps
                || before.frontier.depth != self.frontier.depth
                || before.frontier.follow_nofollow != self.frontier.follow_nofollow
                || before.frontier.learn_aliases != self.frontier.learn_aliases
                || before.frontier.traps != self.frontier.traps
        })
    }

    /// Whether the trap limits were different under these settings.
    pub fn traps_otherwise(&self, before: &str) -> bool {
        toml::from_str::<Self>(before).is_ok_and(|before| before.frontier.traps != self.frontier.traps)
    }

    /// The file's text.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }
}

/// A URL as a user writes it, without `user:password@`.
pub fn without_user(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (&url[..scheme.len() + 3], rest));
    let end = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        Some(at) if at > 0 => format!("{scheme}{}", &rest[at + 1..]),
        _ => url.to_owned(),
    }
}

/// The parser's message in one line, with the nearest known key if one was misspelt.
fn explain(message: &str) -> String {
    let message = message.lines().collect::<Vec<_>>().join(" ");
    let mut names = message.split('`').skip(1).step_by(2);
    if !(message.starts_with("unknown field") || message.starts_with("unknown variant")) {
        return message;
    }
    let Some(wrong) = names.next() else { return message };
    let what = if message.starts_with("unknown field") { "key" } else { "value" };
    let known: Vec<&str> = names.collect();
    match nearest(wrong, &known) {
        Some(near) => format!("unknown {what} `{wrong}`; did you mean `{near}`?"),
        None => format!("unknown {what} `{wrong}`; known here: {}", known.join(", ")),
    }
}

/// The name nearest to a misspelt one, if any is near.
pub fn nearest<'a>(wrong: &str, known: &[&'a str]) -> Option<&'a str> {
    let limit = (wrong.len() / 3).clamp(1, 3);
    known.iter().map(|k| (edits(wrong, k), *k)).filter(|(d, _)| *d <= limit).min().map(|(_, k)| k)
}

/// Edit distance of two short names, with transpositions (optimal string alignment).
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let swap = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + swap);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(text: &str) -> String {
        Settings::parse(text, Path::new("p.toml")).unwrap_err().to_string()
    }

    #[test]
    fn an_unknown_key_is_refused_with_the_nearest_known_one() {
        assert_eq!(
            error_of("seeds = []\n[frontier]\ndealy = \"1s\"\n"),
            "p.toml:3:1: unknown key `dealy`; did you mean `delay`?"
        );
    }

    #[test]
    fn a_wrong_value_is_named_with_its_line() {
        assert_eq!(
            error_of("[fetch]\n\ntimeout = \"soon\"\n"),
            "p.toml:3:11: 'soon' is not a duration; write it like 500ms, 2s, 5m, 1h or 7d"
        );
        assert_eq!(error_of("[frontier]\norder = \"bsf\"\n"), "p.toml:2:9: unknown value `bsf`; did you mean `bfs`?");
    }

    #[test]
    fn passwords_are_left_out_of_what_is_kept_with_a_run() {
        for (written, kept) in [
            ("http://me:pw@h.test:81/a@b?c@d", "http://h.test:81/a@b?c@d"),
            ("me:p@w@h.test", "h.test"),
            ("@seeds.txt", "@seeds.txt"),
            ("http://h.test/@x", "http://h.test/@x"),
        ] {
            assert_eq!(without_user(written), kept);
        }
        let mut settings = Settings { seeds: vec!["http://me:pw@h.test/".into()], ..Settings::default() };
        settings.fetch.proxy = Some("http://you:secret@proxy.test:3128".into());
        let hook = "[[outputs.webhook]]\nurl = 'http://you:secret@hook.test/'\nsecret = 'secret'\n";
        settings.outputs = Settings::parse(hook, Path::new("p.toml")).unwrap().outputs;
        assert_eq!(format!("{:?}", settings.outputs.webhook), "[WebhookSettings(http://hook.test/, secret: true)]");
        let kept = settings.without_passwords().to_toml();
        assert!(!kept.contains("pw@") && !kept.contains("secret") && kept.contains("proxy.test:3128"), "{kept}");
        assert!(!settings.judges_otherwise(&kept));
    }

    #[test]
    fn settings_written_and_read_again_are_the_same() {
        let settings = Settings { seeds: vec!["http://a.test/".into()], ..Settings::default() };
        assert_eq!(Settings::parse(&settings.to_toml(), Path::new("p.toml")).unwrap(), settings);
    }
}
