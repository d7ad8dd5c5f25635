//! Which servers are there to be crawled by other protocols than the web's?
//!
//! Those that people use, each over a tree of files, on a free port of loopback, until it is
//! dropped.

use crate::bench::built;
use crate::steps::root;
use anyhow::{Context, Result, bail};
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The user that vsftpd runs as, which must not be root: nobody.
const NOBODY: u32 = 65_534;
/// How long a server may take to start.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server, stopped when it is dropped.
pub(super) struct TreeServer {
    child: Child,
    pub(super) port: u16,
}

impl TreeServer {
    fn start(make: impl Fn(u16) -> Result<Command>) -> Result<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut command = make(port)?;
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let server = Self { child: child.with_context(|| format!("cannot start {command:?}"))?, port };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if begun.elapsed() > PATIENCE {
                bail!("{command:?} does not listen");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(server)
    }

    pub(super) fn pyftpdlib(tree: &Path) -> Result<Self> {
        Self::start(|port| {
            let mut command = Command::new(root().join("target/judges/bin/python"));
            command.args(["-m", "pyftpdlib", "-i", "127.0.0.1", "-p", &port.to_string(), "-d"]).arg(tree);
            Ok(command)
        })
    }

    pub(super) fn vsftpd(tree: &Path, beside: &Path) -> Result<Self> {
        Self::start(|port| {
            let (empty, config) = (beside.join("empty"), beside.join("vsftpd.conf"));
            fs::create_dir_all(&empty)?;
            let settings = [
                ("listen", "YES".to_owned()),
                ("background", "NO".to_owned()),
                ("listen_address", "127.0.0.1".to_owned()),
                ("listen_port", port.to_string()),
                ("anonymous_enable", "YES".to_owned()),
                ("anon_root", tree.display().to_string()),
                ("secure_chroot_dir", empty.display().to_string()),
                ("run_as_launching_user", "YES".to_owned()),
                ("one_process_model", "YES".to_owned()),
                ("seccomp_sandbox", "NO".to_owned()),
                ("xferlog_enable", "NO".to_owned()),
            ];
            fs::write(&config, settings.map(|(name, value)| format!("{name}={value}\n")).concat())?;
            let mut command = Command::new("/usr/sbin/vsftpd");
            command.arg(&config);
            if crate::packages::is_root() {
                chown(&config, Some(NOBODY), Some(NOBODY))?;
                command.uid(NOBODY).gid(NOBODY);
            }
            Ok(command)
        })
    }

    /// sshd, and the files of a key that it lets in and of its own.
    pub(super) fn sshd(beside: &Path) -> Result<Self> {
        for name in ["client", "host"] {
            let mut command = Command::new("ssh-keygen");
            command.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(beside.join(name));
            if !command.status().context("cannot start ssh-keygen")?.success() {
                bail!("ssh-keygen made no key");
            }
        }
        if crate::packages::is_root() {
            fs::create_dir_all("/run/sshd")?;
        }
        Self::start(|port| {
            let lines = [
                format!("Port {port}\nListenAddress 127.0.0.1\n"),
                format!("HostKey {}\n", beside.join("host").display()),
                format!("AuthorizedKeysFile {}\n", beside.join("client.pub").display()),
                "StrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n".to_owned(),
                "PidFile none\nSubsystem sftp internal-sftp\n".to_owned(),
            ];
            let config = beside.join("sshd.conf");
            fs::write(&config, lines.concat())?;
            let mut command = Command::new("/usr/sbin/sshd");
            command.args(["-D", "-e", "-f"]).arg(config);
            Ok(command)
        })
    }

    /// The synthetic news server, with this many articles in one group.
    pub(super) fn news(articles: u32) -> Result<Self> {
        let mut command = Command::new(built("testweb"));
        command.args(["--news", &articles.to_string()]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("cannot start testweb")?;
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut line)?;
        }
        let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok());
        Ok(Self { child, port: port.with_context(|| format!("testweb says {line:?}"))? })
    }
}

impl Drop for TreeServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
