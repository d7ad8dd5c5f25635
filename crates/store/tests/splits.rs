//! Who may add a part of the text index, and who finds it?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod cluster;

use cluster::until;
use cluster::worker::{SCHEMA, Store, Worker};
use orb_store::{CopySplits, Home, StoreError, WorkerReport};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(500);

#[test]
fn a_buried_worker_adds_no_split_and_what_others_add_is_found_as_it_was() {
    let store = Store::start();
    let mut project = store.project();
    store.plant(&["http://site1.org/"]);
    let (mut living, lost) =
        (Worker::join(&store.address(), "living", LONG), Worker::join(&store.address(), "lost", SHORT));
    let dir = tempfile::tempdir().unwrap();
    let (file, copy) = (dir.path().join("packed"), dir.path().join("fetched"));
    // More than is read at once.
    let content: Vec<u8> = (0..9_000_000u32).map(|n| (n % 251) as u8).collect();
    std::fs::write(&file, &content).unwrap();
    let (mut of_living, mut of_lost) = (living.member.splits().unwrap(), lost.member.splits().unwrap());
    of_lost.add(&file, 3).unwrap();
    until("it is buried", || {
        living.clerk.beat(&WorkerReport::default()).unwrap();
        store.count("worker WHERE NOT alive") == 1
    });
    assert!(matches!(of_lost.add(&file, 4), Err(StoreError::Fenced { .. })));
    of_living.add(&file, 5).unwrap();
    let rows = project.splits().unwrap();
    assert_eq!(rows.iter().map(|row| row.pages).collect::<Vec<_>>(), [5, 3]);
    assert_eq!(project.split_count().unwrap(), 2);
    assert_eq!(store.server.number(&format!("SELECT count(*) FROM {SCHEMA}.split WHERE docs = 4")), 0);
    // They are no objects of the archive, even of one that has been there for long.
    assert_eq!(project.take_stock().unwrap().orphans, []);
    let home = Home::open(&dir.path().join("home")).unwrap().project("copy").unwrap();
    project.pull(&home, false).unwrap();
    assert!(CopySplits::of(&home).unwrap().is_none(), "none were noted");
    CopySplits::note(&home, &rows).unwrap();
    let splits = CopySplits::of(&home).unwrap().unwrap();
    assert_eq!(splits.rows, rows);
    splits.fetch(&rows[1], &copy).unwrap();
    assert!(std::fs::read(&copy).unwrap() == content);
}
