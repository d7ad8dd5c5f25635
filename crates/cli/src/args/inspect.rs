//! What can be said to `orb inspect`?

use clap::{Args, Subcommand};
use std::path::PathBuf;

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
