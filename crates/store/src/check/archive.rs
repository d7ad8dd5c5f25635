//! Are the bytes where the catalogue says, and are they what it says?
//!
//! A merge join of the visits, ordered by archive position, with the records of each file.

use super::CheckReport;
use crate::archive::{FileEnd, index_path, is_ours, tail_path};
use crate::error::{Result, StoreError};
use crate::home::ProjectDir;
use crate::sqlite::{Catalogue, CatalogueReader, Placed};
use crate::warc::{RemoveCoding, Scan, Scanned, WarcType, content};
use std::collections::HashSet;
use std::fs;
use std::path::Path;

/// Longer contents are not compared with their digests.
const CONTENT: usize = 64 << 20;

pub(super) fn check(
    project: &ProjectDir,
    (catalogue, reader): (&Catalogue, &CatalogueReader),
    decoder: Option<RemoveCoding<'_>>,
    report: &mut CheckReport,
) -> Result<()> {
    let known = catalogue.archive_files()?;
    let dir = project.archive();
    strangers(project, &dir, &known, report)?;
    let mut files = known.iter().enumerate();
    let mut walk: Option<FileWalk<'_>> = None;
    reader.each_placed(|visit| {
        // Visits come file by file: finish the files before this one.
        while walk.as_ref().is_none_or(|w| w.number < visit.file) {
            if let Some(done) = walk.take() {
                done.finish(report)?;
            }
            let Some((i, file)) = files.next() else {
                report.find("catalogue", format!("{} names an archive file that is not listed", visit.url));
                return Ok(());
            };
            walk = Some(FileWalk::begin(&dir, file, i as u64 + 1, report)?);
        }
        walk.as_mut().map_or(Ok(()), |w| w.meet(visit, decoder, report))
    })?;
    if let Some(done) = walk.take() {
        done.finish(report)?;
    }
    for (i, file) in files {
        FileWalk::begin(&dir, file, i as u64 + 1, report)?.finish(report)?;
    }
    Ok(())
}

/// Files unknown to the catalogue.
fn strangers(project: &ProjectDir, dir: &Path, known: &[FileEnd], report: &mut CheckReport) -> Result<()> {
    let names: HashSet<&str> = known.iter().map(|f| &*f.name).collect();
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(_) if known.is_empty() => return Ok(()),
        Err(e) => return Err(StoreError::io("list", dir, e)),
    };
    for entry in entries {
        let entry = entry.map_err(|e| StoreError::io("list", dir, e))?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if is_ours(&project.name, &name).is_some() && !names.contains(name.as_str()) {
            if index_path(&entry.path()).exists() {
                report.find("archive", format!("{name} is not known to the catalogue"));
            } else {
                report
                    .notes
                    .push(format!("{name} holds only what was never committed and is removed at the next start"));
            }
        }
    }
    Ok(())
}

/// Walks through one file.
struct FileWalk<'a> {
    number: u64,
    file: &'a FileEnd,
    scan: Option<Scan>,
    next: Option<Scanned>,
    answers: u64,
    lines: Vec<Vec<u8>>,
    path: std::path::PathBuf,
    spoiled: bool,
}

impl<'a> FileWalk<'a> {
    fn begin(dir: &Path, file: &'a FileEnd, number: u64, report: &mut CheckReport) -> Result<Self> {
        let path = dir.join(&*file.name);
        let mut walk =
            Self { number, file, scan: None, next: None, answers: 0, lines: Vec::new(), path, spoiled: false };
        match fs::metadata(&walk.path) {
            Err(e) => {
                report.find("archive", format!("{} cannot be read: {e}", file.name));
                walk.spoiled = true;
                return Ok(walk);
            }
            Ok(meta) if meta.len() < file.length => {
                report.find(
                    "archive",
                    format!("{} has {} bytes where the catalogue knows {}", file.name, meta.len(), file.length),
                );
            }
            Ok(meta) if meta.len() > file.length => {
                let beyond = meta.len() - file.length;
                report.notes.push(format!(
                    "{} has {beyond} bytes that were never committed and are cut at the next start",
                    file.name
                ));
            }
            Ok(_) => {}
        }
        report.counts.files += 1;
        walk.scan = Some(Scan::open(&walk.path, CONTENT)?);
        walk.step(report)?;
        Ok(walk)
    }

