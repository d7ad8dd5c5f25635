//! Do other tools see in an export what the catalogue and the archive contain?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::judge;
use harness::orb::{Finished, Home, PROJECT};
use harness::recorded;
use harness::web::World;
use orb_testweb::Spec;
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const TABLES: [&str; 6] = ["runs", "hosts", "pages", "visits", "links", "images"];

fn export(home: &Home, args: &[&str]) -> Finished {
    home.orb(&[&["export", PROJECT], args, &["--progress", "none"]].concat())
}

/// The rows of a JSON Lines file.
fn lines(file: &Path) -> Vec<Value> {
    fs::read_to_string(file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The entries of a directory, including hidden files.
fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn tables_in_every_form_have_the_rows_of_the_catalogue() {
    let (_world, home) = World::crawled();
    let catalogue = home.catalogue();
    for form in ["jsonl", "csv", "parquet"] {
        export(&home, &[form, "-o", form]).expect(0);
        assert_eq!(names(&home.beside(form)).len(), TABLES.len(), "{form}");
    }
    for table in TABLES {
        let view = table.trim_end_matches('s');
        let count = usize::try_from(catalogue.number(&format!("SELECT count(*) FROM {view}"))).unwrap();
        assert!(count > 0, "{table} is empty");
        let rows = lines(&home.beside("jsonl").join(format!("{table}.jsonl")));
        assert_eq!(rows.len(), count, "{table}");
        let read = judge::parquet_rows(&[home.beside("parquet").join(format!("{table}.parquet"))]);
        assert_eq!(read, rows, "{table}: Parquet and JSON lines differ");
        let csv = fs::read_to_string(home.beside("csv").join(format!("{table}.csv"))).unwrap();
        let columns: Vec<&String> = rows[0].as_object().unwrap().keys().collect();
        assert_eq!(csv.lines().next().unwrap().split(',').collect::<Vec<_>>(), columns, "{table}");
        if !["runs", "hosts"].contains(&table) {
            assert_eq!(csv.lines().count(), count + 1, "{table}");
        }
    }
    let pages = lines(&home.beside("jsonl/pages.jsonl"));
    for (url, page) in catalogue.pages() {
        let row = pages.iter().find(|row| row["url"] == url.as_str()).unwrap();
        assert_eq!((row["title"].as_str(), row["status"].as_i64()), (page.title.as_deref(), page.status), "{url}");
    }
}

#[test]
fn one_table_goes_to_a_file_or_to_standard_output() {
    let (_world, home) = World::crawled();
    export(&home, &["jsonl", "--table", "links", "-o", "links.jsonl"]).expect(0);
    let stdout = export(&home, &["jsonl", "--table", "link", "-o", "-"]);
    assert_eq!(stdout.expect(0).stdout, fs::read(home.beside("links.jsonl")).unwrap());
    export(&home, &["csv", "--table", "hosts"]).expect(0);
    assert!(home.beside("p-hosts.csv").exists());
    let said = export(&home, &["csv", "--table", "hosts,runs", "-o", "some", "--json"]).expect(0).json();
    assert_eq!(said["written"].as_array().unwrap().len(), 2, "{said}");
    assert_eq!(names(&home.beside("some")), ["hosts.csv", "runs.csv"]);
}

#[test]
fn what_is_there_is_not_written_over_unless_it_may_be() {
    let (_world, home) = World::crawled();
    let precious = home.beside("precious.csv");
    fs::write(&precious, "precious").unwrap();
    let args = ["csv", "--table", "pages", "-o", "precious.csv"];
    let finished = export(&home, &args);
    assert!(finished.complaint(1).contains("--force"), "{finished}");
    assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
    export(&home, &[args.as_slice(), &["--force"]].concat()).expect(0);
    assert!(fs::read_to_string(&precious).unwrap().starts_with("id,url,"));
    fs::create_dir(home.beside("dir")).unwrap();
    fs::write(home.beside("dir/links.parquet"), "precious").unwrap();
    let finished = export(&home, &["parquet", "-o", "dir"]);
    assert!(finished.complaint(1).contains("links.parquet"), "{finished}");
    assert_eq!(names(&home.beside("dir")), ["links.parquet"], "nothing else was written");
    for taken in ["wacz", "markdown"] {
        let finished = export(&home, &[taken, "-o", "precious.csv"]);
        assert!(finished.complaint(1).contains("precious.csv"), "{finished}");
    }
    export(&home, &["csv", "--table", "pages", "-o", "/dev/null", "--force"]).complaint(1);
    let nowhere = export(&home, &["csv", "--table", "pages", "-o", "no/such/dir/x.csv"]);
    assert!(nowhere.complaint(1).ends_with("cannot write no/such/dir/x.csv: there is no directory no/such/dir"));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let (_world, home) = World::crawled();
    for args in [
        ["jsonl", "-o", "-"].as_slice(),
        &["wacz", "--table", "pages"],
        &["csv", "postgres://x/y"],
        &["markdown", "--model", "both"],
        &["csv", "--whole"],
        &["wacz", "-o", "-"],
        &["postgres"],
        &["excel"],
        &["csv", "--table", "wombats"],
    ] {
        export(&home, args).expect(2);
    }
    let finished = export(&home, &["markdown", "--since", "9"]);
    assert!(finished.complaint(1).contains("no run 9"), "{finished}");
    let unknown = home.orb(&["export", "nothing", "csv"]);
    assert!(unknown.complaint(1).contains("nothing"), "{unknown}");
    assert_eq!(names(&home.beside("")), ["home"], "something was left behind");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let (_world, home) = World::crawled();
    let orb = home.command(&["export", PROJECT, "jsonl", "--table", "links", "-o", "-"]);
    let mut orb = { orb }.stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(orb.stdout.take());
    assert_eq!(orb.wait().unwrap().code(), Some(0));
}

#[test]
fn markdown_has_a_file_for_every_page_with_its_head() {
    let (world, home) = World::crawled();
    export(&home, &["markdown", "-o", "md"]).expect(0);
    let html = home.catalogue().urls(&["HTML"]);
    let mut heads = BTreeMap::new();
    for host in names(&home.beside("md")) {
        for name in names(&home.beside("md").join(&host)) {
            let text = fs::read_to_string(home.beside("md").join(&host).join(&name)).unwrap();
            let url = text.lines().nth(1).unwrap().strip_prefix("url: ").unwrap().trim_matches('"').to_owned();
            assert!(text.starts_with("---\n") && text.matches("\n---\n").count() >= 1, "{text}");
            heads.insert(url, text);
        }
    }
    assert_eq!(heads.keys().collect::<Vec<_>>(), html.iter().collect::<Vec<_>>());
    let url = world.url(0, "/");
    let said = home.orb(&["cat", PROJECT, &url, "--as", "markdown"]);
    let body = |text: &str| text.split_once("\n---\n\n").map(|(_, body)| body.trim().to_owned());
    assert_eq!(body(&heads[&url]), body(said.expect(0).text()));
    let title = home.catalogue().page(&url).title.unwrap();
    assert!(heads[&url].contains(&format!("title: \"{title}\"")), "{}", heads[&url]);
    let finished = export(&home, &["markdown", "-o", "md"]);
    assert!(finished.complaint(1).contains("--force"), "{finished}");
    export(&home, &["markdown", "-o", "md", "--force"]).expect(0);
    let none = export(&home, &["markdown", "-o", "-", "--since", "1"]);
    assert_eq!(none.expect(0).text(), "", "nothing changed since");
    let all = export(&home, &["markdown", "-o", "-"]);
    assert_eq!(all.expect(0).text().matches("\nurl: ").count(), html.len());
    let whole = export(&home, &["markdown", "-o", "-", "--whole"]);
    assert!(whole.expect(0).text().len() > all.text().len(), "menus and footers belong to whole pages");
}

#[test]
fn a_wacz_file_is_valid_and_holds_the_archive_as_it_is() {
    let (_world, home) = World::crawled();
    export(&home, &["wacz", "-o", "all.wacz"]).expect(0);
    let file = home.beside("all.wacz");
    judge::wacz_validate(&file);
    let unpacked = home.beside("unpacked");
    judge::unzip(&file, &unpacked);
    let warcs: Vec<PathBuf> = home.warcs();
    for warc in &warcs {
        let name = warc.file_name().unwrap();
        assert_eq!(fs::read(warc).unwrap(), fs::read(unpacked.join("archive").join(name)).unwrap());
    }
    let pages = lines(&unpacked.join("pages/pages.jsonl"));
    assert_eq!(pages.len() - 1, home.catalogue().urls(&["HTML"]).len());
    let index = judge::gunzip(&unpacked.join("indexes/index.cdx.gz"));
    let mut ours = judge::read_cdxj(&index);
    let mut theirs = judge::cdxj_indexer(&warcs);
    assert!(index.lines().is_sorted());
    ours.sort();
    theirs.sort();
    assert_eq!(ours.len(), theirs.len());
    assert_eq!(
        ours.iter().map(|l| (&l.key, &l.time)).collect::<Vec<_>>(),
        theirs.iter().map(|l| (&l.key, &l.time)).collect::<Vec<_>>()
    );
}

#[test]
fn a_wacz_file_of_a_crawl_that_was_killed_holds_what_was_recorded() {
    let world = World::new(Spec { hosts: 1, cross_host_links: 0.0, pages_per_host: 40, ..Spec::default() });
    let home = Home::new();
    let running = home.start(&harness::orb::crawling(&world.args(&["--delay", "20ms"])), &[]);
    let database = home.project().join("crawl.db");
    let recorded = || home.orb(&["sql", PROJECT, "SELECT count(*) AS n FROM visit", "--json"]);
    harness::until("something is recorded", || {
        database.exists() && Some(recorded()).is_some_and(|v| v.code == Some(0) && v.json()[0]["n"].as_i64() > Some(3))
    });
    running.signal(Signal::KILL);
    running.finish();
    export(&home, &["wacz"]).expect(0);
    let (file, unpacked) = (home.beside("p.wacz"), home.beside("unpacked"));
    judge::wacz_validate(&file);
    judge::unzip(&file, &unpacked);
    let warcs = harness::orb::files(&unpacked.join("archive"), ".warc.gz");
    judge::warcio_check(&warcs);
    let ours = judge::read_cdxj(&judge::gunzip(&unpacked.join("indexes/index.cdx.gz")));
    assert!(ours.len() > 3 && ours.is_sorted());
    assert_eq!(ours.len(), judge::cdxj_indexer(&warcs).len());
}

#[test]
fn the_graph_goes_out_whole_in_every_form() {
    let (_world, home) = World::crawled();
    let early = export(&home, &["edges", "-o", "-"]);
    assert!(early.complaint(1).contains("orb graph build"), "{early}");
    let built = home.orb(&["graph", "build", PROJECT, "--json", "--progress", "none"]).expect(0).json();
    let arcs = built["arcs"].as_u64().unwrap();
    let edges = export(&home, &["edges", "-o", "-"]);
    assert_eq!(edges.expect(0).text().lines().count() as u64, arcs);
    export(&home, &["graphml"]).expect(0);
    export(&home, &["gexf", "-o", "g.gexf"]).expect(0);
    for (file, arc) in [("p.graphml", "<edge "), ("g.gexf", "<edge ")] {
        let text = fs::read_to_string(home.beside(file)).unwrap();
        assert_eq!(text.matches(arc).count() as u64, arcs, "{file}");
    }
    let said = export(&home, &["webgraph", "-o", "w", "--json"]).expect(0).json();
    assert_eq!(said["written"][0]["count"], arcs, "{said}");
    let held = home.project().join("graph");
    let ours = names(&held).into_iter().find(|name| name.ends_with(".graph") && name.starts_with("web."));
    assert_eq!(fs::read(home.beside("w.graph")).unwrap(), fs::read(held.join(ours.unwrap())).unwrap());
    let taken = export(&home, &["webgraph", "-o", "w"]);
    assert!(taken.complaint(1).contains("--force"), "{taken}");
    let taken = export(&home, &["gexf", "-o", "g.gexf"]);
    assert!(taken.complaint(1).contains("--force"), "{taken}");
}

#[test]
fn a_large_table_takes_little_memory_and_leaves_nothing_when_it_is_stopped() {
    let home = Home::new();
    recorded::crawl(&home, 1_000, 500);
    let args = ["export", PROJECT, "parquet", "--progress", "none", "-o"];
    let stopped = home.start(&[args.as_slice(), &["stopped"]].concat(), &[]);
    let dir = home.beside("stopped");
    harness::until("it has begun with the links", || dir.exists() && names(&dir).len() >= 5);
    stopped.signal(Signal::INT);
    stopped.finish().expect(130);
    assert!(!dir.exists(), "{:?}", names(&dir));
    let mut running = home.start(&[args.as_slice(), &["whole"]].concat(), &[]);
    let mut peak = 0;
    let finished = loop {
        peak = running.peak_memory().unwrap_or(0).max(peak);
        if let Some(finished) = running.ended() {
            break finished;
        }
        std::thread::park_timeout(std::time::Duration::from_millis(1));
    };
    finished.expect(0);
    assert!(finished.text().contains("links.parquet: 500,000 rows"), "{finished}");
    assert!(peak < 96 << 20, "it took {} MB", peak >> 20);
}
