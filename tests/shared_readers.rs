//! Can a project on a shared store be asked like one on this machine, and copied to it?
//!
//! Real workers collect a web; what is asked of the store, of a copy of it and of a project that
//! one machine has collected must be answered alike.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::cluster::{Cluster, Collected};
use harness::orb::{Finished, Home, PROJECT, files, files_below};
use harness::until;
use harness::web::{World, assert_same};
use orb_testweb::{Feature, Spec};
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

const LEASE: Duration = Duration::from_secs(3);
const SLICE: Duration = Duration::from_secs(5);

/// The tables and views of the contract, and those beside them, in an order of their own.
const TABLES: [&str; 12] = [
    "SELECT * FROM host ORDER BY id",
    "SELECT * FROM page ORDER BY id",
    "SELECT * FROM visit ORDER BY page_id, run",
    "SELECT * FROM link ORDER BY src, dst, kind",
    "SELECT * FROM image ORDER BY page_id, url, alt, width",
    "SELECT * FROM run ORDER BY id",
    "SELECT * FROM change ORDER BY seq",
    "SELECT * FROM link_url ORDER BY src, dst, kind",
    "SELECT * FROM redirect ORDER BY src, dst",
    "SELECT * FROM host_count ORDER BY host_id",
    "SELECT kind, count(*) AS n, sum(length) AS bytes, max(status) AS s FROM page GROUP BY kind ORDER BY kind",
    "SELECT h.name, sum(p.depth) AS depths, count(*) AS n FROM page p JOIN host h ON h.id = p.host_id GROUP BY h.name ORDER BY h.name",
];

/// Eight hosts that link to each other a lot.
fn connected(pages_per_host: u32) -> World {
    let spec = Spec { hosts: 8, pages_per_host, cross_host_links: 0.5, ..Spec::default() };
    // Which of two equal pages repeats the other depends on who comes first: there are none here.
    let features = [Feature::Errors, Feature::Media];
    World::new(features.into_iter().fold(spec, Spec::with))
}

/// What one machine collects of a web.
fn by_one(world: &World) -> Home {
    let home = Home::new();
    home.crawl(&world.args(&["--scope", "any", "--delay", "0", "--no-index"]));
    world.server.reset();
    home
}

/// The web, collected by two workers.
fn collected(world: &World) -> Cluster {
    let cluster = Cluster::new(LEASE, SLICE);
    let first = cluster.crawl(world, &["--scope", "any", "--delay", "0"]);
    until("it is planted", || cluster.is_planted());
    let others = vec![cluster.worker(2)];
    first.finish().expect(0);
    cluster.dismiss(others);
    cluster.assert_done();
    cluster
}

/// The rows of a query, from the store or from a project of the home.
fn rows(finished: &Finished) -> Value {
    finished.expect(0).json()
}

/// Asserts that a project of a home has exactly the rows that the store has.
#[track_caller]
fn assert_is_copy(cluster: &Cluster, home: &Home, project: &str) {
    for sql in TABLES {
        let there = rows(&cluster.ask(home, &["sql", PROJECT, sql, "--json"]));
        let here = rows(&home.orb(&["sql", project, sql, "--json"]));
        assert_eq!(here, there, "{sql}");
    }
}

/// A score by URL.
fn scores(top: &Finished) -> BTreeMap<String, f64> {
    let top = rows(top);
    let row = |row: &Value| (row["url"].as_str().unwrap().to_owned(), row["score"].as_f64().unwrap());
    top.as_array().unwrap().iter().map(row).collect()
}

