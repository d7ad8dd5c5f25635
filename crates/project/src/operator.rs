//! Which settings may somebody change who is not the operator of this machine?
//!
//! On the command line every setting is the user's own business. Sent from a browser, some of them
//! would let a stranger run programs here, read files and secrets of this machine, reach its inner
//! network, or take all of its memory. Every key is therefore classified in [`KEYS`], and a test
//! compares the table with `docs/project.toml`. A change made from outside may not touch the value
//! of an operator key; values that an operator has set stay as they are.
//!
//! A table of a list that holds an operator's value (a step with a password from a file, a rule
//! with a program, a credential) is one thing: changing the URL beside a secret would send the
//! secret elsewhere. So such lists may not be changed at all.

use crate::examine::Wrong;
use crate::settings::Settings;
use crate::ways::SeedText;
use orb_urls::Canonicaliser;
use std::net::{IpAddr, Ipv4Addr};
use toml::{Table, Value};

/// Who may change a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyClass {
    /// Whoever may edit the project.
    Web,
    /// The operator: it runs programs, reads or writes files, reaches inside, or takes what others
    /// on this machine need.
    Operator,
}

use KeyClass::{Operator, Web};

/// Every key, with the indexes of lists left out.
#[rustfmt::skip]
pub const KEYS: &[(&str, KeyClass)] = &[
    ("name", Web), ("seeds", Web), ("machines", Operator),
    ("search_engine.template", Operator), ("search_engine.results", Web), ("search_engine.pages", Web),
    ("search_engine.refresh", Web),
    ("steps.name", Web), ("steps.start", Web), ("steps.links", Web), ("steps.links_matching", Web),
    ("steps.collect", Web), ("steps.depth", Web), ("steps.mode", Web), ("steps.rules", Web), ("steps.expect", Web), ("steps.render", Web),
    ("steps.once", Web),
    ("steps.expect_not", Web), ("steps.expect_selector", Web), ("steps.expect_not_selector", Web),
    ("steps.form.id", Web), ("steps.form.name", Web), ("steps.form.action", Web), ("steps.form.position", Web),
    ("steps.form.fields", Web),
    ("auth.host", Operator), ("auth.user", Operator), ("auth.password", Operator), ("auth.password_env", Operator),
    ("auth.password_file", Operator), ("auth.token", Operator), ("auth.token_env", Operator),
    ("auth.token_file", Operator), ("auth.realm", Operator), ("auth.allow_plain", Operator),
    ("auth.key_file", Operator),
    ("urls.lowercase", Web), ("urls.strip_userinfo", Web), ("urls.strip_www", Web), ("urls.strip_session_ids", Web),
    ("urls.learn_sessions", Web), ("urls.tidy_query", Web), ("urls.sort_query", Web),
    ("scope.mode", Web), ("scope.tlds", Web), ("scope.surts", Web), ("scope.domains", Web),
    ("scope.domains_file", Operator), ("scope.rules", Web), ("scope.default", Web), ("scope.extensions_deny", Web),
    ("scope.paths", Web),
    ("frontier.order", Web), ("frontier.delay", Web), ("frontier.per_host", Web), ("frontier.depth", Web),
    ("frontier.max_pages", Web), ("frontier.max_bytes", Web), ("frontier.max_time", Web), ("frontier.retries", Web),
    ("frontier.max_redirects", Web), ("frontier.ignore_robots", Operator), ("frontier.robots_max_age", Web),
    ("frontier.max_crawl_delay", Web), ("frontier.max_backoff", Web), ("frontier.sitemaps", Web),
    ("frontier.follow_nofollow", Web), ("frontier.topic", Web), ("frontier.workbench", Operator),
    ("frontier.learn_aliases", Web), ("frontier.retry.codes", Web),
    ("frontier.traps.url_length", Web), ("frontier.traps.path_depth", Web), ("frontier.traps.repeated_segment", Web),
    ("frontier.traps.query_parameters", Web), ("frontier.traps.query_variants", Web),
    ("frontier.traps.years_ahead", Web), ("frontier.traps.years_back", Web),
    ("frontier.traps.repeated_content", Web), ("frontier.traps.similar_content", Web), ("frontier.traps.chain", Web),
    ("frontier.traps.mirrored_pages", Web), ("frontier.traps.mirrored_hosts", Web),
    ("frontier.traps.hosts_per_domain", Web), ("frontier.traps.host_pages", Web),
    ("fetch.user_agent", Web), ("fetch.connections", Operator), ("fetch.timeout", Web), ("fetch.connect_timeout", Web),
    ("fetch.total_timeout", Web), ("fetch.max_size", Operator), ("fetch.accept", Web), ("fetch.proxy", Operator),
    ("fetch.resolve", Operator), ("fetch.dns", Operator), ("fetch.source", Operator), ("fetch.bandwidth", Web), ("fetch.allow_private", Operator),
    ("fetch.private_seeds", Operator), ("fetch.cookies", Web), ("fetch.cookies_file", Operator), ("fetch.http2", Web),
    ("fetch.netrc", Operator),
    ("fetch.ca_file", Operator), ("fetch.insecure", Operator),
    ("render.when", Web), ("render.rules", Web),
    ("render.program", Operator), ("render.no_sandbox", Operator), ("render.tabs", Operator),
    ("render.memory", Operator), ("render.pages", Operator), ("render.settle", Web), ("render.timeout", Operator),
    ("render.screens", Web), ("render.click", Operator), ("render.screenshots", Web), ("render.robots", Operator),
    ("render.max_requests", Operator), ("render.max_bytes", Operator), ("render.cache", Operator),
    ("ftp.tls", Web), ("sftp.program", Operator), ("sftp.known_hosts", Operator), ("nntp.server", Operator),
    ("files.roots", Operator),
    ("documents.max_size", Operator), ("documents.memory", Operator), ("documents.workers", Operator),
    ("limits.zone", Web), ("limits.schedule.days", Web), ("limits.schedule.from", Web), ("limits.schedule.to", Web),
    ("limits.schedule.rate", Web), ("limits.schedule.connections", Operator), ("limits.schedule", Web),
    ("store.archive", Web), ("store.links", Web), ("store.warc_size", Operator), ("store.warc_level", Operator),
    ("store.min_free", Operator), ("store.index_memory", Operator), ("store.shards", Operator),
    ("index.enabled", Web), ("index.stem", Web), ("index.max_text", Operator), ("index.honour_noindex", Web),
    ("index.memory", Operator), ("index.queue", Operator), ("index.threads", Operator), ("index.commit_time", Operator),
    ("index.split_time", Operator),
    ("search.per_host", Web),
    ("search.weights.title", Web), ("search.weights.headings", Web), ("search.weights.body", Web),
    ("search.weights.url", Web), ("search.weights.anchor", Web), ("search.weights.around", Web),
    ("search.weights.section", Web), ("search.weights.name", Web), ("search.weights.phrase", Web),
    ("search.weights.described", Web), ("search.weights.importance", Web),
    ("crawl.workers", Operator), ("crawl.worker_name", Operator), ("crawl.batch_pages", Operator),
    ("crawl.batch_time", Operator),
    ("schedule.every", Web), ("schedule.cron", Web), ("schedule.zone", Web), ("schedule.jitter", Web),
    ("schedule.not_before", Web), ("schedule.until", Web), ("schedule.catch_up", Web),
    ("outputs.atom", Operator), ("outputs.atom_entries", Web), ("outputs.jsonl", Operator),
    ("outputs.markdown", Operator),
    ("outputs.webhook.url", Operator), ("outputs.webhook.secret", Operator), ("outputs.webhook.secret_env", Operator),
    ("outputs.webhook.events", Operator), ("outputs.webhook.flags", Operator), ("outputs.webhook.batch", Operator), ("outputs.webhook.timeout", Operator),
    ("outputs.webhook.retries", Operator),
    ("track.hold_until_acknowledged", Web), ("track.confirm_missing", Web), ("track.second_look", Web),
    ("track.around", Web), ("track.budget", Web),
    ("track.compare.match", Web), ("track.compare.by", Web), ("track.compare.include", Web),
    ("track.compare.exclude", Web), ("track.compare.ignore", Web), ("track.compare.similarity", Web),
    ("track.compare.program", Operator), ("track.compare.timeout", Operator),
];

