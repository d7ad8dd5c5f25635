//! Which images does a `srcset` offer?
//!
//! HTML 4.8.4.2.1, "parse a srcset attribute": URLs separated by white space and commas, each with
//! a descriptor that is ignored. Commas inside parentheses belong to the descriptor.

use super::scan::is_space;

/// The URLs of a `srcset`, in order.
pub(crate) fn candidates(srcset: &str) -> impl Iterator<Item = &str> {
    let mut rest = srcset;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| c == ',' || u8::try_from(c).is_ok_and(is_space));
        if rest.is_empty() {
            return None;
        }
        let end = rest.bytes().position(is_space).unwrap_or(rest.len());
        let (url, after) = rest.split_at_checked(end)?;
        let bare = url.trim_end_matches(',');
        rest = if bare.len() == url.len() { after_descriptors(after) } else { after };
        Some(bare)
    })
}

fn after_descriptors(source: &str) -> &str {
    let mut in_parentheses = false;
    let end = source.bytes().position(|b| match b {
        b',' => !in_parentheses,
        b'(' => {
            in_parentheses = true;
            false
        }
        b')' => {
            in_parentheses = false;
            false
        }
        _ => false,
    });
    end.and_then(|i| source.get(i + 1..)).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(srcset: &str, expected: &[&str]) {
        assert_eq!(candidates(srcset).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn urls_end_at_white_space_and_descriptors_at_a_comma() {
        check("a.png", &["a.png"]);
        check("a.png 1x, b.png 2x", &["a.png", "b.png"]);
        check("a.png, b.png 2x,c.png 480w", &["a.png", "b.png", "c.png"]);
        check(" , ,a,b.png 1x,,", &["a,b.png"]);
        check("a.png ,b.png", &["a.png", "b.png"]);
        check("a (x, y) 1x, b", &["a", "b"]);
        check("data:image/png;base64,AA== 1x, b", &["data:image/png;base64,AA==", "b"]);
        check("a,,, b", &["a", "b"]);
        check("", &[]);
    }
}
