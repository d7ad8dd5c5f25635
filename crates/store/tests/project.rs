//! Does what was committed come back, after a clean end, a crash, and damage?

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod grow;

use grow::{Recorder, reachable, render, url_of};
use orb_page::{PageId, PageKind, RunId, RunKind, RunState, UrlKey};
use orb_store::{
    ArchiveReader, CatalogueReader, Cell, Home, IndexDefect, IndexStart, Project, ProjectDir, ProjectOptions,
    QueryLimits, Queues, StoreError,
};
use std::fs;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

fn new_project() -> (tempfile::TempDir, ProjectDir) {
    let tmp = tempfile::tempdir().unwrap();
    let dir = Home::open(tmp.path()).unwrap().project("p").unwrap();
    (tmp, dir)
}

fn copy_dir(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_dir(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn list(dir: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { list(&path, files) } else { files.push(path) }
    }
}

/// Asserts that two renderings are equal, or shows the first line in which they differ.
fn same(a: &str, b: &str) {
    let differ = a.lines().zip(b.lines()).find(|(a, b)| a != b);
    assert!(a == b, "{differ:?}");
}

fn rows(dir: &ProjectDir, sql: &str) -> Vec<String> {
    let mut out = Vec::new();
    let reader = CatalogueReader::open(dir).unwrap();
    reader
        .sql(
            sql,
            QueryLimits::default(),
            |_| {},
            |cells| {
                out.push(
                    cells
                        .iter()
                        .map(|c| match c {
                            Cell::Null => "NULL".to_owned(),
                            Cell::Integer(n) => n.to_string(),
                            Cell::Real(x) => x.to_string(),
                            Cell::Text(t) => (*t).to_owned(),
                            Cell::Blob(b) => format!("{b:?}"),
                        })
                        .collect::<Vec<_>>()
                        .join("|"),
                );
                ControlFlow::Continue(())
            },
        )
        .unwrap();
    out
}

#[test]
fn a_crawl_ends_with_every_reachable_page_and_an_empty_queue() {
    let (_tmp, dir) = new_project();
    let mut recorder = Recorder::new(Project::open(&dir).unwrap());
    recorder.run_out(16);
    assert_eq!(recorder.project.queued(), 0);
    recorder.project.close().unwrap();
    let urls = rows(&dir, "SELECT url FROM page");
    let mut want: Vec<String> = reachable().into_iter().map(url_of).collect();
    want.sort();
    let mut got = urls.clone();
    got.sort();
    assert_eq!(got, want);
}

#[test]
fn readers_see_the_contracts_names_and_forms() {
    let (_tmp, dir) = new_project();
    let mut recorder = Recorder::new(Project::open(&dir).unwrap());
    recorder.step(1);
    recorder.step(3);
    let page = rows(
        &dir,
        "SELECT id, url, host_id, kind, status, mime, charset, length, length(digest), simhash, title, lang, depth, priority,
           discovered_at, discovered_by, discovered_from, fetched_at, fetched_by, etag, last_modified,
           substr(warc_file, 1, 2), warc_offset > 0, warc_length > 0, duplicate_of, next_due, changes, visits, why FROM page WHERE id = 1",
    );
    assert_eq!(
        page,
        [
            "1|http://h0.test/p/0|1|HTML|200|text/html|UTF-8|674|64|-1|Page 0|NULL|0|0.25|2023-11-14T22:13:20.123Z|tester|NULL|\
          2023-11-14T22:13:20.000Z|tester|NULL|NULL|p-|1|1|NULL|NULL|0|1|NULL"
        ]
    );
    assert_eq!(
        rows(&dir, "SELECT * FROM link WHERE src = 1 ORDER BY dst LIMIT 2"),
        ["1|2|a||".to_owned() + "|1|1|NULL", "1|3|a|to 21||1|1|NULL".to_owned()]
    );
    assert_eq!(rows(&dir, "SELECT * FROM image WHERE page_id = 1"), ["1|http://h0.test/p/0.png|a|1|NULL|NULL"]);
    assert_eq!(
        rows(&dir, "SELECT id, kind, state, finished_at, counters FROM run"),
        ["1|crawl|running|NULL|{\"commits\":3}"]
    );
    assert_eq!(
        rows(
            &dir,
            "SELECT id, name, scheme, port, ip, robots, robots_at, sitemaps, crawl_delay, pages, errors FROM host WHERE id = 1"
        ),
        ["1|h0.test|http|80|NULL|# 1|1970-01-01T00:00:00.005Z|NULL|NULL|2|0"]
    );
    assert_eq!(
        rows(&dir, "SELECT run, page_id, flag, at, status, length, kind FROM visit WHERE page_id = 1"),
        ["1|1|NEW|2023-11-14T22:13:20.000Z|200|674|HTML"]
    );
}

#[test]
fn an_index_rebuilt_from_the_catalogue_equals_the_one_that_grew() {
    let (_tmp, dir) = new_project();
    let mut recorder = Recorder::new(Project::open(&dir).unwrap());
    for n in [1, 5, 20, 30] {
        recorder.step(n);
        let grown = render(&recorder.project);
        drop(recorder);
        fs::remove_dir_all(dir.frontier()).unwrap();
        let project = Project::open(&dir).unwrap();
        assert_eq!(project.start().index, IndexStart::Rebuilt(IndexDefect::Missing));
        same(&render(&project), &grown);
        recorder = Recorder::new(project);
    }
}

#[test]
fn what_was_not_folded_when_the_process_ended_is_known_again() {
    for fold_at in [1, 120, 1 << 20] {
        let (_tmp, dir) = new_project();
        let options = ProjectOptions { fold_at: Some(fold_at), ..ProjectOptions::default() };
        let mut project = Project::open_with(&dir, &options).unwrap();
        for n in [1, 5, 20, 30, 40] {
            let mut recorder = Recorder::new(project);
            recorder.step(n);
            let grown = render(&recorder.project);
            drop(recorder);
            project = Project::open_with(&dir, &options).unwrap();
            assert_eq!(project.start().index, IndexStart::Current);
            same(&render(&project), &grown);
        }
        drop(project);
        let report = orb_store::check(&dir).unwrap();
        assert!(report.is_clean() && report.counts.queued > 0, "{report:?}");
    }
}

#[test]
fn a_page_that_moved_in_its_queue_since_the_last_fold_is_at_its_new_place_alone() {
    use orb_store::{Batch, Requeued};
    let (_tmp, dir) = new_project();
    let mut recorder = Recorder::new(Project::open(&dir).unwrap());
    recorder.step(1);
    recorder.project.close().unwrap();
    // The fold has the queue; now its first page is visited and queued again, twice.
    let mut recorder = Recorder::new(Project::open(&dir).unwrap());
    let host = recorder.project.queues().next_host(orb_page::HostId(0)).unwrap().unwrap();
    let first = recorder.project.queues().peek(host, None, 1).unwrap().remove(0);
    for rank in [0, 78] {
        while recorder.project.queues().peek(host, None, 9_999).unwrap().iter().any(|q| q.page == first.page) {
            recorder.step(1);
        }
        let run = recorder.project.begin_run(RunKind::Track, "{}").unwrap();
        recorder.run = run;
        let (page, url) = (first.page, first.url.clone());
        let requeued = vec![Requeued { page, host, url, rank, depth: 0, step: None }];
        recorder.project.commit(&mut Batch { run, requeued, ..Batch::default() }).unwrap();
    }
    let grown = render(&recorder.project);
    drop(recorder);
    let project = Project::open(&dir).unwrap();
    assert_eq!(project.start().index, IndexStart::Current);
    same(&render(&project), &grown);
    let places: Vec<u64> = project
        .queues()
        .peek(host, None, 9_999)
        .unwrap()
        .iter()
        .filter(|q| q.page == first.page)
        .map(|q| q.rank)
        .collect();
    assert_eq!(places, [78]);
    drop(project);
    assert!(orb_store::check(&dir).unwrap().is_clean());
}

#[test]
fn an_index_left_behind_catches_up() {
    let (tmp, dir) = new_project();
    let mut recorder = Recorder::new(Project::open(&dir).unwrap());
    recorder.step(5);
    let old = tmp.path().join("old");
    copy_dir(&dir.frontier(), &old);
    for n in [7, 9, 11] {
        recorder.step(n);
    }
    let grown = render(&recorder.project);
    drop(recorder);
    fs::remove_dir_all(dir.frontier()).unwrap();
    copy_dir(&old, &dir.frontier());
    let project = Project::open(&dir).unwrap();
    assert_eq!(project.start().index, IndexStart::CaughtUp(3));
    same(&render(&project), &grown);
}

#[test]
fn an_index_ahead_of_the_catalogue_is_rebuilt() {
    let (tmp, dir) = new_project();
    let mut recorder = Recorder::new(Project::open(&dir).unwrap());
    recorder.step(5);
    // The database with its log, as they are now.
    let files = ["crawl.db", "crawl.db-wal"].map(|name| (dir.dir.join(name), tmp.path().join(name)));
    files.iter().for_each(|(file, copy)| assert!(fs::copy(file, copy).unwrap() > 0));
    let grown = render(&recorder.project);
    recorder.step(7);
    drop(recorder);
    files.iter().for_each(|(file, copy)| assert!(fs::copy(copy, file).unwrap() > 0));
    let _ = fs::remove_file(dir.dir.join("crawl.db-shm"));
    let project = Project::open(&dir).unwrap();
    assert_eq!(project.start().index, IndexStart::Rebuilt(IndexDefect::Ahead));
    same(&render(&project), &grown);
    assert_eq!(project.start().archive.cut.len(), 1, "{:?}", project.start().archive);
}

#[test]
fn a_damaged_index_is_rebuilt() {
    let (_tmp, dir) = new_project();
    let mut recorder = Recorder::new(Project::open(&dir).unwrap());
    recorder.step(5);
    let grown = render(&recorder.project);
    drop(recorder);
    for entry in fs::read_dir(dir.frontier()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::write(path, b"rubbish").unwrap();
        }
    }
    let project = Project::open(&dir).unwrap();
    assert!(matches!(project.start().index, IndexStart::Rebuilt(_)), "{:?}", project.start().index);
    same(&render(&project), &grown);
}

