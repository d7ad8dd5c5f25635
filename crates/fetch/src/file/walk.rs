//! How is a path walked that must not lead out?

use crate::FetchConfig;
use crate::intake::Received;
use orb_page::{Body, ListingEntry, Moment, Truncation};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, open, openat, statat};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Time stamps of files are as exact as the kernel's clock tick, in milliseconds.
const TICK: i64 = 10;

/// The directories below which files may be read.
#[derive(Debug)]
pub(super) struct FileRoots {
    /// With their paths as a user writes them.
    paths: Vec<PathBuf>,
}

/// What a path leads to.
#[derive(Debug)]
pub(super) enum Looked {
    /// A directory with these entries.
    Directory(Vec<FileEntry>),
    /// A file.
    File(Found),
    /// Nothing, or a name below something that is no directory.
    Missing,
    /// Something that is not read.
    Forbidden(&'static str),
}

/// An entry of a directory; only files have stamps.
pub(super) type FileEntry = (ListingEntry, Option<InodeStamp>);

/// What tells a version of a file from others: size, times and inode.
#[derive(Clone, Copy, Debug)]
pub(super) struct InodeStamp {
    size: u64,
    inode: u64,
    /// Seconds and nanoseconds.
    modified: (i64, u32),
    changed: (i64, u32),
}

/// A file, opened.
#[derive(Debug)]
pub(super) struct Found {
    file: File,
    pub(super) stamp: InodeStamp,
}

impl FileRoots {
    pub(super) fn new(paths: &[PathBuf]) -> Self {
        let mut paths: Vec<PathBuf> = paths.to_vec();
        // The nearest root is walked from.
        paths.sort_by_key(|path| std::cmp::Reverse(path.as_os_str().len()));
        Self { paths }
    }

    /// What lies at a path, given without its first slash.
    pub(super) fn look(&self, path: &[u8]) -> io::Result<Looked> {
        let whole = [b"/", path].concat();
        let path = Path::new(std::ffi::OsStr::from_bytes(&whole));
        let Some((root, rest)) = self.paths.iter().find_map(|root| Some((root, path.strip_prefix(root).ok()?))) else {
            return Ok(Looked::Forbidden("it lies outside of the directories that may be read"));
        };
        // The root itself is the user's word: it may be a link.
        let at = open(root, directory_flags(), Mode::empty())?;
        let names: Vec<&[u8]> = rest.components().map(|name| name.as_os_str().as_bytes()).collect();
        match walk(at, &names) {
            Ok(looked) => Ok(looked),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(Looked::Missing),
            Err(Errno::LOOP) => Ok(Looked::Forbidden("a symbolic link is not followed")),
            Err(error) => Err(error.into()),
        }
    }
}

fn directory_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC
}

/// Goes from name to name, never by a symbolic link. A directory that contains itself (a bind
/// mount) is not entered twice.
fn walk(root: OwnedFd, names: &[&[u8]]) -> Result<Looked, Errno> {
    let mut at = root;
    let mut passed = vec![identity(&fstat(&at)?)];
    for (n, name) in names.iter().enumerate() {
        if matches!(*name, b"" | b"." | b"..") || name.contains(&b'/') {
            return Ok(Looked::Forbidden("it leads upwards"));
        }
        let is_last = n + 1 == names.len();
        let stat = statat(&at, *name, AtFlags::SYMLINK_NOFOLLOW)?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        match kind {
            FileType::Symlink => return Err(Errno::LOOP),
            FileType::Directory => {
                let flags = directory_flags() | OFlags::NOFOLLOW;
                at = openat(&at, *name, flags, Mode::empty())?;
                let here = identity(&fstat(&at)?);
                if passed.contains(&here) {
                    return Ok(Looked::Forbidden("the directory contains itself"));
                }
                passed.push(here);
            }
            FileType::RegularFile if is_last => return file(&at, name),
            FileType::RegularFile => return Err(Errno::NOTDIR),
            _ => return Ok(Looked::Forbidden("it is neither a file nor a directory")),
        }
    }
    entries(&at).map(Looked::Directory)
}

/// Opens a file. It may have been exchanged since it was looked at, so what was opened counts:
/// opening a pipe or a device does nothing yet.
fn file(at: &OwnedFd, name: &[u8]) -> Result<Looked, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = openat(at, name, flags, Mode::empty())?;
    let stat = fstat(&file)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Ok(Looked::Forbidden("it is neither a file nor a directory"));
    }
    Ok(Looked::File(Found { file: file.into(), stamp: InodeStamp::of(&stat) }))
}

/// The files and directories in a directory, sorted.
fn entries(at: &OwnedFd) -> Result<Vec<FileEntry>, Errno> {
    let mut entries = Vec::new();
    for found in Dir::read_from(at)? {
        let found = found?;
        let name = found.file_name().to_bytes();
        // What has vanished meanwhile is not there.
        let Ok(stat) = statat(at, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        let kind = FileType::from_raw_mode(stat.st_mode);
        if !matches!(kind, FileType::RegularFile | FileType::Directory) {
            continue;
        }
        let is_directory = kind == FileType::Directory;
        let Some(entry) = ListingEntry::new(name, is_directory) else { continue };
        let stamp = (!is_directory).then(|| InodeStamp::of(&stat));
        let (size, modified) = (stamp.map(|stamp| stamp.size), stamp.map(|stamp| stamp.modified()));
        entries.push((ListingEntry { size, modified, ..entry }, stamp));
    }
    entries.sort_by(|(a, _), (b, _)| a.reference.cmp(&b.reference));
    Ok(entries)
}

fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev, stat.st_ino)
}

