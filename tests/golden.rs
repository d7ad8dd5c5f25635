//! Does every command still say what it said?
//!
//! One varied project is crawled, tracked twice, ranked and indexed, and every command that reads
//! is asked twice, for text and for JSON. What it says lies in `tests/golden`, a file for each. The
//! web is served through a proxy, so that no port stands in an address, and one page is fetched and
//! recorded at a time: ids, digests and ranks are the same in every run. What differs all the same
//! (times, durations, places in compressed files, this home's path) is replaced by [`Normaliser`],
//! and nothing else.
//!
//! Text is compared byte for byte. JSON is compared by its structure: objects may have gained keys,
//! but nothing may be missing, renamed, in another order or different.
//!
//! To record what commands say now, and to see by `git diff` what that changes:
//!
//! ```sh
//! ORB_GOLDEN=record cargo test -p orb --test golden
//! ```
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Finished, Home, PROJECT};
use harness::root;
use harness::web::World;
use orb_testweb::{Feature, Spec};
use regex::Regex;
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;
use std::{env, fs};

/// The seed, and pages whose fate is told below it.
const SEED: &str = "http://h0000.test/";

/// What is served: hosts, errors, rules, traps, versions.
const FEATURES: &[Feature] = &[
    Feature::Changes,
    Feature::Charsets,
    Feature::Duplicates,
    Feature::Errors,
    Feature::Furniture,
    Feature::Markup,
    Feature::Media,
    Feature::Redirects,
    Feature::Robots,
    Feature::Sitemaps,
    Feature::Traps,
    Feature::Validators,
];

/// The settings of the project but for the proxy. One page at a time makes the order of discovery a
/// function of the web; since hosts take turns as they come, one of them is crawled and the others
/// are known from links.
const SETTINGS: &str = "
seeds = ['http://h0000.test/']
scope.mode = 'host'
scope.rules = [{ deny = '/guides/' }]
fetch.connections = 1
frontier = { delay = '0s', per_host = 1, retries = 0, depth = 6, max_crawl_delay = '10ms', traps = { path_depth = 6, query_variants = 5, similar_content = 12 } }
crawl = { batch_pages = 1, workers = 1 }
index = { threads = 1, commit_time = '1h' }
outputs = { jsonl = 'changes.jsonl' }
schedule = { every = '6h' }
";

