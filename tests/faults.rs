//! After a crash or a disk failure at any step, does the work resume as if nothing had happened?
//!
//! Iterates over every point in [`POINTS`], so a new one is tested without being listed here. Under
//! one of the circumstances in which the point is reached, the process is killed there, several
//! times, or the disk reports that it is full or broken. Afterwards the crawl is resumed and must
//! end like an undisturbed one.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Finished, Home};
use harness::scene::Scene;
use orb_store::fault::POINTS;
use std::fs;

/// Number of tests among which the points are divided, so that they can run in parallel.
const PARTS: usize = 5;

/// A circumstance: its name, and how to set it up in a home.
type Circumstance = (&'static str, fn(&Scene, &Home));

/// Circumstances that together reach every point.
const CIRCUMSTANCES: &[Circumstance] = &[
    ("a new home", |_, _| {}),
    ("a file that no commit named", |scene, home| crash(scene, home, "after-file")),
    ("an archive ahead of the catalogue", |scene, home| crash(scene, home, "after-flush:5")),
    // Where the fifth batch happens to begin a file, that file is removed and none is cut.
    ("the same one batch earlier", |scene, home| crash(scene, home, "after-flush:4")),
    ("the same two batches earlier", |scene, home| crash(scene, home, "after-flush:3")),
    ("an index behind the catalogue", |scene, home| crash(scene, home, "before-index:4")),
    ("a lost index", |scene, home| {
        crash(scene, home, "after-index:4");
        fs::remove_dir_all(home.project().join("frontier")).unwrap();
    }),
];

/// Archive files so small that some are rotated on the way.
fn scene() -> Scene {
    Scene::small(&["store.warc_size = '30kB'", "store.min_free = '1B'"])
}

fn with_fault(scene: &Scene, home: &Home, plan: &str) -> Finished {
    let finished = scene.start(home, &[("ORB_FAIL", plan)]).finish();
    assert!(!finished.stderr.contains("panicked"), "{plan}: {finished}");
    finished
}

#[track_caller]
fn crash(scene: &Scene, home: &Home, plan: &str) {
    let finished = with_fault(scene, home, plan);
    assert_eq!(finished.code, None, "{plan} was not met: {finished}");
}

/// A home in which the process crashed at the point.
fn crashed_at(scene: &Scene, point: &str) -> Home {
    for (what, happened) in CIRCUMSTANCES {
        let home = Home::new();
        happened(scene, &home);
        let finished = with_fault(scene, &home, &format!("{point}:1"));
        match finished.code {
            None => return home,
            Some(code) => assert_eq!(code, 0, "{point} with {what}: {finished}"),
        }
    }
    panic!("{point} is passed under no circumstances known here");
}

fn part(part: usize) -> impl Iterator<Item = &'static str> {
    POINTS.iter().copied().skip(part).step_by(PARTS)
}

fn crash_at_points_of(number: usize) {
    let scene = scene();
    for point in part(number) {
        let home = crashed_at(&scene, point);
        for pass in [2, 5] {
            // Having recovered from the last crash, it may be too far along to reach the point as
            // often.
            let finished = with_fault(&scene, &home, &format!("{point}:{pass}"));
            assert!(matches!(finished.code, None | Some(0)), "{point}:{pass}: {finished}");
        }
        scene.start(&home, &[]).finish().expect(0);
        scene.compare(&home, &format!("crashes at {point}"));
    }
}

/// Whether a run waits for space at this point instead of failing: from its first commit to its
/// last.
fn waits_for_room(point: &str) -> bool {
    let place = |name: &str| POINTS.iter().position(|p| *p == name).unwrap();
    place(point) >= place("before-archive")
}

/// With the disk full at this point, a new crawl waits for space, or says so and can be resumed.
fn fill_disk_at(scene: &Scene, point: &str) {
    let home = Home::new();
    let full = with_fault(scene, &home, &format!("{point}:2:enospc"));
    if full.code != Some(0) {
        assert!(!waits_for_room(point) && full.complaint(1).contains("no space left"), "{point}: {full}");
        scene.start(&home, &[]).finish().expect(0);
    }
    scene.compare(&home, &format!("a full disk at {point}"));
}

fn fail_at_points_of(number: usize) {
    let scene = scene();
    for point in part(number) {
        fill_disk_at(&scene, point);
        let home = Home::new();
        for pass in [1, 3] {
            let broken = with_fault(&scene, &home, &format!("{point}:{pass}:eio"));
            if broken.code != Some(0) {
                let said = broken.complaint(1);
                assert!(said.contains("os error 5") || said.contains("disk I/O"), "{point}: {said}");
            }
        }
        scene.start(&home, &[]).finish().expect(0);
        scene.compare(&home, &format!("failures at {point}"));
    }
}

/// Every fifth point, starting from this one.
macro_rules! part {
    ($name:ident, $number:literal) => {
        mod $name {
            #[test]
            fn a_crash_changes_nothing_in_the_end() {
                super::crash_at_points_of($number);
            }

            #[test]
            fn a_disk_that_fails_loses_nothing() {
                super::fail_at_points_of($number);
            }
        }
    };
}

part!(at_points_1_6_and_so_on, 0);
part!(at_points_2_7_and_so_on, 1);
part!(at_points_3_8_and_so_on, 2);
part!(at_points_4_9_and_so_on, 3);
part!(at_points_5_10_and_so_on, 4);

#[test]
fn a_fault_that_cannot_be_staged_is_refused() {
    let home = Home::new();
    for plan in ["nowhere", "before-index:0", "before-index:1:fire"] {
        let finished = home.start(&["status"], &[("ORB_FAIL", plan)]).finish();
        assert!(finished.complaint(2).contains("ORB_FAIL"), "{finished}");
    }
}
