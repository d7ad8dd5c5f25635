//! Does every run flag exactly what was edited, a thousand times?
//!
//! A tree is edited at random between runs, some of which are killed on the way.

use super::judge;
use super::orb::{Home, PROJECT};
use super::scene::Dice;
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Edits between two runs, and runs.
const EDITS: usize = 50;
const ROUNDS: usize = 20;

pub(crate) fn pick(dice: &mut Dice, end: usize) -> usize {
    usize::try_from(dice.below(u64::try_from(end).unwrap())).unwrap()
}

/// The files of a tree by path, in the spelling of URLs, with their content.
pub(crate) type Snapshot = BTreeMap<String, Vec<u8>>;

/// A tree of files that is edited at random.
pub(crate) struct EditedTree {
    pub(crate) root: PathBuf,
    dice: Dice,
    edits: usize,
    /// Numbers for names and contents, so that no two are alike.
    next: usize,
}

impl EditedTree {
    pub(crate) fn new(root: PathBuf, seed: u64) -> Self {
        fs::create_dir_all(&root).unwrap();
        let mut tree = Self { root, dice: Dice(seed), edits: 0, next: 0 };
        for n in 0..120 {
            let directory = format!("d{}/e{}", n % 7, n % 3);
            let text = tree.text();
            tree.write(&format!("{directory}/file {n}.txt"), &text);
        }
        tree
    }

    fn text(&mut self) -> String {
        self.next += 1;
        format!("{:08} {}\n", self.next, "x".repeat(self.next % 5))
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let mut above = path.parent().unwrap();
        while above.starts_with(&self.root) {
            fs::set_permissions(above, fs::Permissions::from_mode(0o755)).unwrap();
            above = above.parent().unwrap();
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    }

    pub(crate) fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        gather(&self.root, &self.root, &mut found);
        found.sort();
        found
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let content = |path: String| {
            let bytes = fs::read(self.root.join(&path)).unwrap();
            (path.replace(' ', "%20"), bytes)
        };
        self.files().into_iter().map(content).collect()
    }

    /// One edit: half of them change a file, by as many bytes or not.
    fn edit(&mut self) {
        self.edits += 1;
        let files = self.files();
        let path = files[pick(&mut self.dice, files.len())].clone();
        let text = self.text();
        match pick(&mut self.dice, 10) {
            0..=2 => self.write(&path, &text),
            3 | 4 => {
                // As long as before: only the time tells.
                let mut old = fs::read(self.root.join(&path)).unwrap();
                old.truncate(8);
                old[..8].copy_from_slice(&text.as_bytes()[..8]);
                let length = fs::metadata(self.root.join(&path)).unwrap().len();
                old.resize(usize::try_from(length).unwrap(), b'y');
                fs::write(self.root.join(&path), old).unwrap();
            }
            5 | 6 => {
                let name = format!("{}/new {}.txt", Path::new(&path).parent().unwrap().display(), self.next);
                self.write(&name, &text);
            }
            7 => self.write(&format!("d{}/n{}/x.txt", self.next % 7, self.next), &text),
            8 => fs::remove_file(self.root.join(&path)).unwrap(),
            _ if files.len() > 60 && pick(&mut self.dice, 3) == 0 => {
                fs::remove_dir_all(self.root.join(Path::new(&path).parent().unwrap())).unwrap();
            }
            _ => {
                let to = format!("{}/moved {}.txt", Path::new(&path).parent().unwrap().display(), self.next);
                fs::rename(self.root.join(&path), self.root.join(to)).unwrap();
            }
        }
    }
}

pub(crate) fn gather(root: &Path, at: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(at).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            gather(root, &path, found);
        } else {
            found.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
        }
    }
}

/// The flags that a run must report between two states.
pub(crate) fn expected(before: &Snapshot, after: &Snapshot) -> BTreeMap<String, String> {
    let mut flags = BTreeMap::new();
    for (path, bytes) in after {
        let flag = match before.get(path) {
            None => "NEW",
            Some(old) if old == bytes => "SAM",
            Some(_) => "UPD",
        };
        flags.insert(path.clone(), flag.to_owned());
    }
    for path in before.keys().filter(|path| !after.contains_key(*path)) {
        flags.insert(path.clone(), "MIS".to_owned());
    }
    flags
}

/// The flags of the last run's documents, by path.
pub(crate) fn told(home: &Home, root: &str) -> BTreeMap<String, String> {
    let sql = "SELECT p.url, v.flag FROM visit v JOIN page p ON p.id = v.page_id
               LEFT JOIN change c ON c.run = v.run AND c.page_id = v.page_id
               WHERE v.run = (SELECT max(id) FROM run) AND p.kind <> 'LISTING' AND (c.seq NOTNULL OR v.flag = 'SAM')";
    let rows = home.catalogue().rows(sql);
    rows.iter().map(|row| (row[0].strip_prefix(root).unwrap_or(&row[0]).to_owned(), row[1].clone())).collect()
}

/// Crawls a tree, edits it a thousand times, and compares what every run says; some are killed.
pub(crate) fn a_thousand_edits(home: &Home, tree: &mut EditedTree, root: &str) {
    home.crawl(&[root, "--delay", "0", "--no-index"]);
    let mut before = tree.snapshot();
    let archived: usize = home.catalogue().pages().values().filter(|page| page.kind == "BINARY").count();
    assert_eq!(archived, before.len());
    let args = ["track", PROJECT, "--json", "--progress", "none", "--no-index", "--delay", "0"];
    for round in 0..ROUNDS {
        (0..EDITS).for_each(|_| tree.edit());
        let after = tree.snapshot();
        if round % 4 == 1 {
            kill_one(home, &args, &mut tree.dice);
        }
        home.orb(&args).expect(0);
        let (said, wanted) = (told(home, root), expected(&before, &after));
        let wrong: Vec<_> = wanted
            .iter()
            .filter(|(path, flag)| said.get(*path) != Some(flag))
            .map(|(path, flag)| format!("{path}: {flag}, told {:?}", said.get(path)))
            .chain(
                said.keys()
                    .filter(|path| !wanted.contains_key(*path))
                    .map(|path| format!("{path}: told {}", said[path])),
            )
            .collect();
        assert!(wrong.is_empty(), "round {round}: {wrong:#?}");
        before = after;
    }
    assert_eq!(tree.edits, EDITS * ROUNDS);
    judge::warcio_check(&home.warcs());
    home.orb(&["check", PROJECT]).expect(0);
    for (path, bytes) in before.iter().step_by(9) {
        let cat = home.orb(&["cat", PROJECT, &format!("{root}{path}")]);
        assert_eq!(cat.text().as_bytes(), bytes, "{path}");
    }
}

/// Starts a run and kills it at some moment.
pub(crate) fn kill_one(home: &Home, args: &[&str], dice: &mut Dice) {
    let recorded = || home.catalogue().number("SELECT count(*) FROM visit WHERE run = (SELECT max(id) FROM run)");
    let runs = || home.catalogue().number("SELECT max(id) FROM run");
    let (before, enough) = (runs(), i64::try_from(pick(dice, 60)).unwrap());
    let mut running = home.start(args, &[]);
    let mut ended = false;
    super::until("some pages are recorded", || {
        ended = running.ended().is_some();
        ended || (runs() > before && recorded() >= enough)
    });
    if !ended {
        running.signal(Signal::KILL);
        running.finish();
    }
}
