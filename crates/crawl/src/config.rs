//! What do the settings mean for each part?
//!
//! [`Settings`] is what the user wrote; [`Config`] is valid and complete: what each crate needs, in
//! its own types.

use crate::CrawlError;
use crate::drive::budget::Limits;
use crate::indexing::WordingRules;
use crate::read::ReadRules;
use crate::read::score::Topic;
use crate::read::sessions::Sessions;
use crate::record::RecorderRules;
use crate::record::replant::Replant;
use crate::scope::SharedScope;
use crate::steps::StepRules;
use crate::track::looks::Noises;
use crate::track::revisit::Revisits;
use crate::watch::machine;
use crate::watch::why::Bounds;
use orb_answers::helper_limits;
use orb_aside::Helpers;
use orb_fetch::{Credential, FetchConfig, FtpTls, HostKeys, Jar, Keyring, Timeouts};
use orb_frontier::{Budget, FrontierConfig, Order, Politeness, Retries};
use orb_page::RunId;
use orb_project::Schedule;
use orb_project::{DocumentSettings, FetchSettings, FrontierSettings, FtpTlsName, OrderName, Settings};
use orb_store::{ArchiveReader, RunCounters};
use orb_urls::{Address, Canonicaliser};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A valid crawl.
pub(crate) struct Config {
    /// How to fetch.
    pub fetch: FetchConfig,
    /// How to read.
    pub read: ReadRules,
    /// Number of reading threads.
    pub workers: usize,
    /// Number of threads that read documents.
    pub document_workers: usize,
    /// Prefix of their names.
    pub worker_name: String,
    /// Whether to read sitemaps that robots.txt names.
    pub sitemaps: bool,
    settings: Settings,
}

impl Config {
    /// Validates the settings and distributes them to the parts. `seeds` are those the user gave,
    /// without redirect targets and without hosts that were ever public: only they may be private.
    pub(crate) fn new(
        settings: &Settings,
        scope: Arc<SharedScope>,
        seeds: &[Address],
        dir: &Path,
        sessions: Arc<Sessions>,
    ) -> Result<Self, CrawlError> {
        let or_cores = |number: usize| if number == 0 { machine::cores() } else { number };
        let workers = or_cores(settings.crawl.workers);
        settings.examine()?;
        let mut fetch = fetch_config(&settings.fetch, seeds)?;
        fetch.per_host = settings.frontier.per_host;
        fetch.max_document_size = settings.documents.max_size.0;
        fetch.is_document = orb_extract::is_document_type;
        fetch.spool_dir = dir.to_owned();
        fetch.ftp_tls = match settings.ftp.tls {
            FtpTlsName::Try => FtpTls::Try,
            FtpTlsName::Require => FtpTls::Require,
            FtpTlsName::Off => FtpTls::Off,
        };
        fetch.ssh_program.clone_from(&settings.sftp.program);
        fetch.host_keys = Arc::new(HostKeys::new(settings.sftp.known_hosts.clone(), None));
        fetch.file_roots = file_roots(settings, seeds);
        let given = orb_project::credentials(&settings.auth)?.into_iter().chain(seed_logins(settings));
        let given = given.chain(orb_project::credentials(&settings.netrc_logins)?);
        fetch.keyring = Arc::new(Keyring::new(given.collect()));
        if let Some(file) = &settings.fetch.cookies_file {
            let jar = Jar::default();
            jar.load(file)?;
            fetch.jar = Arc::new(jar);
        }
        Ok(Self {
            fetch,
            read: read_rules(settings, scope, sessions, dir)?,
            workers,
            document_workers: or_cores(settings.documents.workers),
            worker_name: settings.crawl.worker_name.clone(),
            sitemaps: settings.frontier.sitemaps && settings.frontier.depth != Some(0),
            settings: settings.clone(),
        })
    }

    /// The same with the host keys that are seen for the first time pinned in a project.
    pub(crate) fn pinning(mut self, project: &Path) -> Self {
        let (trusted, pinned) = (self.settings.sftp.known_hosts.clone(), project.join("known_hosts"));
        self.fetch.host_keys = Arc::new(HostKeys::new(trusted, Some(pinned)));
        self
    }

