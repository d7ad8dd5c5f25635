//! How is a report written as CSV (RFC 4180)?

use orb_answers::{AnswerError, Report, ReportRow};
use std::io::Write;

const HEADS: [&str; 14] = [
    "flag",
    "url",
    "title",
    "moved_to",
    "detail",
    "at",
    "status",
    "mime",
    "length",
    "digest",
    "digest_before",
    "run",
    "seq",
    "page_id",
];

pub(super) fn write(report: &Report<'_>, sink: &mut impl Write) -> Result<(), AnswerError> {
    let mut out = csv::Writer::from_writer(sink);
    out.write_record(HEADS).map_err(|e| AnswerError::Output(e.into()))?;
    report.each(|row| Ok(out.write_record(cells(row))?))?;
    out.flush().map_err(AnswerError::Output)
}

fn cells(row: ReportRow) -> [String; 14] {
    fn number(n: Option<impl ToString>) -> String {
        n.map(|n| n.to_string()).unwrap_or_default()
    }
    [
        row.flag.to_string(),
        row.url,
        row.title.unwrap_or_default(),
        row.moved_to.unwrap_or_default(),
        row.detail.unwrap_or_default(),
        row.at.to_string(),
        number(row.status),
        row.mime.unwrap_or_default(),
        number(row.length),
        row.digest.unwrap_or_default(),
        row.digest_before.unwrap_or_default(),
        row.run.to_string(),
        number(row.seq),
        row.page.0.to_string(),
    ]
}
