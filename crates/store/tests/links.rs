//! Can it be reconstructed what any run saw of a page's links?

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod grow;

use grow::{Recorder, again};
use orb_page::{Flag, PageId, RunId, RunKind};
use orb_store::{Batch, CatalogueReader, FinishedVisit, Home, LinkChange, Project, ProjectDir, check};
use std::ops::ControlFlow;

/// A page with links that is visited by run after run.
struct Page {
    _tmp: tempfile::TempDir,
    dir: ProjectDir,
    recorder: Recorder,
    first: Batch,
}

/// A link of the page: which of its eight, anchor text, count.
type Said = (usize, &'static str, u32);

impl Page {
    /// Visited by run 1, which saw these links.
    fn new(links: &[Said]) -> Self {
        let tmp = tempfile::tempdir().unwrap();
        let dir = Home::open(tmp.path()).unwrap().project("p").unwrap();
        let mut recorder = Recorder::new(Project::open(&dir).unwrap());
        let first = again(&recorder.prepare(1));
        // Targets exist whether they are linked or not.
        let mut known = recorder.prepare(1);
        known.visits.clear();
        known.finished.clear();
        recorder.commit(&mut known);
        let mut page = Self { _tmp: tmp, dir, recorder, first };
        page.visit(RunId(1), Flag::New, links);
        page
    }

    fn visit(&mut self, run: RunId, flag: Flag, links: &[Said]) {
        let mut batch = again(&self.first);
        batch.run = run;
        let FinishedVisit { visit, targets, .. } = &mut batch.visits[0];
        visit.flag = flag;
        let before = std::mem::take(&mut visit.links);
        for (i, words, count) in links {
            let link = &before[*i];
            visit.links.push(before.url(link), link.key, link.kind, words).count = *count;
        }
        *targets = links.iter().map(|(i, ..)| targets[*i]).collect();
        self.recorder.project.commit(&mut batch).unwrap();
    }

    /// The next run sees these links.
    fn again(&mut self, flag: Flag, links: &[Said]) -> RunId {
        let run = self.recorder.project.begin_run(RunKind::Track, "{}").unwrap();
        self.visit(run, flag, links);
        run
    }

    /// Changes since a run, as `+text`, `-text` and `text>text`, sorted.
    fn since(&self, run: u32) -> Vec<String> {
        let reader = CatalogueReader::open(&self.dir).unwrap();
        let mut told = Vec::new();
        let each = |row: orb_store::LinkChangeRow| {
            let words = |values: Option<orb_store::LinkValues>| {
                values.map_or(String::new(), |v| v.anchor + &"*".repeat(v.count as usize - 1))
            };
            let (now, before) = (words(row.now), words(row.before));
            told.push(match row.change {
                LinkChange::New => format!("+{now}"),
                LinkChange::Lost => format!("-{before}"),
                LinkChange::Changed => format!("{before}>{now}"),
            });
            ControlFlow::Continue(())
        };
        reader.link_changes(RunId(run), Some(PageId(1)), each).unwrap();
        told.sort();
        told
    }

    fn lives(&self) -> Vec<String> {
        let reader = CatalogueReader::open(&self.dir).unwrap();
        let rows = reader.link_history(PageId(1)).unwrap();
        let last = |run: Option<u32>| run.map_or("now".to_owned(), |run| run.to_string());
        let mut rows: Vec<String> =
            rows.into_iter().map(|l| format!("{} {}-{}", l.anchor, l.first_run, last(l.last_run))).collect();
        rows.sort();
        rows
    }

    fn close(self) {
        drop(self.recorder);
        let report = check(&self.dir).unwrap();
        assert!(report.is_clean(), "{:?}", report.findings);
    }
}

#[test]
fn new_lost_and_changed_links_are_told_since_any_run() {
    let mut page = Page::new(&[(0, "a", 1), (1, "b", 1), (2, "c", 1)]);
    page.again(Flag::Updated, &[(0, "a", 1), (1, "b", 2), (4, "d", 1)]);
    page.again(Flag::Updated, &[(0, "A", 1), (1, "b", 1), (4, "d", 1), (5, "e", 1)]);
    assert_eq!(page.since(1), ["+d", "+e", "-c", "a>A"]);
    assert_eq!(page.since(2), ["+e", "a>A", "b*>b"]);
    assert_eq!(page.since(3), Vec::<String>::new());
    page.close();
}

#[test]
fn a_link_that_was_lost_and_came_back_has_two_lives() {
    let mut page = Page::new(&[(0, "a", 1), (1, "b", 1)]);
    page.again(Flag::Updated, &[(0, "a", 1)]);
    page.again(Flag::Updated, &[(0, "a", 1), (1, "b", 1)]);
    assert_eq!(page.lives(), ["a 1-now", "b 1-1", "b 3-now"]);
    assert_eq!(page.since(1), Vec::<String>::new());
    assert_eq!(page.since(2), ["+b"]);
    page.close();
}

#[test]
fn a_passing_failure_and_an_unchanged_page_leave_links_as_they_are() {
    let mut page = Page::new(&[(0, "a", 1), (1, "b", 1)]);
    page.again(Flag::Error, &[]);
    page.again(Flag::Same, &[]);
    assert_eq!(page.since(1), Vec::<String>::new());
    page.again(Flag::Updated, &[(0, "a", 1)]);
    assert_eq!((page.since(1), page.since(3)), (vec!["-b".to_owned()], vec!["-b".to_owned()]));
    page.close();
}

#[test]
fn a_page_that_is_gone_has_lost_all_its_links() {
    let mut page = Page::new(&[(0, "a", 1), (1, "b", 3)]);
    page.again(Flag::Missing, &[]);
    assert_eq!(page.since(1), ["-a", "-b**"]);
    assert_eq!(page.lives(), ["a 1-1", "b 1-1"]);
    page.close();
}

#[test]
fn of_two_visits_in_one_run_the_later_stands() {
    let mut page = Page::new(&[(0, "a", 1), (1, "b", 1)]);
    page.visit(RunId(1), Flag::New, &[(1, "B", 1), (2, "c", 1)]);
    assert_eq!(page.lives(), ["B 1-now", "c 1-now"]);
    let run = page.again(Flag::Updated, &[(2, "C", 1), (4, "d", 1)]);
    page.visit(run, Flag::Updated, &[(1, "B", 1), (2, "c", 1)]);
    assert_eq!(page.since(1), Vec::<String>::new());
    let reader = CatalogueReader::open(&page.dir).unwrap();
    let living = reader.links_out(PageId(1), 99, 0).unwrap();
    assert!(living.iter().all(|l| l.last_run.is_none() && l.first_run == 1) && living.len() == 2, "{living:?}");
    page.close();
}

#[test]
fn the_words_of_others_are_counted_together() {
    let mut page = Page::new(&[(0, "home", 2), (1, "other", 1)]);
    let target = page.first.visits[0].targets[0];
    page.recorder.step(1);
    let reader = CatalogueReader::open(&page.dir).unwrap();
    let anchors = reader.anchors(target, 9).unwrap();
    assert_eq!((anchors[0].anchor.as_str(), anchors[0].count, anchors[0].sources), ("home", 2, 1), "{anchors:?}");
    assert_eq!(anchors[0].example, grow::url_of(0));
    assert_eq!(reader.anchors(PageId(1), 0).unwrap(), []);
}

#[test]
fn a_catalogue_without_a_table_for_the_past_is_read_all_the_same() {
    let page = Page::new(&[(0, "a", 1)]);
    let Page { dir, recorder, _tmp, .. } = page;
    drop(recorder);
    let sql = "DROP TABLE past_row; DROP VIEW link_past; DROP VIEW link_url;";
    rusqlite::Connection::open(dir.catalogue()).unwrap().execute_batch(sql).unwrap();
    let reader = CatalogueReader::open(&dir).unwrap();
    assert_eq!(reader.link_history(PageId(1)).unwrap().len(), 1);
    assert!(check(&dir).unwrap().is_clean());
    drop(Project::open(&dir).unwrap());
    let db = rusqlite::Connection::open(dir.catalogue()).unwrap();
    let rows: i64 = db.query_row("SELECT count(*) FROM link_url", [], |r| r.get(0)).unwrap();
    assert_eq!(rows, 1);
}
