//! What can be said to the commands that ask a collection something?

use super::{ListingArgs, ProjectArgs, StoreArgs};
use clap::{Args, ValueEnum};
use orb_project::units::HumanDuration;

/// `orb status`.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// The project [default: all projects]
    pub(crate) project: Option<String>,
    /// Show where the time goes, which hosts wait for what, and what would make it faster
    #[arg(long, requires = "project")]
    pub(crate) why: bool,
    #[command(flatten)]
    pub(crate) place: StoreArgs,
    #[command(flatten)]
    pub(crate) listing: ListingArgs,
}

/// A command about a page.
#[derive(Debug, Args)]
pub(crate) struct PageArgs {
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
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
    /// The whole page, with menus and footers, not only its main content
    #[arg(long)]
    pub(crate) whole: bool,
    /// As run N saw it [default: the latest]
    #[arg(long, value_name = "N")]
    pub(crate) run: Option<u32>,
}

/// Content formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ContentFormat {
    /// The bytes, content decoded
    Raw,
    /// The main content as text
    Text,
    /// The main content as Markdown, with title, author and dates at the head
    Markdown,
    /// The picture that was taken when the page was rendered (JPEG)
    Picture,
}

/// `orb links`.
#[derive(Debug, Default, Args)]
pub(crate) struct LinksArgs {
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
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
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
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
