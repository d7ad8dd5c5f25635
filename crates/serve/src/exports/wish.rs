//! What can be exported over HTTP, and as which file?
//!
//! What `orb export` offers, except to a database, which would reach elsewhere. A download is one
//! file: what would be several becomes a ZIP file.

use crate::problem::ProblemDetails;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OfferedFormat {
    /// Archive, index and page list for replay.
    Wacz,
    /// Tables as comma-separated values.
    Csv,
    /// Tables as JSON lines.
    Jsonl,
    /// Tables as Apache Parquet.
    Parquet,
    /// HTML pages as Markdown.
    Markdown,
    /// The web graph as GraphML.
    Graphml,
    /// The web graph as GEXF.
    Gexf,
    /// The web graph, a pair of URLs per line.
    Edges,
    /// The web graph in WebGraph's format.
    Webgraph,
}

impl OfferedFormat {
    /// All of them, with what people read.
    pub(crate) const ALL: [(Self, &'static str); 9] = [
        (Self::Wacz, "WACZ: the archive in one file, for replay"),
        (Self::Csv, "CSV: tables, comma-separated"),
        (Self::Jsonl, "JSON lines: tables"),
        (Self::Parquet, "Parquet: tables, for analysis"),
        (Self::Markdown, "Markdown: HTML pages as text, zipped"),
        (Self::Graphml, "GraphML: the web graph"),
        (Self::Gexf, "GEXF: the web graph, for Gephi"),
        (Self::Edges, "Edges: the web graph as pairs of URLs"),
        (Self::Webgraph, "WebGraph: the web graph, compressed, zipped"),
    ];

    /// Its name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Wacz => "wacz",
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
            Self::Markdown => "markdown",
            Self::Graphml => "graphml",
            Self::Gexf => "gexf",
            Self::Edges => "edges",
            Self::Webgraph => "webgraph",
        }
    }

    const fn has_tables(self) -> bool {
        matches!(self, Self::Csv | Self::Jsonl | Self::Parquet)
    }
}

/// The tables there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OfferedTable {
    /// Pages with what their latest visit found.
    Pages,
    /// Links, current or gone.
    Links,
    /// What each run saw of each page.
    Visits,
    /// Servers.
    Hosts,
    /// Images on pages.
    Images,
    /// Runs.
    Runs,
}

impl OfferedTable {
    /// All of them.
    pub(crate) const ALL: [Self; 6] = [Self::Pages, Self::Links, Self::Visits, Self::Hosts, Self::Images, Self::Runs];

    /// Its name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Pages => "pages",
            Self::Links => "links",
            Self::Visits => "visits",
            Self::Hosts => "hosts",
            Self::Images => "images",
            Self::Runs => "runs",
        }
    }
}

/// An export that somebody asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExportWish {
    /// The format.
    pub(crate) format: OfferedFormat,
    /// One table, of csv, jsonl and parquet; all in a ZIP file without a wish.
    #[serde(default)]
    pub(crate) table: Option<OfferedTable>,
    /// Only pages found new or changed after this run, of markdown.
    #[serde(default)]
    pub(crate) since: Option<u32>,
    /// Whole pages and not only their main content, of markdown.
    #[serde(default)]
    pub(crate) whole: bool,
}

impl ExportWish {
    /// Refuses options that the format does not have.
    pub(crate) fn examine(&self) -> Result<(), ProblemDetails> {
        let is_markdown = self.format == OfferedFormat::Markdown;
        let unfit = [
            ("table", self.table.is_some() && !self.format.has_tables()),
            ("since", self.since.is_some() && !is_markdown),
            ("whole", self.whole && !is_markdown),
        ];
        match unfit.iter().find(|(_, is_given)| *is_given) {
            Some((what, _)) => {
                Err(ProblemDetails::unprocessable(format!("{what} does not apply to {}", self.format.name())))
            }
            None => Ok(()),
        }
    }

    /// Whether it becomes a ZIP file of several.
    fn is_packed(&self) -> bool {
        match self.format {
            OfferedFormat::Markdown | OfferedFormat::Webgraph => true,
            format => format.has_tables() && self.table.is_none(),
        }
    }

    /// The name of the file that is downloaded.
    pub(super) fn file_name(&self, project: &str) -> String {
        match (self.format.name(), self.table) {
            (format, _) if self.is_packed() => format!("{project}-{format}.zip"),
            (format, Some(table)) => format!("{project}-{}.{format}", table.name()),
            (format, None) => format!("{project}.{format}"),
        }
    }

    /// The arguments of the command that writes it there.
    pub(super) fn arguments(&self, project: &str, path: &Path) -> Vec<String> {
        let mut out: Vec<String> = ["export", project, self.format.name(), "--output"].map(str::to_owned).into();
        out.push(path.display().to_string());
        if self.is_packed() {
            out.push("--zip".to_owned());
        }
        if let Some(table) = self.table {
            out.extend(["--table".to_owned(), table.name().to_owned()]);
        }
        if let Some(run) = self.since {
            out.extend(["--since".to_owned(), run.max(1).to_string()]);
        }
        if self.whole {
            out.push("--whole".to_owned());
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_a_command_line_and_a_file() {
        let line = |format, table, since, whole| {
            let wish = ExportWish { format, table, since, whole };
            let (line, file) = (wish.arguments("p", Path::new("/x")), wish.file_name("p"));
            (wish.examine().is_ok(), line[2..].join(" "), file)
        };
        let expected = |line: &str, file: &str| (true, line.to_owned(), file.to_owned());
        assert_eq!(line(OfferedFormat::Wacz, None, None, false), expected("wacz --output /x", "p.wacz"));
        let (csv, pages) = (OfferedFormat::Csv, Some(OfferedTable::Pages));
        assert_eq!(line(csv, pages, None, false), expected("csv --output /x --table pages", "p-pages.csv"));
        assert_eq!(line(csv, None, None, false), expected("csv --output /x --zip", "p-csv.zip"));
        let markdown = "markdown --output /x --zip --since 3 --whole";
        assert_eq!(line(OfferedFormat::Markdown, None, Some(3), true), expected(markdown, "p-markdown.zip"));
        assert!(!line(OfferedFormat::Gexf, pages, None, false).0 && !line(csv, None, Some(1), false).0);
    }
}
