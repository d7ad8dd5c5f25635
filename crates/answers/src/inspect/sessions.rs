//! Which words in lists of URLs are session ids?

use crate::harmless;
use orb_urls::session::{Near, SessionIdPlace, SessionRule, Site, one_session, two_sessions};
use orb_urls::{Canonicaliser, Rules};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// A session id that was found.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FoundSessionId {
    /// The host.
    pub host: String,
    /// The id.
    pub value: String,
    /// The list it is in, 1 or 2.
    pub session: usize,
    /// Where in its URLs it is.
    pub place: &'static str,
    /// The name of its parameter; may be empty.
    pub name: String,
    /// Where it is, in words.
    #[serde(rename = "where")]
    pub standing: String,
    /// How sure that is, 0 to 1.
    pub confidence: f32,
    /// Number of URLs that contain it.
    pub links: usize,
}

/// A URL with the identity of its page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UrlIdentity {
    /// The URL.
    pub url: String,
    /// The URL without session ids.
    pub identity: String,
    /// The list it is in, 1 or 2.
    pub session: usize,
}

/// The session ids in lists of URLs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct SessionReport {
    /// The ids.
    pub ids: Vec<FoundSessionId>,
    /// The URLs.
    pub urls: Vec<UrlIdentity>,
    /// Lines that are no URLs, and why.
    pub refused: Vec<String>,
}

/// The links of one host, by session.
#[derive(Default)]
struct HostLinks {
    sessions: [Vec<String>; 2],
}

/// Finds the session ids in a list of URLs of one session, or in two lists of two sessions, host by
/// host.
pub fn inspect_sessions(first: &str, second: Option<&str>) -> SessionReport {
    let mut report = SessionReport::default();
    let mut hosts: BTreeMap<String, HostLinks> = BTreeMap::new();
    for (session, list) in [Some(first), second].into_iter().flatten().enumerate() {
        sort(list, session, &mut hosts, &mut report.refused);
    }
    for (name, host) in &hosts {
        let [old, new] = host.sessions.each_ref().map(|urls| urls.iter().map(String::as_str).collect::<Vec<&str>>());
        let site = match (old.as_slice(), new.as_slice()) {
            (one, []) | ([], one) => one_session(one),
            (old, new) => two_sessions(old, new),
        };
        describe(name, host, &site, &mut report);
    }
    report
}

/// Groups the URLs of a list by host.
fn sort(list: &str, session: usize, hosts: &mut BTreeMap<String, HostLinks>, refused: &mut Vec<String>) {
    let canonical = Canonicaliser::new(Rules { strip_session_ids: false, tidy_query: false, ..Rules::default() });
    for line in list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match canonical.parse(line) {
            Ok(address) => {
                let host = hosts.entry(address.host().to_owned()).or_default();
                host.sessions[session].push(address.into_string());
            }
            Err(why) => refused.push(format!("'{}': {why}", harmless(line))),
        }
    }
}

fn describe(name: &str, host: &HostLinks, site: &Site, report: &mut SessionReport) {
    for (session, urls) in host.sessions.iter().enumerate() {
        for rule in &site.rules {
            for id in &rule.ids {
                let links = urls.iter().filter(|url| site.ids_in(url).contains(&id.as_str())).count();
                if links > 0 {
                    report.ids.push(FoundSessionId {
                        host: name.to_owned(),
                        value: id.clone(),
                        session: session + 1,
                        place: rule.place.name(),
                        name: rule.name.clone(),
                        standing: standing(rule),
                        confidence: (rule.confidence * 100.0).round() / 100.0,
                        links,
                    });
                }
            }
        }
        report.urls.extend(urls.iter().map(|url| UrlIdentity {
            url: url.clone(),
            identity: site.identity(url).into_owned(),
            session: session + 1,
        }));
    }
}

/// Where the ids of a rule appear, in words.
fn standing(rule: &SessionRule) -> String {
    match (rule.place, rule.near) {
        (SessionIdPlace::Query, _) if rule.name.is_empty() => "query".to_owned(),
        (SessionIdPlace::Query, _) => format!("parameter {}", rule.name),
        (SessionIdPlace::PathParameter, _) => format!("path parameter {}", rule.name),
        (SessionIdPlace::PathSegment, Near::Start(at)) => format!("path segment {}", at + 1),
        (SessionIdPlace::PathSegment, Near::End(0)) => "last path segment".to_owned(),
        (SessionIdPlace::PathSegment, Near::End(at)) => format!("path segment, {at} before the last"),
        (SessionIdPlace::PathSegment, Near::Anywhere) => "within".to_owned(),
    }
}
