//! How do several files become one that can be sent?
//!
//! They are written to a directory beside the ZIP file, packed, and removed. So both take space on
//! the disk for a moment.

use super::place::{Unfinished, tell};
use super::{ExportArgs, ExportFormat, ExportedFile};
use crate::failure::CommandFailure;
use anyhow::Context as _;
use orb_export::{ExportProgress, pack_directory};
use std::path::{Path, PathBuf};
use tempfile::{Builder, TempDir};

/// An export that is to become one ZIP file.
pub(super) struct Packing {
    file: Unfinished,
    path: PathBuf,
    dir: TempDir,
    /// What writes the files that are packed.
    pub(super) args: ExportArgs,
}

impl Packing {
    pub(super) fn begin(args: &ExportArgs) -> Result<Self, CommandFailure> {
        let path = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.zip", args.of.project)));
        if path == Path::new("-") {
            return Err(CommandFailure::Usage("a ZIP file cannot be streamed: name a file".to_owned()));
        }
        let file = Unfinished::begin(&path, args.force)?;
        let parent = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let dir = Builder::new().prefix(".orb-").suffix(".part").tempdir_in(parent);
        let dir = dir.with_context(|| format!("cannot write to {}", parent.display()))?;
        // Tables are named after themselves; Markdown and graphs get a name to begin with.
        let inside = match args.format {
            ExportFormat::Markdown | ExportFormat::Webgraph => dir.path().join(&args.of.project),
            _ => dir.path().to_owned(),
        };
        let args = ExportArgs { output: Some(inside), zip: false, ..args.clone() };
        Ok(Self { file, path, dir, args })
    }

    /// Packs what was written.
    pub(super) fn finish(mut self, watch: &mut ExportProgress<'_>) -> Result<Vec<ExportedFile>, CommandFailure> {
        let count = tell(pack_directory(self.dir.path(), self.file.file(), watch), &self.path)?;
        self.file.keep()?;
        Ok(vec![ExportedFile { path: self.path.display().to_string(), count, of: "files" }])
    }
}
