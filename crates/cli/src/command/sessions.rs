//! `orb inspect sessions`: which words in lists of URLs are session ids?

use crate::args::Common;
use crate::failure::CommandFailure;
use crate::out;
use orb_urls::session::{Near, SessionIdPlace, SessionRule, Site, one_session, two_sessions};
use orb_urls::{Canonicaliser, Rules};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write as _;

/// The links of one host, by session.
#[derive(Default)]
struct SessionHost {
    sessions: [Vec<String>; 2],
}

/// An id that was found.
#[derive(Serialize)]
struct IdRow {
    host: String,
    value: String,
    /// The list it is in, 1 or 2.
    session: usize,
    place: &'static str,
    name: String,
    #[serde(rename = "where")]
    standing: String,
    confidence: f32,
    links: usize,
}

/// A URL with the identity of its page.
#[derive(Serialize)]
struct SessionUrl {
    url: String,
    identity: String,
    session: usize,
}

/// All of it.
#[derive(Default, Serialize)]
struct SessionReport {
    ids: Vec<IdRow>,
    urls: Vec<SessionUrl>,
    refused: Vec<String>,
}

pub(super) fn run(common: &Common, first: &[u8], second: Option<&[u8]>) -> Result<(), CommandFailure> {
    let mut report = SessionReport::default();
    let mut hosts: BTreeMap<String, SessionHost> = BTreeMap::new();
    for (session, list) in [Some(first), second].into_iter().flatten().enumerate() {
        sort(&String::from_utf8_lossy(list), session, &mut hosts, &mut report.refused);
    }
    for (name, host) in &hosts {
        let [old, new] = host.sessions.each_ref().map(|urls| urls.iter().map(String::as_str).collect::<Vec<&str>>());
        let site = match (old.as_slice(), new.as_slice()) {
            (one, []) | ([], one) => one_session(one),
            (old, new) => two_sessions(old, new),
        };
        describe(name, host, &site, &mut report);
    }
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &report)?;
    } else {
        print(&report, second.is_some(), &mut stdout)?;
    }
    Ok(stdout.flush()?)
}

/// Groups the URLs of a list by host.
fn sort(list: &str, session: usize, hosts: &mut BTreeMap<String, SessionHost>, refused: &mut Vec<String>) {
    let canonical = Canonicaliser::new(Rules { strip_session_ids: false, tidy_query: false, ..Rules::default() });
    for line in list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match canonical.parse(line) {
            Ok(address) => {
                let host = hosts.entry(address.host().to_owned()).or_default();
                host.sessions[session].push(address.into_string());
            }
            Err(why) => refused.push(format!("'{}': {why}", out::harmless(line))),
        }
    }
}

fn describe(name: &str, host: &SessionHost, site: &Site, report: &mut SessionReport) {
    for (session, urls) in host.sessions.iter().enumerate() {
        for rule in &site.rules {
            for id in &rule.ids {
                let links = urls.iter().filter(|url| site.ids_in(url).contains(&id.as_str())).count();
                if links > 0 {
                    report.ids.push(IdRow {
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
        report.urls.extend(urls.iter().map(|url| SessionUrl {
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

fn print(report: &SessionReport, two: bool, out: &mut impl std::io::Write) -> std::io::Result<()> {
    if report.ids.is_empty() {
        writeln!(out, "no session ids")?;
    }
    for id in &report.ids {
        let session = if two { format!(", session {}", id.session) } else { String::new() };
        let sure = (id.confidence * 100.0).round();
        writeln!(out, "{}\t{}\t{}\t{sure} % sure, {} links{session}", id.value, id.host, id.standing, id.links)?;
    }
    for row in report.urls.iter().filter(|row| row.url != row.identity) {
        writeln!(out, "{}\n  {}", row.url, row.identity)?;
    }
    for refused in &report.refused {
        writeln!(out, "no URL\t{refused}")?;
    }
    Ok(())
}
