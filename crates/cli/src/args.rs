//! What can be said on the command line?

use clap::{ArgMatches, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use orb_answers::Window;
use orb_project::units::{ByteSize, HumanDuration, Rate};
use orb_track::rate::simulate::Policy;
use orb_urls::scope::ScopeRule;
use std::path::PathBuf;

/// Crawls web sites into a directory: WARC files, a database of pages and links, a text index, a
/// web graph.
#[derive(Debug, Parser)]
#[command(name = "orb", version, about, long_about = None, max_term_width = 110, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Parses the command line; help, version and wrong usage exit here.
    pub(crate) fn read() -> Self {
        let matches = Self::command().get_matches();
        let mut cli = Self::from_arg_matches(&matches).unwrap_or_else(|e| e.exit());
        match (&mut cli.command, matches.subcommand()) {
            (Command::Crawl(args), Some((_, crawl))) => args.rules = ordered_rules(crawl),
            (Command::Track(args), Some((_, track))) => args.crawl.rules = ordered_rules(track),
            _ => {}
        }
        cli
    }
}

/// `--allow` and `--deny` in the order in which they appear on the command line.
fn ordered_rules(matches: &ArgMatches) -> Vec<ScopeRule> {
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

/// Options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Common {
    /// The directory that holds all projects
    #[arg(long, global = true, default_value = "orb-data", value_name = "DIR")]
    pub(crate) home: PathBuf,
    /// Print the result as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print nothing but results and errors
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print a line on standard error for every page
    #[arg(long, short, global = true)]
    pub(crate) verbose: bool,
    /// How to show progress
    #[arg(long, global = true, value_enum, default_value_t = ProgressStyle::Auto, value_name = "STYLE")]
    pub(crate) progress: ProgressStyle,
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressStyle {
    /// A live display on a terminal, plain lines elsewhere
    Auto,
    /// A line every few seconds
    Plain,
    /// Nothing
    None,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Crawl from seeds, or resume a stopped crawl
    Crawl(Box<CrawlArgs>),
    /// Visit a project's pages again and report what is new, unchanged, updated, missing or in
    /// error
    Track(Box<TrackArgs>),
    /// Run every project that is due
    RunDue(crate::command::run_due::RunDueArgs),
    /// List projects with the state of their last run
    Status(StatusArgs),
    /// Show counts of sites, pages by kind, documents, images and links
    Stats(ProjectArgs),
    /// Report what a run found new, unchanged, updated, missing or in error
    Report(crate::command::report::ReportArgs),
    /// Print the change feed: JSON lines with a cursor
    Changes(crate::command::changes::ChangesArgs),
    /// Deliver pending changes to a project's feeds, files and webhooks
    Deliver(crate::command::deliver::DeliverArgs),
    /// Show one page: facts, versions, links
    Show(PageArgs),
    /// Print a page's content
    Cat(CatArgs),
    /// Show the difference between two versions of a page
    Diff(crate::command::diff::DiffArgs),
    /// Search the full text
    Search(crate::command::search::SearchArgs),
    /// Look a word up in the dictionary: pages and positions
    Words(crate::command::words::WordsArgs),
    /// List a page's links, or the links that changed since a run
    Links(LinksArgs),
    /// List the highest-ranked pages or hosts
    Top(crate::command::top::TopArgs),
    /// Build, inspect and export the web graph
    Graph(crate::command::graph::GraphArgs),
    /// Run a read-only SQL statement over the catalogue
    Sql(SqlArgs),
    /// Export tables, a database, a WACZ file, Markdown or graphs for other tools
    Export(crate::command::export::ExportArgs),
    /// Inspect, update or rebuild the text index
    Index(crate::command::index::IndexArgs),
    /// Verify that archive, catalogue, index and graph agree
    Check(ProjectArgs),
    /// Estimate disk, time and memory of a crawl
    Plan(crate::command::plan::PlanArgs),
    /// Inspect a URL, robots.txt, document, form or list of session ids without crawling
    Inspect(InspectArgs),
    /// List, create, show, edit and remove projects
    Project(ProjectCommandArgs),
    /// Crawl, track and show a small built-in web; needs no network
    Demo(DemoArgs),
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
    /// A URL, @file with one URL per line, a project file (.toml), or the name of a project to
    /// resume
    #[arg(required = true, value_name = "SEED|PROJECT.toml")]
    pub(crate) seeds: Vec<String>,
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
    /// Do not fetch larger bodies completely [default: 10MB]
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
    /// Render pages in a browser (only 'never' in this version)
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(crate) render: Option<Render>,
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
    /// Serve Prometheus metrics at http://ADDR/metrics; a port alone listens on the loopback
    /// interface
    #[arg(long, value_name = "ADDR")]
    pub(crate) metrics: Option<String>,
    /// Threads that parse pages [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_024))]
    pub(crate) workers: Option<u32>,
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
    /// If the page is an empty shell
    Auto,
    /// Every page
    Always,
}

/// `orb status`.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// The project [default: all projects]
    pub(crate) project: Option<String>,
    /// Show where the time goes, which hosts wait for what, and what would make it faster
    #[arg(long, requires = "project")]
    pub(crate) why: bool,
}

