//! Does a catalogue of every earlier version open, agree with itself and go on?
//!
//! `catalogues/*.sql` hold the tables of each version that was ever on the main branch, word for
//! word as that version made them, with a few rows written by hand: two pages visited and linked,
//! one queued, one left outside. Building the old programs would show the same tables and cost
//! minutes a version.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use orb_page::{
    Discovered, Flag, HostId, LinkKind, Links, Moment, PageId, PageKind, RunId, RunKind, RunState, SkipReason, UrlKey,
    Visit,
};
use orb_store::{
    AliasEntry, Batch, CatalogueReader, DroppedPage, FinishedVisit, Home, IndexStart, Project, ProjectDir, ProjectLock,
    QueuePlace, Queues as _, StoreError, check,
};
use std::fs;
use std::path::Path;

/// Names and contents of the older catalogues.
fn catalogues() -> Vec<(String, String)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/catalogues");
    let mut files: Vec<_> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    let name = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    files.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

fn old_project(home: &Path, sql: &str) -> ProjectDir {
    let dir = Home::open(home).unwrap().project("p").unwrap();
    rusqlite::Connection::open(dir.catalogue()).unwrap().execute_batch(sql).unwrap();
    dir
}

fn version(dir: &ProjectDir) -> i64 {
    let db = rusqlite::Connection::open(dir.catalogue()).unwrap();
    db.query_row("PRAGMA user_version", [], |r| r.get(0)).unwrap()
}

/// A visit of a page with links to these, all of them known.
fn visit(page: (u64, &str), host: u32, flag: Flag, to: &[(u64, &str)]) -> FinishedVisit {
    let mut links = Links::default();
    for (_, url) in to {
        links.push(url, UrlKey::of(url), LinkKind::A, "words");
    }
    let blank = Visit::blank(PageId(page.0), HostId(host), page.1.into(), Moment(1_700_000_100_000), "w".into());
    let visit = Visit { flag, kind: PageKind::Html, status: Some(200), links, ..blank };
    FinishedVisit::unarchived(visit, to.iter().map(|(page, _)| PageId(*page)).collect())
}

/// A page of the first host that was just discovered.
fn found(page: u64, url: &str) -> Discovered {
    Discovered {
        page: PageId(page),
        key: UrlKey::of(url),
        url: url.to_owned(),
        host: HostId(1),
        kind: PageKind::Frontier,
        why: None,
        depth: 1,
        redirects: 0,
        priority: 0.5,
        rank: page,
        at: Moment(1_700_000_100_000),
        by: "w".into(),
        step: None,
        asked: None,
        from: Some(PageId(3)),
    }
}

/// A page of the first host is withheld as an alias of another.
fn withheld(run: RunId, page: u64, target: u64) -> Batch {
    let place = QueuePlace { host: HostId(1), rank: page, page: PageId(page) };
    let (page, target, host) = (PageId(page), PageId(target), HostId(1));
    Batch {
        run,
        dropped: vec![DroppedPage { place, kind: PageKind::Duplicate, why: SkipReason::Alias }],
        aliases: vec![AliasEntry { page, target, host, rules: 1, name: "'//' is '/'".into(), tested: false }],
        ..Batch::default()
    }
}

#[test]
fn a_catalogue_of_every_earlier_version_is_upgraded_and_goes_on() {
    let latest = {
        let tmp = tempfile::tempdir().unwrap();
        let dir = Home::open(tmp.path()).unwrap().project("p").unwrap();
        Project::open(&dir).unwrap().close().unwrap();
        version(&dir)
    };
    let all = catalogues();
    assert!(all.len() >= 10);
    for (name, sql) in all {
        let tmp = tempfile::tempdir().unwrap();
        let dir = old_project(tmp.path(), &sql);
        assert!(version(&dir) < latest, "{name}");
        let mut project = Project::open(&dir).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        assert!(matches!(project.start().index, IndexStart::Rebuilt(_)), "{name}: {:?}", project.start());
        assert_eq!((version(&dir), project.queued(), project.urls_known()), (latest, 1, 4), "{name}");
        assert_eq!(project.hosts_fetched(RunId(1)).unwrap(), [HostId(1)], "{name}");
        // The run is resumed: the queued page is visited.
        let run = project.last_run().unwrap().unwrap();
        assert!(run.state.is_resumed() && run.kind == RunKind::Crawl, "{name}");
        project.resume_run(run.id).unwrap();
        let queued = project.queues().peek(HostId(2), None, 9).unwrap().remove(0);
        let (first, third) = ((1, "http://a.test/"), (3, "http://b.test/"));
        let mut batch = Batch { run: run.id, ..Batch::default() };
        batch.visits.push(visit(third, 2, Flag::New, &[first]));
        batch.finished.push(QueuePlace { host: HostId(2), rank: queued.rank, page: queued.page });
        batch.discovered.push(found(5, "http://a.test//b"));
        project.commit(&mut batch).unwrap();
        // What it found is an alias of a page that the older program visited.
        project.commit(&mut withheld(run.id, 5, 2)).unwrap();
        project.finish_run(run.id, RunState::Done, "{}").unwrap();
        // The next run finds one link of the first page gone.
        let next = project.begin_run(RunKind::Track, "").unwrap();
        let mut batch = Batch { run: next, ..Batch::default() };
        batch.visits.push(visit(first, 1, Flag::Updated, &[third]));
        project.commit(&mut batch).unwrap();
        project.finish_run(next, RunState::Done, "{}").unwrap();
        project.close().unwrap();
        let report = check(&dir).unwrap();
        assert!(report.is_clean() && report.notes.is_empty(), "{name}: {report:?}");
        let reader = CatalogueReader::open(&dir).unwrap();
        let links: Vec<_> =
            reader.links_out(PageId(1), 9, 0).unwrap().into_iter().map(|l| (l.dst, l.last_run)).collect();
        assert_eq!(links, [(2, Some(1)), (3, None)], "{name}");
        let page = reader.page_by_url("http://a.test/").unwrap().unwrap();
        assert_eq!((page.id, page.visits, page.changes, page.next_due), (1, 2, 1, None), "{name}");
        let alias = reader.page_by_url("http://a.test//b").unwrap().unwrap();
        assert_eq!((alias.kind.as_str(), alias.duplicate_of), ("DUPLICATE", Some(2)), "{name}");
        assert_eq!(
            reader.alias(PageId(5)).unwrap().map(|alias| alias.url).as_deref(),
            Some("http://a.test/b"),
            "{name}"
        );
        let host = reader.host(HostId(1)).unwrap().unwrap();
        assert_eq!((host.pages, host.errors), (2, 0), "{name}");
    }
}

#[test]
fn who_only_reads_has_an_older_catalogue_upgraded_unless_somebody_works_on_it() {
    for (name, sql) in catalogues() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = old_project(tmp.path(), &sql);
        let before = version(&dir);
        let lock = ProjectLock::take(&dir).unwrap();
        assert!(matches!(CatalogueReader::open(&dir), Err(StoreError::InUse { .. })), "{name}");
        drop(lock);
        assert_eq!(version(&dir), before, "{name}");
        let reader = CatalogueReader::open(&dir).unwrap();
        assert!(version(&dir) > before, "{name}");
        assert_eq!(reader.links_out(PageId(2), 9, 0).unwrap().len(), 2, "{name}");
        assert_eq!(reader.title(PageId(2)).unwrap().as_deref(), Some("B"), "{name}");
        drop(reader);
        assert!(check(&dir).unwrap().is_clean(), "{name}");
    }
}
