//! Which browser is there?
//!
//! Debian's headless shell first: it is the same engine without a window system, starts faster and
//! takes less memory.

use std::path::{Path, PathBuf};

/// Names of browsers that are driven alike, the best first.
const NAMES: [&str; 5] =
    ["chromium-headless-shell", "chromium", "google-chrome-stable", "google-chrome", "chromium-browser"];

/// Where Debian keeps the programs that its scripts of the same names start. The scripts add
/// settings of the machine, and one of them stays between us and the browser.
const LIBRARY: &str = "lib/chromium";

/// The first browser in these directories (`PATH`).
pub fn find_browser(path: &std::ffi::OsStr) -> Option<PathBuf> {
    let dirs: Vec<PathBuf> = std::env::split_paths(path).filter(|dir| dir.is_absolute()).collect();
    NAMES.iter().find_map(|name| dirs.iter().find_map(|dir| in_dir(dir, name)))
}

fn in_dir(dir: &Path, name: &str) -> Option<PathBuf> {
    let found = dir.join(name);
    if !found.is_file() {
        return None;
    }
    let behind = dir.parent().map(|above| above.join(LIBRARY).join(name)).filter(|program| program.is_file());
    Some(behind.unwrap_or(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_headless_shell_is_preferred_and_scripts_are_passed_by() {
        let tmp = tempfile::tempdir().unwrap();
        let place = |path: &str| {
            let file = tmp.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, "").unwrap();
            file
        };
        let (first, second) = (tmp.path().join("a/bin"), tmp.path().join("b/bin"));
        let path = std::env::join_paths([&first, &second]).unwrap();
        assert_eq!(find_browser(&path), None);
        let chrome = place("a/bin/google-chrome");
        assert_eq!(find_browser(&path), Some(chrome));
        place("b/bin/chromium-headless-shell");
        let behind = place("b/lib/chromium/chromium-headless-shell");
        assert_eq!(find_browser(&path), Some(behind));
        assert_eq!(find_browser("bin".as_ref()), None);
    }
}
