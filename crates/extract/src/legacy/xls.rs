//! What do the sheets of a binary workbook say?
//!
//! Excel 2 to 2003: first the globals (strings, formats, the names of the sheets), then each sheet
//! as a stream of cells, row by row ([MS-XLS]). Cells are written as they are read; numbers are
//! shown as their formats say.

use super::biff::{BiffRecord, BiffText, float_at, link_target, records, rk_number, short_string};
use super::code_page;
use crate::flow::TextFlow;
use crate::office::{DateSystem, NumberFormat, margin};
use crate::package::{u16_at, u32_at};
use encoding_rs::WINDOWS_1252;
use std::collections::HashMap;

/// Maximum number of shared strings, formats, sheets and links.
const MAX_STRINGS: usize = 2_000_000;
const MAX_FORMATS: usize = 65_536;
const MAX_SHEETS: usize = 10_000;
const MAX_LINKED: usize = 100_000;
/// Maximum size of all shared strings.
const MAX_STRING_BYTES: usize = 64 << 20;

/// Reads a workbook; false if it is encrypted.
pub(super) fn read(stream: &[u8], flow: &mut TextFlow<'_>) -> bool {
    let Some(globals) = Globals::of(stream) else { return false };
    flow.found.doc.page_count = u32::try_from(globals.sheets.len()).ok().filter(|&n| n > 0);
    let mut reader = CellReader { globals: &globals, row: None, linked: HashMap::new(), awaits_string: false };
    let starts: Vec<(usize, &str)> = match globals.sheets.as_slice() {
        [] => vec![(0, "")],
        sheets => sheets.iter().map(|(at, name)| (*at, name.as_str())).collect(),
    };
    for (start, name) in starts {
        if flow.is_full() {
            break;
        }
        flow.heading(1, name);
        reader.sheet(stream, start, flow);
    }
    true
}

/// What all sheets refer to.
struct Globals {
    text: BiffText,
    /// Whether it is of Excel 2, whose cells have three bytes of attributes instead of a format.
    is_first_version: bool,
    /// Whether formats have no numbers of their own, but are numbered by their order.
    counts_formats: bool,
    system: DateSystem,
    strings: Vec<String>,
    codes: HashMap<u16, String>,
    /// The number format of each cell format.
    cells: Vec<u16>,
    formats: HashMap<u16, NumberFormat>,
    /// Where sheets begin, and their names.
    sheets: Vec<(usize, String)>,
}

impl Globals {
    /// The globals at the beginning of a stream; `None` if it is encrypted.
    fn of(stream: &[u8]) -> Option<Self> {
        let first = records(stream, 0).next();
        let version = first.and_then(|r| u16_at(r.body, 0)).unwrap_or(0);
        let is_unicode = first.is_some_and(|r| r.kind == 0x809) && version == 0x600;
        let text = if is_unicode { BiffText::Unicode } else { BiffText::Bytes(WINDOWS_1252) };
        let mut globals = Self {
            text,
            is_first_version: first.is_some_and(|r| r.kind == 0x09),
            counts_formats: first.is_some_and(|r| r.kind < 0x809),
            system: DateSystem::From1900,
            strings: Vec::new(),
            codes: HashMap::new(),
            cells: Vec::new(),
            formats: HashMap::new(),
            sheets: Vec::new(),
        };
        for record in records(stream, 0) {
            match record.kind {
                // A password, unless it is the one that only hides.
                0x2F => return None,
                0x0A if is_workbook(stream) => break,
                _ => globals.record(&record),
            }
        }
        globals.formats = globals
            .cells
            .iter()
            .map(|&number| {
                let code = globals.codes.get(&number);
                (number, code.map_or_else(|| NumberFormat::built_in(u32::from(number)), |c| NumberFormat::of(c)))
            })
            .collect();
        Some(globals)
    }