fn moment((seconds, nanoseconds): (i64, u32)) -> Moment {
    Moment(seconds.saturating_mul(1_000).saturating_add(i64::from(nanoseconds / 1_000_000)))
}

impl InodeStamp {
    fn of(stat: &Stat) -> Self {
        let time = |seconds: i64, nanoseconds| (seconds, u32::try_from(nanoseconds).unwrap_or(0));
        Self {
            size: u64::try_from(stat.st_size).unwrap_or(0),
            inode: stat.st_ino,
            modified: time(stat.st_mtime, stat.st_mtime_nsec),
            changed: time(stat.st_ctime, stat.st_ctime_nsec),
        }
    }

    /// The stamp as an entity tag, which is kept with the version.
    pub(super) fn tag(&self) -> String {
        let Self { size, inode, modified, changed } = self;
        format!("\"{size}.{}.{:09}.{}.{:09}.{inode}\"", modified.0, modified.1, changed.0, changed.1)
    }

    /// When the content was changed, as the file says itself.
    pub(super) fn modified(&self) -> Moment {
        moment(self.modified)
    }

    /// Whether this is the version that had this tag at that moment. It is not if its time of
    /// change, which nobody can set back, was not yet over then: another change may have followed.
    pub(super) fn is_of(&self, tag: &str, at: Moment) -> bool {
        moment(self.changed).0.saturating_add(TICK) <= at.0 && self.tag() == tag
    }
}

impl Found {
    /// Its content. A large file stays where it is and is read from there as it was opened: up to
    /// the length it had.
    pub(super) fn read(self, config: &FetchConfig, mime: &str) -> io::Result<Received> {
        let (size, most) = (self.stamp.size, config.max_size_of(Some(mime)));
        if size > most {
            return Ok(Received { body: Body::empty(), truncated: Some(Truncation::Length) });
        }
        let mut content = self.file.take(most);
        if size > config.spool_over {
            let mut copy = tempfile::tempfile_in(&config.spool_dir)?;
            let len = io::copy(&mut content, &mut copy)?;
            return Ok(Received { body: Body::Spooled { file: copy, len }, truncated: None });
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0).saturating_add(1));
        content.read_to_end(&mut bytes)?;
        Ok(Received { body: Body::Memory(bytes.into()), truncated: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn tree() -> (tempfile::TempDir, FileRoots, Vec<u8>) {
        let tmp = tempfile::tempdir().unwrap();
        let root = tmp.path().join("root");
        std::fs::create_dir_all(root.join("sub")).unwrap();
        std::fs::write(root.join("a.txt"), "inside").unwrap();
        std::fs::write(root.join("sub/b.txt"), "below").unwrap();
        std::fs::write(tmp.path().join("secret"), "outside").unwrap();
        symlink("../secret", root.join("leak")).unwrap();
        symlink("..", root.join("up")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, root.join("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        let roots = FileRoots::new(std::slice::from_ref(&root));
        let path = root.as_os_str().as_bytes()[1..].to_vec();
        (tmp, roots, path)
    }

    fn look(roots: &FileRoots, root: &[u8], rest: &str) -> Looked {
        roots.look(&[root, rest.as_bytes()].concat()).unwrap()
    }

    #[test]
    fn files_and_directories_below_the_root_are_there() {
        let (_tmp, roots, root) = tree();
        let Looked::Directory(entries) = look(&roots, &root, "/") else { panic!("no directory") };
        let names: Vec<_> = entries.iter().map(|(entry, _)| entry.reference.as_str()).collect();
        assert_eq!(names, ["a.txt", "sub/"], "links and pipes are no entries");
        assert_eq!((entries[0].0.size, entries[1].0.size), (Some(6), None));
        let Looked::File(found) = look(&roots, &root, "/sub/b.txt") else { panic!("no file") };
        let body = found.read(&FetchConfig::default(), "text/plain").unwrap().body.read(99).unwrap();
        assert_eq!(&body[..], b"below");
        assert!(matches!(look(&roots, &root, "/none"), Looked::Missing));
        assert!(matches!(look(&roots, &root, "/a.txt/x"), Looked::Missing));
    }

    #[test]
    fn nothing_leads_out_of_the_root() {
        let (_tmp, roots, root) = tree();
        for path in ["/leak", "/up", "/up/secret", "/up/root/a.txt", "/pipe", "/../secret", "/sub/../../secret"] {
            assert!(matches!(look(&roots, &root, path), Looked::Forbidden(_)), "{path}");
        }
        for path in [&b"etc/passwd"[..], b"", b"proc/self/environ"] {
            assert!(matches!(roots.look(path).unwrap(), Looked::Forbidden(_)));
        }
        let beside = [&root[..], b"-beside/x"].concat();
        assert!(matches!(roots.look(&beside).unwrap(), Looked::Forbidden(_)));
    }

    #[test]
    fn what_is_exchanged_while_we_look_leads_nowhere() {
        let (tmp, roots, root) = tree();
        let (inside, outside) = (tmp.path().join("root/sub"), tmp.path().join("out"));
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("b.txt"), "outside").unwrap();
        let (parked, stop) = (tmp.path().join("parked"), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    std::fs::rename(&inside, &parked).unwrap();
                    symlink(&outside, &inside).unwrap();
                    std::fs::remove_file(&inside).unwrap();
                    std::fs::rename(&parked, &inside).unwrap();
                }
            });
            for _ in 0..5_000 {
                if let Ok(Looked::File(found)) = roots.look(&[&root[..], b"/sub/b.txt"].concat()) {
                    let body = found.read(&FetchConfig::default(), "text/plain").unwrap().body.read(99).unwrap();
                    assert_eq!(&body[..], b"below");
                }
            }
            stop.store(true, Ordering::Relaxed);
        });
    }
}
