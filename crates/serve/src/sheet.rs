//! How are rows written for a spreadsheet?
//!
//! As CSV (RFC 4180). A cell that a spreadsheet would take for a formula begins with an apostrophe,
//! since cells come from the web.

use serde::Serialize;
use serde_json::Value;

/// A line of cells.
pub(crate) fn csv_line<S: AsRef<str>>(cells: impl IntoIterator<Item = S>) -> String {
    let line = cells.into_iter().map(|text| cell(text.as_ref())).collect::<Vec<_>>().join(",");
    // An empty line would be no row.
    if line.is_empty() { "\"\"\r\n".to_owned() } else { line + "\r\n" }
}

/// Flat rows, under the names of their fields.
pub(crate) fn csv_sheet<T: Serialize>(rows: &[T]) -> Result<String, csv::Error> {
    let mut out = csv::Writer::from_writer(Vec::new());
    rows.iter().try_for_each(|row| out.serialize(row))?;
    let plain = out.into_inner().map_err(|e| csv::Error::from(e.into_error()))?;
    let mut lines = csv::ReaderBuilder::new().has_headers(false).from_reader(plain.as_slice());
    lines.records().map(|line| line.map(|line| csv_line(&line))).collect()
}

/// A value in a cell.
pub(crate) fn cell_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
    let guard = if is_formula { "'" } else { "" };
    match text.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{guard}{}\"", text.replace('"', "\"\"")),
        false => format!("{guard}{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_no_formula() {
        assert_eq!(csv_line(["a,\"b\"", "=1+1", "-1", "", "-2.5"]), "\"a,\"\"b\"\"\",'=1+1,-1,,-2.5\r\n");
        assert_eq!(csv_line([""]), "\"\"\r\n");
    }

    #[test]
    fn rows_of_the_api_hold_no_formula_either() {
        #[derive(Serialize)]
        struct Row {
            id: u64,
            url: &'static str,
            title: Option<&'static str>,
        }
        let rows =
            [Row { id: 1, url: "http://a.test/,", title: Some("=cmd()") }, Row { id: 2, url: "@x", title: None }];
        let sheet = csv_sheet(&rows).unwrap();
        assert_eq!(sheet, "id,url,title\r\n1,\"http://a.test/,\",'=cmd()\r\n2,'@x,\r\n");
    }
}
