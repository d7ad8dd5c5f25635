//! How are rows written for a spreadsheet?
//!
//! As CSV (RFC 4180). A cell that a spreadsheet would take for a formula begins with an apostrophe,
//! since cells come from the web.

/// A line of cells.
pub(crate) fn csv_line<S: AsRef<str>>(cells: impl IntoIterator<Item = S>) -> String {
    cells.into_iter().map(|text| cell(text.as_ref())).collect::<Vec<_>>().join(",") + "\r\n"
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
    }
}
