//! Does every run flag exactly what was edited, a thousand times?
//!
//! A tree is edited at random between runs, some of which are killed on the way.

use super::judge;
use super::orb::{Home, PROJECT, crawling};
use super::scene::Dice;
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Edits between two runs, and runs.
const EDITS: usize = 50;
const ROUNDS: usize = 20;
/// How many runs must really have been killed: one that ends before its moment is not.
const KILLS: usize = 3;

/// What is edited between runs.
pub(crate) trait Edited {
    /// One edit.
    fn edit(&mut self);

    /// What is there now.
    fn snapshot(&self) -> Snapshot;

    /// Chance.
    fn dice(&mut self) -> &mut Dice;

    /// Whether the archive has this content of a file.
    fn is_kept(&self, content: &[u8], archived: &[u8]) -> bool;
}

pub(crate) fn pick(dice: &mut Dice, end: usize) -> usize {
    usize::try_from(dice.below(u64::try_from(end).unwrap())).unwrap()
}

/// The files of a tree by path, in the spelling of URLs, with their content.
pub(crate) type Snapshot = BTreeMap<String, Vec<u8>>;

/// A tree of files that is edited at random.
pub(crate) struct EditedTree {
    pub(crate) root: PathBuf,
    dice: Dice,
    /// Numbers for names and contents, so that no two are alike.
    next: usize,
}

impl EditedTree {
    pub(crate) fn new(root: PathBuf, seed: u64) -> Self {
        fs::create_dir_all(&root).unwrap();
        let mut tree = Self { root, dice: Dice(seed), next: 0 };
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
}

impl Edited for EditedTree {
    fn snapshot(&self) -> Snapshot {
        let content = |path: String| {
            let bytes = fs::read(self.root.join(&path)).unwrap();
            (path.replace(' ', "%20"), bytes)
        };
        self.files().into_iter().map(content).collect()
    }

    fn dice(&mut self) -> &mut Dice {
        &mut self.dice
    }

    fn is_kept(&self, content: &[u8], archived: &[u8]) -> bool {
        content == archived
    }

    /// One edit: half of them change a file, by as many bytes or not.
    fn edit(&mut self) {
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

/// A group of a news server, one file an article, to which articles come and from which they go.
pub(crate) struct EditedGroup {
    pub(crate) place: PathBuf,
    dice: Dice,
    last: usize,
}

impl EditedGroup {
    pub(crate) fn new(place: PathBuf, articles: usize, seed: u64) -> Self {
        fs::create_dir_all(&place).unwrap();
        let mut group = Self { place, dice: Dice(seed), last: 0 };
        (0..articles).for_each(|_| group.post());
        group
    }

    /// An article, with the lines that a server has to double the dots of.
    fn post(&mut self) {
        self.last += 1;
        // The server ends the last line.
        fs::write(self.place.join(self.last.to_string()), format!("Article {}.\n.\n..", self.last)).unwrap();
    }
}

impl Edited for EditedGroup {
    fn edit(&mut self) {
        let there: Vec<String> = self.snapshot().into_keys().collect();
        if there.len() < 60 || pick(&mut self.dice, 2) == 0 {
            return self.post();
        }
        fs::remove_file(self.place.join(&there[pick(&mut self.dice, there.len())])).unwrap();
    }

    fn snapshot(&self) -> Snapshot {
        let mut found = Vec::new();
        gather(&self.place, &self.place, &mut found);
        found.into_iter().map(|number| (number.clone(), fs::read(self.place.join(number)).unwrap())).collect()
    }

    fn dice(&mut self) -> &mut Dice {
        &mut self.dice
    }

    fn is_kept(&self, content: &[u8], archived: &[u8]) -> bool {
        let body = String::from_utf8(content.to_vec()).unwrap().replace('\n', "\r\n");
        archived.ends_with(format!("\r\n\r\n{body}\r\n").as_bytes())
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

/// Crawls a tree, edits it a thousand times, and compares what every run says; some are killed, and
/// so is the first crawl.
pub(crate) fn a_thousand_edits(home: &Home, tree: &mut impl Edited, root: &str) {
    let first = crawling(&[root, "--delay", "0", "--no-index"]);
    let mut kills = usize::from(kill_one(home, &first, tree.dice()));
    home.orb(&first).expect(0);
    let mut before = tree.snapshot();
    let archived: usize = home.catalogue().pages().values().filter(|page| page.kind == "BINARY").count();
    assert_eq!(archived, before.len());
    let args = ["track", PROJECT, "--json", "--progress", "none", "--no-index", "--delay", "0"].map(str::to_owned);
    for round in 0..ROUNDS {
        (0..EDITS).for_each(|_| tree.edit());
        let after = tree.snapshot();
        if round % 2 == 1 {
            kills += usize::from(kill_one(home, &args, tree.dice()));
        }
        home.orb(&args).expect(0);
        let wrong = differing(&told(home, root), &expected(&before, &after));
        assert!(wrong.is_empty(), "round {round}, {kills} kills: {wrong:#?}");
        before = after;
    }
    assert!(kills >= KILLS, "only {kills} runs were killed before they ended");
    judge::warcio_check(&home.warcs());
    home.orb(&["check", PROJECT]).expect(0);
    for (path, bytes) in before.iter().step_by(9) {
        let cat = home.orb(&["cat", PROJECT, &format!("{root}{path}")]);
        assert!(tree.is_kept(bytes, &cat.expect(0).stdout), "{path}: {cat}");
    }
}

/// Where what a run has told is not what it should have.
fn differing(said: &BTreeMap<String, String>, wanted: &BTreeMap<String, String>) -> Vec<String> {
    let missed = wanted.iter().filter(|(path, flag)| said.get(*path) != Some(flag));
    let missed = missed.map(|(path, flag)| format!("{path}: {flag}, told {:?}", said.get(path)));
    let invented = said.iter().filter(|(path, _)| !wanted.contains_key(*path));
    missed.chain(invented.map(|(path, flag)| format!("{path}: told {flag}"))).collect()
}

/// Starts a run and kills it at some moment, half of the time as soon as it has begun; false if it
/// ended before.
fn kill_one(home: &Home, args: &[String], dice: &mut Dice) -> bool {
    let number = |sql: &str| if home.project().join("runs").exists() { home.catalogue().number(sql) } else { 0 };
    let recorded = || number("SELECT count(*) FROM visit WHERE run = (SELECT max(id) FROM run)");
    let runs = || number("SELECT coalesce(max(id), 0) FROM run");
    let enough = if pick(dice, 2) == 0 { 0 } else { i64::try_from(pick(dice, 60)).unwrap() };
    let before = runs();
    let mut running = home.start(args, &[]);
    let mut ended = None;
    super::until("some pages are recorded", || {
        ended = running.ended();
        ended.is_some() || (runs() > before && recorded() >= enough)
    });
    let finished = ended.unwrap_or_else(|| {
        running.signal(Signal::KILL);
        running.finish()
    });
    assert!(matches!(finished.code, None | Some(0)), "{finished}");
    finished.code.is_none()
}
