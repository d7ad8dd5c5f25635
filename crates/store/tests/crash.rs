//! What is left after the process ends in the middle of a commit?
//!
//! The test runs itself again as a child that aborts at the n-th pass of a point of the commit
//! protocol, as told by the environment, then resumes from what that left and compares the result
//! with an undisturbed crawl.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod grow;

use grow::Recorder;
use orb_store::{CatalogueReader, Home, Project, ProjectDir, ProjectOptions, QueryLimits, check, fault};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

const BATCH: usize = 30;

fn project(home: &Path) -> ProjectDir {
    Home::open(home).unwrap().project("p").unwrap()
}

/// Resumes the crawl until it is done.
fn crawl(home: &Path) {
    // Some batches go into the tree at once, some stay in memory for a while.
    let options = ProjectOptions { fold_at: Some(150), ..ProjectOptions::default() };
    let project = Project::open_with(&project(home), &options).unwrap();
    let mut recorder = Recorder::new(project);
    recorder.run_out(BATCH);
    let run = recorder.run;
    recorder.project.finish_run(run, orb_page::RunState::Done, "{}").unwrap();
    recorder.project.close().unwrap();
}

/// Every page is found by its URL, whatever there is of the table of keys.
fn look_up_all(dir: &ProjectDir) {
    let reader = CatalogueReader::open(dir).unwrap();
    let found = |url: &str| reader.page_id_by_url(url).unwrap();
    let mut pages = 0;
    reader
        .each_url::<orb_store::StoreError>(|page, _, url| {
            pages += 1;
            assert_eq!(found(url), Some(page), "{url}");
            Ok(())
        })
        .unwrap();
    assert_eq!((found("http://h1.test/nowhere"), pages > 0), (None, true));
}

/// Everything that must not depend on when the crawl was interrupted.
fn facts(dir: &ProjectDir) -> Vec<String> {
    let reader = CatalogueReader::open(dir).unwrap();
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
    if let (Ok(home), Ok(plan)) = (std::env::var("CRASH_HOME"), std::env::var("CRASH_PLAN")) {
        fault::arm(&plan).unwrap();
        crawl(Path::new(&home));
    }
}

#[test]
fn a_crash_at_any_point_of_a_commit_changes_nothing_in_the_end() {
    let tmp = tempfile::tempdir().unwrap();
    let calm = tmp.path().join("calm");
    crawl(&calm);
    let want = facts(&project(&calm));
    let mut crashed = std::collections::BTreeSet::new();
    for point in fault::POINTS {
        let home = tmp.path().join(point);
        for nth in [1, 4] {
            let child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "child_that_may_be_aborted", "--nocapture"])
                .env("CRASH_HOME", &home)
                .env("CRASH_PLAN", format!("{point}:{nth}"))
                .output()
                .unwrap();
            if child.status.success() {
                // A point of a run or of a recovery, or one passed less often; the program itself
                // is tested at all of them.
                break;
            }
            crashed.insert(*point);
            let dir = project(&home);
            if CatalogueReader::open(&dir).is_ok() {
                let report = check(&dir).unwrap();
                assert!(report.is_clean(), "{point} {nth}: {report:?}");
                if report.counts.pages > 0 {
                    look_up_all(&dir);
                }
            }
        }
        if !crashed.contains(point) {
            continue;
        }
        crawl(&home);
        let dir = project(&home);
        assert!(facts(&dir) == want, "{point}");
        look_up_all(&dir);
        let report = check(&dir).unwrap();
        assert!(report.is_clean() && report.notes.is_empty(), "{point}: {report:?}");
    }
    assert!(crashed.len() > 20, "only {crashed:?}");
}
