//! How does a directory become one file?

use crate::error::Result;
use crate::zip::Zip;
use crate::{ExportError, ExportProgress};
use orb_page::Moment;
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

/// Files that compression makes smaller, by the ends of their names: tables and texts. Everything
/// else that is exported is compressed already.
const COMPRESSED: [&str; 6] = ["csv", "jsonl", "json", "md", "txt", "properties"];

/// Packs all files below a directory into one ZIP file, by name, and returns how many they are.
pub fn pack_directory(dir: &Path, out: impl Write + Seek, watch: &mut ExportProgress<'_>) -> Result<u64> {
    let mut zip = Zip::new(BufWriter::with_capacity(1 << 18, out), Moment::now());
    let mut count = 0;
    add(&mut zip, (dir, dir), &mut || {
        count += 1;
        if watch(count).is_break() { Err(ExportError::Stopped) } else { Ok(()) }
    })?;
    zip.finish().map_err(ExportError::Output)?;
    Ok(count)
}

/// Adds what is in a directory below the one whose names count from.
fn add<W: Write + Seek>(
    zip: &mut Zip<W>,
    (root, dir): (&Path, &Path),
    go_on: &mut dyn FnMut() -> Result<()>,
) -> Result<()> {
    let listed = fs::read_dir(dir).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    let mut paths: Vec<PathBuf> = listed.map_err(ExportError::Output)?;
    paths.sort_unstable();
    for path in paths {
        if path.is_dir() {
            add(zip, (root, &path), go_on)?;
            continue;
        }
        let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let begun = if COMPRESSED.contains(&ending) { zip.begin_deflated(&name) } else { zip.begin(&name) };
        let added = begun.and_then(|()| io::copy(&mut File::open(&path)?, zip));
        added.map_err(ExportError::Output)?;
        go_on()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::ControlFlow;

    #[test]
    fn files_keep_their_names_below_the_directory() {
        let tmp = tempfile::tempdir().unwrap();
        fs::create_dir(tmp.path().join("b")).unwrap();
        fs::write(tmp.path().join("b/c.txt"), "two").unwrap();
        fs::write(tmp.path().join("a.txt"), "one".repeat(1_000)).unwrap();
        fs::write(tmp.path().join("d.parquet"), "one".repeat(1_000)).unwrap();
        let mut out = io::Cursor::new(Vec::new());
        let count = pack_directory(tmp.path(), &mut out, &mut |_| ControlFlow::Continue(())).unwrap();
        let mut read = zip::ZipArchive::new(out).unwrap();
        let names: Vec<String> = read.file_names().map(|name| name.unwrap().into_owned()).collect();
        assert_eq!((count, names), (3, ["a.txt", "b/c.txt", "d.parquet"].map(str::to_owned).to_vec()));
        assert_eq!(io::read_to_string(read.by_name("a.txt").unwrap()).unwrap(), "one".repeat(1_000));
        let mut packed = |name: &str| read.by_name(name).unwrap().compressed_size();
        assert!(
            packed("a.txt") < 100 && packed("d.parquet") == 3_000,
            "what is a text is compressed, and nothing else"
        );
        assert_eq!(io::read_to_string(read.by_name("b/c.txt").unwrap()).unwrap(), "two");
        let stopped = pack_directory(tmp.path(), io::Cursor::new(Vec::new()), &mut |_| ControlFlow::Break(()));
        assert!(matches!(stopped, Err(ExportError::Stopped)));
    }
}
