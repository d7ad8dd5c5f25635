//! Can the database be opened safely after a crash?
//!
//! The database verifies its blocks when it reads them, but trusts its manifests and the lengths in
//! its journals: damaged ones make it allocate more memory than there is, which aborts the process.
//! So they are checked first: each manifest against its checksum, each table against its manifest,
//! each journal for impossible lengths. The formats are those of fjall 3 (`current`, `v<n>`,
//! `tables/<id>`, `<n>.jnl`; manifests and tables are `sfa` archives with a table of contents at
//! their end).

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// Maximum length of manifests and tables of contents.
const LIST: u64 = 64 << 20;
/// Maximum length of our values in a journal.
const VALUE: u32 = 64 << 20;
/// The trailer of an `sfa` archive: magic, version, kind of checksum, checksum, offset and length
/// of the table of contents.
const TRAILER: u64 = 4 + 1 + 1 + 16 + 8 + 8;

/// Whether the database's files show no damage. Tables of more than `all` bytes together are not
/// read completely.
pub(super) fn is_sound(dir: &Path, all: u64) -> io::Result<bool> {
    Ok(are_lists_sound(&dir.join("keyspaces"), all)? && are_journals_sound(dir)?)
}

fn are_lists_sound(keyspaces: &Path, all: u64) -> io::Result<bool> {
    let mut tables = Vec::new();
    for space in list(keyspaces)? {
        if !space.is_dir() {
            continue;
        }
        if number(&space, "").is_none() {
            return Ok(false);
        }
        // Without this file a keyspace counts as never created.
        let Some(current) = read_if_there(&space.join("current"))? else { continue };
        let Some(listed) = tables_of(&space, &current)? else { return Ok(false) };
        tables.extend(listed);
    }
    let mut bytes = 0;
    for (path, _) in &tables {
        match fs::metadata(path) {
            Ok(meta) => bytes += meta.len(),
            Err(_) => return Ok(false),
        }
    }
    for (path, checksum) in tables {
        let sound = if bytes <= all { hash(&path)? == checksum } else { contents(&path)?.is_some() };
        if !sound {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The tables of a keyspace with their checksums; `None` if its manifest is damaged.
fn tables_of(space: &Path, current: &[u8]) -> io::Result<Option<Vec<(PathBuf, u128)>>> {
    let mut current = Bytes(current);
    let (Some(version), Some(checksum), Some(0)) = (current.u64(), current.u128(), current.u8()) else {
        return Ok(None);
    };
    let path = space.join(format!("v{version}"));
    let Some(text) = read_if_there(&path)?.filter(|text| xxh3_128(text) == checksum) else { return Ok(None) };
    let Some((at, length)) = contents(&path)?.and_then(|sections| section(&sections, b"tables")) else {
        return Ok(None);
    };
    Ok(at.checked_add(length).and_then(|end| text.get(at..end)).and_then(|text| read_list(space, text)))
}

/// Levels of runs of tables: id, kind of checksum, checksum, sequence number.
fn read_list(space: &Path, text: &[u8]) -> Option<Vec<(PathBuf, u128)>> {
    let mut text = Bytes(text);
    let mut tables = Vec::new();
    for _level in 0..text.u8()? {
        for _run in 0..text.u8()? {
            for _table in 0..text.u32()? {
                let (id, _kind, checksum, _seqno) = (text.u64()?, text.u8()?, text.u128()?, text.u64()?);
                tables.push((space.join("tables").join(id.to_string()), checksum));
            }
        }
    }
    Some(tables)
}

/// The table of contents of an archive, without its magic; `None` if it is damaged.
fn contents(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let Some(end) = length.checked_sub(TRAILER) else { return Ok(None) };
    let mut trailer = vec![0; usize::try_from(TRAILER).unwrap_or(0)];
    file.seek(SeekFrom::Start(end))?;
    file.read_exact(&mut trailer)?;
    let mut trailer = Bytes(&trailer);
    let head = (trailer.take(4), trailer.u8(), trailer.u8());
    let (Some(b"SFA!"), Some(1), Some(0)) = head else { return Ok(None) };
    let (Some(checksum), Some(at)) = (trailer.u128(), trailer.u64()) else { return Ok(None) };
    let Some(long) = end.checked_sub(at).filter(|long| *long <= LIST) else { return Ok(None) };
    let mut text = Vec::new();
    file.seek(SeekFrom::Start(at))?;
    file.take(long).read_to_end(&mut text)?;
    Ok((xxh3_128(&text) == checksum).then(|| text.split_off(4.min(text.len()))))
}

/// Offset and length of a section.
fn section(contents: &[u8], name: &[u8]) -> Option<(usize, usize)> {
    let mut text = Bytes(contents);
    for _ in 0..text.u32()? {
        let (at, length, long) = (text.u64()?, text.u64()?, text.u16()?);
        if text.take(usize::from(long))? == name {
            return usize::try_from(at).ok().zip(usize::try_from(length).ok());
        }
    }
    None
}

/// The last journal may end anywhere, since it was being written; those before it were closed.
fn are_journals_sound(dir: &Path) -> io::Result<bool> {
    let mut journals: Vec<(u64, PathBuf)> =
        list(dir)?.into_iter().filter_map(|path| number(&path, ".jnl").map(|n| (n, path))).collect();
    journals.sort();
    let last = journals.len().saturating_sub(1);
    for (i, (_, path)) in journals.iter().enumerate() {
        match read_journal(path)? {
            JournalEnd::Clean => {}
            JournalEnd::Torn if i == last => {}
            JournalEnd::Torn | JournalEnd::Absurd => return Ok(false),
        }
    }
    Ok(true)
}

/// How a journal ends.
enum JournalEnd {
    /// Between two batches.
    Clean,
    /// Within a batch.
    Torn,
    /// With an impossible length.
    Absurd,
}

/// Walks through a journal's entries: start of a batch (1), item (2), end of a batch (3), keyspace
/// cleared (4).
fn read_journal(path: &Path) -> io::Result<JournalEnd> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut reader = BufReader::with_capacity(1 << 18, file);
    let (mut at, mut inside) = (0u64, false);
    loop {
        let mut head = [0; 21];
        let got = fill(&mut reader, &mut head[..1])?;
        let long = match head[0] {
            _ if got == 0 => return Ok(if inside { JournalEnd::Torn } else { JournalEnd::Clean }),
            1 => 12,
            2 => 20,
            3 => 12,
            4 => 8,
            0 if !inside => return Ok(JournalEnd::Clean),
            _ => return Ok(JournalEnd::Torn),
        };
        if fill(&mut reader, &mut head[1..=long])? < long {
            return Ok(JournalEnd::Torn);
        }
        at += 1 + long as u64;
        inside = head[0] != 3;
        if head[0] == 2 {
            let mut item = Bytes(&head[2..]);
            let (packed, _space) = (item.u8(), item.u64());
            let (key, whole, stored) = (item.u16(), item.u32().unwrap_or(0), item.u32().unwrap_or(0));
            if whole.max(stored) > VALUE || (packed == Some(0) && whole != stored) {
                return Ok(JournalEnd::Absurd);
            }
            let skip = u64::from(key.unwrap_or(0)) + u64::from(stored);
            at += skip;
            if at > length {
                return Ok(JournalEnd::Torn);
            }
            reader.seek_relative(skip.cast_signed())?;
        }
    }
}

/// Reads as much as there is.
fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut done = 0;
    while done < buffer.len() {
        match reader.read(&mut buffer[done..])? {
            0 => break,
            n => done += n,
        }
    }
    Ok(done)
}

fn hash(path: &Path) -> io::Result<u128> {
    let mut file = File::open(path)?;
    let (mut hash, mut buffer) = (Xxh3::new(), vec![0; 256 << 10]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hash.digest128()),
            n => hash.update(&buffer[..n]),
        }
    }
}