    /// What the frontier needs, for a run that has already fetched this many pages.
    pub(crate) fn frontier(&self, pages: u64) -> FrontierConfig {
        let frontier = &self.settings.frontier;
        FrontierConfig {
            order: order(frontier),
            politeness: Politeness {
                delay: frontier.delay.0,
                per_host: frontier.per_host,
                max_crawl_delay: frontier.max_crawl_delay.0,
                max_backoff: frontier.max_backoff.0,
                ..Politeness::default()
            },
            budget: Budget { pages: frontier.max_pages.map(|max| max.saturating_sub(pages)) },
            retries: Retries { most: frontier.retries, codes: frontier.retry.codes.clone() },
            agent: agent(&self.settings.fetch).to_owned(),
            ignore_robots: frontier.ignore_robots,
            robots_max_age: frontier.robots_max_age.0,
            behind_proxy: self.settings.fetch.proxy.is_some(),
            workbench: frontier.workbench,
            traps: frontier.traps.clone(),
            ..FrontierConfig::default()
        }
    }

    /// What the frontier of a walk through the steps needs: no page counts towards the budget.
    pub(crate) fn walking(&self) -> FrontierConfig {
        FrontierConfig { budget: Budget { pages: None }, ..self.frontier(0) }
    }

    /// How to re-evaluate pages: if the settings of the last run would judge differently, and if
    /// depths matter and may have been corrected.
    pub(crate) fn replant(&self, before: &str) -> Option<Replant> {
        let rules = || {
            let traps = self.settings.traps_otherwise(before);
            Replant::new(self.read.clone(), order(&self.settings.frontier), traps)
        };
        (self.has_depth() || self.settings.judges_otherwise(before)).then(rules)
    }

    /// Whether pages are excluded by their distance from the seeds.
    pub(crate) fn has_depth(&self) -> bool {
        self.settings.frontier.depth.is_some() || self.read.steps.values().any(|rules| rules.depth.is_some())
    }

    /// Whether to learn which addresses of a host are aliases.
    pub(crate) fn learns_aliases(&self) -> bool {
        self.settings.frontier.learn_aliases
    }

    /// The user's settings.
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The same for a run that revisits pages.
    pub(crate) fn tracking(mut self, archive: ArchiveReader, noises: Noises) -> Result<Self, CrawlError> {
        let track = &self.settings.track;
        self.read.revisits = Some(Revisits {
            comparison: Arc::new(track.comparison()?),
            archive,
            noises: Arc::new(noises),
            looks: Arc::default(),
            confirm_missing: track.confirm_missing,
            second_look: track.second_look,
            limits: helper_limits(&self.settings.documents),
        });
        Ok(self)
    }

    /// What the recorder needs.
    pub(crate) fn recorder(&self, run: RunId) -> RecorderRules {
        let settings = &self.settings;
        RecorderRules {
            run,
            order: order(&settings.frontier),
            batch_time: settings.crawl.batch_time.0,
            links: settings.store.links,
            noises: self.read.revisits.as_ref().map(|revisits| Arc::clone(&revisits.noises)),
            revisited: None,
            by: self.worker_name.as_str().into(),
            min_free: settings.store.min_free.0,
            learn_aliases: self.learns_aliases(),
            read: self.read.clone(),
        }
    }

    /// What bounds the run's speed, as far as known beforehand.
    pub(crate) fn bounds(&self) -> Bounds {
        Bounds {
            delay: self.settings.frontier.delay.0.as_secs_f64(),
            per_host: self.settings.frontier.per_host as u64,
            connections: self.fetch.connections as u64,
            bandwidth: self.fetch.bandwidth,
            workers: self.workers as u64,
            cores: machine::cores() as u64,
        }
    }

    /// How much of the bandwidth the run may take, and when.
    pub(crate) fn schedule(&self) -> Schedule {
        Schedule::new(self.settings.limits.clone(), self.fetch.bandwidth, self.fetch.connections)
    }

    /// Maximum pages fetched and not yet committed.
    pub(crate) fn uncommitted(&self) -> usize {
        self.settings.crawl.batch_pages.max(1)
    }

    /// What is left of the byte and time budgets.
    pub(crate) fn limits(&self, used: &RunCounters) -> Limits {
        let frontier = &self.settings.frontier;
        let seconds = Duration::try_from_secs_f64(used.seconds).unwrap_or_default();
        Limits::new(frontier.max_bytes.map(|b| b.0), used.bytes, frontier.max_time.map(|t| t.0), seconds)
    }
}

fn order(frontier: &FrontierSettings) -> Order {
    match frontier.order {
        OrderName::Bfs => Order::Bfs,
        OrderName::Dfs => Order::Dfs,
        OrderName::Best => Order::Best,
        OrderName::Random => Order::Random { seed: 0 },
    }
}

