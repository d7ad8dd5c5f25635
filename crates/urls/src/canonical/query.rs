//! Which parts of a query carry no meaning?
//!
//! Both functions take path and query together and return `None` if there is nothing to change.

use std::collections::HashSet;

/// Up to this many parameters, pairwise comparison beats a hash table.
const FEW: usize = 12;

/// Removes empty parameters, exact duplicates, and a question mark with nothing after it.
pub(super) fn tidied(tail: &str) -> Option<String> {
    let (path, query) = tail.split_once('?')?;
    let parts = memchr::memchr_iter(b'&', query.as_bytes()).count() + 1;
    let kept: Vec<&str> = if parts <= FEW {
        if !query.is_empty() && (0..).zip(query.split('&')).all(|(i, p)| is_first(query, i, p)) {
            return None;
        }
        (0..).zip(query.split('&')).filter(|&(i, p)| is_first(query, i, p)).map(|(_, p)| p).collect()
    } else {
        let mut seen = HashSet::with_capacity(parts);
        query.split('&').filter(|p| !p.is_empty() && seen.insert(*p)).collect()
    };
    if kept.len() == parts { None } else { Some(joined(path, &kept)) }
}

/// Sorts the parameters by name. The sort is stable.
pub(super) fn sorted(tail: &str) -> Option<String> {
    let (path, query) = tail.split_once('?')?;
    let mut parts: Vec<&str> = query.split('&').collect();
    if parts.is_sorted_by(|a, b| name(a) <= name(b)) {
        return None;
    }
    parts.sort_by(|a, b| name(a).cmp(name(b)));
    Some(joined(path, &parts))
}

fn name(part: &str) -> &str {
    part.split('=').next().unwrap_or_default()
}

fn is_first(query: &str, index: usize, part: &str) -> bool {
    !part.is_empty() && !query.split('&').take(index).any(|earlier| earlier == part)
}

fn joined(path: &str, parts: &[&str]) -> String {
    let mut out = String::with_capacity(path.len() + 1 + parts.iter().map(|p| p.len() + 1).sum::<usize>());
    out.push_str(path);
    for (part, separator) in parts.iter().zip(std::iter::once('?').chain(std::iter::repeat('&'))) {
        out.push(separator);
        out.push_str(part);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_and_repeated_parts_are_taken_out() {
        for (from, to) in [
            ("/x?", "/x"),
            ("/x?&", "/x"),
            ("/x?&&&", "/x"),
            ("/x?a=1&", "/x?a=1"),
            ("/x?&a=1&&b=2&", "/x?a=1&b=2"),
            ("/x?a=1&b=2&a=1", "/x?a=1&b=2"),
        ] {
            assert_eq!(tidied(from).as_deref(), Some(to), "{from}");
        }
    }

    #[test]
    fn what_a_server_may_tell_apart_stays() {
        for tail in ["/x", "/x?a", "/x?a=", "/x?a=1&a=2", "/x?a&a=", "/x?=", "/x?a=1&A=1", "/x?b=1?a=1"] {
            assert_eq!(tidied(tail), None, "{tail}");
        }
    }

    #[test]
    fn many_parts_are_tidied_like_few() {
        let many: Vec<String> = (0..4000).map(|i| format!("p{}", i % 1000)).collect();
        let tidy = tidied(&format!("/x?{}", many.join("&"))).unwrap();
        assert_eq!(tidy, format!("/x?{}", many[..1000].join("&")));
        assert_eq!(tidied(&tidy), None);
    }

    #[test]
    fn parameters_are_sorted_by_name_alone() {
        assert_eq!(sorted("/x?b=1&a=2&b=0&a=1").as_deref(), Some("/x?a=2&a=1&b=1&b=0"));
        assert_eq!(sorted("/x?a=2&a=1&b"), None);
        assert_eq!(sorted("/x"), None);
    }
}
