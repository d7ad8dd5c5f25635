//! What do robots directives and refreshes ask for?
//!
//! Both occur in `<meta>` and in HTTP headers. This is the one parser for each.

use orb_page::RobotsMeta;

/// Parses a list of robots directives.
pub(crate) fn robots(content: &str) -> RobotsMeta {
    content.split(',').fold(RobotsMeta::default(), |said, token| said.merge(directive(token)))
}

/// Parses one robots directive.
pub(crate) fn directive(token: &str) -> RobotsMeta {
    let none = RobotsMeta::default();
    let token = token.trim();
    let is = |name: &str| token.eq_ignore_ascii_case(name);
    if is("noindex") {
        RobotsMeta { noindex: true, ..none }
    } else if is("nofollow") {
        RobotsMeta { nofollow: true, ..none }
    } else if is("none") {
        RobotsMeta { noindex: true, nofollow: true, ..none }
    } else if is("noarchive") || is("nocache") {
        RobotsMeta { noarchive: true, ..none }
    } else {
        none
    }
}

/// The target of a refresh such as `5; url=next.html`, in all the variants browsers accept (HTML,
/// 4.2.5.3, "shared declarative refresh steps"); `None` if it reloads the page itself.
pub(crate) fn refresh(content: &str) -> Option<&str> {
    let rest = content.trim_ascii_start();
    let after_time = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if after_time.len() == rest.len() {
        return None;
    }
    let separated = after_time.trim_ascii_start();
    let url = separated.strip_prefix([';', ',']).unwrap_or(separated).trim_ascii_start();
    if after_time.len() == url.len() || url.is_empty() {
        return None;
    }
    let url = after_url_equals(url).unwrap_or(url);
    let target = match url.chars().next() {
        Some(quote @ ('"' | '\'')) => url.get(1..)?.split(quote).next()?,
        _ => url,
    };
    Some(target.trim_ascii()).filter(|t| !t.is_empty())
}

fn after_url_equals(source: &str) -> Option<&str> {
    let (word, rest) = source.split_at_checked(3)?;
    let rest = rest.trim_ascii_start().strip_prefix('=')?;
    word.eq_ignore_ascii_case("url").then(|| rest.trim_ascii_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refresh_names_its_target_in_many_ways() {
        for content in ["0;url=a b", "5 ; URL = 'a b'x", " .5,url=\"a b", "1 a b", "0;a b ", "3;\nUrl= a b"] {
            assert_eq!(refresh(content), Some("a b"), "{content}");
        }
        for content in ["5", "", "x;url=a", "5;", "5x", "0;url=", "; url=a"] {
            assert_eq!(refresh(content), None, "{content}");
        }
    }

    #[test]
    fn robots_directives_add_up() {
        let said = robots("NoIndex , max-snippet:3,noarchive");
        assert_eq!(said, RobotsMeta { noindex: true, nofollow: false, noarchive: true });
        assert_eq!(robots("none"), RobotsMeta { noindex: true, nofollow: true, noarchive: false });
        assert_eq!(robots("index, follow"), RobotsMeta::default());
    }
}
