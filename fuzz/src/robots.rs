//! Does a robots.txt mean the same however it is written, and nothing to other agents?

use crate::lines;
use orb_frontier::robots::{MAX_BYTES, product_token};
use orb_frontier::{Robots, Ruling};
use std::time::Duration;

/// A robots.txt. Input: the agent, the path requested, the file.
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
        assert!(line.contains("al") || line.contains("ll"), "line {number} is no rule: {line}");
    }
    ruling
}