#[test]
fn a_batch_that_cannot_be_recorded_leaves_nothing_behind_and_can_be_mended() {
    let (_tmp, dir) = new_project();
    let mut recorder = Recorder::new(Project::open(&dir).unwrap());
    recorder.step(3);
    let length = || fs::read_dir(dir.archive()).unwrap().map(|e| e.unwrap().metadata().unwrap().len()).sum::<u64>();
    let (before, grown) = (length(), render(&recorder.project));
    let mut step = recorder.prepare(4);
    let target = step.visits[3].targets.pop().unwrap();
    let error = recorder.project.commit(&mut step).unwrap_err();
    assert!(matches!(error, StoreError::BadBatch(_)), "{error}");
    assert_eq!(length(), before);
    same(&render(&recorder.project), &grown);
    step.visits[3].targets.push(target);
    recorder.commit(&mut step);
    assert!(length() > before);
    let reader = CatalogueReader::open(&dir).unwrap();
    let archive = ArchiveReader::open(&dir);
    for visit in step.visits.iter().map(|finished| &finished.visit) {
        if let Some(position) = reader.page(visit.page).unwrap().unwrap().warc() {
            assert_eq!(archive.exchange(&position).unwrap().url, visit.url);
        }
    }
}

#[test]
fn what_the_catalogue_does_not_know_is_cut_off_the_archive() {
    let (_tmp, dir) = new_project();
    let mut recorder = Recorder::new(Project::open(&dir).unwrap());
    recorder.step(8);
    drop(recorder);
    // As if the records of another batch had been written, and the process had ended before the
    // catalogue knew.
    let files = fs::read_dir(dir.archive()).unwrap().map(|e| e.unwrap().path());
    let last = files.filter(|p| p.extension().is_some_and(|e| e == "gz")).max().unwrap();
    let records = fs::read(&last).unwrap();
    fs::OpenOptions::new().append(true).open(&last).unwrap().write_all(&records).unwrap();
    let project = Project::open(&dir).unwrap();
    let start = project.start().archive.clone();
    assert_eq!((start.cut.len(), start.removed.len(), start.damaged.len()), (1, 0, 0), "{start:?}");
    assert!(start.cut[0].1 > 0);
    let lines = fs::read_dir(dir.archive())
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "cdxj"))
        .map(|p| fs::read_to_string(p).unwrap())
        .collect::<String>();
    let visits = rows(&dir, "SELECT count(*) FROM visit WHERE warc_file NOTNULL")[0].parse::<usize>().unwrap();
    assert_eq!(lines.lines().count(), visits + 1, "the visits and one robots.txt");
    assert!(lines.lines().is_sorted());
}

