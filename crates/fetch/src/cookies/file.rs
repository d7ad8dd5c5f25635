//! How are a browser's cookies imported?
//!
//! From Netscape's cookies.txt, which browser extensions and curl write: one cookie per line with
//! seven tab-separated fields, namely domain, whether it includes subdomains, path, whether it
//! requires TLS, expiry in Unix time (0: session), name, value. `#` begins a comment, except
//! `#HttpOnly_`, which begins a cookie.

use super::{Cookie, Jar, LARGEST, is_public_suffix, unix};
use crate::FetchError;
use std::path::Path;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

impl Jar {
    /// Loads the cookies of a file, skipping expired ones, and returns their number.
    pub fn load(&self, path: &Path) -> Result<usize, FetchError> {
        let text = std::fs::read(path).map_err(|source| FetchError::CookieFile { path: path.to_owned(), source })?;
        let bad = |(line, what)| FetchError::BadCookie { path: path.to_owned(), line, what };
        self.take(&String::from_utf8_lossy(&text), SystemTime::now()).map_err(bad)
    }

    /// The same for the text of a file; errors carry their line.
    pub(super) fn take(&self, text: &str, now: SystemTime) -> Result<usize, (usize, &'static str)> {
        let now = unix(now);
        let mut taken = 0;
        let mut shelves = self.shelves.lock().unwrap_or_else(PoisonError::into_inner);
        for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let Some((domain, cookie)) = read(line).map_err(|what| (number + 1, what))? else { continue };
            if cookie.expires.is_none_or(|end| end > now) {
                shelves.put(domain, cookie, now, self.total);
                taken += 1;
            }
        }
        self.count.store(shelves.by_domain.len(), Ordering::Release);
        Ok(taken)
    }
}

/// The cookie of a line, if it has one, and its domain.
fn read(line: &str) -> Result<Option<(String, Cookie)>, &'static str> {
    let line = line.strip_prefix("#HttpOnly_").unwrap_or(line);
    if line.starts_with('#') || line.trim().is_empty() {
        return Ok(None);
    }
    let fields: Vec<&str> = line.splitn(7, '\t').collect();
    let [domain, below, path, secure, end, name, value] = fields[..] else {
        return Err("a cookie has seven fields with tabs between them (the cookies.txt of browsers and curl)");
    };
    let flag = |text: &str| match text {
        "TRUE" | "true" => Ok(true),
        "FALSE" | "false" => Ok(false),
        _ => Err("the second and the fourth field are TRUE or FALSE"),
    };
    let domain = domain.strip_prefix('.').unwrap_or(domain).to_ascii_lowercase();
    let host_only = !flag(below)? || is_public_suffix(&domain);
    let end: f64 = end.trim().parse().map_err(|_| "the fifth field is a number of seconds")?;
    if domain.is_empty() || name.is_empty() || !path.starts_with('/') {
        return Err("a cookie needs a domain, a path that begins with / and a name");
    }
    if [name, value].iter().any(|text| text.contains(|c: char| c.is_control() || c == ';')) {
        return Err("name or value hold characters that cannot be sent");
    }
    if name.len() + value.len() + path.len() > LARGEST {
        return Err("the cookie is too large");
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "seconds; what is out of range counts as the farthest there is"
    )]
    let expires = (end > 0.0).then_some(end as i64);
    let (name, value, path) = (name.to_owned(), value.to_owned(), path.to_owned());
    Ok(Some((domain, Cookie { name, value, path, host_only, secure: flag(secure)?, expires })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use url::Url;

    const FILE: &str = "# Netscape HTTP Cookie File\n\n.site.test\tTRUE\t/\tFALSE\t0\twide\t1\n\
        #HttpOnly_www.site.test\tFALSE\t/in\tTRUE\t4000000000\town\tb=c\nsite.test\tFALSE\t/\tFALSE\t5\told\tgone\n\
        co.uk\tTRUE\t/\tFALSE\t0\tall\t1\n";

    #[test]
    fn the_cookies_of_a_browser_go_where_the_browser_would_send_them() {
        let (jar, now) = (Jar::default(), SystemTime::UNIX_EPOCH + Duration::from_secs(1_000));
        assert_eq!(jar.take(FILE, now), Ok(3));
        let sent = |url: &str| jar.header(&Url::parse(url).unwrap(), now);
        assert_eq!(sent("http://site.test/").as_deref(), Some("wide=1"));
        assert_eq!(sent("https://www.site.test/in/x").as_deref(), Some("own=b=c; wide=1"));
        assert_eq!(sent("http://www.site.test/in/x").as_deref(), Some("wide=1"));
        assert_eq!(sent("http://bank.co.uk/"), None);
        assert_eq!(sent("http://other.test/"), None);
    }

    #[test]
    fn a_line_that_is_no_cookie_is_named() {
        let what = |text: &str| Jar::default().take(text, SystemTime::now()).unwrap_err();
        assert_eq!(what("# c\nname=value").0, 2);
        assert!(what("a.test\tyes\t/\tFALSE\t0\tn\tv").1.contains("TRUE or FALSE"));
        assert!(what("a.test\tTRUE\t/\tFALSE\tsoon\tn\tv").1.contains("number"));
        assert!(what("a.test\tTRUE\t\tFALSE\t0\tn\tv").1.contains("path"));
        assert!(what("a.test\tTRUE\t/\tFALSE\t0\tn\tv; x").1.contains("cannot be sent"));
        let missing = Jar::default().load(Path::new("/nowhere/cookies.txt")).unwrap_err().to_string();
        assert_eq!(missing, "cannot read the cookies in /nowhere/cookies.txt");
    }
}