    fn record(&mut self, record: &BiffRecord<'_>) {
        let body = record.body;
        match record.kind {
            0x42 => {
                let page = u16_at(body, 0).unwrap_or(0);
                if let BiffText::Bytes(encoding) = &mut self.text {
                    *encoding = code_page(u32::from(page)).unwrap_or(WINDOWS_1252);
                }
            }
            0x22 if u16_at(body, 0) == Some(1) => self.system = DateSystem::From1904,
            0x41E if self.codes.len() < MAX_FORMATS => {
                let (Some(number), Some(rest)) = (u16_at(body, 0), body.get(2..)) else { return };
                let number = if self.counts_formats { self.next_format() } else { number };
                let length_bytes = if matches!(self.text, BiffText::Unicode) { 2 } else { 1 };
                if let Some((code, _)) = short_string(rest, length_bytes, self.text) {
                    self.codes.insert(number, code);
                }
            }
            0x1E if self.codes.len() < MAX_FORMATS => {
                let number = self.next_format();
                if let Some((code, _)) = short_string(body, 1, self.text) {
                    self.codes.insert(number, code);
                }
            }
            0xE0 if self.cells.len() < MAX_FORMATS => self.cells.push(u16_at(body, 2).unwrap_or(0)),
            0x243 | 0x443 if self.cells.len() < MAX_FORMATS => {
                self.cells.push(body.get(1).map_or(0, |&number| u16::from(number)));
            }
            0x85 if self.sheets.len() < MAX_SHEETS => {
                let (Some(at), Some(rest)) = (u32_at(body, 0), body.get(6..)) else { return };
                if let Some((name, _)) = short_string(rest, 1, self.text) {
                    self.sheets.push((at as usize, name));
                }
            }
            0xFC => self.shared_strings(record),
            _ => {}
        }
    }

    fn next_format(&self) -> u16 {
        u16::try_from(self.codes.len()).unwrap_or(u16::MAX)
    }

    fn shared_strings(&mut self, record: &BiffRecord<'_>) {
        let mut pieces = record.pieces();
        let (Some(_), Some(count)) = (pieces.u32(), pieces.u32()) else { return };
        let mut size = 0;
        for _ in 0..(count as usize).min(MAX_STRINGS) {
            let Some(text) = pieces.rich_string() else { break };
            size += text.len();
            if size > MAX_STRING_BYTES {
                break;
            }
            self.strings.push(text);
        }
    }

    /// A number as the format of its cell shows it.
    fn number(&self, value: f64, cell: u16) -> String {
        let format = self.cells.get(usize::from(cell)).and_then(|number| self.formats.get(number));
        format.unwrap_or(&NumberFormat::default()).show(value, self.system)
    }
}

/// Whether a stream begins with globals, not with a sheet.
fn is_workbook(stream: &[u8]) -> bool {
    records(stream, 0).next().and_then(|r| u16_at(r.body, 2)).is_some_and(|kind| kind == 5 || kind == 0x100)
}

/// The address in the tokens of `HYPERLINK("http://…", …)`: a text first, the call of the function
/// last ([MS-XLS] 2.5.198).
fn linked_by(tokens: &[u8]) -> Option<String> {
    const TEXT: u8 = 0x17;
    const HYPERLINK: [u8; 2] = [0x67, 0x01];
    let [.., call, _, low, high] = *tokens else { return None };
    let is_call = matches!(call, 0x22 | 0x42 | 0x62) && [low, high] == HYPERLINK;
    let text = tokens.strip_prefix(&[TEXT]).filter(|_| is_call)?;
    let (target, _) = short_string(text, 1, BiffText::Unicode)?;
    Some(target).filter(|target| !target.is_empty() && !target.starts_with('#'))
}

struct CellReader<'g> {
    globals: &'g Globals,
    row: Option<u16>,
    linked: HashMap<(u16, u16), String>,
    /// Whether the result of a formula follows in a record of its own.
    awaits_string: bool,
}

