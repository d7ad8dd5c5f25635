//! Are aliases withheld, counted, brought back and checked as the catalogue should?

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use orb_page::{
    Discovered, Flag, HostId, LinkKind, Links, Moment, PageId, PageKind, RunId, RunKind, RunState, SkipReason, UrlKey,
    Visit,
};
use orb_store::{
    AliasEntry, AliasNote, Batch, CatalogueReader, DroppedPage, FinishedVisit, Home, NewHost, Project, ProjectDir,
    QueuePlace, StoreError, WithheldAlias, check,
};

const HOST: HostId = HostId(1);

/// A host with a front page and some queued pages.
struct Site {
    _tmp: tempfile::TempDir,
    dir: ProjectDir,
    project: Project,
    run: RunId,
}

fn url(page: u64) -> String {
    format!("http://a.test/{page}")
}

impl Site {
    /// Pages 1 to `pages`, each a link further from the front than the one before.
    fn new(pages: u64) -> Self {
        let tmp = tempfile::tempdir().unwrap();
        let dir = Home::open(tmp.path()).unwrap().project("p").unwrap();
        let mut project = Project::open(&dir).unwrap();
        let run = project.begin_run(RunKind::Crawl, "").unwrap();
        let mut batch = Batch { run, ..Batch::default() };
        batch.hosts.push(NewHost { id: HOST, scheme: "http".into(), name: "a.test".into(), port: 80, at: Moment(1) });
        batch.discovered.extend((1..=pages).map(|page| Discovered {
            page: PageId(page),
            key: UrlKey::of(&url(page)),
            url: url(page),
            host: HOST,
            kind: PageKind::Frontier,
            why: None,
            depth: u32::try_from(page).unwrap() - 1,
            redirects: 0,
            priority: 0.5,
            rank: page,
            at: Moment(1),
            by: "w".into(),
            step: None,
            asked: None,
            from: (page > 1).then_some(PageId(1)),
        }));
        project.commit(&mut batch).unwrap();
        Self { _tmp: tmp, dir, project, run }
    }

    fn commit(&mut self, batch: Batch) {
        self.project.commit(&mut Batch { run: self.run, ..batch }).unwrap();
    }

    /// Visits a page: its content and its links.
    fn visit(&mut self, page: u64, (kind, flag): (PageKind, Flag), content: u8, to: &[u64]) {
        let mut links = Links::default();
        for to in to {
            links.push(&url(*to), UrlKey::of(&url(*to)), LinkKind::A, "");
        }
        let blank = Visit::blank(PageId(page), HOST, url(page), Moment(2), "w".into());
        let visit = Visit { kind, flag, digest: Some([content; 32]), status: Some(200), links, ..blank };
        let visits = vec![FinishedVisit::unarchived(visit, to.iter().map(|to| PageId(*to)).collect())];
        self.commit(Batch { visits, finished: vec![place(page)], ..Batch::default() });
    }

    /// Withholds a page as an alias of another, or fetches it as a test.
    fn alias(&mut self, page: u64, target: u64, rules: u64, tested: bool) {
        let dropped = DroppedPage { place: place(page), kind: PageKind::Duplicate, why: SkipReason::Alias };
        let (page, target) = (PageId(page), PageId(target));
        let entry = AliasEntry { page, target, host: HOST, rules, name: "a rule".into(), tested };
        let dropped = if tested { Vec::new() } else { vec![dropped] };
        self.commit(Batch { aliases: vec![entry], dropped, ..Batch::default() });
    }

    fn bring_back(&mut self, back: Vec<WithheldAlias>) {
        let requeued: Vec<_> = back.into_iter().map(|alias| alias.page).collect();
        let unaliased = requeued.iter().map(|page| (page.host, page.page)).collect();
        self.commit(Batch { requeued, unaliased, ..Batch::default() });
    }

    fn next_run(&mut self) {
        self.project.finish_run(self.run, RunState::Done, "{}").unwrap();
        self.run = self.project.begin_run(RunKind::Track, "").unwrap();
    }

    fn reader(&self) -> CatalogueReader {
        CatalogueReader::open(&self.dir).unwrap()
    }

    /// Closes the project; what a check finds.
    fn findings(self) -> (tempfile::TempDir, ProjectDir, Vec<String>) {
        self.project.close().unwrap();
        let found = check(&self.dir).unwrap().findings.into_iter().map(|finding| finding.what).collect();
        (self._tmp, self.dir, found)
    }
}

fn place(page: u64) -> QueuePlace {
    QueuePlace { host: HOST, rank: page, page: PageId(page) }
}

fn numbers(withheld: Result<Vec<WithheldAlias>, StoreError>) -> Vec<u64> {
    withheld.unwrap().into_iter().map(|alias| alias.page.page.0).collect()
}

const HTML: (PageKind, Flag) = (PageKind::Html, Flag::New);

