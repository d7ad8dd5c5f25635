//! What can be said on the command line?

use clap::{ArgMatches, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use orb_project::units::{ByteSize, Rate, Span};
use orb_track::rate::simulate::Policy;
use orb_urls::scope::Rule;
use std::path::PathBuf;

/// Crawls web sites into one directory: standard WARC files, a database of pages and links, a clear account.
#[derive(Debug, Parser)]
#[command(name = "orb", version, about, long_about = None, max_term_width = 110, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Reads the command line; help, version and wrong usage end the program here.
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

/// `--allow` and `--deny` in the order in which they stand on the command line.
fn ordered_rules(matches: &ArgMatches) -> Vec<Rule> {
    let of = |name: &str, rule: fn(String) -> Rule| {
        let places = matches.indices_of(name).into_iter().flatten();
        let values = matches.get_many::<String>(name).into_iter().flatten().cloned();
        places.zip(values.map(rule)).collect::<Vec<_>>()
    };
    let mut rules = of("allow", Rule::Allow);
    rules.extend(of("deny", Rule::Deny));
    rules.sort_by_key(|(place, _)| *place);
    rules.into_iter().map(|(_, rule)| rule).collect()
}

/// What every command understands.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Common {
    /// The directory that holds everything
    #[arg(long, global = true, default_value = "orb-data", value_name = "DIR")]
    pub(crate) home: PathBuf,
    /// Print the result as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print nothing but results and errors
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say a line on stderr for every page
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
    /// A line now and then
    Plain,
    /// Nothing
    None,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Collect pages; goes on where a stopped run ended
    Crawl(Box<CrawlArgs>),
    /// Visit a project's pages again, and say what is new, the same, updated, missing or in error
    Track(Box<TrackArgs>),
    /// Run every project whose time has come
    RunDue(crate::command::run_due::RunDueArgs),
    /// What is there, what is running
    Status(StatusArgs),
    /// Sites, pages, kinds, images, documents, degrees: the table of a crawl
    Stats(ProjectArgs),
    /// What a run found new, the same, updated, missing: flags, counts, differences
    Report(crate::command::report::ReportArgs),
    /// What changed, run after run: JSON lines with a cursor
    Changes(crate::command::changes::ChangesArgs),
    /// Tell feeds, files and webhooks of a project what they do not know yet
    Deliver(crate::command::deliver::DeliverArgs),
    /// One page: record, versions, links
    Show(PageArgs),
    /// A page's content
    Cat(CatArgs),
    /// What differs between two versions of a page
    Diff(crate::command::diff::DiffArgs),
    /// Which pages answer a query
    Search(crate::command::search::SearchArgs),
    /// In which pages a word stands, and where
    Words(crate::command::words::WordsArgs),
    /// A page's links
    Links(LinksArgs),
    /// The pages or hosts that matter most
    Top(crate::command::top::TopArgs),
    /// The web graph: who points to whom
    Graph(crate::command::graph::GraphArgs),
    /// Read-only SQL over the catalogue
    Sql(SqlArgs),
    /// What was collected, for other people's tools: tables, a database, one file, Markdown, graphs
    Export(crate::command::export::ExportArgs),
    /// The text index: how it stands, bring it up to date, make it anew
    Index(crate::command::index::IndexArgs),
    /// Prove that archive, catalogue, index and graph agree
    Check(ProjectArgs),
    /// What a crawl will take: disk, time, memory
    Plan(crate::command::plan::PlanArgs),
    /// Look at one thing without crawling
    Inspect(InspectArgs),
    /// List, begin, show, change and remove projects
    Project(ProjectCommandArgs),
    /// A small built-in web, crawled, tracked and shown, with no network
    Demo(DemoArgs),
}

/// A way of choosing visits by its name.
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
    /// Exit with 3 where something is new, updated or missing
    #[arg(long)]
    pub(crate) fail_on_change: bool,
    /// Visit only the pages that are due under the project's budget ([track] budget), and the seeds
    #[arg(long)]
    pub(crate) due: bool,
    /// Visit so many of the known pages, where a visit is worth most, and the seeds
    #[arg(long, value_name = "N", conflicts_with = "due", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) budget: Option<u64>,
    /// Visit nothing; compare ways of choosing visits on what was recorded, or on a mix of made-up pages
    #[arg(long)]
    pub(crate) simulate: bool,
    /// On what to compare them: recorded, or a file such as examples/freshness-mix.toml
    #[arg(long, value_name = "recorded|FILE", requires = "simulate")]
    pub(crate) history: Option<String>,
    /// Which of them: uniform, proportional, known, learning [default: all]
    #[arg(long, value_name = "POLICY", requires = "simulate", value_delimiter = ',', value_parser = policy)]
    pub(crate) policies: Vec<Policy>,
}