impl CellReader<'_> {
    /// Reads a sheet, and the charts in it.
    fn sheet(&mut self, stream: &[u8], start: usize, flow: &mut TextFlow<'_>) {
        self.row = None;
        self.linked = linked_cells(stream, start);
        let mut depth = 0;
        for record in records(stream, start) {
            match record.kind {
                0x809 | 0x409 | 0x209 | 0x09 => depth += 1,
                0x0A if depth <= 1 => break,
                0x0A => depth -= 1,
                _ => {
                    self.record(&record, flow);
                }
            }
            if flow.is_full() {
                break;
            }
        }
        flow.line();
        let mut rest: Vec<_> = std::mem::take(&mut self.linked).into_iter().collect();
        rest.sort_unstable();
        for (_, target) in rest {
            flow.link(&target, "");
        }
    }

    fn record(&mut self, record: &BiffRecord<'_>, flow: &mut TextFlow<'_>) -> Option<()> {
        let body = record.body;
        let text = self.globals.text;
        match record.kind {
            // A label whose text is shared.
            0xFD => {
                let shown = self.globals.strings.get(u32_at(body, 6)? as usize)?;
                self.cell(body, shown, flow);
            }
            0x204 | 0xD6 => self.cell(body, &short_string(body.get(6..)?, 2, text)?.0, flow),
            0x04 => self.cell(body, &short_string(body.get(7..)?, 1, text)?.0, flow),
            0x203 => self.number(body, float_at(body, 6)?, flow),
            0x03 => self.cell(body, &NumberFormat::default().show(float_at(body, 7)?, self.globals.system), flow),
            0x02 => self.cell(body, &u16_at(body, 7)?.to_string(), flow),
            0x27E => self.number(body, rk_number(u32_at(body, 6)?), flow),
            0xBD => {
                for (place, pair) in body.get(4..body.len().checked_sub(2)?)?.chunks_exact(6).enumerate() {
                    let column = u16_at(body, 2)?.wrapping_add(u16::try_from(place).ok()?);
                    let shown = self.globals.number(rk_number(u32_at(pair, 2)?), u16_at(pair, 0)?);
                    self.write(u16_at(body, 0)?, column, &shown, flow);
                }
            }
            0x205 => self.cell(body, boolean(*body.get(6)?, *body.get(7)?), flow),
            0x06 | 0x206 | 0x406 => self.formula(body, if self.globals.is_first_version { 7 } else { 6 }, flow)?,
            0x07 | 0x207 if self.awaits_string => {
                self.awaits_string = false;
                flow.lines(&short_string(body, if record.kind == 0x07 { 1 } else { 2 }, text)?.0);
                flow.space();
            }
            0x14 | 0x15 if !body.is_empty() => {
                let length_bytes = if matches!(text, BiffText::Unicode) { 2 } else { 1 };
                flow.paragraph(&margin(&short_string(body, length_bytes, text)?.0));
            }
            // A comment before Excel 97. What does not fit into one record goes on in others.
            0x1C => {
                if let BiffText::Bytes(encoding) = text {
                    let said = encoding.decode_without_bom_handling(body.get(6..)?).0;
                    let is_rest = u16_at(body, 0)? == u16::MAX;
                    if is_rest { flow.lines(&said) } else { flow.paragraph(&said) }
                }
            }
            // A text box or a comment.
            0x1B6 => {
                let len = usize::from(u16_at(body, 10)?);
                if len > 0 {
                    flow.paragraph(&record.pieces().drawn_text(len));
                }
            }
            // A name in a chart.
            0x100D => flow.paragraph(&short_string(body.get(2..)?, 1, text)?.0),
            _ => {}
        }
        Some(())
    }

    fn number(&mut self, body: &[u8], value: f64, flow: &mut TextFlow<'_>) {
        let shown = self.globals.number(value, u16_at(body, 4).unwrap_or(0));
        self.cell(body, &shown, flow);
    }

    /// The result of a formula: a number, or a code that says what else.
    fn formula(&mut self, body: &[u8], at: usize, flow: &mut TextFlow<'_>) -> Option<()> {
        let result = body.get(at..at + 8)?;
        if let Some(target) = linked_by(body.get(at + 16..).unwrap_or(&[]))
            && let (Some(row), Some(column)) = (u16_at(body, 0), u16_at(body, 2))
        {
            self.linked.entry((row, column)).or_insert(target);
        }
        if result.get(6..) != Some(&[0xFF, 0xFF]) {
            self.number(body, float_at(result, 0)?, flow);
            return Some(());
        }
        match result.first()? {
            0 => {
                self.cell(body, "", flow);
                self.awaits_string = true;
            }
            1 => self.cell(body, boolean(*result.get(2)?, 0), flow),
            2 => self.cell(body, boolean(*result.get(2)?, 1), flow),
            _ => {}
        }
        Some(())
    }

    fn cell(&mut self, body: &[u8], shown: &str, flow: &mut TextFlow<'_>) {
        if let (Some(row), Some(column)) = (u16_at(body, 0), u16_at(body, 2)) {
            self.write(row, column, shown, flow);
        }
    }

    fn write(&mut self, row: u16, column: u16, shown: &str, flow: &mut TextFlow<'_>) {
        self.awaits_string = false;
        if self.row != Some(row) {
            flow.line();
            self.row = Some(row);
        }
        match self.linked.remove(&(row, column)) {
            Some(target) => {
                flow.begin_link(&target);
                flow.lines(shown);
                flow.end_link();
            }
            None => flow.lines(shown),
        }
        flow.space();
    }
}

