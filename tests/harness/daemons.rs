//! Which servers that others wrote are started, and how?
//!
//! Each privately, on a free port of loopback and over a directory of the test.

use rustix::process::geteuid;
use std::fs;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// The user a server runs as that must not be root: nobody.
pub(crate) const NOBODY: u32 = 65_534;

/// A server, stopped when it is dropped.
pub(crate) struct Daemon {
    child: Child,
    pub(crate) port: u16,
}

impl Daemon {
    /// Starts what this makes for a free port, and waits until it listens.
    pub(crate) fn start(make: impl Fn(u16) -> Command) -> Self {
        Self::start_at(free_port(), make)
    }

    /// The same for a port that is known to be free.
    pub(crate) fn start_at(port: u16, make: impl Fn(u16) -> Command) -> Self {
        let mut command = make(port);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let daemon = Self { child, port };
        super::until("the server listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        daemon
    }
}

impl Daemon {
    /// Stops it before its time.
    pub(crate) fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.stop();
    }
}

pub(crate) fn python() -> PathBuf {
    super::root().join("target/judges/bin/python")
}

/// pyftpdlib: MLSD and EPSV.
pub(crate) fn pyftpdlib(root: &Path) -> Daemon {
    Daemon::start(|port| {
        let mut command = Command::new(python());
        command.args(["-m", "pyftpdlib", "-i", "127.0.0.1", "-p", &port.to_string(), "-d"]).arg(root);
        command
    })
}

/// vsftpd: LIST, with times to the minute.
pub(crate) fn vsftpd(root: &Path, beside: &Path, more: &[String]) -> Daemon {
    Daemon::start(|port| {
        let empty = beside.join("empty");
        fs::create_dir_all(&empty).unwrap();
        let lines = [
            "listen=YES".to_owned(),
            "background=NO".to_owned(),
            "listen_address=127.0.0.1".to_owned(),
            format!("listen_port={port}"),
            "anonymous_enable=YES".to_owned(),
            format!("anon_root={}", root.display()),
            format!("secure_chroot_dir={}", empty.display()),
            "run_as_launching_user=YES".to_owned(),
            "one_process_model=YES".to_owned(),
            "seccomp_sandbox=NO".to_owned(),
            "xferlog_enable=NO".to_owned(),
        ];
        let config = beside.join("vsftpd.conf");
        fs::write(&config, [&lines[..], more].concat().join("\n") + "\n").unwrap();
        let mut command = Command::new("/usr/sbin/vsftpd");
        command.arg(&config);
        if geteuid().is_root() {
            // It reads no settings that are somebody else's.
            chown(&config, Some(NOBODY), Some(NOBODY)).unwrap();
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    })
}

/// A port that nobody listens at, below those that the system hands out: between here and the
/// server's start, it goes to nobody else.
fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let start = std::process::id().wrapping_mul(97);
    let next = || start.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % 20_000 + 10_000;
    let mut ports = std::iter::repeat_with(|| u16::try_from(next()).unwrap());
    ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap()
}

/// proftpd: MLSD, a user `me` with the password `secret`, and where a certificate and its key are
/// given, TLS, whose sessions must be resumed for data. `implicit` begins with it.
pub(crate) fn proftpd(root: &Path, beside: &Path, tls: Option<(&str, &str)>, implicit: bool) -> Daemon {
    fs::create_dir_all(beside).unwrap();
    let hash = Command::new("openssl").args(["passwd", "-6", "secret"]).output().unwrap().stdout;
    // It is not installed: Debian allows one FTP server at a time.
    let (unpacked, is_root) = (super::root().join("target/unpacked"), geteuid().is_root());
    let owner = if is_root { NOBODY } else { geteuid().as_raw() };
    let user = format!("me:{}:{owner}:{owner}::{}:/bin/sh\n", String::from_utf8(hash).unwrap().trim(), root.display());
    let (users, config) = (beside.join("users"), beside.join("proftpd.conf"));
    fs::write(&users, user).unwrap();
    fs::set_permissions(&users, fs::Permissions::from_mode(0o600)).unwrap();
    Daemon::start(|port| {
        let mut lines = vec![
            "ServerType standalone\nDefaultAddress 127.0.0.1\nUseIPv6 off".to_owned(),
            format!("Port {port}\nScoreboardFile {}", beside.join("scores").display()),
            format!("PidFile {}\nDelayTable none", beside.join("pid").display()),
            format!("AuthOrder mod_auth_file.c\nAuthUserFile {}", users.display()),
            "RequireValidShell off\nUseReverseDNS off\nMaxInstances none\nWtmpLog off".to_owned(),
            format!("TransferLog none\nSystemLog {}", beside.join("log").display()),
        ];
        if is_root {
            lines.push("User nobody\nGroup nogroup".to_owned());
        }
        if let Some((certificate, key)) = tls {
            lines.push(format!("ModulePath {}", unpacked.join("usr/lib/proftpd").display()));
            lines.push("LoadModule mod_tls.c\nTLSEngine on\nTLSRequired on\nTLSProtocol TLSv1.2 TLSv1.3".to_owned());
            lines.push(format!("TLSRSACertificateFile {certificate}\nTLSRSACertificateKeyFile {key}"));
            lines.push(format!("TLSLog {}", beside.join("tls.log").display()));
        }
        if implicit {
            lines.push("TLSOptions UseImplicitSSL".to_owned());
        }
        fs::write(&config, lines.join("\n") + "\n").unwrap();
        let mut command = Command::new(unpacked.join("usr/sbin/proftpd"));
        command.args(["-n", "-q", "-c"]).arg(&config);
        command
    })
}