/// A command about a project.
#[derive(Debug, Args)]
pub(crate) struct ProjectArgs {
    /// The project
    pub(crate) project: String,
}

/// A command about a page.
#[derive(Debug, Args)]
pub(crate) struct PageArgs {
    /// The project
    pub(crate) project: String,
    /// The page's URL
    pub(crate) url: String,
}

/// `orb cat`.
#[derive(Debug, Args)]
pub(crate) struct CatArgs {
    #[command(flatten)]
    pub(crate) page: PageArgs,
    /// Output format
    #[arg(long = "as", value_enum, default_value_t = ContentFormat::Raw, value_name = "FORM")]
    pub(crate) form: ContentFormat,
    /// As run N saw it [default: the latest]
    #[arg(long, value_name = "N")]
    pub(crate) run: Option<u32>,
}

/// Content formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ContentFormat {
    /// The bytes, content decoded
    Raw,
    /// The visible text
    Text,
    /// Markdown
    Markdown,
}

/// How much of a list to print.
#[derive(Debug, Default, Args)]
pub(crate) struct ListingArgs {
    /// Maximum number of rows
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Number of rows to skip
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: u64,
}

impl ListingArgs {
    /// The wanted part of a list, with a default limit.
    pub(crate) fn window(&self, limit: u64) -> Window {
        Window { limit: self.limit.unwrap_or(limit), offset: self.offset }
    }
}

/// `orb links`.
#[derive(Debug, Default, Args)]
pub(crate) struct LinksArgs {
    /// The project
    pub(crate) project: String,
    /// The page's URL
    #[arg(required_unless_present = "since")]
    pub(crate) url: Option<String>,
    /// Where it points
    #[arg(long)]
    pub(crate) out: bool,
    /// What points to it, with anchor texts
    #[arg(long = "in", conflicts_with = "out")]
    pub(crate) backward: bool,
    /// Anchor texts of the links to it, most common first
    #[arg(long, requires = "backward")]
    pub(crate) anchors: bool,
    /// Every state its links ever had, with first and last run
    #[arg(long, conflicts_with_all = ["backward", "since"])]
    pub(crate) history: bool,
    /// Links that are new, lost or changed since this run, of all pages or of one
    #[arg(long, value_name = "RUN", conflicts_with = "backward", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) since: Option<u32>,
    /// Only links that are new since then
    #[arg(long, requires = "since")]
    pub(crate) new: bool,
    /// Only links that are lost since then
    #[arg(long, requires = "since")]
    pub(crate) lost: bool,
    /// Only links whose anchor text, rel or count changed since then
    #[arg(long, requires = "since")]
    pub(crate) changed: bool,
    #[command(flatten)]
    pub(crate) listing: ListingArgs,
}

