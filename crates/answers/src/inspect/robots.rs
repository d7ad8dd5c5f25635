//! Which URLs does a robots.txt allow, and by which rule?

use orb_frontier::Robots;
use orb_frontier::robots::path_of;
use schemars::JsonSchema;
use serde::Serialize;

/// What a robots.txt says about a URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RobotsVerdict {
    /// The URL or path.
    pub url: String,
    /// Whether it may be fetched.
    pub allowed: bool,
    /// The rule that decides; `None` if none matches.
    pub rule: Option<String>,
    /// Its line.
    pub line: Option<u32>,
}

/// What a robots.txt says to a crawler about some URLs or paths.
pub fn inspect_robots(text: &[u8], agent: &str, urls: &[String]) -> Vec<RobotsVerdict> {
    let robots = Robots::parse(text, agent);
    let verdict = |url: &String| {
        let ruling = robots.allows(&path_of(url));
        let (line, rule) = ruling.rule.unzip();
        RobotsVerdict { url: url.clone(), allowed: ruling.allowed, rule, line }
    };
    urls.iter().map(verdict).collect()
}
