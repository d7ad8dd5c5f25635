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

/// What a formula field (`EQ`) shows: it has no result, and all that it shows stands in its code,
/// such as a word and above it how it is pronounced.
pub(crate) fn formula(code: &str) -> Option<String> {
    let (name, rest) = code.trim_start().split_at_checked("EQ".len())?;
    if !name.eq_ignore_ascii_case("EQ") || !rest.starts_with([' ', '\\']) {
        return None;
    }
    let mut out = String::with_capacity(rest.len());
    let mut rest = rest;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' => rest = after_switch(rest, &mut out),
            '(' | ')' | ',' | ';' => out.push(' '),
            c => out.push(c),
        }
    }
    Some(out)
}

/// What follows a backslash in a formula: a switch with its number, a general one (`\* jc2`) with
/// its word, or a character that means itself.
fn after_switch<'c>(rest: &'c str, out: &mut String) -> &'c str {
    if let Some(word) = rest.strip_prefix('*') {
        let word = word.trim_start();
        let end = match word.strip_prefix('"') {
            Some(quoted) => quoted.find('"').map(|at| at + 2),
            None => word.find(char::is_whitespace),
        };
        return word.get(end.unwrap_or(word.len())..).unwrap_or("");
    }
    let after = rest.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    if after.len() < rest.len() {
        let number = after.trim_start_matches(' ').trim_start_matches(|c: char| c.is_ascii_digit());
        return if number.len() < after.trim_start_matches(' ').len() { number } else { after };
    }
    let mut chars = rest.chars();
    out.extend(chars.next());
    chars.as_str()
}

/// Quotes. A word processor may make one of a pair curly, and leave the other one as it is.
const QUOTES: [char; 3] = ['"', '\u{201C}', '\u{201D}'];

/// The words of a field's code; quoted ones without their quotes.
fn words(code: &str) -> impl Iterator<Item = String> + '_ {
    let mut rest = code;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let open = rest.chars().next()?;
        if !QUOTES.contains(&open) {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            let (word, after) = rest.split_at_checked(end)?;
            rest = after;
            return Some(word.to_owned());
        }
        let inside = rest.get(open.len_utf8()..)?;
        let (word, after) = inside.split_once(QUOTES).unwrap_or((inside, ""));
        rest = after;
        Some(word.replace("\\\\", "\\"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_shows_what_is_in_its_code() {
        let ruby = r#" EQ \* jc2 \* "Font:MS Mincho" \* hps11 \o\ad(\s\up 10(とうきょう),東京) "#;
        let shown = |code: &str| formula(code).map(|f| f.split_whitespace().collect::<Vec<_>>().join(" "));
        assert_eq!(shown(ruby).as_deref(), Some("とうきょう 東京"));
        assert_eq!(shown(r"eq \f(1;x\,y)").as_deref(), Some("1 x,y"));
        assert_eq!(shown(r#"EQ \* "open"#).as_deref(), Some(""));
        assert_eq!(shown("EQUAL x"), None);
        assert_eq!(shown(" HYPERLINK x"), None);
    }

    #[test]
    fn a_hyperlink_leads_out_of_the_document_or_nowhere() {
        for (code, target) in [
            (" HYPERLINK \"http://a.example/x y\" ", Some("http://a.example/x y")),
            ("HYPERLINK http://a.example/ \\t \"_blank\"", Some("http://a.example/")),
            (" hyperlink \\o \"tip\" \"http://a.example/\" \\l \"p\"", Some("http://a.example/#p")),
            ("HYPERLINK \"http://a.example/\u{201D} \\h", Some("http://a.example/")),
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
