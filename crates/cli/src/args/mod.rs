//! What can be said on the command line?
//!
//! The commands, and what they have in common. Options that one command alone takes are beside it
//! in `command`; those that several share, or that a family of commands takes, are here.

mod ask;
mod crawl;
mod inspect;
mod project;
mod shared;
mod user;

pub(crate) use ask::{CatArgs, ContentFormat, LinksArgs, PageArgs, RowFormat, SqlArgs, StatusArgs};
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
pub(crate) use crawl::{CrawlArgs, OrderArg, Render, ScopeName, TrackArgs};
pub(crate) use inspect::{Inspect, InspectArgs};
use orb_answers::Window;
pub(crate) use project::{ProjectCommand, ProjectCommandArgs};
pub(crate) use shared::{StoreArgs, s3_options};
use std::path::PathBuf;
pub(crate) use user::{UserCommand, UserCommandArgs};

/// Crawls web sites into a directory: WARC files, a database of pages and links, a text index, a
/// web graph.
#[derive(Debug, Parser)]
#[command(name = "orb", version, long_about = None, max_term_width = 110, arg_required_else_help = true)]
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
            (Command::Crawl(args), Some((_, crawl))) => args.rules = crawl::ordered_rules(crawl),
            (Command::Track(args), Some((_, track))) => args.crawl.rules = crawl::ordered_rules(track),
            _ => {}
        }
        cli
    }
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
    /// Make a local project of one that several machines share, or bring it up to date
    Pull(crate::command::pull::PullArgs),
    /// Work on projects that several machines share
    Worker(crate::command::worker::WorkerArgs),
    /// Prepare and maintain a store that several machines share
    Store(crate::command::store::StoreCommandArgs),
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
    /// Count or list what is wrong with pages: broken links, redirect chains, duplicates and more
    Health(crate::command::health::HealthArgs),
    /// Run a read-only SQL statement over the catalogue
    Sql(SqlArgs),
    /// Export tables, a database, a WACZ file, Markdown or graphs for other tools
    Export(crate::command::export::ExportArgs),
    /// Inspect, update or rebuild the text index
    Index(crate::command::index::IndexArgs),
    /// Verify that archive, catalogue, index and graph agree; on a shared store, that archive and
    /// rows do
    Check(crate::command::check::CheckArgs),
    /// Estimate disk, time and memory of a crawl
    Plan(crate::command::plan::PlanArgs),
    /// Have pages visited by the next run, before all others; or show what waits
    Intake(crate::command::intake::IntakeArgs),
    /// Inspect a URL, robots.txt, document, form or list of session ids without crawling
    Inspect(InspectArgs),
    /// List, create, show, edit and remove projects
    Project(ProjectCommandArgs),
    /// Manage who may use what orb serve shows: accounts, rights, tokens
    User(UserCommandArgs),
    /// Serve web pages and the API
    Serve(crate::command::serve::ServeArgs),
    /// Let a language model ask, over standard input and output (Model Context Protocol)
    Mcp(crate::command::mcp::McpArgs),
    /// Crawl, track and show a small built-in web; needs no network
    Demo(DemoArgs),
    /// Become the browser that renders pages
    #[command(name = "__browser", hide = true)]
    Browser(crate::command::browser::BrowserArgs),
    /// Read documents for another process of this program
    #[command(name = "__read", hide = true)]
    ReadAside(crate::command::read_aside::ReadAsideArgs),
}

/// A command about what a project has collected, here or on a shared store.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ProjectArgs {
    /// The project
    pub(crate) project: String,
    #[command(flatten)]
    pub(crate) place: StoreArgs,
}

impl ProjectArgs {
    /// The project of this name, here.
    pub(crate) fn named(project: &str) -> Self {
        Self { project: project.to_owned(), place: StoreArgs::default() }
    }
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

/// `orb demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Keep what was collected in this directory [default: a temporary one, removed at the end]
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Then serve what was collected, and the built-in web, until stopped
    #[arg(long)]
    pub(crate) serve: bool,
}
