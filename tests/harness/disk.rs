//! How does a test get a disk of its own, to be filled up?

use super::orb::Home;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// A small disk with a home on it, unmounted on drop.
pub(crate) struct Disk {
    place: PathBuf,
}

impl Disk {
    /// One of this size, where the home will be.
    pub(crate) fn under(home: &Home, size: &str) -> Self {
        let disk = Self { place: home.path() };
        fs::create_dir(&disk.place).unwrap();
        disk.mount(&["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]);
        disk
    }

    /// Remounts it with this option.
    pub(crate) fn again(&self, option: &str) {
        self.mount(&["-o", &format!("remount,{option}")]);
    }

    #[track_caller]
    fn mount(&self, args: &[&str]) {
        let done = Command::new("mount").args(args).arg(&self.place).output().unwrap();
        assert!(done.status.success(), "only root can mount: {}", String::from_utf8_lossy(&done.stderr));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.place).status();
    }
}