    /// Reads the next record, if there is one before the known end.
    fn step(&mut self, report: &mut CheckReport) -> Result<()> {
        self.next = None;
        let Some(scan) = &mut self.scan else { return Ok(()) };
        if scan.position() >= self.file.length {
            return Ok(());
        }
        let Some(record) = report.damage("archive", scan.next())? else {
            (self.scan, self.spoiled) = (None, true);
            return Ok(());
        };
        let Some(record) = record else { return Ok(()) };
        report.counts.records += 1;
        if record.is_indexed() {
            self.answers += 1;
            self.lines.extend(record.line(&self.file.name, orb_urls::surt::cdx_key));
        }
        if let Some(said) = record
            .field("WARC-Payload-Digest")
            .filter(|_| !matches!(record.kind(), WarcType::Revisit | WarcType::Resource))
            && said != format!("sha256:{}", hex(&record.digest))
        {
            report.find(
                "archive",
                format!("{}: the record at byte {} has another digest than it says", self.file.name, record.offset),
            );
        }
        self.next = Some(record);
        Ok(())
    }

    /// Reads on to a visit's position and compares.
    fn meet(&mut self, visit: &Placed, decoder: Option<RemoveCoding<'_>>, report: &mut CheckReport) -> Result<()> {
        while self.next.as_ref().is_some_and(|r| r.offset < visit.offset) {
            self.step(report)?;
        }
        match self.next.as_ref().filter(|r| r.offset == visit.offset) {
            Some(record) => compare(self.file, (record, visit), decoder, report),
            None if self.spoiled => {}
            None => report.find(
                "archive",
                format!("{} at byte {}: no record of {} begins there", self.file.name, visit.offset, visit.url),
            ),
        }
        Ok(())
    }

    fn finish(mut self, report: &mut CheckReport) -> Result<()> {
        while self.next.is_some() {
            self.step(report)?;
        }
        if self.spoiled {
            return Ok(());
        }
        if self.answers != self.file.records {
            let (name, known) = (&self.file.name, self.file.records);
            report.find("archive", format!("{name} holds {} answers where the catalogue knows {known}", self.answers));
        }
        self.check_lines(report)
    }

    /// Compares the CDXJ file with the records.
    fn check_lines(mut self, report: &mut CheckReport) -> Result<()> {
        let path = index_path(&self.path);
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !path.exists() {
            if tail_path(&self.path).exists() {
                report.notes.push(format!("{name} is written at the next start"));
            } else {
                report.find("cdxj", format!("{name} is missing"));
            }
            return Ok(());
        }
        let text = fs::read(&path).map_err(|e| StoreError::io("read", &path, e))?;
        self.lines.sort_unstable();
        let mut lines = text.split_inclusive(|b| *b == b'\n');
        for (i, want) in self.lines.iter().enumerate() {
            if lines.next().is_none_or(|line| line.strip_suffix(b"\n") != Some(want)) {
                report.find("cdxj", format!("{name}: line {} does not match the archive", i + 1));
                return Ok(());
            }
        }
        if lines.next().is_some() {
            report.find("cdxj", format!("{name} has more lines than the archive has answers"));
        }
        Ok(())
    }
}

fn compare(
    file: &FileEnd,
    (record, visit): (&Scanned, &Placed),
    decoder: Option<RemoveCoding<'_>>,
    report: &mut CheckReport,
) {
    let place = format!("{} at byte {}", file.name, record.offset);
    if record.length != visit.length {
        report.find(
            "archive",
            format!("{place}: the record has {} bytes where the catalogue knows {}", record.length, visit.length),
        );
    }
    let target = record.field("WARC-Target-URI").unwrap_or("");
    if target != visit.url {
        report.find("archive", format!("{place}: a record of {target} where the catalogue has {}", visit.url));
        return;
    }
    let whole = matches!(record.kind(), WarcType::Response | WarcType::Conversion)
        && record.field("WARC-Truncated").is_none()
        && record.payload_length <= CONTENT as u64;
    let (Some(digest), true) = (&visit.digest, whole && visit.status != Some(304)) else { return };
    let Some(found) = content(record, visit.content_length, decoder) else { return };
    report.counts.digests += 1;
    if found != *digest {
        report.find("archive", format!("{place}: the content of {target} has another digest than the catalogue says"));
    }
}

fn hex(digest: &[u8]) -> String {
    use std::fmt::Write as _;
    digest.iter().fold(String::with_capacity(64), |mut out, b| {
        let _ = write!(out, "{b:02x}");
        out
    })
}
