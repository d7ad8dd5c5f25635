//! What happens to a project whose files were damaged?
//!
//! Damage to the archive and the catalogue is reported by file name; derived data is rebuilt.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Finished, Home, PROJECT, crawling, files};
use harness::web::World;
use orb_testweb::{Feature, Spec};
use std::fs;
use std::path::Path;

/// A small web, crawled completely.
fn crawled() -> (World, Home) {
    let world = World::new(Spec { pages_per_host: 40, ..Spec::default() }.with(Feature::Furniture));
    let home = Home::new();
    home.crawl(&world.args(&["--delay", "0", "--scope", "any"]));
    home.orb(&["check", PROJECT]).expect(0);
    (world, home)
}

/// Resumes the project.
fn crawl_again(home: &Home) -> Finished {
    home.orb(&crawling(&[PROJECT]))
}

/// Flips one byte.
fn flip(file: &Path, offset: usize) {
    let mut bytes = fs::read(file).unwrap();
    bytes[offset] ^= 0x55;
    fs::write(file, bytes).unwrap();
}

/// Asserts that `orb check` fails and names all of this.
#[track_caller]
fn assert_found(home: &Home, words: &[&str]) {
    let finished = home.orb(&["check", PROJECT]);
    finished.expect(1);
    let said = format!("{}{}", finished.text(), finished.stderr);
    assert!(!said.contains("panicked"), "{finished}");
    for word in words {
        assert!(said.contains(word), "no {word:?}: {finished}");
    }
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

#[test]
fn a_changed_byte_in_the_archive_is_found_and_named() {
    let (_world, home) = crawled();
    let warc = home.warcs().remove(0);
    let whole = fs::read(&warc).unwrap();
    for offset in [10, whole.len() / 3, whole.len() / 2, whole.len() - 20] {
        flip(&warc, offset);
        assert_found(&home, &[name(&warc)]);
        fs::write(&warc, &whole).unwrap();
    }
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn an_archive_that_was_cut_or_lost_is_found_and_named() {
    let world = World::new(Spec { pages_per_host: 40, ..Spec::default() });
    let home = Home::new();
    home.crawl(&world.args(&["--delay", "0", "--scope", "any", "--max-pages", "50"]));
    let warc = home.warcs().remove(0);
    let whole = fs::read(&warc).unwrap();
    fs::write(&warc, &whole[..whole.len() / 2]).unwrap();
    assert_found(&home, &[name(&warc)]);
    let again = crawl_again(&home);
    assert!(again.complaint(1).contains(name(&warc)), "{again}");
    fs::remove_file(&warc).unwrap();
    assert_found(&home, &[name(&warc)]);
    let again = crawl_again(&home);
    assert!(again.complaint(1).contains(name(&warc)), "{again}");
    fs::write(&warc, &whole).unwrap();
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn what_lies_beyond_the_known_end_of_the_archive_is_cut() {
    let (_world, home) = crawled();
    let warc = home.warcs().remove(0);
    let whole = fs::read(&warc).unwrap();
    fs::write(&warc, [whole.as_slice(), b"half a record of a process that was killed"].concat()).unwrap();
    crawl_again(&home).expect(0);
    home.orb(&["check", PROJECT]).expect(0);
    assert_eq!(&fs::read(&warc).unwrap()[..whole.len()], whole.as_slice());
}

#[test]
fn an_index_of_the_archive_that_is_wrong_is_found() {
    let (_world, home) = crawled();
    let cdxj = files(&home.project().join("warc"), ".cdxj").remove(0);
    let text = fs::read_to_string(&cdxj).unwrap();
    let without_first: String = text.lines().skip(1).flat_map(|line| [line, "\n"]).collect();
    fs::write(&cdxj, without_first).unwrap();
    assert_found(&home, &[name(&cdxj)]);
}

#[test]
fn a_damaged_catalogue_is_named_and_left_as_it_is() {
    let (_world, home) = crawled();
    let database = home.project().join("crawl.db");
    // The data must be in the file itself, not in the write-ahead log, where a reader would still
    // find it.
    checkpoint(&database);
    let whole = fs::read(&database).unwrap();
    for (from, until) in [(0, 100), (4096, whole.len())] {
        let mut broken = whole.clone();
        broken[from..until].fill(0xa5);
        fs::write(&database, &broken).unwrap();
        let again = crawl_again(&home);
        assert!(again.complaint(1).contains("crawl.db"), "{again}");
        assert_found(&home, &["crawl.db"]);
        assert_eq!(fs::read(&database).unwrap(), broken, "nothing was written over it");
        remove_log(&database);
    }
    fs::write(&database, &whole).unwrap();
    home.orb(&["check", PROJECT]).expect(0);
}

/// Checkpoints the write-ahead log into the database.
fn checkpoint(database: &Path) {
    let connection = rusqlite::Connection::open(database).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0)).unwrap();
    drop(connection);
    remove_log(database);
}

fn remove_log(database: &Path) {
    for ending in ["-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{ending}", database.display()));
    }
}

#[test]
fn a_lost_or_damaged_frontier_index_is_made_anew() {
    let (world, home) = crawled();
    let index = home.project().join("frontier");
    let before = home.catalogue().pages();
    for damage in [lost, emptied, scribbled] {
        damage(&index);
        world.server.log().take();
        crawl_again(&home).expect(0);
        home.orb(&["check", PROJECT]).expect(0);
        let asked = world.asked();
        assert!(asked.is_empty(), "nothing is fetched again: {asked:?}");
        assert_eq!(home.catalogue().pages(), before);
    }
}

fn lost(index: &Path) {
    fs::remove_dir_all(index).unwrap();
}

fn emptied(index: &Path) {
    each_file(index, &|path| fs::write(path, b"").unwrap());
}

fn scribbled(index: &Path) {
    each_file(index, &|path| {
        let length = fs::metadata(path).unwrap().len();
        fs::write(path, vec![0x5a; usize::try_from(length).unwrap()]).unwrap();
    });
}

fn each_file(dir: &Path, change: &dyn Fn(&Path)) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { each_file(&path, change) } else { change(&path) }
    }
}

#[test]
fn an_index_rebuilt_in_the_middle_of_a_crawl_loses_no_page() {
    let world = World::new(Spec { pages_per_host: 40, ..Spec::default() });
    let home = Home::new();
    home.crawl(&world.args(&["--delay", "0", "--scope", "any", "--max-pages", "50"]));
    lost(&home.project().join("frontier"));
    home.crawl(&world.args(&["--delay", "0", "--scope", "any", "--max-pages", "100000"]));
    assert_eq!(world.asked_once().len(), 120);
    home.orb(&["check", PROJECT]).expect(0);
}
