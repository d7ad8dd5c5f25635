//! What is left after the process ends in the middle of a commit?
//!
//! The test runs itself again as a child that is told by the environment to abort at the n-th pass of a point of the commit protocol, then
//! goes on with what that left and compares the end with an undisturbed crawl.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod grow;

use grow::Recorder;
use orb_store::{CatalogueReader, Home, Project, ProjectDir, QueryLimits, check, fault};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

const BATCH: usize = 30;

fn project(home: &Path) -> ProjectDir {
    Home::open(home).unwrap().project("p").unwrap()
}

/// Goes on with the crawl until it is done.
fn crawl(home: &Path) {
    let mut recorder = Recorder::new(Project::open(&project(home)).unwrap());
    recorder.run_out(BATCH);
    let run = recorder.run;
    recorder.project.catalogue_mut().finish_run(run, "finished", "{}").unwrap();
    recorder.project.close().unwrap();
}

/// Everything that must not depend on when the crawl was cut off.
fn facts(dir: &ProjectDir) -> Vec<String> {
    let reader = CatalogueReader::open(&dir.catalogue()).unwrap();
    let mut out = Vec::new();
    for sql in [
        "SELECT url, kind, status, digest, title, visits, why FROM page ORDER BY url",
        "SELECT a.url, b.url, l.kind, anchor, count, first_run, last_run FROM link l
           JOIN page_row a ON a.id = src JOIN page_row b ON b.id = dst ORDER BY 1, 2, 3",
        "SELECT p.url, i.url FROM image i JOIN page_row p ON p.id = page_id ORDER BY 1, 2",
        "SELECT name, pages FROM host ORDER BY name",
        "SELECT count(*) FROM visit",
    ] {
        reader
            .sql(
                sql,
                QueryLimits::default(),
                |_| {},
                |cells| {
                    out.push(format!("{cells:?}"));
                    ControlFlow::Continue(())
                },
            )
            .unwrap();
    }
    out
}

/// Does nothing unless it is run as the child of the test below.
#[test]
fn child_that_may_be_aborted() {
    if let (Ok(home), Ok(point), Ok(nth)) =
        (std::env::var("CRASH_HOME"), std::env::var("CRASH_POINT"), std::env::var("CRASH_NTH"))
    {
        assert!(fault::arm(&point, nth.parse().unwrap()));
        crawl(Path::new(&home));
    }
}

#[test]
fn a_crash_at_any_point_of_a_commit_changes_nothing_in_the_end() {
    let tmp = tempfile::tempdir().unwrap();
    let calm = tmp.path().join("calm");
    crawl(&calm);
    let want = facts(&project(&calm));
    for point in fault::POINTS {
        let home = tmp.path().join(point);
        for nth in [1, 2, 5] {
            let child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "child_that_may_be_aborted", "--nocapture"])
                .env("CRASH_HOME", &home)
                .env("CRASH_POINT", point)
                .env("CRASH_NTH", nth.to_string())
                .output()
                .unwrap();
            assert!(!child.status.success(), "{point} {nth}: the child was to be aborted");
            let report = check(&project(&home)).unwrap();
            assert!(report.is_clean(), "{point} {nth}: {report:?}");
        }
        crawl(&home);
        let dir = project(&home);
        assert!(facts(&dir) == want, "{point}");
        let report = check(&dir).unwrap();
        assert!(report.is_clean() && report.notes.is_empty(), "{point}: {report:?}");
    }
}

#[test]
fn an_unknown_point_is_not_armed() {
    assert!(!fault::arm("nowhere", 1) && !fault::arm("before-index", 0));
}