#[test]
fn what_workers_collect_is_told_as_if_one_machine_had_collected_it() {
    let world = connected(12);
    let (one, cluster, home) = (by_one(&world), collected(&world), Home::new());
    // The same questions, to the store and to the one machine.
    for sql in [
        "SELECT url, kind, status, mime, length, digest, title FROM page ORDER BY url",
        "SELECT a.url AS a, b.url AS b, l.kind, l.anchor, l.count FROM link l JOIN page a ON a.id = l.src \
         JOIN page b ON b.id = l.dst ORDER BY 1, 2, 3",
        "SELECT kind, count(*) AS n, sum(length) AS bytes FROM page GROUP BY kind ORDER BY kind",
    ] {
        let there = cluster.ask(&home, &["sql", PROJECT, sql, "--json"]);
        assert_eq!(rows(&there), rows(&one.orb(&["sql", PROJECT, sql, "--json"])), "{sql}");
        let csv = ["sql", PROJECT, sql, "--format", "csv"];
        assert_eq!(cluster.ask(&home, &csv).expect(0).text(), one.orb(&csv).expect(0).text(), "{sql}");
    }
    let stats = ["stats", PROJECT, "--json"];
    let (there, here) = (rows(&cluster.ask(&home, &stats)), rows(&one.orb(&stats)));
    assert_eq!(there["whole"], here["whole"], "{there:#} {here:#}");
    // PageRank, page by page.
    cluster.ask(&home, &["graph", "build", PROJECT, "--json"]).expect(0);
    one.orb(&["graph", "build", PROJECT, "--json"]).expect(0);
    let top = ["top", PROJECT, "--by", "pagerank", "--limit", "100000", "--json"];
    let (there, here) = (scores(&cluster.ask(&home, &top)), scores(&one.orb(&top)));
    assert!(here.len() > 50, "only {} are ranked", here.len());
    assert_eq!(there.keys().collect::<Vec<_>>(), here.keys().collect::<Vec<_>>());
    for (url, score) in &here {
        assert!((score - there[url]).abs() < 1e-9, "{url}: {score} and {}", there[url]);
    }
    // One page: its content byte by byte, its links, its record.
    let url = world.url(1, "/");
    let cat = ["cat", PROJECT, &url];
    let content = cluster.ask(&home, &cat);
    assert!(!content.expect(0).stdout.is_empty());
    assert_eq!(content.stdout, one.orb(&cat).expect(0).stdout);
    for direction in ["--out", "--in"] {
        let links = ["links", PROJECT, &url, direction, "--json"];
        let told = |finished: &Finished| -> Vec<String> {
            let rows = rows(finished);
            let row = |row: &Value| format!("{} {} {}", row["url"], row["kind"], row["anchor"]);
            let mut told: Vec<String> = rows.as_array().unwrap().iter().map(row).collect();
            told.sort();
            told
        };
        let there = told(&cluster.ask(&home, &links));
        assert!(!there.is_empty());
        assert_eq!(there, told(&one.orb(&links)));
    }
    cluster.ask(&home, &["show", PROJECT, &url]).expect(0);
    cluster.ask(&home, &["report", PROJECT, "--json"]).expect(0);
    cluster.ask(&home, &["health", PROJECT, "--json"]).expect(0);
    cluster.ask(&home, &["index", "rebuild", PROJECT]).expect(0);
    assert!(!rows(&cluster.ask(&home, &["search", PROJECT, "*", "--json"])).as_array().unwrap().is_empty());
    let out = home.beside("pages.jsonl");
    cluster.ask(&home, &["export", PROJECT, "jsonl", "--table", "pages", "-o", out.to_str().unwrap()]).expect(0);
    // None of this has made a project of the home.
    assert_eq!(rows(&home.orb(&["status", "--json"])), serde_json::json!([]));
    // What reads every byte says what to do first.
    let finished = cluster.ask(&home, &["export", PROJECT, "wacz"]);
    assert!(finished.stderr.contains("pull it first: orb pull p"), "{finished}");
    assert_ne!(finished.code, Some(0));
}

