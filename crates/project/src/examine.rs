//! Are the settings valid?
//!
//! The parser refuses what is misspelt or has the wrong type. What parses but cannot be meant is
//! found here, before anything is fetched or stored, and reported with its position in the file. A
//! section adds its own checks by returning [`Wrong`]s from a function and a line in
//! [`Settings::examine`].

use crate::settings::Settings;
use crate::steps;
use crate::ways::{EngineSettings, SeedText};
use orb_fetch::{Proxy, Resolve};
use orb_urls::scope::ScopeRule;
use orb_urls::{Canonicaliser, NewsReference, Scope, ScopeSpec};
use std::net::SocketAddr;

/// Maximum rows of a schedule.
pub(crate) const MOST_ROWS: usize = 200;

/// An invalid setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {what}")]
pub struct Wrong {
    /// The path of the key, such as `scope.rules[2].deny`.
    pub key: String,
    /// What is wrong with it, in one line.
    pub what: String,
}

impl Wrong {
    /// An error about a key.
    pub fn new(key: impl Into<String>, what: impl Into<String>) -> Self {
        let what: String = what.into();
        let what = what.split_whitespace().collect::<Vec<_>>().join(" ");
        Self { key: key.into(), what }
    }
}

impl Settings {
    /// The first invalid setting, if any.
    pub fn examine(&self) -> Result<(), Wrong> {
        let sections: [fn(&Self) -> Vec<Wrong>; 14] = [
            name,
            news_server,
            seeds,
            EngineSettings::examine,
            |settings| scope(&settings.scope),
            fetch,
            |settings| numbers(settings),
            |settings| settings.documents.examine(),
            |settings| settings.outputs.examine(),
            |settings| settings.schedule.examine(),
            |settings| settings.track.examine(),
            |settings| settings.render.examine(),
            steps::examine,
            |settings| steps::examine_auth(&settings.auth),
        ];
        sections.iter().find_map(|section| section(self).into_iter().next()).map_or(Ok(()), Err)
    }
}

fn name(settings: &Settings) -> Vec<Wrong> {
    let wrong = settings.name.as_deref().and_then(|name| orb_store::check_name(name).err());
    wrong.map(|why| Wrong::new("name", why.to_string())).into_iter().collect()
}

/// Seeds that are not URLs; the contents of a seed file are checked when it is read.
fn seeds(settings: &Settings) -> Vec<Wrong> {
    let reader = Canonicaliser::new(settings.urls);
    let written = settings.seeds.iter().enumerate().filter_map(|(n, seed)| match SeedText::of(seed) {
        SeedText::Url(url) | SeedText::FollowOnly(url, _) => Some((n, seed, url.to_owned())),
        SeedText::News(news) => Some((n, seed, news.on(settings.nntp.server.as_deref().unwrap_or("server.invalid")))),
        SeedText::File(_) | SeedText::Phrase(_) => None,
    });
    let wrong = written.filter_map(|(n, seed, url)| Some((n, seed, reader.parse_seed(&url).err()?)));
    wrong
        .map(|(n, seed, why)| Wrong::new(format!("seeds[{n}]"), format!("'{seed}' is not a valid seed: {why}")))
        .collect()
}

/// A news server that is none.
fn news_server(settings: &Settings) -> Vec<Wrong> {
    let Some(server) = &settings.nntp.server else { return Vec::new() };
    let url = NewsReference::of("news:*").map(|news| news.on(server)).unwrap_or_default();
    let address = Canonicaliser::new(settings.urls).parse_seed(&url);
    if address.is_ok_and(|address| address.scheme().starts_with("nntp") && address.path_and_query() == "/*") {
        return Vec::new();
    }
    vec![Wrong::new(
        "nntp.server",
        format!("'{server}' is not a news server; write it as host, host:port or nntps://host"),
    )]
}

fn scope(spec: &ScopeSpec) -> Vec<Wrong> {
    let mut wrongs = Vec::new();
    for (n, rule) in spec.rules.iter().enumerate() {
        let (name, key) = named(rule, n);
        let alone = ScopeSpec { rules: vec![rule.clone()], ..ScopeSpec::default() };
        if let Err(why) = Scope::new(&alone, &[]) {
            wrongs.push(Wrong::new(&key, why.to_string()));
        } else if let Some(before) = spec.rules[..n].iter().position(|other| other.regex() == rule.regex()) {
            let (other, _) = named(&spec.rules[before], before);
            let says = if other == name { "says the same" } else { "says the opposite and decides" };
            wrongs.push(Wrong::new(key, format!("rule {} {says}: `{}`", before + 1, rule.regex())));
        }
    }
    for (key, names) in [("tlds", &spec.tlds), ("domains", &spec.domains)] {
        for (n, name) in names.iter().enumerate() {
            let alone = match key {
                "tlds" => ScopeSpec { tlds: vec![name.clone()], ..ScopeSpec::default() },
                _ => ScopeSpec { domains: vec![name.clone()], ..ScopeSpec::default() },
            };
            wrongs.extend(
                Scope::new(&alone, &[]).err().map(|why| Wrong::new(format!("scope.{key}[{n}]"), why.to_string())),
            );
        }
    }
    wrongs
}

/// What a rule does, and its key.
fn named(rule: &ScopeRule, n: usize) -> (&'static str, String) {
    let name = if matches!(rule, ScopeRule::Allow(_)) { "allow" } else { "deny" };
    (name, format!("scope.rules[{n}].{name}"))
}