/// A question: the name of its golden files, and the arguments. `{p}` is the project, `{s}` the
/// seed, `{i}` the directory of inputs.
const QUESTIONS: &[(&str, &str)] = &[
    ("status", "status"),
    ("status-project", "status {p}"),
    ("report", "report {p}"),
    ("report-first", "report {p} --run 1 --limit 5"),
    ("report-around", "report {p} --around --flag sam --limit 10"),
    ("report-flags", "report {p} --flag new,sam,upd,mis,err --limit 30 --offset 3"),
    ("stats", "stats {p}"),
    ("show", "show {p} {s}"),
    ("show-changed", "show {p} {s}changes/always-1.html"),
    ("show-missing", "show {p} {s}changes/vanishes-at-1.html"),
    ("show-disallowed", "show {p} {s}robots/paper.pdf"),
    ("show-redirect", "show {p} {s}redirects/302"),
    ("show-duplicate", "show {p} {s}duplicates/soft/no-such-page-2.html"),
    ("show-unknown", "show {p} {s}nothing-here"),
    ("show-no-url", "show {p} mailto:somebody"),
    ("cat-raw", "cat {p} {s}changes/always-1.html"),
    ("cat-text", "cat {p} {s}changes/always-1.html --as text"),
    ("cat-markdown", "cat {p} {s} --as markdown"),
    ("cat-earlier", "cat {p} {s}changes/always-1.html --as text --run 1"),
    ("cat-whole", "cat {p} {s} --as markdown --whole"),
    ("cat-whole-text", "cat {p} {s}changes/always-1.html --as text --whole"),
    ("cat-charset", "cat {p} {s}charsets/latin1-header.html --as text"),
    ("cat-not-visited", "cat {p} {s}changes/always-1.html --run 9"),
    ("cat-not-fetched", "cat {p} {s}robots/paper.pdf"),
    ("diff", "diff {p} {s}changes/always-1.html"),
    ("diff-runs", "diff {p} {s}changes/always-1.html --from 1 --to 2"),
    ("diff-source", "diff {p} {s}changes/always-1.html --from 1 --to 2 --by source"),
    ("diff-same", "diff {p} {s}changes/steady-1.html"),
    ("search", "search {p} page time"),
    ("search-phrase", "search {p} \"pages in time\" --explain"),
    ("search-limit", "search {p} page --limit 3 --offset 2 --no-snippets"),
    ("search-hosts", "search {p} the --per-host 2"),
    ("search-nothing", "search {p} zzyzx"),
    ("search-complete", "search {p} --complete pa"),
    ("search-complete-nothing", "search {p} --complete zzyzx --limit 3"),
    ("words", "words {p} page"),
    ("words-prefix", "words {p} pa*"),
    ("words-nothing", "words {p} zzyzx"),
    ("links-out", "links {p} {s}"),
    ("links-out-some", "links {p} {s} --out --limit 4 --offset 2"),
    ("links-in", "links {p} {s}changes/ --in"),
    ("links-in-anchors", "links {p} {s} --in --anchors"),
    ("links-history", "links {p} {s}changes/ --history"),
    ("links-since", "links {p} --since 1"),
    ("links-since-lost", "links {p} {s}changes/ --since 1 --lost"),
    ("links-since-none", "links {p} --since 9"),
    ("top", "top {p}"),
    ("top-backlinks", "top {p} --by backlinks --limit 5 --fetched"),
    ("top-hub", "top {p} --by hub --limit 5"),
    ("top-authority", "top {p} --by authority --limit 5 --offset 1"),
    ("top-harmonic", "top {p} --by harmonic --limit 5"),
    ("top-outdegree", "top {p} --by outdegree --limit 5"),
    ("top-hosts", "top {p} --hosts"),
    ("graph-stats", "graph stats {p}"),
    ("graph-neighbours", "graph neighbours {p} {s}changes/"),
    ("graph-neighbours-far", "graph neighbours {p} {s}changes/ --hops 2 --direction out --limit 20"),
    // Whether a page is slow is up to the machine.
    ("health", "health {p} --limit 8"),
    ("health-rest", "health {p} --run 2 --offset 9"),
    ("health-broken", "health {p} broken_link --limit 12"),
    ("health-new", "health {p} broken_link --new"),
    ("health-chains", "health {p} redirect_chain"),
    ("health-titles", "health {p} equal_title --limit 5 --offset 2"),
    ("health-none", "health {p} mixed_content"),
    ("health-wrong", "health {p} missing_alt --new"),
    ("sql", "sql {p} 'SELECT kind, count(*) AS pages, sum(length) AS bytes FROM page GROUP BY kind ORDER BY kind'"),
    ("sql-pages", "sql {p} 'SELECT id, url, kind, why, fetched_at, etag, priority FROM page' --limit 40 --offset 1"),
    ("sql-runs", "sql {p} 'SELECT id, kind, state FROM run ORDER BY id'"),
    ("sql-csv", "sql {p} 'SELECT url, title FROM page WHERE title NOTNULL ORDER BY id LIMIT 8' --format csv"),
    ("sql-nothing", "sql {p} 'SELECT id, url FROM page WHERE id < 0'"),
    ("sql-wrong", "sql {p} 'SELECT wombats FROM page'"),
    ("sql-writes", "sql {p} 'DELETE FROM page'"),
    ("sql-schema", "sql {p} --schema"),
    ("check", "check {p}"),
    ("changes", "changes {p}"),
    ("changes-some", "changes {p} --after 2 --limit 3 --flag upd,mis"),
    ("deliver", "deliver {p}"),
    ("project-list", "project list"),
    ("project-show", "project show {p}"),
    ("index-status", "index status {p}"),
    ("run-due", "run-due --dry-run --now 2999-01-01T00:00:00Z"),
    ("plan", "plan --pages 1M --hosts 1000 --bandwidth 10MB/s --compression 0.2"),
    ("inspect-robots", "inspect robots --file {i}/robots.txt /private/x /private/open/y http://www.example.com/a.pdf"),
    ("inspect-robots-agent", "inspect robots --file {i}/robots.txt --agent badbot /"),
    ("inspect-document", "inspect document {i}/page.html --base http://www.example.com/dir/ --mime text/html"),
    ("inspect-forms", "inspect forms {i}/page.html --base http://www.example.com/dir/"),
    ("inspect-sessions", "inspect sessions {i}/first-session.txt"),
    ("inspect-sessions-two", "inspect sessions {i}/first-session.txt {i}/second-session.txt"),
    ("inspect-url", "inspect url HTTP://WWW.Example.com:80/a/../b?x=1&PHPSESSID=7 ../c --base http://example.org/d/e"),
    ("no-project", "stats nothing"),
    ("empty-project", "stats later"),
    // What writes comes last. All of it has been done before.
    ("index-update", "index update {p} --progress none"),
    ("graph-build", "graph build {p} --progress none"),
    ("graph-export", "graph export {p} edges -o edges.txt --force --progress none"),
    ("export", "export {p} jsonl -o tables --force --progress none"),
];