/// The number in a file's name.
fn number(path: &Path, ending: &str) -> Option<u64> {
    path.file_name()?.to_str()?.strip_suffix(ending)?.parse().ok()
}

fn list(dir: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(dir) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(e),
    }
}

/// The content of a file that is not too long to be a manifest.
fn read_if_there(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match File::open(path) {
        Ok(file) => {
            let mut content = Vec::new();
            file.take(LIST).read_to_end(&mut content)?;
            Ok(Some(content))
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// Little-endian numbers in sequence.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u8(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn u128(&mut self) -> Option<u128> {
        self.array().map(u128::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fjall::{Database, KeyspaceCreateOptions, PersistMode};

    /// A database with tables, a closed journal and one that is being written.
    fn made(dir: &Path) {
        let db = Database::builder(dir).open().unwrap();
        for name in ["a", "b"] {
            let space = db.keyspace(name, KeyspaceCreateOptions::default).unwrap();
            for i in 0..2_000u32 {
                space.insert(i.to_be_bytes(), [7; 50]).unwrap();
            }
            space.rotate_memtable_and_wait().unwrap();
            space.insert(b"last", [9; 5_000]).unwrap();
        }
        db.persist(PersistMode::SyncAll).unwrap();
    }

    #[test]
    fn a_whole_database_is_sound_and_a_damaged_one_is_not() {
        let tmp = tempfile::tempdir().unwrap();
        made(tmp.path());
        assert!(is_sound(tmp.path(), u64::MAX).unwrap());
        assert!(is_sound(tmp.path(), 0).unwrap());
        let spaces = tmp.path().join("keyspaces/1");
        let tables = list(&spaces.join("tables")).unwrap();
        let version = u64::from_le_bytes(fs::read(spaces.join("current")).unwrap()[..8].try_into().unwrap());
        assert!(!tables.is_empty());
        for file in [tables[0].clone(), spaces.join("current"), spaces.join(format!("v{version}"))] {
            let whole = fs::read(&file).unwrap();
            for at in [0, whole.len() / 2, whole.len() - 1] {
                let mut damaged = whole.clone();
                damaged[at] ^= 0x40;
                fs::write(&file, &damaged).unwrap();
                assert!(!is_sound(tmp.path(), u64::MAX).unwrap(), "{} at {at}", file.display());
                fs::write(&file, &whole[..at]).unwrap();
                assert!(!is_sound(tmp.path(), u64::MAX).unwrap(), "{} cut at {at}", file.display());
            }
            fs::write(&file, &whole).unwrap();
        }
        assert!(is_sound(tmp.path(), u64::MAX).unwrap());
    }

    #[test]
    fn a_journal_may_end_anywhere_but_not_claim_the_impossible() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("0.jnl");
        let batch = |length: u32| {
            let mut out = vec![1];
            out.extend(1u32.to_le_bytes());
            out.extend(5u64.to_le_bytes());
            out.extend([2, 0, 0]);
            out.extend(1u64.to_le_bytes());
            out.extend(3u16.to_le_bytes());
            out.extend(length.to_le_bytes());
            out.extend(length.to_le_bytes());
            out.extend(b"keyvalue");
            out.extend([3, 0, 0, 0, 0, 0, 0, 0, 0, b'F', b'J', b'L', 3]);
            out
        };
        let whole = batch(5);
        for length in 0..=whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert!(are_journals_sound(tmp.path()).unwrap(), "cut at {length}");
        }
        fs::write(tmp.path().join("1.jnl"), &whole).unwrap();
        assert!(are_journals_sound(tmp.path()).unwrap());
        fs::write(&path, &whole[..20]).unwrap();
        assert!(!are_journals_sound(tmp.path()).unwrap(), "a closed journal is whole");
        fs::write(&path, &whole).unwrap();
        fs::write(tmp.path().join("1.jnl"), batch(4_000_000_000)).unwrap();
        assert!(!are_journals_sound(tmp.path()).unwrap());
    }
}
