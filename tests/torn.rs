//! What happens to a project whose files have lost their ends?
//!
//! A killed crawl is copied again and again; in each copy one file is truncated or has its end
//! overwritten. Whatever a power cut can do to unsynced bytes must be repaired silently. What only
//! damage can do must be repaired, or reported in one line that names the file; nothing may go
//! wrong silently.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Finished, Home, PROJECT, crawling};
use harness::scene::{Dice, Scene};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A crawl that ended cleanly, lost its index, was resumed, and was killed.
struct Wreck {
    scene: Scene,
    home: Home,
    dice: Dice,
}

/// What happens to the end of a file.
#[derive(Clone, Copy, Debug)]
enum Harm {
    Cut,
    Zeros,
    Noise,
}

const HARMS: [Harm; 3] = [Harm::Cut, Harm::Zeros, Harm::Noise];

impl Wreck {
    fn new() -> Self {
        let scene = Scene::small(&["store.min_free = '1B'"]);
        let home = Home::new();
        scene.start_with(&home, &["--max-pages", "15"], &[]).finish().expect(0);
        fs::remove_dir_all(home.project().join("frontier")).unwrap();
        let killed = scene.start(&home, &[("ORB_FAIL", "after-index:6")]).finish();
        assert_eq!(killed.code, None, "{killed}");
        let unfinished = home.catalogue().number("SELECT count(*) FROM page WHERE kind = 'FRONTIER'");
        assert!(unfinished > 0, "there is nothing left to do");
        Self { scene, home, dice: Dice(rounds() * 0x9e37_79b9 + 7) }
    }

    /// Every file of the project, relative to it.
    fn files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        walk(&self.home.project(), &mut found);
        let mut files: Vec<PathBuf> =
            found.iter().map(|path| path.strip_prefix(self.home.project()).unwrap().to_owned()).collect();
        files.sort();
        assert!(files.len() > 30, "{files:?}");
        files
    }

    fn copy(&self) -> Home {
        let copy = Home::new();
        let copied = Command::new("cp").args(["-a", "--sparse=always"]).arg(self.home.path()).arg(copy.path()).status();
        assert!(copied.unwrap().success());
        copy
    }

    /// Damages up to `most` bytes at the end of a file.
    fn harm(&mut self, file: &Path, harm: Harm, most: u64) {
        let length = fs::metadata(file).unwrap().len();
        let used = used(file, length);
        let most = most.min(used);
        if most == 0 {
            return;
        }
        let begin = used - 1 - self.dice.below(most);
        let mut bytes = fs::read(file).unwrap();
        let (begin, end) = (usize::try_from(begin).unwrap(), usize::try_from(used).unwrap());
        match harm {
            Harm::Cut => bytes.truncate(begin),
            Harm::Zeros => bytes[begin..end].fill(0),
            Harm::Noise => bytes[begin..end].fill_with(|| self.dice.below(256).to_le_bytes()[0]),
        }
        fs::write(file, bytes).unwrap();
    }

    /// Resumes a damaged project; returns the result if it failed.
    #[track_caller]
    fn go_on(&self, home: &Home, what: &str) -> Option<Finished> {
        let finished = home.orb(&crawling(&[PROJECT]));
        let said = format!("{what}: {finished}");
        assert!(matches!(finished.code, Some(0 | 1)) && !finished.stderr.contains("panicked"), "{said}");
        (finished.code == Some(1)).then_some(finished)
    }
}

/// How often each file is damaged; the nightly run does more.
fn rounds() -> u64 {
    std::env::var("ORB_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(1)
}

fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { walk(&path, found) } else { found.push(path) }
    }
}

/// The length of a file without preallocated zeros.
fn used(file: &Path, length: u64) -> u64 {
    if file.extension().is_none_or(|ending| ending != "jnl") {
        return length;
    }
    let bytes = fs::read(file).unwrap();
    bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last as u64 + 1)
}

fn name(file: &Path) -> &str {
    file.file_name().unwrap().to_str().unwrap()
}