/// Questions whose answers have one form alone, whatever `--json` says.
const FORMS: &[(&str, &str)] = &[
    ("report.csv", "report {p} --format csv"),
    ("report.html", "report {p} --format html --diffs 5"),
    ("graph-export.dot", "graph export {p} dot -o - --progress none"),
    ("graph-export.graphml", "graph export {p} graphml --top 5 -o - --progress none"),
    ("export-pages.jsonl", "export {p} jsonl --table pages -o - --progress none"),
    ("export-links.csv", "export {p} csv --table links -o - --progress none"),
    ("diff.html", "diff {p} {s}changes/always-1.html --html -"),
];

/// Why a run was as fast as it was is up to the machine: of the answer only the form is held
/// against the golden one.
const WHY: &str = "status {p} --why";

/// How those of its lines begin that are always there.
const ALWAYS_SAID: [&str; 3] = ["project p, run 3: done", "what takes the time", "where the time goes"];

#[test]
fn every_command_says_what_it_said() {
    let (_world, home) = varied();
    let normaliser = Normaliser::new(&home);
    let mut wrong = Vec::new();
    for (name, args) in QUESTIONS {
        let said = normaliser.text(&ask(&home, args, false));
        judge(&mut wrong, &format!("{name}.txt"), &said, |golden| golden == said);
        let said = normaliser.json(&ask(&home, args, true));
        judge(&mut wrong, &format!("{name}.json"), &said, |golden| holds(&read(golden), &read(&said)));
    }
    for (name, args) in FORMS {
        let said = normaliser.text(&ask(&home, args, false));
        judge(&mut wrong, name, &said, |golden| golden == said);
    }
    let said = normaliser.text(&ask(&home, WHY, false));
    let always = said.lines().filter_map(|line| ALWAYS_SAID.iter().find(|begin| line.starts_with(**begin)));
    let said: String = always.map(|begin| format!("{begin}\n")).collect();
    judge(&mut wrong, "status-why.txt", &said, |golden| golden == said);
    let said: Vec<Value> = read(&normaliser.json(&ask(&home, WHY, true))).iter().map(shape).collect();
    let said = serde_json::to_string_pretty(&said).unwrap() + "\n";
    judge(&mut wrong, "status-why.json", &said, |golden| holds(&read(golden), &read(&said)));
    assert!(wrong.is_empty(), "other than recorded (ORB_GOLDEN=record re-records):\n{}", wrong.join("\n"));
}

/// The varied project: three runs of a web that changes between them, with graph, ranks and text
/// index; and a project that is empty.
fn varied() -> (World, Home) {
    let spec = Spec { hosts: 2, pages_per_host: 8, links: 6, page_bytes: 1_500, ..Spec::default() };
    let spec = Spec { crawl_delay: Duration::from_millis(10), ..spec };
    let world = World::new(FEATURES.iter().copied().fold(spec, Spec::with));
    let home = Home::new();
    let file = home.beside("p.toml");
    let proxy = format!("fetch.proxy = 'http://127.0.0.1:{}'", world.server.addr().port());
    fs::write(&file, format!("{SETTINGS}{proxy}\n")).unwrap();
    home.crawl(&[file.to_str().unwrap()]);
    for epoch in 1..=2 {
        world.server.web().set_epoch(epoch);
        home.orb(&["track", PROJECT, "--json", "--progress", "none"]).expect(0);
    }
    // Sums of fractions depend on how many threads make them.
    let build = ["graph", "build", PROJECT, "--progress", "none"];
    home.start(&build, &[("RAYON_NUM_THREADS", "1")]).finish().expect(0);
    home.orb(&["project", "ack", PROJECT, "--by", "jo", "--note", "seen"]).expect(0);
    home.orb(&["project", "new", "later", "--seed", SEED]).expect(0);
    (world, home)
}

/// Asks a question; arguments are parted by spaces outside of quotes.
fn ask(home: &Home, question: &str, json: bool) -> Finished {
    let inputs = root().join("tests/golden/input");
    let question = question.replace("{p}", PROJECT).replace("{s}", SEED).replace("{i}", inputs.to_str().unwrap());
    let mut args = Vec::new();
    for (n, part) in question.split('\'').enumerate() {
        match n % 2 {
            0 => args.extend(part.split_whitespace().map(str::to_owned)),
            _ => args.push(part.to_owned()),
        }
    }
    args.extend(json.then(|| "--json".to_owned()));
    home.orb(&args)
}