#[test]
fn a_withheld_address_says_of_what_and_by_which_rule_and_comes_back() {
    let mut site = Site::new(5);
    site.visit(1, HTML, 1, &[]);
    site.alias(2, 1, 0b01, false);
    site.alias(3, 1, 0b11, false);
    site.alias(4, 1, 0b10, true);
    assert_eq!(site.project.queued(), 2, "the test and one that is no alias");
    let shown = site.reader().page(PageId(2)).unwrap().unwrap();
    assert_eq!((shown.kind.as_str(), shown.why.as_deref(), shown.duplicate_of), ("DUPLICATE", Some("alias"), Some(1)));
    let note = AliasNote { of: 1, url: url(1), rule: "a rule".into(), tested: false };
    assert_eq!(site.reader().alias(PageId(2)).unwrap(), Some(note.clone()));
    assert_eq!(site.reader().alias(PageId(4)).unwrap(), Some(AliasNote { tested: true, ..note }));
    assert_eq!(site.reader().withheld_by(HOST).unwrap(), [(0b01, 1), (0b11, 1)]);
    assert!(
        site.project.is_alias_test(HOST, PageId(4)).unwrap() && !site.project.is_alias_test(HOST, PageId(2)).unwrap()
    );
    assert_eq!(numbers(site.project.withheld_by(HOST, 0b10, 9)), [3]);
    assert_eq!(numbers(site.project.withheld_for(PageId(1))), [2, 3]);
    assert_eq!(numbers(site.project.withheld_of(HOST, PageId(2), 9)), [3]);
    let back = site.project.withheld_by(HOST, 0b10, 9).unwrap();
    site.bring_back(back);
    assert_eq!((site.project.queued(), site.reader().alias(PageId(3)).unwrap()), (3, None));
    assert_eq!(site.reader().page(PageId(3)).unwrap().unwrap().kind, "FRONTIER");
    assert_eq!(site.findings().2, Vec::<String>::new());
}

#[test]
fn what_is_withheld_for_a_page_that_is_none_or_none_any_more_is_found() {
    let mut site = Site::new(8);
    for (page, kind) in [(1, PageKind::Html), (3, PageKind::Html), (5, PageKind::HttpError)] {
        site.visit(page, (kind, Flag::New), 1, &[]);
    }
    for (alias, target) in [(2, 1), (4, 3), (6, 5), (8, 7)] {
        site.alias(alias, target, 1, false);
    }
    let targets: Vec<u64> = site.project.alias_targets().unwrap().iter().collect();
    assert_eq!(targets, [1, 3, 5, 7]);
    assert_eq!(numbers(site.project.withheld_in_vain()), [6]);
    let dropped = vec![DroppedPage { place: place(7), kind: PageKind::Disallowed, why: SkipReason::Robots }];
    site.commit(Batch { dropped, ..Batch::default() });
    assert_eq!(numbers(site.project.withheld_in_vain()), [6, 8]);
    // A page that cannot be reached today is still one; one that is gone is not.
    site.next_run();
    site.visit(1, (PageKind::Timeout, Flag::Error), 1, &[]);
    site.visit(3, (PageKind::HttpError, Flag::Missing), 1, &[]);
    assert_eq!(numbers(site.project.withheld_in_vain()), [4, 6, 8]);
}

#[test]
fn a_test_fails_if_both_were_fetched_and_differ_and_in_a_later_run_if_neither_changed_meanwhile() {
    let mut site = Site::new(4);
    for (page, content) in [(1, 1), (2, 1), (3, 3), (4, 4)] {
        site.visit(page, HTML, content, &[]);
    }
    site.alias(2, 1, 0b01, true);
    site.alias(4, 3, 0b10, true);
    let failed = |site: &Site, settled| -> Vec<u64> {
        site.project.failed_tests(site.run, settled).unwrap().into_iter().map(|failed| failed.rules).collect()
    };
    assert_eq!(failed(&site, false), [0b10]);
    for (flags, settled) in [([Flag::Updated, Flag::Same], 0), ([Flag::Same, Flag::Same], 1)] {
        site.next_run();
        site.visit(1, (PageKind::Html, flags[0]), 9, &[]);
        site.visit(2, (PageKind::Html, flags[1]), 1, &[]);
        assert_eq!((failed(&site, false).len(), failed(&site, true).len()), (1, settled), "{flags:?}");
    }
}

#[test]
fn a_page_is_as_near_as_its_nearest_alias() {
    let mut site = Site::new(6);
    let depth = |site: &Site, page| site.reader().page(PageId(page)).unwrap().unwrap().depth;
    site.visit(1, HTML, 1, &[2, 5]);
    site.visit(5, HTML, 5, &[6]);
    site.visit(4, HTML, 4, &[5]);
    assert_eq!((site.project.settle_depths(false).unwrap(), depth(&site, 5), depth(&site, 6)), (2, 1, 2));
    site.alias(2, 4, 1, false);
    assert_eq!((site.project.settle_depths(false).unwrap(), depth(&site, 4)), (1, 1));
}

#[test]
fn a_check_finds_what_is_withheld_without_a_reason() {
    for (sql, finding) in [
        ("UPDATE alias_row SET target = 99", "aliases name pages that are not there: 1"),
        ("DELETE FROM alias_row", "addresses are withheld and no aliases, or aliases and not withheld: 1"),
        ("UPDATE alias_row SET tested = 1", "addresses are withheld and no aliases, or aliases and not withheld: 1"),
    ] {
        let mut site = Site::new(3);
        site.visit(1, HTML, 1, &[]);
        site.alias(2, 1, 1, false);
        let (_tmp, dir, found) = site.findings();
        assert_eq!(found, Vec::<String>::new());
        rusqlite::Connection::open(dir.catalogue()).unwrap().execute_batch(sql).unwrap();
        let found: Vec<String> = check(&dir).unwrap().findings.into_iter().map(|finding| finding.what).collect();
        assert_eq!(found, [finding], "{sql}");
    }
}