/// Lists of tables: each is changed as a whole or not at all.
const LISTS: [&str; 5] = ["steps", "auth", "limits.schedule", "outputs.webhook", "track.compare"];

/// The class of a key. What is not in the table is the operator's: nothing passes by oversight.
pub fn key_class(key: &str) -> KeyClass {
    KEYS.iter().find(|(name, _)| *name == key).map_or(Operator, |(_, class)| *class)
}

impl Settings {
    /// What a project has that somebody other than the operator makes.
    pub fn for_outsiders() -> Self {
        let mut settings = Self::default();
        settings.fetch.private_seeds = false;
        settings
    }

    /// The first change from `before` to these settings that only the operator may make.
    pub fn examine_outsider(&self, before: &Self) -> Result<(), Wrong> {
        let [old, new] = [before, self].map(|settings| settings.to_toml().parse::<Table>().unwrap_or_default());
        operator_list(&old, &new)?;
        let mut keys = Vec::new();
        leaves(&new, "", &mut keys);
        leaves(&old, "", &mut keys);
        for key in keys.iter().filter(|key| !LISTS.contains(&key.as_str()) && key_class(key) == Operator) {
            if value_at(&old, key) != value_at(&new, key) {
                return Err(Wrong::new(key, format!("{key} can be changed by the operator of this server only")));
            }
        }
        self.examine_starts(before)
    }

