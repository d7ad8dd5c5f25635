//! What does a crawl do on a disk that is really full?
//!
//! The home is on a small tmpfs of its own, which takes root to mount; the machines that run these
//! tests have it.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::disk::Disk;
use harness::orb::{Home, PROJECT, crawling};
use harness::scene::{Scene, project};
use std::fs::{self, File};
use std::process::Stdio;

/// No space is kept free on purpose: the disk fills up to its last byte.
fn scene() -> Scene {
    Scene::small(&["store.min_free = '0B'"])
}

#[test]
fn a_crawl_that_fills_the_disk_says_so_and_goes_on_when_there_is_room() {
    let scene = scene();
    let home = Home::new();
    let disk = Disk::under(&home, "900k");
    let said = home.beside("said");
    let file = project(&home, &scene.world, &["frontier.delay = '0s'", "store.min_free = '0B'"]);
    let mut args = crawling(&[&file]);
    args.truncate(args.len() - 1);
    args.push("plain".to_owned());
    let mut command = home.command(&args);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&said).unwrap());
    let mut running = command.spawn().unwrap();
    harness::until("it says that the disk is full", || {
        let text = fs::read_to_string(&said).unwrap();
        let ended = running.try_wait().unwrap();
        assert!(ended.is_none(), "it ended with {ended:?}: {text}");
        text.contains("PAUSED: the disk is full")
    });
    disk.again("size=64m");
    let ended = running.wait().unwrap();
    assert!(ended.success(), "{ended}: {}", fs::read_to_string(&said).unwrap());
    scene.judge(&home, "a full disk");
}

#[test]
fn a_crawl_killed_on_a_full_disk_goes_on_when_there_is_room() {
    let scene = scene();
    let home = Home::new();
    let disk = Disk::under(&home, "900k");
    for _ in 0..2 {
        let mut running = scene.start(&home, &[]);
        let full = || rustix::fs::statvfs(home.path()).is_ok_and(|s| s.f_bavail == 0);
        let mut ended = false;
        harness::until("the disk is full", || {
            ended = running.ended().is_some();
            ended || full()
        });
        if !ended {
            running.signal(rustix::process::Signal::KILL);
            running.finish();
        }
    }
    disk.again("size=64m");
    scene.start(&home, &[]).finish().expect(0);
    scene.compare(&home, "kills on a full disk");
}

#[test]
fn a_crawl_cannot_begin_on_a_full_disk_and_says_so() {
    let scene = scene();
    let home = Home::new();
    let disk = Disk::under(&home, "4m");
    fs::write(home.path().join("ballast"), vec![0; 5 << 20]).unwrap_err();
    let refused = scene.start(&home, &[]).finish();
    let line = refused.complaint(1);
    assert!(line.contains("no space left") || line.contains("full"), "{line}");
    fs::remove_file(home.path().join("ballast")).unwrap();
    disk.again("size=64m");
    scene.start(&home, &[]).finish().expect(0);
    scene.compare(&home, "a start without room");
}

#[test]
fn a_crawl_resumed_on_a_full_disk_waits_or_says_so_and_loses_nothing() {
    let scene = scene();
    let home = Home::new();
    let disk = Disk::under(&home, "64m");
    scene.start_with(&home, &["--max-pages", "15"], &[]).finish().expect(0);
    let ballast = home.path().join("ballast");
    fs::write(&ballast, vec![0; 65 << 20]).unwrap_err();
    let mut running = scene.start(&home, &[]);
    let before = scene.world.server.counters().requests;
    let mut ended = None;
    harness::until("it gives up or works", || {
        ended = running.ended();
        ended.is_some() || scene.world.server.counters().requests > before
    });
    fs::remove_file(&ballast).unwrap();
    match ended {
        Some(refused) => assert!(refused.complaint(1).contains("no space left"), "{refused}"),
        None => assert_eq!(running.finish().code, Some(0)),
    }
    scene.start(&home, &[]).finish().expect(0);
    scene.compare(&home, "a second start without room");
    drop(disk);
}

#[test]
fn a_home_that_cannot_be_written_is_read_and_all_else_is_refused_in_one_line() {
    let scene = scene();
    let home = Home::new();
    let disk = Disk::under(&home, "64m");
    scene.start_with(&home, &["--max-pages", "15"], &[]).finish().expect(0);
    let ask = || {
        let questions: [&[&str]; 5] = [
            &["status", PROJECT, "--json"],
            &["report", PROJECT, "--json"],
            &["project", "list"],
            &["sql", PROJECT, "SELECT url, kind FROM page"],
            &["stats", PROJECT],
        ];
        questions.map(|args| home.orb(args).expect(0).text().to_owned())
    };
    let before = ask();
    disk.again("ro");
    assert_eq!(ask(), before);
    for args in [crawling(&[PROJECT]), vec!["check".to_owned(), PROJECT.to_owned()]] {
        let refused = home.orb(&args);
        let line = refused.complaint(1);
        assert!(line.contains("not writable") || line.contains("Read-only"), "{line}");
    }
    disk.again("rw");
    scene.start(&home, &[]).finish().expect(0);
    scene.compare(&home, "a disk that could only be read");
}

#[test]
fn a_graph_that_finds_no_room_is_given_up_and_leaves_the_old_one() {
    let scene = scene();
    let home = Home::new();
    let disk = Disk::under(&home, "64m");
    scene.start(&home, &[]).finish().expect(0);
    let build = ["graph", "build", PROJECT, "--force", "--progress", "none"];
    home.orb(&build).expect(0);
    let filler = home.path().join("filler");
    let mut filled = vec![0u8; 64 << 20];
    while fs::write(&filler, &filled).is_err() {
        filled.truncate(filled.len() - (16 << 10));
    }
    // Enough to read the catalogue and to start.
    fs::write(&filler, &filled[..filled.len() - (64 << 10)]).unwrap();
    let refused = home.orb(&build);
    assert!(refused.complaint(1).contains("graph"), "{refused}");
    assert!(!home.project().join("graph.new").exists());
    fs::remove_file(&filler).unwrap();
    home.orb(&["check", PROJECT]).expect(0);
    home.orb(&build).expect(0);
    drop(disk);
}