fn fetch(settings: &Settings) -> Vec<Wrong> {
    let fetch = &settings.fetch;
    let mut wrongs = Vec::new();
    if let Some(Err(why)) = fetch.proxy.as_deref().map(str::parse::<Proxy>) {
        wrongs.push(Wrong::new("fetch.proxy", why.to_string()));
    }
    for (n, fixed) in fetch.resolve.iter().enumerate() {
        wrongs.extend(
            fixed.parse::<Resolve>().err().map(|why| Wrong::new(format!("fetch.resolve[{n}]"), why.to_string())),
        );
    }
    if let Some(dns) = fetch.dns.as_deref().filter(|dns| dns.parse::<SocketAddr>().is_err()) {
        let what = format!("'{dns}' is not a name server; write it like 127.0.0.1:53");
        wrongs.push(Wrong::new("fetch.dns", what));
    }
    let is_type = |text: &str| text == "*" || text.split_once('/').is_some_and(|(a, b)| !a.is_empty() && !b.is_empty());
    if let Some((n, odd)) = fetch.accept.iter().enumerate().find(|(_, text)| !is_type(text.trim())) {
        let what = format!("'{odd}' is not a media type; write it like text/html or image/*");
        wrongs.push(Wrong::new(format!("fetch.accept[{n}]"), what));
    }
    if fetch.cookies_file.is_some() && !fetch.cookies {
        wrongs.push(Wrong::new("fetch.cookies_file", "cookies are switched off (fetch.cookies = false)"));
    }
    let agent = &fetch.user_agent;
    if agent.trim().is_empty() || !agent.bytes().all(|b| (b' '..=b'~').contains(&b)) {
        wrongs.push(Wrong::new("fetch.user_agent", "a user agent is written in ASCII letters, on one line"));
    }
    wrongs
}

/// Numbers out of range.
fn numbers(settings: &Settings) -> Vec<Wrong> {
    let rows = settings.limits.schedule.len();
    let odd = settings.frontier.retry.codes.iter().copied().find(|code| !(400..600).contains(code));
    [
        ("fetch.connections", settings.fetch.connections == 0, "at least 1 connection is needed".to_owned()),
        ("frontier.per_host", settings.frontier.per_host == 0, "at least 1 request to a host is needed".to_owned()),
        (
            "frontier.retry.codes",
            odd.is_some(),
            format!("{} is not an error status; write 400 to 599", odd.unwrap_or_default()),
        ),
        (
            "limits.schedule",
            rows > MOST_ROWS,
            format!("limits.schedule has {rows} rows; {MOST_ROWS} are enough for a week"),
        ),
        (
            "store.warc_level",
            !(1..=12).contains(&settings.store.warc_level),
            format!("{} is not a gzip level; write 1 (fast) to 12 (small)", settings.store.warc_level),
        ),
        (
            "store.shards",
            settings.store.shards.is_some_and(|shards| !shards.is_power_of_two() || !(16..=1_024).contains(&shards)),
            format!(
                "{} is not a number of shards; write a power of two from 16 to 1024",
                settings.store.shards.unwrap_or_default()
            ),
        ),
    ]
    .into_iter()
    .filter(|(_, wrong, _)| *wrong)
    .map(|(key, _, what)| Wrong::new(key, what))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// The error for an otherwise readable file.
    fn said(text: &str) -> String {
        let settings = Settings::parse(text, Path::new("p.toml")).unwrap();
        settings.examined(text, Path::new("p.toml")).unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_meant_is_told_with_its_place() {
        for (text, line) in [
            ("seeds = ['http://a.test/', 'http://[/']", "p.toml:1:28: 'http://[/' is not a valid seed"),
            ("[scope]\nrules = [{ allow = 'a' },\n { deny = '(' }]", "p.toml:3:11: the rule `(` is not a regular"),
            ("[scope]\nrules = [{ allow = 'a' }, { deny = 'a' }]", "p.toml:2:36: rule 1 says the opposite and decides"),
            ("[scope]\nrules = [{ deny = 'a' }, { deny = 'a' }]", "p.toml:2:35: rule 1 says the same: `a`"),
            ("[scope]\ndomains = ['a.test', 'b b']", "p.toml:2:22: `b b` is not a domain name"),
            ("[fetch]\nresolve = ['a:80']", "p.toml:2:12: "),
            ("fetch.proxy = 'socks5://a'", "p.toml:1:15: "),
            ("fetch.dns = 'here'", "p.toml:1:13: 'here' is not a name server; write it like 127.0.0.1:53"),
            ("[fetch]\nconnections = 0", "p.toml:2:15: at least 1 connection"),
            ("[store]\nwarc_level = 13", "p.toml:2:14: 13 is not a gzip level"),
            ("[store]\nshards = 100", "p.toml:2:10: 100 is not a number of shards; write a power of two"),
            ("[[outputs.webhook]]\nurl = 'ftp://a.test/'", "p.toml:2:7: "),
            (
                "[[track.compare]]\n[[track.compare]]\nmatch = '('",
                "p.toml:3:9: '(' is not a regular expression: unclosed group",
            ),
            ("[[track.compare]]\ninclude = ['p', '>>']", "p.toml:2:17: '>>' is not a CSS selector"),
            ("[[track.compare]]\nby = 'bytes'\nignore = ['x']", "p.toml:2:6: \"bytes\" compares every byte"),
            ("[[track.compare]]\nignore = ['x*']", "p.toml:2:11: 'x*' matches nothing at all as well"),
        ] {
            let said = said(text);
            assert!(said.starts_with(line) && !said.contains('\n'), "{text}\n{said}");
        }
    }

    #[test]
    fn the_defaults_make_sense() {
        assert_eq!(Settings::default().examine(), Ok(()));
    }
}