    /// Where a run starts: a seed may be private, or a file, if the operator says so.
    fn examine_starts(&self, before: &Self) -> Result<(), Wrong> {
        let reader = Canonicaliser::new(self.urls);
        let fresh = starts(self).into_iter().filter(|(_, seed)| !starts(before).iter().any(|(_, old)| old == seed));
        for (key, seed) in fresh {
            if self.fetch.private_seeds {
                let why = "may reach private addresses, so its seeds are changed by the operator of this server only";
                return Err(Wrong::new(key, format!("this project {why}")));
            }
            if seed.starts_with('@') {
                return Err(Wrong::new(key, "files of this machine are read for the operator of this server only"));
            }
            // What is no URL at all is told by `examine`.
            let address = reader.parse_seed(&seed).ok();
            if address.as_ref().is_some_and(|address| address.scheme() == "file") {
                return Err(Wrong::new(key, "files of this machine are read for the operator of this server only"));
            }
            if let Some(kind) = address.and_then(|address| why_inside(address.host())) {
                return Err(Wrong::new(
                    key,
                    format!(
                        "'{seed}' is a {kind} address: for the operator of this server only (orb serve --operator-keys)"
                    ),
                ));
            }
        }
        Ok(())
    }
}

/// Why a host is inside as far as its name tells; names that resolve to private addresses are found
/// when they are resolved.
fn why_inside(host: &str) -> Option<&'static str> {
    let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_ascii_lowercase();
    let named = (host == "localhost" || host.ends_with(".localhost")).then_some(IpAddr::V4(Ipv4Addr::LOCALHOST));
    named.or_else(|| host.parse().ok()).and_then(orb_fetch::why_not_public)
}

/// Every place where a run starts, with its key.
fn starts(settings: &Settings) -> Vec<(String, String)> {
    // A phrase is asked of an engine that the operator has chosen, and so is a newsgroup that names
    // no server.
    let seeds = settings.seeds.iter().enumerate().filter_map(|(n, seed)| match SeedText::of(seed) {
        SeedText::Phrase(_) => None,
        SeedText::News(news) => news.server.map(|server| (format!("seeds[{n}]"), news.on(server))),
        SeedText::FollowOnly(url, _) => Some((format!("seeds[{n}]"), url.to_owned())),
        SeedText::Url(_) | SeedText::File(_) => Some((format!("seeds[{n}]"), seed.clone())),
    });
    let steps = settings.steps.iter().enumerate().flat_map(|(n, step)| {
        step.start.iter().enumerate().map(move |(m, url)| (format!("steps[{n}].start[{m}]"), url.clone()))
    });
    seeds.chain(steps).collect()
}

/// Refuses to change a list that holds an operator's value.
fn operator_list(old: &Table, new: &Table) -> Result<(), Wrong> {
    for list in LISTS {
        let (before, after) = (value_at(old, list), value_at(new, list));
        if before != after && [before, after].into_iter().flatten().any(|value| holds_operator_key(value, list)) {
            let what =
                format!("{list} holds what the operator of this server alone may set, and is changed by nobody else");
            return Err(Wrong::new(list, what));
        }
    }
    Ok(())
}

/// Whether somewhere in a value there is a key of the operator, or a secret that is stored
/// elsewhere. Values that every row has are no sign of an operator.
fn holds_operator_key(value: &Value, path: &str) -> bool {
    match value {
        Value::Array(rows) => rows.iter().any(|row| holds_operator_key(row, path)),
        Value::Table(table) if path == "steps.form.fields" => {
            // A secret that was typed here goes to its own site, whatever is done to the step.
            let is_theirs = |source: &Table| source.keys().any(|key| key != "secret");
            table.values().any(|field| field.as_table().is_some_and(is_theirs))
        }
        Value::Table(table) => table.iter().any(|(key, inner)| {
            let path = format!("{path}.{key}");
            match inner {
                Value::Table(_) => holds_operator_key(inner, &path),
                _ => key_class(&path) == Operator && path != "track.compare.timeout",
            }
        }),
        _ => false,
    }
}

/// The keys of all values below a table.
fn leaves(table: &Table, prefix: &str, out: &mut Vec<String>) {
    for (key, value) in table {
        match value {
            Value::Table(inner) => leaves(inner, &format!("{prefix}{key}."), out),
            _ => out.push(format!("{prefix}{key}")),
        }
    }
}