#[test]
fn links_live_from_the_first_run_that_saw_them_to_the_last() {
    use orb_page::{Flag, LinkKind};
    let (_tmp, dir) = new_project();
    let mut recorder = Recorder::new(Project::open(&dir).unwrap());
    let mut first = recorder.prepare(1);
    recorder.commit(&mut first);
    let run = recorder.run;
    recorder.project.finish_run(run, RunState::Done, "{}").unwrap();
    let again = recorder.project.begin_run(RunKind::Track, "{}").unwrap();
    let mut batch = grow::again(&first);
    batch.run = again;
    batch.visits[0].visit.flag = Flag::Updated;
    let seen = std::mem::take(&mut batch.visits[0].visit.links);
    for (link, kind) in seen.iter().zip([seen[0].kind, LinkKind::Area]) {
        batch.visits[0].visit.links.push(seen.url(link), link.key, kind, seen.anchor(link));
    }
    batch.visits[0].targets.truncate(2);

    recorder.project.commit(&mut batch).unwrap();
    let links =
        rows(&dir, "SELECT kind, first_run, last_run, count(*) FROM link WHERE src = 1 GROUP BY 1, 2, 3 ORDER BY 1, 3");
    assert_eq!(links, ["a|1|NULL|1", "a|1|1|5", "area|2|NULL|1", "img|1|1|2"]);
    assert_eq!(rows(&dir, "SELECT count(*) FROM image WHERE page_id = 1"), ["1"]);
    assert_eq!(rows(&dir, "SELECT kind, changes, visits FROM page WHERE id = 1"), ["HTML|1|2"]);
}

