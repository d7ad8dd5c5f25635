//! Does a table hold data or layout, and how does it read?
//!
//! A table of short texts becomes a pipe table (GFM 4.10). A table that arranges a page (other
//! tables, headings, several lines of code, one column) is written cell by cell.

use super::inline::InlineStyle;
use super::tree::NodeId;
use super::write::MarkdownWriter;
use crate::html::name::Tag;

/// Maximum columns of a pipe table.
const MAX_COLUMNS: usize = 64;
/// Maximum length of a cell of a pipe table, in bytes of source text.
const MAX_CELL: usize = 2_000;

/// A row: its cells and whether all of them are headings.
struct TableRow {
    cells: Vec<NodeId>,
    heads: bool,
}

impl MarkdownWriter<'_> {
    /// Writes a table.
    pub(super) fn table(&mut self, id: NodeId) {
        let captions: Vec<NodeId> =
            self.tree.children(id).filter(|child| self.tree.tag(*child) == Some(Tag::Caption)).collect();
        for caption in captions {
            self.paragraph(&[caption]);
        }
        let mut rows = Vec::new();
        let mut stray = Vec::new();
        self.rows(id, &mut rows, &mut stray);
        for node in stray {
            self.paragraph(&[node]);
        }
        rows.retain(|row| row.cells.iter().any(|cell| self.holds_kept(*cell)));
        if self.is_data(&rows) {
            self.pipes(&rows);
        } else {
            for cell in rows.iter().flat_map(|row| &row.cells) {
                self.blocks(*cell);
            }
        }
    }

    /// Collects the rows of a table, and what stands between them.
    fn rows(&self, id: NodeId, rows: &mut Vec<TableRow>, stray: &mut Vec<NodeId>) {
        for child in self.tree.children(id) {
            match self.tree.tag(child) {
                Some(Tag::Tr) => {
                    let is_cell = |id: &NodeId| matches!(self.tree.tag(*id), Some(Tag::Td | Tag::Th));
                    let cells: Vec<NodeId> =
                        self.tree.children(child).filter(is_cell).filter(|c| !self.is_gutter(*c)).collect();
                    let heads = !cells.is_empty() && cells.iter().all(|cell| self.tree.tag(*cell) == Some(Tag::Th));
                    rows.push(TableRow { cells, heads });
                }
                Some(Tag::Thead) => {
                    let from = rows.len();
                    self.rows(child, rows, stray);
                    rows.iter_mut().skip(from).for_each(|row| row.heads = true);
                }
                Some(Tag::Tbody | Tag::Tfoot) => self.rows(child, rows, stray),
                Some(Tag::Caption | Tag::Col) => {}
                _ => stray.push(child),
            }
        }
    }

    /// Whether a cell holds only the line numbers of the code beside it.
    fn is_gutter(&self, cell: NodeId) -> bool {
        let class = self.tree.attribute(cell, "class").unwrap_or_default().to_ascii_lowercase();
        class.split_ascii_whitespace().any(|name| matches!(name, "linenos" | "lineno" | "gutter" | "line-numbers"))
    }

    fn is_data(&self, rows: &[TableRow]) -> bool {
        let columns = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
        let headed = rows.iter().any(|row| row.heads);
        if !(2..=MAX_COLUMNS).contains(&columns) || (rows.len() < 2 && !headed) {
            return false;
        }
        rows.iter().flat_map(|row| &row.cells).all(|cell| self.is_short(*cell))
    }

    /// Whether a cell fits into one line.
    fn is_short(&self, cell: NodeId) -> bool {
        let mut length = 0;
        self.tree.below(cell).skip(1).all(|node| match self.tree.tag(node) {
            None => {
                length += self.tree.text(node).trim().len();
                length <= MAX_CELL
            }
            Some(Tag::Pre) => self.plain(node).trim().lines().count() <= 1,
            Some(tag) => !matches!(
                tag,
                Tag::Table | Tag::H1 | Tag::H2 | Tag::H3 | Tag::Blockquote | Tag::Article | Tag::Section | Tag::Hr
            ),
        })
    }

    fn pipes(&mut self, rows: &[TableRow]) {
        let texts: Vec<Vec<String>> = rows.iter().map(|row| self.cells(row)).collect();
        let columns = texts.iter().map(Vec::len).max().unwrap_or(0).min(MAX_COLUMNS);
        let line = |cells: &[String]| {
            let filled = (0..columns).map(|i| cells.get(i).map_or("", String::as_str));
            format!("| {} |", filled.collect::<Vec<_>>().join(" | "))
        };
        let headed = rows.first().is_some_and(|row| row.heads);
        let (head, body) = if headed { texts.split_at(1) } else { texts.split_at(0) };
        let mut lines = vec![line(head.first().map_or(&[], Vec::as_slice)), format!("|{}", " --- |".repeat(columns))];
        lines.extend(body.iter().map(|cells| line(cells)));
        self.next_tight = Some(false);
        self.write(&lines.join("\n"));
    }

    /// The texts of a row; a cell that spans columns is followed by empty ones.
    fn cells(&self, row: &TableRow) -> Vec<String> {
        let mut texts = Vec::new();
        for cell in &row.cells {
            let mut text = String::new();
            self.inline_children(*cell, InlineStyle { cell: true, ..InlineStyle::default() }, &mut text);
            let text = text.trim().trim_end_matches("<br>").replace(['\n', '\r'], " ").replace('|', "\\|");
            texts.push(text.trim().to_owned());
            let span =
                self.tree.attribute(*cell, "colspan").and_then(|span| span.trim().parse().ok()).unwrap_or(1usize);
            texts.extend((1..span.min(MAX_COLUMNS)).map(|_| String::new()));
        }
        texts
    }
}