/// Holds what was said against the file of this name, or writes it there.
fn judge(wrong: &mut Vec<String>, name: &str, said: &str, same: impl Fn(&str) -> bool) {
    let file = root().join("tests/golden").join(name);
    if env::var_os("ORB_GOLDEN").is_some_and(|wanted| wanted == "record") {
        fs::write(&file, said).unwrap();
        return;
    }
    let golden = fs::read_to_string(&file).unwrap_or_default();
    if !same(&golden) {
        let now = place_for(name);
        fs::write(&now, said).unwrap();
        wrong.push(format!("diff {} {}", file.display(), now.display()));
    }
}

/// Where what was said is left to be looked at.
fn place_for(name: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("golden");
    fs::create_dir_all(&dir).unwrap();
    dir.join(name)
}

/// The values of a golden file, one after another.
fn read(text: &str) -> Vec<Value> {
    serde_json::Deserializer::from_str(text).into_iter().map(|value| value.unwrap_or(Value::Null)).collect()
}

/// Whether what is said now holds what was said: equal, but for keys that objects have gained.
fn holds(before: &[Value], now: &[Value]) -> bool {
    before.len() == now.len() && before.iter().zip(now).all(|(before, now)| kept(before, now))
}

/// The keys of an answer, whatever the values.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), shape(value))).collect(),
        Value::Array(_) => "a list".into(),
        _ => "a value".into(),
    }
}

fn kept(before: &Value, now: &Value) -> bool {
    match (before, now) {
        (Value::Array(before), Value::Array(now)) => holds(before, now),
        (Value::Object(before), Value::Object(now)) => {
            let known = now.iter().filter(|(key, _)| before.contains_key(*key));
            before.len() == known.clone().count()
                && before.iter().zip(known).all(|((key, value), (name, now))| key == name && kept(value, now))
        }
        _ => before == now,
    }
}

/// Takes out of an answer what no two recordings share.
struct Normaliser(Vec<(Regex, &'static str)>);

impl Normaliser {
    fn new(home: &Home) -> Self {
        // Numbers of JSON objects, inside of strings too, that depend on the clock or on how well
        // times compress.
        let keys = "seconds|elapsed_ms|warc_offset|warc_length";
        let rules = [
            (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?".to_owned(), "<time>"),
            // A WARC file bears the time of its run; where a record lies in it depends on how the
            // times before it compress.
            (r"\bp-\d{14}-(\d{5}\.warc\.gz)(:\d+)?".to_owned(), "p-<time>-$1"),
            // Whichever reader of documents is free reads the next one.
            (r"\borb-doc-\d+".to_owned(), "orb-doc-<n>"),
            (r"(done|out) in \d+(\.\d+)? s\b".to_owned(), "$1 in <seconds>"),
            // A column of `status`, as wide as what stands in it.
            (r"(B) +\d+(?:\.\d+)? s +|(bytes +time) +".to_owned(), "$1$2  "),
            // The size of the text index, in which times are compressed, too.
            (r"\d+ kB in (\d segments)".to_owned(), "<size> in $1"),
            (r#"("segments":\d+,"bytes":)\d+"#.to_owned(), "${1}0"),
            (format!(r#"(\\?"(?:{keys})\\?":\s*)[-+.e\d]+"#), "${1}0"),
            // What a plan makes of the measured sizes of such files.
            (r#"("(?:bytes|scaled|disk_total)":\s*)\d+\.\d+"#.to_owned(), "${1}0"),
            (regex::escape(home.path().to_str().unwrap()), "<home>"),
            (regex::escape(root().to_str().unwrap()), "<root>"),
            (r"127\.0\.0\.1:\d+".to_owned(), "127.0.0.1:<port>"),
        ];
        Self(rules.into_iter().map(|(rule, to)| (Regex::new(&rule).unwrap(), to)).collect())
    }

    /// What was said, with the complaint and the exit code where it failed.
    fn text(&self, finished: &Finished) -> String {
        self.apply(&finished.stdout) + &self.complaint(finished).map(|text| format!("--- {text}")).unwrap_or_default()
    }

    /// The same as JSON, indented, so that a difference is a line.
    fn json(&self, finished: &Finished) -> String {
        let mut values = read(&self.apply(&finished.stdout));
        values.extend(self.complaint(finished).map(Value::from));
        values.iter().map(|value| serde_json::to_string_pretty(value).unwrap() + "\n").collect()
    }

    fn complaint(&self, finished: &Finished) -> Option<String> {
        let complains = finished.code != Some(0) || !finished.stderr.is_empty();
        complains.then(|| format!("exit {:?}: {}", finished.code, self.apply(finished.stderr.as_bytes())))
    }

    fn apply(&self, said: &[u8]) -> String {
        let said = String::from_utf8_lossy(said).into_owned();
        self.0.iter().fold(said, |said, (rule, to)| rule.replace_all(&said, *to).into_owned())
    }
}
