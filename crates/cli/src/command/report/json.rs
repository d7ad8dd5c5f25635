//! How is a report written as one JSON object, its documents one by one?

use orb_answers::{AnswerError, Report};
use std::io::Write;

pub(super) fn write(report: &Report<'_>, sink: &mut impl Write) -> Result<(), AnswerError> {
    let head = serde_json::to_string(&report.account).map_err(|e| AnswerError::Output(e.into()))?;
    let open = head.strip_suffix('}').unwrap_or(&head);
    write!(sink, "{open},\"changes\":[").map_err(AnswerError::Output)?;
    let mut first = true;
    report.each(|row| {
        sink.write_all(if std::mem::take(&mut first) { b"\n" } else { b",\n" })?;
        Ok(serde_json::to_writer(&mut *sink, &row)?)
    })?;
    writeln!(sink, "]}}").map_err(AnswerError::Output)
}