/// `orb crawl`.
#[derive(Debug, Args)]
pub(crate) struct CrawlArgs {
    /// A URL, @file with one URL a line, a project file (.toml), or the name of a project to go on with
    #[arg(required = true, value_name = "SEED|PROJECT.toml")]
    pub(crate) seeds: Vec<String>,
    /// The project's name [default: the first seed's host]
    #[arg(long, value_name = "NAME")]
    pub(crate) project: Option<String>,
    /// Links to follow from a seed at most
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
    pub(crate) max_time: Option<Span>,
    /// What belongs to the collection [default: host]
    #[arg(long, value_enum, value_name = "SCOPE")]
    pub(crate) scope: Option<ScopeName>,
    /// Keep only URLs that match (rules are tried in the order given, with --deny; the first that matches decides)
    #[arg(long, value_name = "REGEX")]
    pub(crate) allow: Vec<String>,
    /// Leave out URLs that match
    #[arg(long, value_name = "REGEX")]
    pub(crate) deny: Vec<String>,
    /// Both of them, in the order given
    #[arg(skip)]
    pub(crate) rules: Vec<Rule>,
    /// Fetch only bodies of this media type, e.g. text/html or image/*; may be repeated
    #[arg(long, value_name = "MIME", value_delimiter = ',')]
    pub(crate) accept: Vec<String>,
    /// Larger bodies are not fetched whole [default: 10MB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_size: Option<ByteSize>,
    /// In which order [default: bfs]
    #[arg(long, value_enum, value_name = "ORDER")]
    pub(crate) order: Option<OrderName>,
    /// Wait between requests to one host, and to one address [default: 1s]
    #[arg(long, value_name = "DUR")]
    pub(crate) delay: Option<Span>,
    /// Connections at once [default: 128]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) connections: Option<u32>,
    /// Requests to one host at once, where the delay is 0 [default: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) per_host: Option<u32>,
    /// Total download rate, e.g. 10MB/s or 20Mbit/s
    #[arg(long, value_name = "RATE")]
    pub(crate) bandwidth: Option<Rate>,
    /// Who to say we are; its first word is looked for in robots.txt
    #[arg(long, value_name = "S")]
    pub(crate) user_agent: Option<String>,
    /// A proxy, http://[user:password@]host:port
    #[arg(long, value_name = "URL")]
    pub(crate) proxy: Option<String>,
    /// A fixed address for a host; may be repeated
    #[arg(long, value_name = "HOST:PORT:ADDR")]
    pub(crate) resolve: Vec<String>,
    /// Ask this name server instead of the system's
    #[arg(long, value_name = "ADDR:PORT")]
    pub(crate) dns: Option<String>,
    /// Go to private addresses, not only those of seeds
    #[arg(long)]
    pub(crate) allow_private: bool,
    /// Certificates (PEM) to trust besides the usual ones
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    /// Cookies to begin with: a cookies.txt as browsers' extensions and curl write it
    #[arg(long, value_name = "FILE")]
    pub(crate) cookies: Option<PathBuf>,
    /// Accept any certificate
    #[arg(long)]
    pub(crate) insecure: bool,
    /// Fetch what robots.txt forbids, too
    #[arg(long)]
    pub(crate) ignore_robots: bool,
    /// Go on although archive files are damaged or missing
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
    /// Wait for an answer to begin, and between its pieces [default: 20s]
    #[arg(long, value_name = "DUR")]
    pub(crate) timeout: Option<Span>,
    /// Attempts after the first, where a failure may pass [default: 2]
    #[arg(long, value_name = "N")]
    pub(crate) retries: Option<u32>,
    /// Tell how it goes to a monitoring system (Prometheus) at http://ADDR/metrics; a port alone is one on this machine
    #[arg(long, value_name = "ADDR")]
    pub(crate) metrics: Option<String>,
    /// Threads that read pages [default: one for each core]
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
    /// The seeds' hosts and what they link to
    Neighbours,
    /// Everything
    Any,
}

/// Names of orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderName {
    /// Breadth first
    Bfs,
    /// Depth first
    Dfs,
    /// The most important first
    Best,
    /// At random
    Random,
}

/// When to render.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Render {
    /// Never
    Never,
    /// When the page is an empty shell
    Auto,
    /// Every page
    Always,
}

