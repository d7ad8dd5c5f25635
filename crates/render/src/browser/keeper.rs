//! How does a process of ours become the browser?
//!
//! A hidden command of the program does it: limits and the parent-death signal are set by the
//! process that they hold for, by safe calls, before it turns into the browser. The pipe of the
//! debugging protocol arrives as standard input and output and goes on as descriptors 3 and 4,
//! where Chromium looks for it.

use command_fds::{CommandFdExt as _, FdMapping};
use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};
use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Where Chromium reads commands, and where it writes answers.
const PIPES: (i32, i32) = (3, 4);

/// Becomes the browser; returns only if that fails.
pub fn become_browser(program: &Path, flags: &[OsString]) -> io::Error {
    match prepared(program, flags) {
        Ok(mut command) => command.exec(),
        Err(error) => error,
    }
}

fn prepared(program: &Path, flags: &[OsString]) -> io::Result<Command> {
    // A crawler that is killed leaves no browser behind.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    let (commands, answers) = (io::stdin().as_fd().try_clone_to_owned()?, io::stdout().as_fd().try_clone_to_owned()?);
    let mappings =
        vec![FdMapping { parent_fd: commands, child_fd: PIPES.0 }, FdMapping { parent_fd: answers, child_fd: PIPES.1 }];
    let mut command = Command::new(program);
    command.args(flags).stdin(Stdio::null()).stdout(Stdio::null());
    command.fd_mappings(mappings).map_err(io::Error::other)?;
    Ok(command)
}
