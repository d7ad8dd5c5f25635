//! What can be said to `orb crawl` and `orb track`?

use crate::args::StoreArgs;
use crate::command::worker::WorkerPart;
use clap::{ArgMatches, Args, ValueEnum};
use orb_crawl::track::Policy;
use orb_project::units::{ByteSize, HumanDuration, Rate};
use orb_urls::scope::ScopeRule;
use std::path::PathBuf;

/// `--allow` and `--deny` in the order in which they appear on the command line.
pub(super) fn ordered_rules(matches: &ArgMatches) -> Vec<ScopeRule> {
    let of = |name: &str, rule: fn(String) -> ScopeRule| {
        let places = matches.indices_of(name).into_iter().flatten();
        let values = matches.get_many::<String>(name).into_iter().flatten().cloned();
        places.zip(values.map(rule)).collect::<Vec<_>>()
    };
    let mut rules = of("allow", ScopeRule::Allow);
    rules.extend(of("deny", ScopeRule::Deny));
    rules.sort_by_key(|(place, _)| *place);
    rules.into_iter().map(|(_, rule)| rule).collect()
}

/// A visiting policy by its name.
fn policy(name: &str) -> Result<Policy, String> {
    let known = || Policy::ALL.map(Policy::name).join(", ");
    Policy::ALL.into_iter().find(|policy| policy.name() == name).ok_or_else(|| format!("there are {}", known()))
}

/// `orb track`.
#[derive(Debug, Args)]
#[command(mut_arg("seeds", |seeds| seeds.required(false).required_unless_present("history").value_name("PROJECT|PROJECT.toml").help("The project, or its file")))]
pub(crate) struct TrackArgs {
    #[command(flatten)]
    pub(crate) crawl: CrawlArgs,
    /// Exit with code 3 if something is new, updated or missing
    #[arg(long)]
    pub(crate) fail_on_change: bool,
    /// Visit only the pages that are due under the project's budget ([track] budget), and the seeds
    #[arg(long)]
    pub(crate) due: bool,
    /// Visit this many of the known pages, the most worthwhile first, and the seeds
    #[arg(long, value_name = "N", conflicts_with = "due", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) budget: Option<u64>,
    /// Visit nothing; compare strategies for choosing visits on recorded visits or on a mix of
    /// synthetic pages
    #[arg(long)]
    pub(crate) simulate: bool,
    /// What to simulate: recorded visits, or a file such as examples/freshness-mix.toml
    #[arg(long, value_name = "recorded|FILE", requires = "simulate")]
    pub(crate) history: Option<String>,
    /// Strategies: uniform, proportional, known, learning [default: all]
    #[arg(long, value_name = "POLICY", requires = "simulate", value_delimiter = ',', value_parser = policy)]
    pub(crate) policies: Vec<Policy>,
}