/// `orb sql`.
#[derive(Debug, Args)]
pub(crate) struct SqlArgs {
    /// The project
    pub(crate) project: String,
    /// One read-only statement; '-' reads it from standard input
    #[arg(required_unless_present = "schema")]
    pub(crate) sql: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t = RowFormat::Table, value_name = "FORMAT")]
    pub(crate) format: RowFormat,
    /// Explain the tables, views and columns
    #[arg(long)]
    pub(crate) schema: bool,
    /// Time limit
    #[arg(long, value_name = "DUR", default_value = "60s")]
    pub(crate) timeout: HumanDuration,
    #[command(flatten)]
    pub(crate) listing: ListingArgs,
}

/// Row formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowFormat {
    /// Aligned columns
    Table,
    /// Comma-separated values
    Csv,
    /// One array of objects
    Json,
}

/// `orb inspect`.
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    #[command(subcommand)]
    pub(crate) what: Inspect,
}

/// What can be inspected.
#[derive(Debug, Subcommand)]
pub(crate) enum Inspect {
    /// Say which URLs a robots.txt allows, and by which rule
    Robots {
        /// The robots.txt; '-' reads standard input
        #[arg(long, value_name = "F")]
        file: PathBuf,
        /// The crawler's name
        #[arg(long, value_name = "A", default_value = "orbweaver")]
        agent: String,
        /// URLs or paths
        #[arg(required = true)]
        urls: Vec<String>,
    },
    /// Show what is extracted from a file: links, text, title, images, forms, charset
    Document {
        /// The file; '-' reads standard input
        file: PathBuf,
        /// The document's URL
        #[arg(long, value_name = "URL")]
        base: String,
        /// The media type the server sent, with charset if any
        #[arg(long, value_name = "T")]
        mime: Option<String>,
    },
    /// List the forms of a page as steps ready to paste into a project file
    Forms {
        /// A URL, or a file; '-' reads standard input
        #[arg(value_name = "URL|FILE")]
        page: String,
        /// The file's URL
        #[arg(long, value_name = "URL", default_value = "http://example.org/")]
        base: String,
        /// A fixed address for a host; may be repeated
        #[arg(long, value_name = "HOST:PORT:ADDR")]
        resolve: Vec<String>,
    },
    /// Find the session ids in a list of URLs of one session, or in two lists of two sessions, by
    /// host
    Sessions {
        /// URLs, one per line; '-' reads standard input
        file: PathBuf,
        /// URLs of another session of the same sites
        second: Option<PathBuf>,
    },
    /// Show canonical form, SURT, site and session ids of URLs
    Url {
        /// The URLs
        #[arg(required = true)]
        urls: Vec<String>,
        /// Resolve them against this URL
        #[arg(long, value_name = "URL")]
        base: Option<String>,
    },
}

/// `orb project`.
#[derive(Debug, Args)]
pub(crate) struct ProjectCommandArgs {
    #[command(subcommand)]
    pub(crate) what: ProjectCommand,
}

/// What can be done with projects.
#[derive(Debug, Subcommand)]
pub(crate) enum ProjectCommand {
    /// List the projects in the home
    List(ListingArgs),
    /// Create a project with a commented settings file
    New(crate::command::project::new::NewArgs),
    /// Show a project's settings
    Show(ProjectArgs),
    /// Edit a project's settings with $VISUAL or $EDITOR; invalid settings are refused with their
    /// line
    Edit(ProjectArgs),
    /// Acknowledge the changes of a run; see hold_until_acknowledged in docs/project.toml
    Ack(crate::command::project::ack::AckArgs),
    /// Delete a project with everything it collected
    Remove {
        /// The project
        project: String,
        /// Do not ask
        #[arg(long, short)]
        yes: bool,
    },
}

/// `orb demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Keep what was collected in this directory [default: a temporary one, removed at the end]
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
}
