//! Does a table hold data or layout, and how does it read?
//!
//! A table of short texts becomes a pipe table (GFM 4.10). A table that arranges a page (other
//! tables, headings, several lines of code, one column) is written cell by cell.

use super::inline::InlineStyle;
use super::tree::{NodeId, is_block};
use super::write::{MarkdownWriter, guarded};
use crate::html::name::Tag;

/// Maximum columns of a pipe table.
const MAX_COLUMNS: usize = 64;
/// Maximum length of a cell of a pipe table, in bytes of source text.
const MAX_CELL: usize = 2_000;
/// Maximum lines of a program in a cell of a table with headings.
const MAX_LINES: usize = 12;
/// Maximum length of a cell that shares a line with others.
const MAX_LABEL: usize = 200;
/// Maximum rows that a cell spans (HTML, 4.9.11).
const MAX_SPAN: usize = 65_534;
/// One in so many cells of a table of data may hold a small table.
const NESTED: usize = 4;

/// A row: its cells and whether all of them are headings.
struct TableRow {
    cells: Vec<NodeId>,
    heads: bool,
    /// The element that groups it with others.
    group: NodeId,
}

impl MarkdownWriter<'_> {
    /// Writes a table.
    pub(super) fn table(&mut self, id: NodeId) {
        let captions: Vec<NodeId> =
            self.tree.children(id).filter(|child| self.tree.tag(*child) == Some(Tag::Caption)).collect();
        for caption in captions {
            self.paragraph(&[caption]);
        }
        let (mut rows, mut stray) = (Vec::new(), Vec::new());
        self.rows(id, &mut rows, &mut stray);
        for node in stray {
            self.paragraph(&[node]);
        }
        let said: Vec<&TableRow> =
            rows.iter().filter(|row| row.cells.iter().any(|cell| self.holds_kept(*cell))).collect();
        if self.is_data(&said) {
            self.pipes(&rows);
        } else {
            for row in said {
                self.loose_row(row);
            }
        }
    }

    /// Writes a row cell by cell; short cells that follow each other share a line.
    fn loose_row(&mut self, row: &TableRow) {
        let mut line: Vec<String> = Vec::new();
        for cell in &row.cells {
            match self.is_label(*cell) {
                true => {
                    let text = self.line(&[*cell]);
                    line.extend(Some(text.trim().to_owned()).filter(|text| !text.is_empty()));
                }
                false => {
                    self.joined(&mut line);
                    self.blocks(*cell);
                }
            }
        }
        self.joined(&mut line);
    }

    fn joined(&mut self, cells: &mut Vec<String>) {
        let text = std::mem::take(cells).join(" ");
        if !text.is_empty() {
            let lines: Vec<String> = text.lines().map(guarded).collect();
            self.write(&lines.join("\n"));
        }
    }

    /// Whether a cell holds a few words and no blocks.
    fn is_label(&self, cell: NodeId) -> bool {
        let mut length = 0;
        self.tree.below(cell).skip(1).all(|node| match self.tree.tag(node) {
            None => {
                length += self.tree.text(node).trim().len();
                length <= MAX_LABEL
            }
            Some(Tag::Div) => !self.is_fragment(node),
            Some(tag) => !is_block(tag),
        })
    }

    /// Collects the rows of a table, and what stands between them.
    fn rows(&self, id: NodeId, rows: &mut Vec<TableRow>, stray: &mut Vec<NodeId>) {
        for child in self.tree.children(id) {
            match self.tree.tag(child) {
                Some(Tag::Tr) => {
                    let is_cell = |id: &NodeId| matches!(self.tree.tag(*id), Some(Tag::Td | Tag::Th));
                    let all: Vec<NodeId> = self.tree.children(child).filter(is_cell).collect();
                    let is_shown =
                        |cell: &NodeId| !self.is_gutter(*cell) && (all.len() < 2 || !self.is_numbering(*cell));
                    let cells: Vec<NodeId> = all.iter().copied().filter(is_shown).collect();
                    let heads = !cells.is_empty() && cells.iter().all(|cell| self.tree.tag(*cell) == Some(Tag::Th));
                    rows.push(TableRow { cells, heads, group: id });
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

    /// Whether a cell holds nothing but numbers of lines, as if they were a program.
    fn is_numbering(&self, cell: NodeId) -> bool {
        let is_program = self.tree.below(cell).any(|node| self.tree.tag(node) == Some(Tag::Pre));
        let follows = |numbers: &[Option<u32>]| matches!(numbers, [Some(a), Some(b)] if a.checked_add(1) == Some(*b));
        is_program && {
            let numbers: Vec<Option<u32>> = self.every_line(cell).split_whitespace().map(|n| n.parse().ok()).collect();
            numbers.first().is_some_and(Option::is_some) && numbers.windows(2).all(follows)
        }
    }

    fn is_data(&self, rows: &[&TableRow]) -> bool {
        let columns = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
        let headed = rows.iter().any(|row| row.heads);
        if !(2..=MAX_COLUMNS).contains(&columns) {
            return false;
        }
        // One row is a table if nothing in it needs more room than a label.
        if let [only] = rows
            && !headed
        {
            return only.cells.iter().all(|cell| self.is_label(*cell));
        }
        let cells = || rows.iter().flat_map(|row| row.cells.iter().copied());
        let nested = cells().filter(|cell| self.holds_labels(*cell)).count();
        let is_most = nested * NESTED > cells().count();
        cells().all(|cell| self.is_short(cell, headed) || (!is_most && self.holds_labels(cell)))
    }

    /// Whether a cell holds nothing but a table of a few words.
    fn holds_labels(&self, cell: NodeId) -> bool {
        let mut said = self.tree.children(cell).filter(|child| self.holds_kept(*child));
        let only = said.next().filter(|only| said.next().is_none() && self.tree.tag(*only) == Some(Tag::Table));
        only.is_some_and(|table| {
            let mut length = 0;
            self.tree.below(table).skip(1).all(|node| match self.tree.tag(node) {
                None => {
                    length += self.tree.text(node).trim().len();
                    length <= MAX_LABEL
                }
                Some(Tag::Tbody | Tag::Tr | Tag::Td | Tag::Th) => true,
                Some(tag) => !is_block(tag),
            })
        })
    }

    /// Whether a cell fits into one line. Below headings, short programs do, too.
    fn is_short(&self, cell: NodeId, is_headed: bool) -> bool {
        let mut length = 0;
        self.tree.below(cell).skip(1).all(|node| match self.tree.tag(node) {
            None => {
                length += self.tree.text(node).trim().len();
                length <= MAX_CELL
            }
            Some(Tag::Pre) => self.plain(node).trim().lines().count() <= if is_headed { MAX_LINES } else { 1 },
            Some(tag) => !matches!(
                tag,
                Tag::Table | Tag::H1 | Tag::H2 | Tag::H3 | Tag::Blockquote | Tag::Article | Tag::Section | Tag::Hr
            ),
        })
    }

    fn pipes(&mut self, rows: &[TableRow]) {
        let texts = self.grid(rows);
        let columns = texts.iter().map(Vec::len).max().unwrap_or(0).min(MAX_COLUMNS);
        let line = |cells: &[String]| {
            let filled = (0..columns).map(|i| cells.get(i).map_or("", String::as_str));
            format!("| {} |", filled.collect::<Vec<_>>().join(" | "))
        };
        let is_said = |row: &&TableRow| row.cells.iter().any(|cell| self.holds_kept(*cell));
        let headed = rows.iter().find(is_said).is_some_and(|row| row.heads);
        let (head, body) = if headed { texts.split_at(1) } else { texts.split_at(0) };
        let mut lines = vec![line(head.first().map_or(&[], Vec::as_slice)), format!("|{}", " --- |".repeat(columns))];
        lines.extend(body.iter().map(|cells| line(cells)));
        self.next_tight = Some(false);
        self.write(&lines.join("\n"));
    }

    /// The texts of the rows that say anything, each in its column: a cell that spans columns or
    /// rows is followed by empty ones. No cell spans rows of another group (HTML, 4.9.12.1).
    fn grid(&self, rows: &[TableRow]) -> Vec<Vec<String>> {
        // How many more rows the cell above covers, by column.
        let mut covered = [0usize; MAX_COLUMNS];
        let mut out = Vec::with_capacity(rows.len());
        let mut group = None;
        for row in rows {
            if group.replace(row.group) != Some(row.group) {
                covered.fill(0);
            }
            let mut texts: Vec<String> = Vec::new();
            for cell in &row.cells {
                while covered.get(texts.len()).is_some_and(|rows| *rows > 0) {
                    texts.push(String::new());
                }
                let (across, down) = (self.span_of(*cell, "colspan"), self.span_of(*cell, "rowspan"));
                let from = texts.len();
                texts.push(self.cell_text(*cell));
                texts.extend((1..across).map(|_| String::new()));
                // Cells after this row only; it counts down once at the end of every row.
                covered.iter_mut().take(texts.len()).skip(from).for_each(|rows| *rows = down);
            }
            covered.iter_mut().for_each(|rows| *rows = rows.saturating_sub(1));
            texts.truncate(MAX_COLUMNS);
            if row.cells.iter().any(|cell| self.holds_kept(*cell)) {
                out.push(texts);
            }
        }
        out
    }

    fn cell_text(&self, cell: NodeId) -> String {
        let mut text = String::new();
        self.inline_children(cell, InlineStyle { cell: true, ..InlineStyle::default() }, &mut text);
        let text = text.trim().trim_end_matches("<br>").trim_end().replace(['\n', '\r'], " ");
        text.replace('|', "\\|")
    }

    /// How many columns or rows a cell spans.
    fn span_of(&self, cell: NodeId, name: &str) -> usize {
        let given = self.tree.attribute(cell, name).and_then(|span| span.trim().parse().ok());
        given.unwrap_or(1usize).clamp(1, if name == "colspan" { MAX_COLUMNS } else { MAX_SPAN })
    }
}
