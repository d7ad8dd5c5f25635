//! Does a check find what is wrong, and nothing else?

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod grow;

use grow::Recorder;
use orb_store::{CheckReport, Home, Project, ProjectDir, ProjectOptions, check};
use std::fs;
use std::path::PathBuf;

/// A finished crawl.
fn crawled() -> (tempfile::TempDir, ProjectDir) {
    let tmp = tempfile::tempdir().unwrap();
    let dir = Home::open(tmp.path()).unwrap().project("p").unwrap();
    let options = ProjectOptions { warc_size: Some(60_000), ..ProjectOptions::default() };
    let mut recorder = Recorder::new(Project::open_with(&dir, &options).unwrap());
    recorder.run_out(40);
    recorder.project.close().unwrap();
    (tmp, dir)
}

fn file_with(dir: &ProjectDir, extension: &str) -> PathBuf {
    let mut files: Vec<PathBuf> = fs::read_dir(dir.archive()).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    files.into_iter().find(|p| p.to_string_lossy().ends_with(extension)).unwrap()
}

fn findings(report: &CheckReport) -> String {
    report.findings.iter().map(|f| format!("{}: {}\n", f.store, f.what)).collect()
}

fn execute(dir: &ProjectDir, sql: &str) {
    rusqlite::Connection::open(dir.catalogue()).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn a_finished_crawl_is_clean() {
    let (_tmp, dir) = crawled();
    let report = check(&dir).unwrap();
    assert!(report.is_clean() && report.notes.is_empty(), "{report:?}");
    let counts = report.counts;
    assert!(counts.files > 1, "several files were rolled");
    assert!(counts.digests > 200 && counts.digests <= counts.visits && counts.records > counts.visits, "{counts:?}");
}

#[test]
fn an_unfinished_crawl_is_clean_with_notes() {
    let tmp = tempfile::tempdir().unwrap();
    let dir = Home::open(tmp.path()).unwrap().project("p").unwrap();
    let mut recorder = Recorder::new(Project::open(&dir).unwrap());
    recorder.step(5);
    recorder.step(5);
    drop(recorder);
    let report = check(&dir).unwrap();
    assert!(report.is_clean(), "{}", findings(&report));
    assert_eq!(report.notes.len(), 2, "{:?}", report.notes);
    assert!(report.notes[1].contains("the table of URL keys lacks"), "{:?}", report.notes);
    assert!(report.counts.queued > 0);
}

#[test]
fn a_flipped_byte_in_the_archive_is_found_with_its_file() {
    let (_tmp, dir) = crawled();
    let path = file_with(&dir, ".warc.gz");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x40;
    fs::write(&path, bytes).unwrap();
    let report = check(&dir).unwrap();
    assert!(findings(&report).contains(&*path.file_name().unwrap().to_string_lossy()), "{}", findings(&report));
}

#[test]
fn a_shortened_or_missing_archive_file_is_found() {
    let (_tmp, dir) = crawled();
    let path = file_with(&dir, ".warc.gz");
    let length = fs::metadata(&path).unwrap().len();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length - 10).unwrap();
    assert!(findings(&check(&dir).unwrap()).contains("bytes where the catalogue knows"));
    fs::remove_file(&path).unwrap();
    assert!(findings(&check(&dir).unwrap()).contains("cannot be read"));
    let project = Project::open(&dir).unwrap();
    assert_eq!(project.start().archive.damaged.len(), 1);
}

#[test]
fn an_archive_file_nobody_knows_is_found_and_put_aside_at_the_next_start() {
    let (_tmp, dir) = crawled();
    let stranger = dir.archive().join("p-20200101000000-00900.warc.gz");
    fs::copy(file_with(&dir, ".warc.gz"), &stranger).unwrap();
    fs::copy(file_with(&dir, ".cdxj"), stranger.with_extension("").with_extension("cdxj")).unwrap();
    assert!(findings(&check(&dir).unwrap()).contains("not known to the catalogue"));
    drop(Project::open(&dir).unwrap());
    assert!(!stranger.exists() && stranger.with_extension("gz.orphan").exists());
}

#[test]
fn a_wrong_line_in_a_cdxj_file_is_found() {
    let (_tmp, dir) = crawled();
    let path = file_with(&dir, ".cdxj");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"200\"", "\"404\"", 1)).unwrap();
    assert!(findings(&check(&dir).unwrap()).contains("does not match the archive"));
    fs::write(&path, format!("{text}zz)/ 2026 {{}}\n")).unwrap();
    assert!(findings(&check(&dir).unwrap()).contains("more lines"));
    fs::remove_file(&path).unwrap();
    assert!(findings(&check(&dir).unwrap()).contains("missing"));
    drop(Project::open(&dir).unwrap());
    assert_eq!(fs::read_to_string(&path).unwrap(), text, "rebuilt from the records");
}

#[test]
fn facts_that_contradict_each_other_are_found() {
    for (sql, what) in [
        ("DELETE FROM page_row WHERE id = 7", "not dense"),
        (
            "UPDATE link_row SET dst = 99999 WHERE source = (SELECT source FROM visit_row WHERE page = 1) AND dst = 3",
            "links begin or end",
        ),
        ("UPDATE visit_row SET warc_offset = warc_offset + 1 WHERE page = 5", "no record of"),
        ("UPDATE visit_row SET warc_length = 1 WHERE page = 5", "where the catalogue knows 1"),
        ("UPDATE visit_row SET digest = zeroblob(32) WHERE page = 5", "another digest than the catalogue says"),
        ("UPDATE page_row SET url = 'http://x/' WHERE id = 5", "where the catalogue has http://x/"),
        ("UPDATE visit_row SET run = 9 WHERE page = 5", "no run"),
        ("DELETE FROM visit_row WHERE page = 5", "should be queued and is not"),
        ("UPDATE host_row SET name = 'other' WHERE id = 2", "host 2 (other)"),
        ("UPDATE warc_row SET records = records + 1 WHERE id = 1", "answers where the catalogue knows"),
    ] {
        let (_tmp, dir) = crawled();
        execute(&dir, sql);
        let found = findings(&check(&dir).unwrap());
        assert!(found.contains(what), "{sql}: {found}");
    }
}

#[test]
fn a_broken_database_is_found() {
    let (_tmp, dir) = crawled();
    let mut bytes = fs::read(dir.catalogue()).unwrap();
    let from = bytes.len() / 2;
    bytes[from..from + 20_000].fill(0x5a);
    fs::write(dir.catalogue(), bytes).unwrap();
    let report = check(&dir).unwrap();
    assert!(findings(&report).contains("damaged"), "{report:?}");
}