/// `orb crawl`.
#[derive(Debug, Args)]
pub(crate) struct CrawlArgs {
    /// A URL, @file with one URL per line, "?words" for a search engine, a project file (.toml), or
    /// the name of a project to resume
    #[arg(required = true, value_name = "SEED|PROJECT.toml")]
    pub(crate) seeds: Vec<String>,
    /// The search engine to ask for "?words": the URL of its answers, with {searchTerms} and
    /// {startPage?}
    #[arg(long, value_name = "TEMPLATE")]
    pub(crate) engine: Option<String>,
    /// The project's name [default: the first seed's host]
    #[arg(long, value_name = "NAME")]
    pub(crate) project: Option<String>,
    /// Maximum number of links to follow from a seed
    #[arg(long, value_name = "N")]
    pub(crate) depth: Option<u32>,
    /// Stop after this many pages
    #[arg(long, value_name = "N")]
    pub(crate) max_pages: Option<u64>,
    /// Stop after this many bytes, e.g. 500MB
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_bytes: Option<ByteSize>,
    /// Stop after this time, e.g. 30m
    #[arg(long, value_name = "DUR")]
    pub(crate) max_time: Option<HumanDuration>,
    /// Which URLs belong to the collection [default: host]
    #[arg(long, value_enum, value_name = "SCOPE")]
    pub(crate) scope: Option<ScopeName>,
    /// Keep URLs that match (--allow and --deny are tried in the order given; the first match
    /// decides)
    #[arg(long, value_name = "REGEX")]
    pub(crate) allow: Vec<String>,
    /// Skip URLs that match
    #[arg(long, value_name = "REGEX")]
    pub(crate) deny: Vec<String>,
    /// Both of them, in the order given
    #[arg(skip)]
    pub(crate) rules: Vec<ScopeRule>,
    /// Fetch only bodies of this media type, e.g. text/html or image/*; may be repeated
    #[arg(long, value_name = "MIME", value_delimiter = ',')]
    pub(crate) accept: Vec<String>,
    /// Do not fetch larger bodies completely [default: 10MB; documents 50MB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_size: Option<ByteSize>,
    /// Crawl order [default: bfs]
    #[arg(long, value_enum, value_name = "ORDER")]
    pub(crate) order: Option<OrderArg>,
    /// Minimum time between requests to a host, and to an IP address [default: 1s]
    #[arg(long, value_name = "DUR")]
    pub(crate) delay: Option<HumanDuration>,
    /// Maximum number of open connections [default: 128]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) connections: Option<u32>,
    /// Concurrent requests per host when the delay is 0 [default: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) per_host: Option<u32>,
    /// Total download rate, e.g. 10MB/s or 20Mbit/s
    #[arg(long, value_name = "RATE")]
    pub(crate) bandwidth: Option<Rate>,
    /// The User-Agent header; its first word is the name looked up in robots.txt
    #[arg(long, value_name = "S")]
    pub(crate) user_agent: Option<String>,
    /// A proxy, http://[user:password@]host:port
    #[arg(long, value_name = "URL")]
    pub(crate) proxy: Option<String>,
    /// A fixed address for a host; may be repeated
    #[arg(long, value_name = "HOST:PORT:ADDR")]
    pub(crate) resolve: Vec<String>,
    /// Use this name server instead of the system's
    #[arg(long, value_name = "ADDR:PORT")]
    pub(crate) dns: Option<String>,
    /// Allow all private addresses, not only those of seeds
    #[arg(long)]
    pub(crate) allow_private: bool,
    /// Additional CA certificates to trust (PEM)
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    /// Initial cookies: a cookies.txt file as written by browser extensions and curl
    #[arg(long, value_name = "FILE")]
    pub(crate) cookies: Option<PathBuf>,
    /// Accept any certificate
    #[arg(long)]
    pub(crate) insecure: bool,
    /// Also fetch what robots.txt disallows
    #[arg(long)]
    pub(crate) ignore_robots: bool,
    /// Continue although archive files are damaged or missing
    #[arg(long)]
    pub(crate) despite_damage: bool,
    /// Render pages in a browser [default: never]
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(crate) render: Option<Render>,
    /// Keep a picture of every rendered page
    #[arg(long)]
    pub(crate) screenshots: bool,
    /// Keep no WARC files
    #[arg(long)]
    pub(crate) no_archive: bool,
    /// Keep no text index
    #[arg(long)]
    pub(crate) no_index: bool,
    /// Keep no link table
    #[arg(long)]
    pub(crate) no_links: bool,
    /// Time to wait for a response to begin, and between its pieces [default: 20s]
    #[arg(long, value_name = "DUR")]
    pub(crate) timeout: Option<HumanDuration>,
    /// Retries after a transient failure [default: 2]
    #[arg(long, value_name = "N")]
    pub(crate) retries: Option<u32>,
    /// Threads that parse pages [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_024))]
    pub(crate) workers: Option<u32>,
    #[command(flatten)]
    pub(crate) place: StoreArgs,
    /// On a shared store, only these machines may work on the project; may be repeated
    #[arg(long, value_name = "MACHINE", requires = "store")]
    pub(crate) on: Vec<String>,
    /// The project is on the shared store that the environment names, also if the home has one of
    /// its name.
    #[arg(long, hide = true)]
    pub(crate) shared: bool,
    /// Begin or resume the run of this number on a shared store, and no other.
    #[arg(long, value_name = "N", hide = true)]
    pub(crate) run_number: Option<u32>,
    #[command(flatten)]
    pub(crate) part: WorkerPart,
}

/// Names of scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeName {
    /// The seeds' hosts
    Host,
    /// The seeds' registrable domains
    Domain,
    /// Below the seeds' directories
    Prefix,
    /// The seeds' hosts and the pages they link to
    Neighbours,
    /// Everything
    Any,
}

/// Names of orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderArg {
    /// Breadth first
    Bfs,
    /// Depth first
    Dfs,
    /// Most important first
    Best,
    /// Random
    Random,
}

/// When to render.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Render {
    /// Never
    Never,
    /// If a page is empty without its scripts, or pages like it are
    Auto,
    /// Every HTML page
    Always,
}