#[test]
fn a_copy_is_a_project_like_any_other() {
    let world = connected(8);
    let (cluster, home) = (collected(&world), Home::new());
    let pulled = cluster.ask(&home, &["pull", PROJECT, "--as", "copy", "--json"]);
    assert_eq!(pulled.expect(0).json()["change"], "made");
    assert_eq!(pulled.number("pages"), cluster.number("SELECT count(*) FROM page_row").cast_unsigned());
    assert_eq!(pulled.number("files"), cluster.number("SELECT count(*) FROM warc_row").cast_unsigned());
    assert_is_copy(&cluster, &home, "copy");
    // It needs the store no more.
    let hidden = cluster.home.beside("archive");
    std::fs::rename(&hidden, cluster.home.beside("away")).unwrap();
    let check = home.orb(&["check", "copy", "--json"]);
    assert_eq!(check.expect(0).json()["found"], 0, "{check}");
    assert!(check.json()["counts"]["digests"].as_u64().unwrap() > 20, "{check}");
    let url = world.url(2, "/");
    assert!(!home.orb(&["cat", "copy", &url]).expect(0).stdout.is_empty());
    home.orb(&["index", "rebuild", "copy"]).expect(0);
    home.orb(&["search", "copy", "*", "--json"]).expect(0);
    home.orb(&["graph", "build", "copy"]).expect(0);
    home.orb(&["check", "copy"]).expect(0);
    home.orb(&["export", "copy", "wacz", "-o", home.beside("copy.wacz").to_str().unwrap()]).expect(0);
    std::fs::rename(cluster.home.beside("away"), &hidden).unwrap();
    // Pulled again: nothing is new; and what is not such a copy stays what it is.
    let again = cluster.ask(&home, &["pull", PROJECT, "--as", "copy", "--json"]);
    assert_eq!((again.json()["change"].as_str(), again.number("files")), (Some("unchanged"), 0), "{again}");
    home.orb(&["project", "new", "mine", "--seed", &url]);
    let refused = cluster.ask(&home, &["pull", PROJECT, "--as", "mine"]);
    assert!(refused.complaint(1).contains("not overwritten"), "{refused}");
    // Nor what was a copy and has been crawled since.
    home.orb(&["track", "copy", "--max-pages", "3", "--delay", "0"]).expect(0);
    let refused = cluster.ask(&home, &["pull", PROJECT, "--as", "copy"]);
    assert!(refused.complaint(1).contains("has been crawled since"), "{refused}");
}

/// Asks while workers crawl, stops them, and asks again: what was copied piece by piece is exactly
/// what the store has.
#[test]
fn copies_keep_up_with_a_crawl_exactly() {
    let world = connected(30);
    let wanted = Collected::by_one(&by_one(&world));
    let (cluster, home) = (Cluster::new(LEASE, SLICE), Home::new());
    let first = cluster.crawl(&world, &["--scope", "any", "--delay", "500ms"]);
    until("it is planted", || cluster.is_planted());
    let others = vec![cluster.worker(2), cluster.worker(3)];
    let mut known = 0;
    for round in 1..=4 {
        until("more is recorded", || cluster.visits() >= 30 * round);
        let count = ["sql", PROJECT, "SELECT count(*) AS n FROM visit", "--json"];
        let counted = rows(&cluster.ask(&home, &count))[0]["n"].as_u64().unwrap();
        let pulled = cluster.ask(&home, &["pull", PROJECT, "--no-archive", "--json"]);
        assert!(pulled.expect(0).number("visits") >= counted.max(known), "{pulled}");
        known = pulled.number("visits");
        assert!(rows(&cluster.ask(&home, &["stats", PROJECT, "--json"]))["whole"]["pages"].as_u64().unwrap() > 0);
        cluster.ask(&home, &["graph", "build", PROJECT, "--json"]).expect(0);
    }
    first.signal(Signal::TERM);
    first.finish();
    cluster.dismiss(others);
    let pulled = cluster.ask(&home, &["pull", PROJECT, "--no-archive", "--json"]);
    assert_eq!(pulled.expect(0).json()["change"], "updated", "{pulled}");
    let all = cluster.number("SELECT count(*) FROM page_row") + cluster.number("SELECT count(*) FROM link_row");
    assert!(pulled.number("rows") < all.cast_unsigned(), "everything was read again: {pulled}");
    assert_is_copy(&cluster, &home, PROJECT);
    // To its end, and once more.
    cluster.crawl(&world, &["--scope", "any", "--delay", "0"]).finish().expect(0);
    cluster.assert_done();
    cluster.ask(&home, &["pull", PROJECT, "--json"]).expect(0);
    assert_is_copy(&cluster, &home, PROJECT);
    let found = Collected::by_one(&home);
    assert_same("pages", &found.pages, &wanted.pages);
    assert_same("links", &found.links, &wanted.links);
    for url in found.pages.iter().map(|line| line.split(' ').next().unwrap()).step_by(40) {
        assert_eq!(rows(&home.orb(&["show", PROJECT, url, "--json"]))["page"]["url"], url);
    }
    home.orb(&["check", PROJECT]).expect(0);
}