#[test]
fn a_page_queued_again_waits_until_its_next_visit() {
    use orb_store::{Batch, Requeued};
    let (_tmp, dir) = new_project();
    let mut recorder = Recorder::new(Project::open(&dir).unwrap());
    recorder.run_out(50);
    let run = recorder.project.begin_run(RunKind::Track, "{}").unwrap();
    let page = recorder.project.pages_of(&[UrlKey::of(&url_of(19)), UrlKey::of(&url_of(0))]).unwrap();
    let host = |n| recorder.project.host_id("http", &grow::host_of(n), 80).unwrap().unwrap();
    let again = |page: Option<PageId>, n: u64| Requeued {
        page: page.unwrap(),
        host: host(n),
        url: url_of(n),
        rank: 9,
        depth: 0,
        step: None,
    };
    let both = vec![again(page[0], 19), again(page[1], 0)];
    let mut batch = Batch { run, requeued: both.clone(), ..Batch::default() };
    recorder.project.commit(&mut batch).unwrap();
    let mut twice = Batch { run, requeued: both, ..Batch::default() };
    recorder.project.commit(&mut twice).unwrap();
    assert!(twice.requeued.is_empty());
    assert_eq!(recorder.project.queued(), 2);
    assert_eq!(CatalogueReader::open(&dir).unwrap().queued().unwrap(), 2);
    let grown = render(&recorder.project);
    drop(recorder);
    fs::remove_dir_all(dir.frontier()).unwrap();
    let project = Project::open(&dir).unwrap();
    same(&render(&project), &grown);
    let mut recorder = Recorder::new(project);
    recorder.run = run;
    assert_eq!(recorder.step(10), 2);
    assert_eq!(recorder.project.queued(), 0);
}

#[test]
fn queries_can_read_and_nothing_else() {
    let (_tmp, dir) = new_project();
    let mut recorder = Recorder::new(Project::open(&dir).unwrap());
    recorder.step(4);
    let reader = CatalogueReader::open(&dir).unwrap();
    let ask = |sql: &str, limits| reader.sql(sql, limits, |_| {}, |_| ControlFlow::Continue(()));
    let any = QueryLimits::default();
    assert!(
        ask("WITH RECURSIVE t(n) AS (VALUES(1) UNION ALL SELECT n+1 FROM t WHERE n < 5) SELECT n FROM t", any).is_ok()
    );
    for sql in [
        "DELETE FROM page_row",
        "UPDATE run_row SET state = 'x'",
        "CREATE TABLE x (a)",
        "CREATE TEMP TABLE x (a)",
        "ATTACH '/tmp/x.db' AS x",
        "PRAGMA journal_mode = DELETE",
        "PRAGMA query_only = OFF",
        "VACUUM INTO '/tmp/orb-vacuum.db'",
        "SELECT 1; SELECT 2",
        "SELECT load_extension('x')",
        "SELECT ?1",
        "BEGIN",
        "nonsense",
        "",
    ] {
        assert!(matches!(ask(sql, any), Err(StoreError::Query(_))), "{sql}: {:?}", ask(sql, any));
    }
    let limits = QueryLimits { time: std::time::Duration::from_millis(20), rows: 3, ..any };
    assert!(ask("SELECT id FROM page", limits).unwrap().more);
    let endless = "WITH RECURSIVE t(n) AS (VALUES(1) UNION ALL SELECT n+1 FROM t) SELECT count(*) FROM t";
    assert!(matches!(ask(endless, limits), Err(StoreError::Query(e)) if e.contains("stopped after")));
}