/// `orb status`.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// The project; all of them where none is given
    pub(crate) project: Option<String>,
    /// Where its time goes, which hosts wait for what, and what would make it faster
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
    /// In which form
    #[arg(long = "as", value_enum, default_value_t = Form::Raw, value_name = "FORM")]
    pub(crate) form: Form,
    /// As run N saw it [default: the latest]
    #[arg(long, value_name = "N")]
    pub(crate) run: Option<u32>,
}

/// Forms of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// The bytes, content coding taken off
    Raw,
    /// The visible text
    Text,
    /// Markdown
    Markdown,
}

/// How much of a list to print.
#[derive(Debug, Default, Args)]
pub(crate) struct Listing {
    /// Rows at most
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Rows to leave out at the beginning
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: u64,
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
    /// Who points to it, with their words
    #[arg(long = "in", conflicts_with = "out")]
    pub(crate) backward: bool,
    /// What others call it: the words of the links to it, the most common first
    #[arg(long, requires = "backward")]
    pub(crate) anchors: bool,
    /// Everything its links ever said, from which run to which
    #[arg(long, conflicts_with_all = ["backward", "since"])]
    pub(crate) history: bool,
    /// Which links are new, lost or changed since this run; of all pages, unless one is named
    #[arg(long, value_name = "RUN", conflicts_with = "backward", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) since: Option<u32>,
    /// Only links that are new since then
    #[arg(long, requires = "since")]
    pub(crate) new: bool,
    /// Only links that are lost since then
    #[arg(long, requires = "since")]
    pub(crate) lost: bool,
    /// Only links whose words, rel or count changed since then
    #[arg(long, requires = "since")]
    pub(crate) changed: bool,
    #[command(flatten)]
    pub(crate) listing: Listing,
}

/// `orb sql`.
#[derive(Debug, Args)]
pub(crate) struct SqlArgs {
    /// The project
    pub(crate) project: String,
    /// One statement that reads; '-' takes it from standard input
    #[arg(required_unless_present = "schema")]
    pub(crate) sql: Option<String>,
    /// How to print the rows
    #[arg(long, value_enum, default_value_t = RowFormat::Table, value_name = "FORMAT")]
    pub(crate) format: RowFormat,
    /// Show the tables and columns there are
    #[arg(long)]
    pub(crate) schema: bool,
    /// Give up after this time
    #[arg(long, value_name = "DUR", default_value = "60s")]
    pub(crate) timeout: Span,
    #[command(flatten)]
    pub(crate) listing: Listing,
}

/// Forms of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowFormat {
    /// Aligned columns
    Table,
    /// Comma separated
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
    /// Which URLs a robots.txt allows, and by which rule
    Robots {
        /// The robots.txt; '-' reads standard input
        #[arg(long, value_name = "F")]
        file: PathBuf,
        /// Who asks
        #[arg(long, value_name = "A", default_value = "orbweaver")]
        agent: String,
        /// URLs or paths
        #[arg(required = true)]
        urls: Vec<String>,
    },
    /// What the extractors see in a file: links, text, title, images, forms, charset
    Document {
        /// The file; '-' reads standard input
        file: PathBuf,
        /// Where it was found
        #[arg(long, value_name = "URL")]
        base: String,
        /// The media type the server gave, with its charset if any
        #[arg(long, value_name = "T")]
        mime: Option<String>,
    },
    /// The forms of a page with their fields, as steps of a project file to be pasted
    Forms {
        /// A URL, or a file; '-' reads standard input
        #[arg(value_name = "URL|FILE")]
        page: String,
        /// Where the file was found
        #[arg(long, value_name = "URL", default_value = "http://example.org/")]
        base: String,
        /// A fixed address for a host; may be repeated
        #[arg(long, value_name = "HOST:PORT:ADDR")]
        resolve: Vec<String>,
    },
    /// The session ids in a list of URLs of one session, or in two lists of two sessions, host by host
    Sessions {
        /// URLs, one a line; '-' reads standard input
        file: PathBuf,
        /// URLs of another session of the same sites
        second: Option<PathBuf>,
    },
    /// Canonical form, SURT, site and session ids of URLs
    Url {
        /// The URLs
        #[arg(required = true)]
        urls: Vec<String>,
        /// Resolve them against this
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
    /// The projects in the home
    List(Listing),
    /// Begin a project with a commented file of its settings
    New(crate::command::project::new::NewArgs),
    /// A project's settings
    Show(ProjectArgs),
    /// Change a project's settings with $VISUAL or $EDITOR; what makes no sense is refused with its line
    Edit(ProjectArgs),
    /// Say that the changes of a run were looked at; see hold_until_acknowledged in docs/project.toml
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