/// Whether a file is derived and can be rebuilt, or is only informative.
fn is_derived(file: &Path) -> bool {
    let derived = [".cdxj", ".tail", ".new", "-shm", ".json", ".log"];
    let name = name(file);
    file.starts_with("frontier")
        || name.starts_with("frontier.")
        || name == "lock"
        || derived.iter().any(|d| name.ends_with(d))
}

#[test]
fn whatever_happens_to_a_file_that_can_be_made_again_it_is() {
    let mut wreck = Wreck::new();
    let derived: Vec<PathBuf> = wreck.files().into_iter().filter(|file| is_derived(file)).collect();
    for round in 0..rounds() {
        for (i, file) in derived.iter().enumerate() {
            // One kind of damage per file and round; in three rounds each file suffers all of them.
            let harm = HARMS[(i + usize::try_from(round).unwrap()) % 3];
            let home = wreck.copy();
            wreck.harm(&home.project().join(file), harm, u64::MAX);
            let what = format!("{harm:?} of {}", file.display());
            assert!(wreck.go_on(&home, &what).is_none(), "{what} could not be made good");
            wreck.scene.compare(&home, &what);
        }
    }
}

#[test]
fn what_was_never_handed_to_the_disk_may_be_lost() {
    let mut wreck = Wreck::new();
    let (warc, known) = growing_archive(&wreck.home);
    for harm in HARMS {
        let home = wreck.copy();
        let warc = home.project().join(&warc);
        let file = fs::OpenOptions::new().write(true).open(&warc).unwrap();
        // Half a record that the kill cut off, and then its end torn.
        file.set_len(known).unwrap();
        drop(file);
        let whole = fs::read(&warc).unwrap();
        fs::write(&warc, [whole.as_slice(), &[0x1f, 0x8b, 8, 0, 1, 2, 3, 4].repeat(500)].concat()).unwrap();
        wreck.harm(&warc, harm, 3_000);
        let what = format!("{harm:?} of the archive's unknown end");
        assert!(wreck.go_on(&home, &what).is_none(), "{what} could not be made good");
        wreck.scene.compare(&home, &what);
    }
}

/// The archive file that grew last, and how much of it the catalogue knows.
fn growing_archive(home: &Home) -> (PathBuf, u64) {
    let row = home.catalogue().rows("SELECT name, length FROM warc_row ORDER BY id DESC LIMIT 1").remove(0);
    (Path::new("warc").join(&row[0]), row[1].parse().unwrap())
}

#[test]
fn damage_to_what_was_recorded_is_made_good_or_told_by_name() {
    let mut wreck = Wreck::new();
    let truths: Vec<PathBuf> = wreck.files().into_iter().filter(|file| !is_derived(file)).collect();
    assert!(truths.len() >= 5, "{truths:?}");
    for _ in 0..rounds() {
        for (file, harm) in truths.iter().flat_map(|file| HARMS.map(|harm| (file, harm))) {
            let home = wreck.copy();
            wreck.harm(&home.project().join(file), harm, 20_000);
            let what = format!("{harm:?} of {}", file.display());
            // The catalogue's write-ahead log is part of it.
            let named = name(file).trim_end_matches("-wal").to_owned();
            if let Some(finished) = wreck.go_on(&home, &what) {
                assert!(finished.complaint(1).contains(&named), "{what}: {finished}");
                continue;
            }
            let checked = home.orb(&["check", PROJECT]);
            if checked.code == Some(0) {
                wreck.scene.compare(&home, &what);
            } else {
                let said = format!("{}{}", checked.text(), checked.stderr);
                assert!(checked.code == Some(1) && said.contains(&named), "{what}: {checked}");
            }
        }
    }
}

#[test]
fn a_catalogue_that_is_gone_is_missed_before_the_archive_is_touched() {
    let wreck = Wreck::new();
    let (warc, known) = growing_archive(&wreck.home);
    for lost in [true, false] {
        let home = wreck.copy();
        let database = home.project().join("crawl.db");
        if lost {
            fs::remove_file(&database).unwrap();
        } else {
            fs::write(&database, b"").unwrap();
        }
        let finished = home.orb(&crawling(&[PROJECT]));
        assert!(finished.complaint(1).contains("crawl.db"), "{finished}");
        assert!(fs::metadata(home.project().join(&warc)).unwrap().len() >= known);
    }
}
