//! Which tables are exported, with which columns?
//!
//! Those that SQL sees, under the plural of their names, with the columns readers see.

/// A table that can be exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Table {
    /// Servers.
    Hosts,
    /// Pages with what their latest visit found.
    Pages,
    /// What each run saw of each page.
    Visits,
    /// Links, current or disappeared.
    Links,
    /// Images on pages.
    Images,
    /// Runs.
    Runs,
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Whole numbers.
    Integer,
    /// Numbers with a fraction.
    Real,
    /// Text.
    Text,
    /// Moments, as `2026-11-15T04:03:29.123Z`.
    Time,
    /// Booleans, as 1 or 0.
    Truth,
}

/// A column: its name and type.
pub type TableColumn = (&'static str, Holds);

use Holds::{Integer, Real, Text, Time, Truth};

impl Table {
    /// All of them, referenced ones first.
    pub const ALL: [Self; 6] = [Self::Runs, Self::Hosts, Self::Pages, Self::Visits, Self::Links, Self::Images];

    /// Its name, in the plural.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hosts => "hosts",
            Self::Pages => "pages",
            Self::Visits => "visits",
            Self::Links => "links",
            Self::Images => "images",
            Self::Runs => "runs",
        }
    }

    /// The view of the catalogue.
    fn view(self) -> &'static str {
        self.name().trim_end_matches('s')
    }

    /// Its columns, in the order readers see.
    pub const fn columns(self) -> &'static [TableColumn] {
        match self {
            Self::Hosts => HOSTS,
            Self::Pages => PAGES,
            Self::Visits => VISITS,
            Self::Links => LINKS,
            Self::Images => IMAGES,
            Self::Runs => RUNS,
        }
    }

    /// The rows in storage order, so that nothing has to be sorted.
    pub(super) fn query(self) -> String {
        let names: Vec<&str> = self.columns().iter().map(|(name, _)| *name).collect();
        format!("SELECT {} FROM {}", names.join(", "), self.view())
    }
}

const HOSTS: &[TableColumn] = &[
    ("id", Integer),
    ("name", Text),
    ("scheme", Text),
    ("port", Integer),
    ("ip", Text),
    ("robots", Text),
    ("robots_at", Time),
    ("sitemaps", Text),
    ("crawl_delay", Real),
    ("pages", Integer),
    ("errors", Integer),
    ("first_seen", Time),
    ("robots_status", Integer),
];

const PAGES: &[TableColumn] = &[
    ("id", Integer),
    ("url", Text),
    ("host_id", Integer),
    ("kind", Text),
    ("status", Integer),
    ("mime", Text),
    ("charset", Text),
    ("length", Integer),
    ("digest", Text),
    ("simhash", Integer),
    ("title", Text),
    ("lang", Text),
    ("depth", Integer),
    ("priority", Real),
    ("discovered_at", Time),
    ("discovered_by", Text),
    ("discovered_from", Integer),
    ("fetched_at", Time),
    ("fetched_by", Text),
    ("etag", Text),
    ("last_modified", Text),
    ("warc_file", Text),
    ("warc_offset", Integer),
    ("warc_length", Integer),
    ("duplicate_of", Integer),
    ("next_due", Time),
    ("changes", Integer),
    ("visits", Integer),
    ("why", Text),
    ("problem", Text),
    ("elapsed_ms", Integer),
    ("transferred", Integer),
    ("redirects", Integer),
    ("seed", Truth),
];

const VISITS: &[TableColumn] = &[
    ("run", Integer),
    ("page_id", Integer),
    ("flag", Text),
    ("at", Time),
    ("status", Integer),
    ("digest", Text),
    ("length", Integer),
    ("warc_file", Text),
    ("warc_offset", Integer),
    ("warc_length", Integer),
    ("kind", Text),
    ("fetched_by", Text),
    ("mime", Text),
    ("charset", Text),
    ("transferred", Integer),
    ("simhash", Integer),
    ("title", Text),
    ("lang", Text),
    ("etag", Text),
    ("last_modified", Text),
    ("duplicate_of", Integer),
    ("problem", Text),
    ("elapsed_ms", Integer),
];

const LINKS: &[TableColumn] = &[
    ("src", Integer),
    ("dst", Integer),
    ("kind", Text),
    ("anchor", Text),
    ("rel", Text),
    ("count", Integer),
    ("first_run", Integer),
    ("last_run", Integer),
];

const IMAGES: &[TableColumn] =
    &[("page_id", Integer), ("url", Text), ("alt", Text), ("width", Integer), ("height", Integer), ("mime", Text)];

const RUNS: &[TableColumn] = &[
    ("id", Integer),
    ("kind", Text),
    ("state", Text),
    ("started_at", Time),
    ("finished_at", Time),
    ("counters", Text),
    ("settings", Text),
];
