//! What do the paragraphs of a binary text or presentation say?

use super::encrypted;
use crate::flow::Flow;
use undoc::model::RevisionType;
use undoc::{Block, Document, Error, Paragraph, Section, Table};

/// How deep tables in tables are read.
const MAX_DEPTH: usize = 16;

/// Reads a document of Word or PowerPoint.
pub(super) fn read(bytes: &[u8], flow: &mut Flow<'_>) {
    match undoc::parse_bytes(bytes) {
        Ok(document) => write(&document, flow),
        Err(Error::Encrypted { .. }) => encrypted(flow),
        Err(error) => flow.found.problem("document-damaged", format!("it cannot be read: {error}")),
    }
}

fn write(document: &Document, flow: &mut Flow<'_>) {
    for section in &document.sections {
        write_section(section, flow);
    }
}

fn write_section(section: &Section, flow: &mut Flow<'_>) {
    paragraphs(section.header.as_deref().unwrap_or(&[]), flow);
    for block in &section.content {
        match block {
            Block::Paragraph(paragraph) => write_paragraph(paragraph, flow),
            Block::Table(table) => write_table(table, flow, 0),
            Block::Note { content, .. } => paragraphs(content, flow),
            _ => {}
        }
    }
    paragraphs(section.notes.as_deref().unwrap_or(&[]), flow);
    paragraphs(section.footer.as_deref().unwrap_or(&[]), flow);
}

fn paragraphs(all: &[Paragraph], flow: &mut Flow<'_>) {
    for paragraph in all {
        write_paragraph(paragraph, flow);
    }
}

fn write_table(table: &Table, flow: &mut Flow<'_>, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    for cell in table.rows.iter().flat_map(|row| &row.cells) {
        paragraphs(&cell.content, flow);
        for table in &cell.nested_tables {
            write_table(table, flow, depth + 1);
        }
    }
}

fn write_paragraph(paragraph: &Paragraph, flow: &mut Flow<'_>) {
    flow.line();
    let level = paragraph.heading.level();
    if level > 0 {
        flow.begin_heading(level);
    }
    let mut open: Option<&str> = None;
    for run in &paragraph.runs {
        if run.revision == RevisionType::Deleted {
            continue;
        }
        let target = run.hyperlink.as_deref().filter(|t| !t.starts_with('#'));
        if target != open {
            if open.is_some() {
                flow.end_link();
            }
            if let Some(target) = target {
                flow.begin_link(target);
            }
            open = target;
        }
        flow.lines(&run.text);
        if run.line_break {
            flow.line();
        }
    }
    if open.is_some() {
        flow.end_link();
    }
    flow.end_heading();
    flow.line();
}
