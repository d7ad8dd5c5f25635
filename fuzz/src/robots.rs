//! Does a robots.txt say the same however it is written, and nothing to others?

use crate::lines;
use orb_frontier::robots::{MAX_BYTES, product_token};
use orb_frontier::{MAX_RETRY_AFTER, Robots, Ruling, retry_after};
use orb_page::Moment;
use std::time::{Duration, SystemTime};

/// A robots.txt. The agent, the path asked for, the file.
pub fn robots(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let [agent, rest] = lines(&text);
    let [path, file] = lines(rest);
    let robots = Robots::parse(file.as_bytes(), agent);
    let ruling = check(&robots, path, file);
    for same in [agent.to_ascii_uppercase(), agent.to_ascii_lowercase()] {
        assert_eq!(Robots::parse(file.as_bytes(), &same).allows(path), ruling, "{same}");
    }
    if file.len() < MAX_BYTES / 2 && !file.contains('\r') {
        let other_ends = file.replace('\n', "\r\n");
        assert_eq!(Robots::parse(other_ends.as_bytes(), agent).allows(path), ruling, "lines that end in CRLF");
    }
    let stranger = "somebody-else";
    if file.len() < MAX_BYTES / 2 && !product_token(agent).eq_ignore_ascii_case(stranger) {
        let more = format!("{file}\nDisallow:\nUser-agent: {stranger}\nDisallow: /\nCrawl-delay: 9\n");
        assert_eq!(Robots::parse(more.as_bytes(), agent).allows(path), ruling, "what is said to others");
    }
    assert!(Robots::from_status(404, file.as_bytes(), agent).is_allowed(path));
    assert!(path == "/robots.txt" || !Robots::from_status(503, file.as_bytes(), agent).is_allowed(path));
}

fn check(robots: &Robots, path: &str, file: &str) -> Ruling {
    let ruling = robots.allows(path);
    assert_eq!(ruling.allowed, robots.is_allowed(path));
    assert!(robots.is_allowed("/robots.txt"));
    assert!(robots.crawl_delay().is_none_or(|delay| delay > Duration::ZERO && delay <= Duration::from_secs(86_400)));
    assert!(robots.sitemaps().iter().all(|sitemap| !sitemap.is_empty()) && robots.sitemaps().len() <= 1_000);
    if let Some((number, rule)) = &ruling.rule {
        let line = file
            .replace("\r\n", "\n")
            .replace('\r', "\n")
            .split('\n')
            .nth(*number as usize - 1)
            .map(str::to_ascii_lowercase);
        let line = line.unwrap_or_else(|| panic!("there is no line {number}"));
        assert!(rule.starts_with(if ruling.allowed { "Allow: " } else { "Disallow: " }), "{rule}");
        assert!(line.contains("al"), "line {number} is no rule: {line}");
    }
    ruling
}

/// `Retry-After` and the dates in it, beside the dates of cookies, which another reader reads.
pub fn dates(bytes: &[u8]) {
    const NOW: u64 = 784_111_777;
    let text = String::from_utf8_lossy(bytes);
    let now = Moment(i64::try_from(NOW).unwrap_or(0) * 1_000);
    let Some(wait) = retry_after(&text, now) else { return };
    assert!(wait <= MAX_RETRY_AFTER);
    let value = text.trim();
    if value.bytes().all(|b| b.is_ascii_digit()) {
        return assert_eq!(wait.as_secs(), value.parse().unwrap_or(u64::MAX).min(86_400));
    }
    let told_well = value.starts_with(|c: char| c.is_ascii_alphabetic()) && !value.contains(';');
    if told_well && wait > Duration::from_secs(1) && wait < MAX_RETRY_AFTER {
        let moment = |after: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(NOW + after);
        let (jar, site) = (orb_fetch::Jar::default(), crate::example());
        jar.store(&site, [format!("a=b; expires={value}").as_bytes()], moment(0));
        assert!(jar.header(&site, moment(wait.as_secs() - 1)).is_some(), "{value}: not until then");
        assert!(jar.header(&site, moment(wait.as_secs())).is_none(), "{value}: not after then");
    }
}
