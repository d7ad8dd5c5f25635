//! How is a report written as one JSON object, its documents one by one?

use super::Report;
use orb_store::{Result, StoreError};
use std::io::Write;

pub(super) fn write(report: &Report<'_>, sink: &mut impl Write) -> Result<()> {
    let head = serde_json::Value::Object(report.account.object(&report.project.name)).to_string();
    let open = head.strip_suffix('}').unwrap_or(&head);
    write!(sink, "{open},\"changes\":[").map_err(StoreError::Output)?;
    let mut first = true;
    report.each(|row| {
        sink.write_all(if std::mem::take(&mut first) { b"\n" } else { b",\n" })?;
        Ok(serde_json::to_writer(&mut *sink, &row)?)
    })?;
    writeln!(sink, "]}}").map_err(StoreError::Output)
}
