//! What is done by a process of ours that outlives the server?
//!
//! Exports, checks and deliveries are commands of this program, each a process with a group of its
//! own: what ends the server does not end them. Whether one is under way must be known after a
//! restart, too, when nobody is its parent any more and its number may belong to another. So its
//! standard input is a file on which it holds a lock: the lock belongs to the open file, which the
//! process has inherited and nobody else keeps, and the kernel releases it however the process
//! ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Between two looks at whether an errand has ended, or at a lock that somebody else looks at.
const LOOK: Duration = Duration::from_millis(20);

/// How often a lock is tried for: whoever looks at it holds it for a moment.
const TRIES: u32 = 25;

/// Starts a command that holds the lock until it ends and says there what it has to say. Returns
/// its process, or `None` if another holds the lock.
pub(crate) fn begin(mut command: Command, lock: &Path, told: &Path) -> io::Result<Option<u32>> {
    let Some(held) = take(lock)? else { return Ok(None) };
    command.stdin(Stdio::from(held)).stderr(File::create(told)?);
    let mut child = command.process_group(0).spawn()?;
    // With the command goes our own handle of the lock.
    drop(command);
    let pid = child.id();
    let wait = move || child.wait();
    std::thread::Builder::new().name("errand".into()).spawn(wait)?;
    Ok(Some(pid))
}

/// The file with its lock; `None` if another holds it.
fn take(lock: &Path) -> io::Result<Option<File>> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(lock)?;
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOOK),
            Err(TryLockError::Error(e)) => return Err(e),
        }
    }
    Ok(None)
}

/// Whether a process holds the lock.
pub(crate) fn is_under_way(lock: &Path) -> bool {
    let tried = File::open(lock).map(|file| file.try_lock_shared());
    matches!(tried, Ok(Err(TryLockError::WouldBlock)))
}

/// Waits until the lock is free, for this long at most.
pub(crate) async fn wait(lock: PathBuf, patience: Duration) {
    let free = async {
        while is_under_way(&lock) {
            tokio::time::sleep(LOOK).await;
        }
    };
    // Whoever asked looks again later.
    let _ = tokio::time::timeout(patience, free).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn a_process_holds_its_lock_until_it_ends() {
        let tmp = tempfile::tempdir().unwrap();
        let (lock, told) = (tmp.path().join("lock"), tmp.path().join("told"));
        assert!(!is_under_way(&lock));
        // It ends when we say so: a named pipe that it reads.
        let pipe = tmp.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let mut command = Command::new("cat");
        command.arg(&pipe).stdout(Stdio::null());
        assert!(begin(command, &lock, &told).unwrap().is_some());
        assert!(is_under_way(&lock));
        assert_eq!(begin(Command::new("true"), &lock, &told).unwrap(), None, "two at once");
        OpenOptions::new().write(true).open(&pipe).unwrap().write_all(b"end").unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(wait(lock.clone(), Duration::from_secs(600)));
        assert!(!is_under_way(&lock));
    }
}