/// The name by which robots.txt knows us: the first word of the user agent, up to its version.
pub(crate) fn agent(fetch: &FetchSettings) -> &str {
    fetch.user_agent.split(['/', ' ']).next().unwrap_or_default()
}

fn read_rules(
    settings: &Settings,
    scope: Arc<SharedScope>,
    sessions: Arc<Sessions>,
    dir: &Path,
) -> Result<ReadRules, CrawlError> {
    Ok(ReadRules {
        sessions,
        canonical: Arc::new(Canonicaliser::new(settings.urls)),
        scope,
        depth: settings.frontier.depth,
        steps: Arc::new(StepRules::of_all(settings)?),
        max_redirects: settings.frontier.max_redirects,
        follow_nofollow: settings.frontier.follow_nofollow,
        max_content: most_content(settings.fetch.max_size.0.saturating_mul(4)),
        max_document: most_content(settings.fetch.max_size.0.saturating_mul(4).max(settings.documents.max_size.0)),
        agent: agent(&settings.fetch).into(),
        topic: Arc::new(Topic::new(&settings.frontier.topic)),
        spool_dir: dir.to_owned(),
        archive_level: settings.store.archive.then_some(i32::from(settings.store.warc_level)),
        wording: settings.index.enabled.then(|| WordingRules::from(&settings.index)),
        revisits: None,
        helpers: Arc::new(helpers(&settings.documents)),
    })
}

/// The logins that seeds of other protocols than the web's are written with (`ftp://me:secret@h/`).
/// They leave the URL; who writes them there accepts that they may travel in the clear.
fn seed_logins(settings: &Settings) -> Vec<Credential> {
    settings.seeds.iter().filter_map(|seed| Credential::of_seed(seed)).collect()
}

/// The directories of this machine that a run may read: those of its seeds, where these are the
/// user's own, and what the settings add.
fn file_roots(settings: &Settings, seeds: &[Address]) -> Vec<PathBuf> {
    let is_file = |seed: &&Address| seed.scheme() == "file" && settings.fetch.private_seeds;
    seeds
        .iter()
        .filter(is_file)
        .filter_map(orb_fetch::directory_of)
        .chain(settings.files.roots.iter().cloned())
        .collect()
}

/// A maximum decoded size within reason.
fn most_content(size: u64) -> u64 {
    size.clamp(1_000_000, 1_000_000_000)
}

/// Who reads documents.
fn helpers(documents: &DocumentSettings) -> Helpers {
    let most = if documents.workers == 0 { machine::cores() } else { documents.workers };
    Helpers::new(most, helper_limits(documents))
}

pub(crate) fn fetch_config(fetch: &FetchSettings, seeds: &[Address]) -> Result<FetchConfig, CrawlError> {
    let wrong = |what: &str, text: &str| CrawlError::Setting(format!("'{text}' is not {what}"));
    let resolve = fetch.resolve.iter().map(|r| r.parse()).collect::<Result<Vec<_>, _>>()?;
    let proxy = fetch.proxy.as_deref().map(str::parse).transpose()?;
    let dns =
        fetch.dns.as_deref().map(|d| d.parse().map_err(|_| wrong("a name server; write it like 127.0.0.1:53", d)));
    let private_hosts = match fetch.allow_private {
        true => vec!["*".to_owned()],
        false if !fetch.private_seeds => Vec::new(),
        false => seeds.iter().map(|s| s.host().to_owned()).collect(),
    };
    Ok(FetchConfig {
        user_agent: fetch.user_agent.clone(),
        connections: fetch.connections,
        timeouts: Timeouts {
            dns: fetch.connect_timeout.0,
            connect: fetch.connect_timeout.0.min(fetch.timeout.0),
            tls: fetch.connect_timeout.0.min(fetch.timeout.0),
            head: fetch.timeout.0,
            idle: fetch.timeout.0,
            total: fetch.total_timeout.0,
        },
        max_size: fetch.max_size.0,
        accept: fetch.accept.clone(),
        proxy,
        resolve,
        dns: dns.transpose()?,
        source: fetch.source,
        ca_file: fetch.ca_file.clone(),
        insecure: fetch.insecure,
        bandwidth: fetch.bandwidth.map(|r| r.0),
        cookies: fetch.cookies,
        http2: fetch.http2,
        private_hosts,
        ..FetchConfig::default()
    })
}