fn boolean(value: u8, is_error: u8) -> &'static str {
    match (is_error != 0, value) {
        (false, 0) => "FALSE",
        (false, _) => "TRUE",
        (true, 0x00) => "#NULL!",
        (true, 0x07) => "#DIV/0!",
        (true, 0x0F) => "#VALUE!",
        (true, 0x17) => "#REF!",
        (true, 0x1D) => "#NAME?",
        (true, 0x24) => "#NUM!",
        (true, _) => "#N/A",
    }
}

/// The links of a sheet, which follow its cells, by row and column.
fn linked_cells(stream: &[u8], start: usize) -> HashMap<(u16, u16), String> {
    let mut linked = HashMap::new();
    let mut depth = 0;
    for record in records(stream, start) {
        match record.kind {
            0x809 | 0x409 | 0x209 | 0x09 => depth += 1,
            0x0A if depth <= 1 => break,
            0x0A => depth -= 1,
            0x1B8 if linked.len() < MAX_LINKED => {
                if let (Some(row), Some(column)) = (u16_at(record.body, 0), u16_at(record.body, 4))
                    && let Some(target) = record.body.get(8..).and_then(link_target)
                {
                    linked.insert((row, column), target);
                }
            }
            _ => {}
        }
    }
    linked
}

#[cfg(test)]
mod tests {
    use crate::{Content, extract};

    fn record(kind: u16, body: &[u8]) -> Vec<u8> {
        let len = u16::try_from(body.len()).expect("short");
        [&kind.to_le_bytes()[..], &len.to_le_bytes(), body].concat()
    }

    fn read(records: &[Vec<u8>]) -> String {
        extract(&Content { bytes: &records.concat(), mime: None, charset: None, url: "" }).text
    }

    #[test]
    fn a_formula_that_links_says_where() {
        let call = [0x42, 2, 0x67, 0x01];
        let text = |text: &[u8]| [&[0x17, u8::try_from(text.len()).expect("short"), 0][..], text].concat();
        let linked = [text(b"http://a.example/"), text(b"shown"), call.to_vec()].concat();
        assert_eq!(super::linked_by(&linked).as_deref(), Some("http://a.example/"));
        assert_eq!(super::linked_by(&[text(b"#place"), call.to_vec()].concat()), None);
        assert_eq!(super::linked_by(&text(b"http://a.example/")), None);
        assert_eq!(super::linked_by(&call), None);
    }

    #[test]
    fn comments_of_excel_95_are_read_with_what_continues_them() {
        let text = read(&[
            record(0x809, &[0, 5, 0x10, 0, 0, 0, 0, 0]),
            record(0x42, &1251u16.to_le_bytes()),
            record(0x204, &[0, 0, 0, 0, 0, 0, 2, 0, b'o', b'k']),
            record(0x1C, &[0, 0, 0, 0, 8, 0, 0xC2, 0xE8, 0xED, 0xEE]),
            record(0x1C, &[0xFF, 0xFF, 0, 0, 4, 0, b' ', b'r', b'e', b'd']),
            record(0x0A, &[]),
        ]);
        assert_eq!(text, "ok\nВино\nred");
    }

    #[test]
    fn formats_of_excel_4_are_numbered_by_their_order() {
        let format =
            |code: &[u8]| record(0x41E, &[&[0, 0, u8::try_from(code.len()).expect("short")][..], code].concat());
        let text = read(&[
            record(0x409, &[0, 0, 0x10, 0, 0, 0]),
            format(b"General"),
            format(b"0.00"),
            record(0x443, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            record(0x443, &[0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            record(0x203, &[&[0, 0, 0, 0, 1, 0][..], &1.5f64.to_le_bytes()].concat()),
            record(0x0A, &[]),
        ]);
        assert_eq!(text, "1.50");
    }
}