/// Rows that the store loses, changes or replaces are lost, changed and replaced in the copy.
#[test]
fn what_the_store_has_no_more_the_copy_has_no_more() {
    let world = connected(8);
    let (cluster, home) = (collected(&world), Home::new());
    let pull = ["pull", PROJECT, "--no-archive", "--json"];
    cluster.ask(&home, &pull).expect(0);
    let mut client = cluster.postgres.client();
    client.batch_execute("SET search_path = orb_p").unwrap();
    for change in [
        "DELETE FROM image_row WHERE page IN (SELECT page FROM image_row ORDER BY page LIMIT 1)",
        "UPDATE page_row SET depth = depth + 1 WHERE id % 3 = 0",
        // As when a page is visited again: another visit, other links.
        "UPDATE visit_row SET title = 'another' WHERE page = (SELECT min(source) FROM link_row);
         DELETE FROM link_row WHERE source = (SELECT min(source) FROM link_row) AND dst = (SELECT max(dst) FROM link_row l
           WHERE l.source = (SELECT min(source) FROM link_row))",
        // Lost without a visit.
        "DELETE FROM link_row WHERE source = (SELECT max(source) FROM link_row)",
        // As many are lost as are added.
        "DELETE FROM trap_row; INSERT INTO trap_row VALUES (1, 1); DELETE FROM trap_row; INSERT INTO trap_row VALUES (2, 2)",
        "VACUUM FREEZE",
    ] {
        client.batch_execute(change).unwrap();
        cluster.ask(&home, &pull).expect(0);
        assert_is_copy(&cluster, &home, PROJECT);
        let catalogue = home.catalogue();
        for table in ["trap_row", "source_row", "warc_row", "name_row", "robots_row", "tally_row"] {
            let sql = format!("SELECT count(*) FROM {table}");
            assert_eq!(catalogue.number(&sql), cluster.number(&sql), "{table} after {change}");
        }
    }
    // A new project of the same name has nothing to do with the old one.
    client.batch_execute("UPDATE project SET made_at = made_at + 1; DELETE FROM image_row").unwrap();
    assert_eq!(cluster.ask(&home, &pull).expect(0).json()["change"], "replaced");
    assert_is_copy(&cluster, &home, PROJECT);
}

#[test]
fn a_copy_that_is_interrupted_is_no_project_or_a_whole_one() {
    let world = connected(4);
    let (cluster, home) = (collected(&world), Home::new());
    let all = cluster.number("SELECT count(*) FROM page_row");
    for point in orb_store::fault::COPY_POINTS {
        for nth in ["1", "3"] {
            let name = format!("c-{point}-{nth}");
            let pull = ["pull", PROJECT, "--as", &name];
            let fail = format!("{point}:{nth}");
            let crashed = cluster.asking(&home, &pull, &[("ORB_FAIL", &fail)]).finish();
            let count = home.orb(&["sql", &name, "SELECT count(*) AS n FROM page", "--json"]);
            if count.code == Some(0) {
                assert_eq!(count.json()[0]["n"].as_i64(), Some(all), "{point}: half a project looks whole");
            } else {
                assert!(crashed.code != Some(0), "{crashed}");
                assert!(count.complaint(1).contains("there is no project"), "{point}: {count}");
            }
            cluster.ask(&home, &pull).expect(0);
            home.orb(&["check", &name]).expect(0);
        }
    }
    // The same while it is brought up to date: it stays what it was.
    cluster.ask(&home, &["pull", PROJECT]).expect(0);
    cluster.postgres.client().batch_execute("UPDATE orb_p.page_row SET depth = depth + 1").unwrap();
    let sum = ["sql", PROJECT, "SELECT sum(depth) AS n FROM page", "--json"];
    let before = rows(&home.orb(&sum));
    let crashed = cluster.asking(&home, &["pull", PROJECT], &[("ORB_FAIL", "before-copy-commit")]).finish();
    assert_ne!(crashed.code, Some(0), "{crashed}");
    assert_eq!(rows(&home.orb(&sum)), before);
    cluster.ask(&home, &["pull", PROJECT]).expect(0);
    assert_is_copy(&cluster, &home, PROJECT);
}

