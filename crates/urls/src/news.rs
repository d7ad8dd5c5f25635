//! Where does a `news:` reference lead?
//!
//! `news:comp.lang.c`, `news:comp.*` and `news:id@example.org` name groups and articles without a
//! server (RFC 5538). On a given server they are pages like any other; which one is for the reader
//! to say. `news://host/…` names its server itself.

/// A `news:` or `snews:` reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewsReference<'a> {
    /// The server that it names, with its port if any.
    pub server: Option<&'a str>,
    /// The group, pattern or message id.
    named: &'a str,
    /// Whether it asks for TLS.
    over_tls: bool,
}

impl<'a> NewsReference<'a> {
    /// Reads one; `None` for a reference of any other scheme.
    pub fn of(reference: &'a str) -> Option<Self> {
        let (scheme, rest) = reference.trim().split_once(':')?;
        let over_tls = scheme.eq_ignore_ascii_case("snews");
        if !over_tls && !scheme.eq_ignore_ascii_case("news") {
            return None;
        }
        let (server, named) = match rest.strip_prefix("//") {
            Some(rest) => {
                let (server, named) = rest.split_once('/').unwrap_or((rest, ""));
                (Some(server).filter(|server| !server.is_empty()), named)
            }
            None => (None, rest),
        };
        Some(Self { server, named: named.trim_matches(['<', '>']), over_tls })
    }

    /// Its URL on the server that it names, or else on this one: `host`, `host:port`, or a URL that
    /// begins with `nntp://` or `nntps://`.
    pub fn on(&self, server: &str) -> String {
        let server = self.server.unwrap_or(server).trim_end_matches('/');
        let begin = match (server.contains("://"), self.over_tls) {
            (true, _) => "",
            (false, true) => "nntps://",
            (false, false) => "nntp://",
        };
        format!("{begin}{server}/{}{}", self.named, self.slash())
    }

    /// A group ends with a slash, as the directory that it is; a pattern, all groups and an article
    /// do not.
    fn slash(&self) -> &'static str {
        let is_group = !self.named.is_empty() && !self.named.contains(['@', '*', '?', ',', '/']);
        if is_group { "/" } else { "" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_leads_to_groups_a_group_or_an_article_of_the_server() {
        let on = |reference: &str| NewsReference::of(reference).map(|news| news.on("news.test:1119"));
        for (reference, path) in [
            ("news:comp.lang.c", "comp.lang.c/"),
            ("NEWS:comp.*", "comp.*"),
            ("news:comp.?,!comp.b", "comp.?,!comp.b"),
            ("news:*", "*"),
            ("news:", ""),
            ("news:a@b.test", "a@b.test"),
            ("news:<a@b.test>", "a@b.test"),
            ("news:comp.lang.c/12", "comp.lang.c/12"),
        ] {
            assert_eq!(on(reference), Some(format!("nntp://news.test:1119/{path}")), "{reference}");
        }
        assert_eq!(on("snews:a.b"), Some("nntps://news.test:1119/a.b/".to_owned()));
        assert_eq!(on("http://a.test/"), None);
        assert_eq!(on("newsletter"), None);
    }

    #[test]
    fn a_reference_may_name_its_server_and_a_server_its_scheme() {
        let on = |reference: &str, server: &str| NewsReference::of(reference).map(|news| news.on(server));
        assert_eq!(on("news://a.test/b.c", "x.test").as_deref(), Some("nntp://a.test/b.c/"));
        assert_eq!(on("news:///b.c", "x.test").as_deref(), Some("nntp://x.test/b.c/"));
        assert_eq!(on("news:b.*", "nntps://x.test/").as_deref(), Some("nntps://x.test/b.*"));
    }
}