fn value_at<'t>(table: &'t Table, key: &str) -> Option<&'t Value> {
    match key.split_once('.') {
        Some((first, rest)) => value_at(table.get(first)?.as_table()?, rest),
        None => table.get(key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn parsed(text: &str) -> Settings {
        Settings::parse(text, Path::new("p.toml")).unwrap()
    }

    /// What somebody from outside is told who changes one text to the other.
    fn told(before: &str, after: &str) -> Option<String> {
        parsed(after).examine_outsider(&parsed(before)).err().map(|wrong| wrong.to_string())
    }

    const OUTSIDE: &str = "fetch.private_seeds = false\n";

    #[test]
    fn what_runs_programs_reads_files_or_reaches_inside_is_refused() {
        for (text, key) in [
            ("seeds = ['@/etc/passwd']", "seeds[0]"),
            ("seeds = ['http://a.test/', 'http://127.0.0.1/']", "seeds[1]"),
            ("seeds = ['http://[::1]:80/']", "seeds[0]"),
            ("seeds = ['http://x.localhost./']", "seeds[0]"),
            ("seeds = ['http://169.254.169.254/latest']", "seeds[0]"),
            ("[[steps]]\nname = 's'\nstart = ['http://10.0.0.1/']", "steps[0].start[0]"),
            ("[[steps]]\nname = 's'\nstart = ['http://a.test/']\nform.fields.p = { env = 'HOME' }", "steps"),
            ("[[steps]]\nname = 's'\nstart = ['http://a.test/']\nform.fields.p = { file = '/x' }", "steps"),
            ("[[auth]]\nhost = 'a.test'\nuser = 'u'\npassword = 'p'", "auth"),
            ("[scope]\ndomains_file = '/etc/passwd'", "scope.domains_file"),
            ("[fetch]\nproxy = 'http://10.0.0.1:3128'", "fetch.proxy"),
            ("[fetch]\nresolve = ['a.test:80:127.0.0.1']", "fetch.resolve"),
            ("[fetch]\nallow_private = true", "fetch.allow_private"),
            ("[fetch]\ninsecure = true", "fetch.insecure"),
            ("[frontier]\nignore_robots = true", "frontier.ignore_robots"),
            ("[outputs]\njsonl = '/tmp/x'", "outputs.jsonl"),
            ("[[outputs.webhook]]\nurl = 'http://a.test/'", "outputs.webhook"),
            ("[[track.compare]]\nprogram = ['sh']", "track.compare"),
            ("[crawl]\nworkers = 64", "crawl.workers"),
            ("[render]\nprogram = '/bin/sh'", "render.program"),
            ("[render]\nno_sandbox = true", "render.no_sandbox"),
        ] {
            let text = match text.strip_prefix("[fetch]\n") {
                Some(rest) => format!("[fetch]\nprivate_seeds = false\n{rest}"),
                None => format!("{OUTSIDE}{text}"),
            };
            let said = told(OUTSIDE, &text).unwrap_or_default();
            assert!(said.starts_with(&format!("{key}: ")), "{text}\n{said}");
        }
        assert!(told(OUTSIDE, "").unwrap().starts_with("fetch.private_seeds: "));
    }

    #[test]
    fn everything_else_may_be_changed_and_what_the_operator_set_stays() {
        let kept = format!("{OUTSIDE}seeds = ['http://10.0.0.1/']\n[[track.compare]]\nprogram = ['sh']\n");
        assert_eq!(told(&kept, &format!("{kept}[frontier]\ndepth = 3\ndelay = '2s'\n")), None);
        assert!(told(&kept, &kept.replace("program", "match = 'x'\nprogram")).is_some());
        let plain = format!(
            "{OUTSIDE}seeds = ['http://a.test/']\n[scope]\nrules = [{{ deny = 'x' }}]\n[[track.compare]]\nby = 'main'\n\
             [[steps]]\nname = 's'\nstart = ['http://b.test/']\nform.fields = {{ q = 'words', p = {{ secret = 'x' }} }}\n[schedule]\nevery = '6h'\n"
        );
        assert_eq!(told(OUTSIDE, &plain), None);
    }

    #[test]
    fn the_seeds_of_a_project_that_may_reach_inside_are_the_operators() {
        let kept = "seeds = ['http://a.test/']";
        assert!(told(kept, "seeds = ['http://b.test/']").unwrap().contains("this project may reach private addresses"));
        assert_eq!(told(kept, "seeds = ['http://a.test/']\nfrontier.depth = 1"), None);
    }
}
