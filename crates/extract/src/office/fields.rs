//! Where does the code of a Word field lead?

/// The target of a `HYPERLINK` field that leads out of its document:
/// ` HYPERLINK "http://…" \l "place" \t "_blank"`.
pub(crate) fn hyperlink(code: &str) -> Option<String> {
    let rest = code.trim_start_matches(|c: char| c.is_whitespace() || c == '=');
    let (name, rest) = rest.split_at_checked("HYPERLINK".len())?;
    if !name.eq_ignore_ascii_case("HYPERLINK") {
        return None;
    }
    let mut target = None;
    let mut place = None;
    let mut words = words(rest);
    while let Some(word) = words.next() {
        match word.strip_prefix('\\') {
            Some("l") => place = words.next(),
            Some("o" | "t") => {
                words.next();
            }
            Some("h" | "m" | "n" | "s" | "*") => {}
            _ => target = target.or(Some(word)),
        }
    }
    let target = target.filter(|t| !t.is_empty() && !t.starts_with('#'))?;
    Some(match place {
        Some(place) if !place.is_empty() && !target.contains('#') => format!("{target}#{place}"),
        _ => target,
    })
}

/// The words of a field's code; quoted ones without their quotes.
fn words(code: &str) -> impl Iterator<Item = String> + '_ {
    let mut rest = code;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let open = rest.chars().next()?;
        let close = match open {
            '"' => '"',
            '\u{201C}' | '\u{201D}' => '\u{201D}',
            _ => {
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                let (word, after) = rest.split_at_checked(end)?;
                rest = after;
                return Some(word.to_owned());
            }
        };
        let inside = rest.get(open.len_utf8()..)?;
        let (word, after) = inside.split_once(close).unwrap_or((inside, ""));
        rest = after;
        Some(word.replace("\\\\", "\\"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hyperlink_leads_out_of_the_document_or_nowhere() {
        for (code, target) in [
            (" HYPERLINK \"http://a.example/x y\" ", Some("http://a.example/x y")),
            ("HYPERLINK http://a.example/ \\t \"_blank\"", Some("http://a.example/")),
            (" hyperlink \\o \"tip\" \"http://a.example/\" \\l \"p\"", Some("http://a.example/#p")),
            (" HYPERLINK \\l \"place\"", None),
            (" PAGEREF x", None),
            ("", None),
            ("HYPERLINK", None),
            ("HYPERLINK \"http://open", Some("http://open")),
        ] {
            assert_eq!(hyperlink(code).as_deref(), target, "{code}");
        }
    }
}