#[test]
fn the_table_of_a_crawl_counts_everything_once() {
    let (_tmp, dir) = new_project();
    let mut recorder = Recorder::new(Project::open(&dir).unwrap());
    recorder.run_out(40);
    let reader = CatalogueReader::open(&dir).unwrap();
    let (stats, marks) = reader.stats().unwrap();
    let marked = marks.iter().skip(1).filter(|mark| mark.is_a(PageKind::Outside)).count() as u64;
    assert_eq!(marked, stats.whole.outside);
    let whole = &stats.whole;
    let pages = reachable();
    let count = |f: &dyn Fn(u64) -> bool| pages.iter().filter(|n| f(**n)).count() as u64;
    let outside = |n: u64| n % 20 == 19;
    let dropped = |n: u64| n % 50 == 13 && !outside(n);
    assert_eq!(whole.sites, 7);
    assert_eq!(whole.outside, count(&outside));
    assert_eq!(whole.disallowed, count(&dropped));
    assert_eq!(
        whole.errors.get("TIMEOUT").copied().unwrap_or(0),
        count(&|n| n % 31 == 11 && !outside(n) && !dropped(n))
    );
    assert_eq!(whole.pages, whole.html + whole.duplicates);
    assert_eq!(whole.links, rows(&dir, "SELECT count(*) FROM link")[0].parse::<u64>().unwrap());
    assert!(whole.duplicates > 0 && stats.seeds.pages > 0 && stats.seeds.pages < whole.pages);
    assert_eq!(stats.seeds.sites, 1);
    assert!(reader.run(RunId(1)).unwrap().is_some() && reader.flags(RunId(1)).unwrap().len() == 2);
}

#[test]
fn a_catalogue_of_a_newer_version_or_of_something_else_is_refused() {
    let (_tmp, dir) = new_project();
    drop(Project::open(&dir).unwrap());
    let db = rusqlite::Connection::open(dir.catalogue()).unwrap();
    db.execute_batch("PRAGMA user_version = 99").unwrap();
    drop(db);
    assert!(matches!(Project::open(&dir), Err(StoreError::NewerVersion { found: 99, .. })));
    assert!(matches!(CatalogueReader::open(&dir), Err(StoreError::NewerVersion { .. })));
    fs::write(dir.catalogue(), vec![7; 5_000]).unwrap();
    assert!(matches!(CatalogueReader::open(&dir), Err(StoreError::Damaged { .. })));
    assert!(matches!(Project::open(&dir), Err(StoreError::Damaged { .. })));
}

#[test]
fn a_single_flipped_bit_in_a_closed_index_is_noticed_before_it_is_opened() {
    let (tmp, dir) = new_project();
    let mut recorder = Recorder::new(Project::open(&dir).unwrap());
    recorder.step(20);
    let grown = render(&recorder.project);
    recorder.project.close().unwrap();
    let project = Project::open(&dir).unwrap();
    assert_eq!(project.start().index, IndexStart::Current);
    project.close().unwrap();
    let (good, seal) = (tmp.path().join("good"), dir.dir.join("frontier.intact"));
    copy_dir(&dir.frontier(), &good);
    let sealed = fs::read(&seal).unwrap();
    let mut files = Vec::new();
    list(&good, &mut files);
    for file in files.iter().filter(|f| fs::metadata(f).unwrap().len() > 0) {
        let damaged = file.strip_prefix(&good).unwrap();
        fs::remove_dir_all(dir.frontier()).unwrap();
        copy_dir(&good, &dir.frontier());
        fs::write(&seal, &sealed).unwrap();
        let path = dir.frontier().join(damaged);
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(path, bytes).unwrap();
        let project = Project::open(&dir).unwrap();
        assert_eq!(project.start().index, IndexStart::Rebuilt(IndexDefect::Damaged), "{}", damaged.display());
        same(&render(&project), &grown);
    }
}