/// A news server over a directory, in the clear, or with `nntps` or `starttls` under TLS with a
/// certificate and its key.
pub(crate) fn news(articles: &Path, tls: Option<(&str, &str, &str)>) -> Daemon {
    Daemon::start(|port| {
        let mut command = Command::new(python());
        command.arg(super::root().join("tests/judges/news.py")).arg(port.to_string()).arg(articles);
        command.args(tls.into_iter().flat_map(|(how, certificate, key)| [how, certificate, key]));
        command
    })
}

/// `sn`, a small news server of earlier days: no CAPABILITIES, no OVER, counts that are estimates,
/// numbers from 10 on.
pub(crate) struct SmallNews {
    spool: PathBuf,
    pub(crate) port: u16,
}

impl SmallNews {
    /// Serves one group of a spool, as long as the process lives: it speaks on its standard input
    /// and output, so every connection begins one.
    pub(crate) fn start(spool: &Path, group: &str) -> Self {
        fs::create_dir_all(spool).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let news = Self { spool: spool.to_owned(), port: listener.local_addr().unwrap().port() };
        news.run("snnewgroup", &[group], "");
        let mut daemon = news.command("snntpd.bin");
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (input, output) = (stream.try_clone().unwrap(), stream);
                let started = daemon.stdin(OwnedFd::from(input)).stdout(OwnedFd::from(output)).stderr(Stdio::null());
                let mut child = started.spawn().unwrap();
                std::thread::spawn(move || child.wait());
            }
        });
        news
    }

    fn command(&self, program: &str) -> Command {
        let programs = super::root().join("target/unpacked/usr/sbin");
        let mut command = Command::new(programs.join(program));
        command.env("SNROOT", &self.spool);
        command
    }

    fn run(&self, program: &str, args: &[&str], input: &str) {
        let mut command = self.command(program);
        let mut child = command.args(args).stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success(), "{program} {args:?}");
    }

    /// Posts articles, as they go over the wire.
    pub(crate) fn post(&self, articles: &str) {
        self.run("snsend", &[], articles);
    }

    /// Takes an article back.
    pub(crate) fn cancel(&self, group: &str, number: usize) {
        self.run("sncancel", &[&format!("{group}:{number}")], "");
    }
}

/// sshd with SFTP alone, over the whole file system, for the user of the test and one key.
/// `host_key` is that of the server.
pub(crate) fn sshd(beside: &Path, host_key: &Path, port: Option<u16>) -> Daemon {
    fs::create_dir_all(beside).unwrap();
    if geteuid().is_root() {
        // Where it locks itself up before anybody has logged in.
        fs::create_dir_all("/run/sshd").unwrap();
    }
    let start = |port: u16| {
        let lines = [
            format!("Port {port}"),
            "ListenAddress 127.0.0.1".to_owned(),
            format!("HostKey {}", host_key.display()),
            format!("AuthorizedKeysFile {}", beside.join("authorized").display()),
            "StrictModes no".to_owned(),
            "UsePAM no".to_owned(),
            "PasswordAuthentication no".to_owned(),
            "PermitRootLogin prohibit-password".to_owned(),
            "MaxStartups 100".to_owned(),
            "PidFile none".to_owned(),
            "Subsystem sftp internal-sftp".to_owned(),
        ];
        let config = beside.join("sshd.conf");
        fs::write(&config, lines.join("\n") + "\n").unwrap();
        let mut command = Command::new("/usr/sbin/sshd");
        command.args(["-D", "-e", "-f"]).arg(&config);
        command
    };
    match port {
        Some(port) => Daemon::start_at(port, start),
        None => Daemon::start(start),
    }
}

/// A new key pair; returns the file of the private one.
pub(crate) fn ssh_key(file: &Path, passphrase: &str) -> PathBuf {
    let _ = fs::remove_file(file);
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-t", "ed25519", "-N", passphrase, "-f"]).arg(file);
    assert!(command.status().unwrap().success());
    file.to_owned()
}

/// The name of the user of the test.
pub(crate) fn user() -> String {
    String::from_utf8(Command::new("id").arg("-un").output().unwrap().stdout).unwrap().trim().to_owned()
}
