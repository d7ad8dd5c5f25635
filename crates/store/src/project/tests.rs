//! Do the stores agree, whatever happened to one of them?

use super::*;
use crate::{ArchiveEnd, FinishedVisit, Home, NewHost, QueueLengths as _, QueuePlace, Queues};
use orb_page::{Discovered, Moment, PageKind, RunId, RunKind, UrlKey};
use std::ops::Bound;

/// The next page of the only host, queued.
fn one_more(project: &Project) -> Batch {
    let page = project.next_page_id();
    let url = format!("http://a/{}", page.0);
    let mut batch = Batch { run: RunId(1), ..Batch::default() };
    if page.0 == 1 {
        let at = Moment(1);
        batch.hosts.push(NewHost { id: HostId(1), scheme: "http".into(), name: "a".into(), port: 80, at });
    }
    batch.discovered.push(Discovered {
        page,
        key: UrlKey::of(&url),
        url,
        host: HostId(1),
        kind: PageKind::Frontier,
        why: None,
        depth: 0,
        redirects: 0,
        priority: 0.0,
        rank: page.0,
        at: Moment(1),
        by: "t".into(),
        step: None,
        asked: None,
        from: None,
    });
    batch
}

#[test]
fn an_index_that_refused_a_batch_is_opened_again_and_catches_up() {
    let tmp = tempfile::tempdir().unwrap();
    let dir = Home::open(tmp.path()).unwrap().project("p").unwrap();
    let mut project = Project::open(&dir).unwrap();
    project.begin_run(RunKind::Crawl, "").unwrap();
    for _ in 0..2 {
        let mut batch = one_more(&project);
        project.commit(&mut batch).unwrap();
    }
    // The catalogue has recorded a batch that the index has not followed.
    let mut left = one_more(&project);
    project.catalogue_mut().commit(&left, &ArchiveEnd::default()).unwrap();
    left.recorded = Some(project.catalogue().watermark().no);
    project.index_behind = true;
    assert_eq!(project.index.queued(), 2);
    project.commit(&mut left).unwrap();
    assert_eq!((project.index.queued(), project.next_page_id()), (3, PageId(4)));
    let reader = project.queues();
    let mut batch = one_more(&project);
    project.commit(&mut batch).unwrap();
    assert_eq!(reader.peek(HostId(1), None, 9).unwrap().len(), 4);
    drop((project, reader));
    assert!(crate::check(&dir).unwrap().is_clean());
}

#[test]
fn the_longest_queues_are_named_longest_first() {
    let tmp = tempfile::tempdir().unwrap();
    let mut project = Project::open(&Home::open(tmp.path()).unwrap().project("p").unwrap()).unwrap();
    project.begin_run(RunKind::Crawl, "").unwrap();
    for (number, host) in (1..).zip([1, 2, 2, 3, 3, 3, 4]) {
        let mut batch = one_more(&project);
        batch.hosts.clear();
        if u64::from(project.next_host_id().0) == u64::from(host) {
            let (id, scheme, at) = (HostId(host), "http".into(), Moment(1));
            batch.hosts.push(NewHost { id, scheme, name: format!("h{host}"), port: 80, at });
        }
        batch.discovered[0].host = HostId(host);
        let done = project.commit(&mut batch).unwrap();
        assert_eq!(done.batch, number);
        assert!(!done.took.catalogue.is_zero() && !done.took.index.is_zero());
    }
    assert_eq!(project.index.longest(3), [(HostId(3), 3), (HostId(2), 2), (HostId(1), 1)]);
    assert_eq!(project.index.longest(0), []);
    assert_eq!(project.index.longest(99).len(), 4);
}

#[test]
fn a_queue_that_is_read_on_while_it_changes_and_is_folded_gives_every_page_in_order() {
    let tmp = tempfile::tempdir().unwrap();
    let mut project = Project::open(&Home::open(tmp.path()).unwrap().project("p").unwrap()).unwrap();
    let run = project.begin_run(RunKind::Crawl, "").unwrap();
    project.index.fold_at(60);
    let (mut waiting, mut after) = (std::collections::BTreeSet::new(), None);
    for step in 0..150 {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let want: Vec<_> = waiting.range((from, Bound::Unbounded)).take(7).copied().collect();
        let read = project.index.peek(HostId(1), after, 7).unwrap();
        assert_eq!(read.iter().map(|q| (q.rank, q.page)).collect::<Vec<_>>(), want, "{step}");
        let mut batch = one_more(&project);
        // Most come at the end, some just before what is read next; and now and then everything is
        // read again.
        let new = batch.discovered[0].clone();
        let ranks = (0..12).map(|n| if n == 0 { after.map_or(1, |a| a.0 + step % 90) } else { step * 20 + n });
        let found = (0..).zip(ranks).map(|(n, rank)| {
            let page = PageId(new.page.0 + n);
            let url = format!("http://a/{}", page.0);
            Discovered { rank, page, key: UrlKey::of(&url), url, ..new.clone() }
        });
        batch.discovered = found.collect();
        for queued in read {
            after = Some((queued.rank, queued.page));
            waiting.remove(&(queued.rank, queued.page));
            batch.finished.push(QueuePlace { host: HostId(1), rank: queued.rank, page: queued.page });
            let by = "t".into();
            let visit = orb_page::Visit::blank(queued.page, HostId(1), queued.url, Moment(1), by);
            batch.visits.push(FinishedVisit::unarchived(visit, Vec::new()));
        }
        after = after.filter(|_| step % 60 > 0);
        batch.run = run;
        waiting.extend(batch.discovered.iter().map(|d| (d.rank, d.page)));
        project.commit(&mut batch).unwrap();
        assert_eq!(project.index.queued(), waiting.len() as u64);
    }
    assert!(project.index.folded() > 120);
}

#[test]
fn an_index_too_far_behind_to_follow_is_made_anew() {
    let tmp = tempfile::tempdir().unwrap();
    let dir = Home::open(tmp.path()).unwrap().project("p").unwrap();
    let mut project = Project::open(&dir).unwrap();
    project.begin_run(RunKind::Crawl, "").unwrap();
    for _ in 0..3 {
        let batch = one_more(&project);
        project.catalogue_mut().commit(&batch, &ArchiveEnd::default()).unwrap();
    }
    // Nothing was ever applied, and what the first batch touched is no longer listed.
    let db = rusqlite::Connection::open(dir.catalogue()).unwrap();
    db.execute("DELETE FROM batch_row WHERE no = 1", []).unwrap();
    project.index_behind = true;
    let mut batch = one_more(&project);
    project.commit(&mut batch).unwrap();
    assert_eq!((project.index.queued(), project.index.known()), (4, 4));
    drop(project);
    assert!(crate::check(&dir).unwrap().is_clean());
}
