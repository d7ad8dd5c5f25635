//! Where can a crash or a failing disk be injected?
//!
//! Tests interrupt the work at a named fault point, at its n-th pass: the process ends as if by
//! `kill -9`, or the disk reports that it is full or broken. There is a point before and after
//! every step that leaves a trace on disk. Points can be armed only in programs built with the
//! feature `faults`, as tests are; in any other build a point compiles to nothing.

#[cfg(feature = "faults")]
mod armed;

#[cfg(feature = "faults")]
pub use armed::arm;
use std::io;

/// The names of the points of one machine: those of opening a project, of starting a run, of a
/// commit, and of closing, each in order.
pub const POINTS: &[&str] = &[
    "before-lock",
    "after-lock",
    "before-tables",
    "after-tables",
    "before-cut",
    "after-cut",
    "before-removal",
    "after-removal",
    "before-wipe",
    "after-wipe",
    "before-rebuild",
    "during-rebuild",
    "before-rebuilt-mark",
    "after-rebuild",
    "before-catch-up",
    "after-catch-up",
    "settings-written",
    "settings-kept",
    "before-run-begins",
    "after-run-began",
    "before-run-goes-on",
    "after-run-went-on",
    "before-archive",
    "before-file",
    "after-file",
    "before-record",
    "before-bytes",
    "after-archive",
    "before-sync",
    "after-flush",
    "before-catalogue",
    "after-catalogue-begin",
    "before-catalogue-commit",
    "after-catalogue",
    "before-index",
    "before-index-commit",
    "before-fold",
    "during-fold",
    "after-fold",
    "after-index",
    "before-text",
    "after-text",
    "before-seal",
    "lines-written",
    "lines-kept",
    "after-seal",
    "before-run-ends",
    "after-run-ended",
    "keys-written",
    "keys-kept",
    "before-checkpoint",
    "after-checkpoint",
    "before-index-closes",
    "before-fingerprint",
    "after-fingerprint",
    "report-written",
    "report-kept",
];

/// The names of the points of a commit to a shared store, in order.
pub const SHARED_POINTS: &[&str] =
    &["before-object", "after-object", "after-shared-fence", "before-shared-commit", "after-shared-commit"];

/// The names of the points at which a shared project is copied, in order.
pub const COPY_POINTS: &[&str] = &[
    "copy-written",
    "copy-claimed",
    "during-copy",
    "before-copied-bytes",
    "after-copied-bytes",
    "before-copy-commit",
    "after-copy-commit",
    "before-copy-named",
    "after-copy-named",
];

/// The names of the points at which the objects of a shared project are stitched together, in
/// order.
pub const STITCH_POINTS: &[&str] = &[
    "before-stitch",
    "after-stitched-object",
    "before-stitch-commit",
    "after-stitch-commit",
    "before-stitch-removal",
    "after-stitch",
];

#[cfg(feature = "faults")]
fn is_point(name: &str) -> bool {
    [POINTS, SHARED_POINTS, COPY_POINTS, STITCH_POINTS].iter().any(|points| points.contains(&name))
}

/// Arms the point that the environment names, where this program can arm any. `variable` reads the
/// environment.
pub fn arm_from(variable: impl Fn(&str) -> Option<String>) -> Result<(), String> {
    #[cfg(feature = "faults")]
    if let Some(plan) = variable("ORB_FAIL") {
        return arm(&plan).map_err(|why| format!("ORB_FAIL: {why}"));
    }
    let _ = variable;
    Ok(())
}

/// An injection point for a crash or a failure.
#[inline]
pub fn point(name: &'static str) -> io::Result<()> {
    #[cfg(feature = "faults")]
    armed::point(name)?;
    let _ = name;
    Ok(())
}

/// An injected failure in the form of an SQLite error.
pub(crate) fn sql_point(name: &'static str) -> rusqlite::Result<()> {
    use rusqlite::ffi;
    point(name).map_err(|e| {
        let full = e.kind() == io::ErrorKind::StorageFull;
        let code = ffi::Error::new(if full { ffi::SQLITE_FULL } else { ffi::SQLITE_IOERR });
        rusqlite::Error::SqliteFailure(code, Some(e.to_string()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_point_is_listed_twice() {
        let lists = [POINTS, SHARED_POINTS, COPY_POINTS, STITCH_POINTS];
        let all: std::collections::HashSet<_> = lists.iter().flat_map(|points| points.iter()).collect();
        assert_eq!(all.len(), lists.iter().map(|points| points.len()).sum::<usize>());
    }
}