#[test]
fn the_store_is_only_read_and_not_for_longer_than_allowed() {
    let world = connected(2);
    let (cluster, home) = (collected(&world), Home::new());
    let sql = |text: &str| cluster.ask(&home, &["sql", PROJECT, text, "--timeout", "500ms"]);
    for (text, why) in [
        ("DELETE FROM page_row", "only SELECT is allowed"),
        ("COPY page_row TO '/tmp/x'", "only SELECT is allowed"),
        ("WITH gone AS (DELETE FROM page_row RETURNING 1) SELECT * FROM gone", "only SELECT is allowed"),
        ("SELECT 1; SELECT 2", "one statement only"),
        ("SELECT $1::integer", "placeholders"),
        ("SELECT pg_sleep(60)", "stopped after 500ms"),
        ("SELECT nothing FROM page", "\"nothing\" does not exist"),
        ("SELECT * FROM rank", "pull it first: orb pull p"),
    ] {
        let refused = sql(text);
        assert!(refused.complaint(1).contains(why), "{refused}");
    }
    let tables = cluster.ask(&home, &["sql", PROJECT, "--schema", "--json"]);
    let tables: Vec<String> =
        rows(&tables).as_array().unwrap().iter().map(|t| t["table"].as_str().unwrap().to_owned()).collect();
    for table in ["host", "page", "visit", "link", "image", "run"] {
        assert!(tables.iter().any(|known| known == table), "{table} is missing in {tables:?}");
    }
    let limited = cluster
        .ask(&home, &["sql", PROJECT, "SELECT id FROM page ORDER BY id", "--limit", "2", "--offset", "1", "--json"]);
    assert_eq!(rows(&limited).as_array().unwrap().len(), 2);
    // The environment names a store for what the home does not have, and only for that.
    let store = cluster.postgres.url();
    let archive = cluster.archive();
    let environment = [("ORB_STORE", store.as_str()), ("ORB_ARCHIVE", archive.as_str())];
    let stats = ["stats", PROJECT, "--json"];
    home.start(&stats, &environment).finish().expect(0);
    cluster.ask(&home, &["pull", PROJECT]).expect(0);
    drop(cluster);
    home.start(&stats, &environment).finish().expect(0);
    let gone = home.start(&["stats", "q", "--json"], &environment).finish();
    assert_eq!(gone.code, Some(1), "{gone}");
    assert_eq!(files(&home.path().join(".shared"), "").len(), 1);
}

#[test]
fn a_shared_project_is_listed_shown_edited_acknowledged_and_removed() {
    let world = connected(4);
    let (cluster, home) = (collected(&world), Home::new());
    let project = |what: &[&str]| cluster.ask(&home, &[&["project"], what].concat());
    assert_eq!(rows(&project(&["list", "--json"])), serde_json::json!([{ "project": PROJECT, "run": null }]));
    let edit = |editor: &str| {
        let editor = [("VISUAL", ""), ("EDITOR", editor)];
        cluster.asking(&home, &["project", "edit", PROJECT], &editor).finish()
    };
    assert!(edit("sed -i '$a [no_such_table]'").complaint(1).contains("resumes with what you wrote"));
    edit("sed -i '/no_such_table/d; s/^.frontier.$/&\\nmax_pages = 7/'").expect(0);
    assert_eq!(rows(&project(&["show", PROJECT, "--json"]))["frontier"]["max_pages"], 7);
    let ack = rows(&project(&["ack", PROJECT, "--by", "ann", "--json"]));
    assert_eq!((&ack["run"], &ack["by"]), (&1.into(), &"ann".into()), "{ack}");
    // Whoever works on it keeps it.
    let work = cluster.crawl(&world, &["--scope", "any", "--delay", "30s", "--max-pages", "100000"]);
    until("somebody works on it", || cluster.number("SELECT count(*) FROM worker WHERE alive") > 0);
    let refused = project(&["remove", PROJECT, "--yes"]);
    assert!(refused.complaint(1).contains("a worker is at work on project"), "{refused}");
    work.signal(Signal::TERM);
    work.finish();
    assert!(project(&["remove", PROJECT]).complaint(2).contains("pass --yes"));
    project(&["remove", PROJECT, "--yes"]).expect(0);
    assert_eq!(rows(&project(&["list", "--json"])), serde_json::json!([]));
    assert!(project(&["show", PROJECT]).complaint(1).contains("no project"));
    let left = files_below(&cluster.home.beside("archive"));
    assert!(left.is_empty(), "{left:?}");
}
