//! What does the path of a news URL name (RFC 5538)?

/// What a URL names.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NewsTarget {
    /// The groups that match a pattern; all if it is empty.
    Groups(Vec<u8>),
    /// The articles of a group.
    Group(Vec<u8>),
    /// A group without its slash, as the standard writes it.
    GroupName,
    /// An article of a group by its number.
    Numbered(Vec<u8>, Vec<u8>),
    /// An article by its id, with its brackets.
    Identified(Vec<u8>),
}

impl NewsTarget {
    pub(super) fn of(path: &[u8]) -> Option<Self> {
        let is_sound = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_graphic);
        let mut parts = path.splitn(2, |b| *b == b'/');
        let (first, rest) = (parts.next().unwrap_or_default(), parts.next());
        match rest {
            _ if first.is_empty() => (rest.is_none()).then_some(Self::Groups(Vec::new())),
            _ if !is_sound(first) => None,
            None if first.contains(&b'@') => Some(Self::Identified([b"<", first, b">"].concat())),
            None if first.iter().any(|b| matches!(b, b'*' | b'?' | b',')) => Some(Self::Groups(first.to_vec())),
            None => Some(Self::GroupName),
            Some(b"") => Some(Self::Group(first.to_vec())),
            Some(number) if number.iter().all(u8::is_ascii_digit) => {
                Some(Self::Numbered(first.to_vec(), number.to_vec()))
            }
            Some(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_groups_a_group_or_an_article() {
        let of = |path: &str| NewsTarget::of(path.as_bytes());
        assert_eq!(of(""), Some(NewsTarget::Groups(Vec::new())));
        assert_eq!(of("comp.*"), Some(NewsTarget::Groups(b"comp.*".to_vec())));
        assert_eq!(of("comp.lang.c/"), Some(NewsTarget::Group(b"comp.lang.c".to_vec())));
        assert_eq!(of("comp.lang.c"), Some(NewsTarget::GroupName));
        assert_eq!(of("comp.lang.c/12"), Some(NewsTarget::Numbered(b"comp.lang.c".to_vec(), b"12".to_vec())));
        assert_eq!(of("a$1@b.example"), Some(NewsTarget::Identified(b"<a$1@b.example>".to_vec())));
        for wrong in ["/", "a b/", "a/x", "a/1/2", "\u{e4}/", "/1"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }
}
