//! Who tells `ssh` the password of an SFTP server?
//!
//! This program: `ssh` starts it again (`SSH_ASKPASS`) and reads the answer from its output. The
//! password is in the environment of that one `ssh` and in no other.

use std::io::Write as _;
use std::process::ExitCode;

/// Answers, if that is what this process was started for.
pub(crate) fn answer() -> Option<ExitCode> {
    let password = std::env::var(orb_crawl::SSH_PASSWORD_VARIABLE).ok()?;
    let said = writeln!(std::io::stdout(), "{password}");
    Some(if said.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
