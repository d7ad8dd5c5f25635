//! Who speaks SSH?
//!
//! OpenSSH's `ssh`, which people have and which is kept safe by others: it proves who we are and
//! who the server is, and hands what is inside, SFTP, to us. It gets no way out of its own. The
//! line opens the connection, to the address that was checked, and `ssh` reaches it through a port
//! of loopback that accepts one connection: so the guard, the connection caps, the proxy and the
//! bandwidth are the line's as for every protocol. It reads none of the user's settings, agents or
//! keys (`-F none`), only what the project names.

use super::keys::{HostKeys, alias_of};
use crate::keyring::Login;
use crate::line::ThrottledTime;
use crate::lines::local;
use crate::sessions::{BrokenOff, SessionPlace};
use crate::{FetchConfig, Line, Socket};
use orb_page::{Failure, FailureKind, Timings};
use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as PlainStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, copy_bidirectional_with_sizes};
use tokio::net::{TcpListener, UnixStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How long the program may take to say why it ends.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// How much of that is read.
const MOST_WORDS: u64 = 16 * 1024;
/// How much is relayed at a time.
const RELAYED: usize = 64 * 1024;
/// The variable by which the password reaches this program again when `ssh` starts it to ask.
pub const PASSWORD_VARIABLE: &str = "ORB_SSH_PASSWORD";

/// A running `ssh`. Dropping it ends the process.
#[derive(Debug)]
pub(super) struct SshProgram {
    child: Child,
    words: UnixStream,
    relay: JoinHandle<()>,
    hold: Arc<ThrottledTime>,
    pub(super) peer: Option<SocketAddr>,
}

/// What it is started with.
pub(super) struct SshCall<'a> {
    line: &'a Line,
    pub(super) config: &'a FetchConfig,
    pub(super) place: &'a SessionPlace,
    login: Option<Login<'a>>,
    /// Whether no key of the server was known before.
    is_first: bool,
}

impl<'a> SshCall<'a> {
    pub(super) fn new(
        line: &'a Line,
        config: &'a FetchConfig,
        place: &'a SessionPlace,
        login: Option<Login<'a>>,
    ) -> Self {
        let mut call = Self { line, config, place, login, is_first: false };
        call.is_first = config.host_keys.known(&call.alias()).is_empty();
        call
    }

    /// Reports the server's key, if it is seen for the first time.
    pub(super) fn note_key(&self) {
        if self.is_first {
            self.config.host_keys.note(&self.alias());
        }
    }

    /// Connects and starts the program; returns it with its standard output and input.
    pub(super) async fn start(&self, timings: &mut Timings) -> Result<(SshProgram, [UnixStream; 2]), Failure> {
        let permit = self.line.sockets().permit(&self.place.to).await;
        let socket = self.line.open_permitted(&self.place.to, self.place.addr, permit.into(), timings).await?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(|e| local(&e))?;
        let port = listener.local_addr().map_err(|e| local(&e))?.port();
        let mut command = Command::new(&self.config.ssh_program);
        command.args(self.arguments(port)?);
        self.say_who(&mut command);
        let (child, [output, words, input]) =
            spawn(&mut command).map_err(|e| not_started(&e, &self.config.ssh_program))?;
        let (peer, hold) = (socket.peer(), socket.hold());
        let relay = tokio::spawn(relay(listener, socket, self.config.timeouts.connect));
        Ok((SshProgram { child, words, relay, hold, peer }, [output, input]))
    }

    fn alias(&self) -> String {
        alias_of(&self.place.to.host, self.place.to.port)
    }

    /// The command line, for a port of loopback that leads to the server.
    fn arguments(&self, port: u16) -> Result<Vec<OsString>, Failure> {
        let keys: &HostKeys = &self.config.host_keys;
        let known = keys.file().map_or_else(|| Ok("none".to_owned()), quoted)?;
        let identity = match self.login.as_ref().and_then(|login| login.key_file) {
            Some(file) => quoted(file)?,
            None => "none".to_owned(),
        };
        let has_password = self.login.as_ref().is_some_and(|login| !login.password.is_empty());
        let has_key = identity != "none";
        let yes = |is: bool| if is { "yes" } else { "no" };
        let options = [
            ("HostName", Ipv4Addr::LOCALHOST.to_string()),
            ("Port", port.to_string()),
            ("HostKeyAlias", self.alias()),
            ("CheckHostIP", "no".to_owned()),
            ("UserKnownHostsFile", known),
            ("GlobalKnownHostsFile", "none".to_owned()),
            ("StrictHostKeyChecking", if keys.takes_new() { "accept-new" } else { "yes" }.to_owned()),
            ("UpdateHostKeys", "no".to_owned()),
            ("IdentityFile", identity),
            ("IdentitiesOnly", "yes".to_owned()),
            ("IdentityAgent", "none".to_owned()),
            ("PubkeyAuthentication", yes(has_key).to_owned()),
            ("PasswordAuthentication", yes(has_password && !has_key).to_owned()),
            ("KbdInteractiveAuthentication", yes(has_password && !has_key).to_owned()),
            ("GSSAPIAuthentication", "no".to_owned()),
            ("HostbasedAuthentication", "no".to_owned()),
            ("NumberOfPasswordPrompts", "1".to_owned()),
            ("BatchMode", yes(!has_password).to_owned()),
            ("ConnectTimeout", self.config.timeouts.head.as_secs().max(1).to_string()),
            ("LogLevel", "ERROR".to_owned()),
            ("ProxyCommand", "none".to_owned()),
            ("ClearAllForwardings", "yes".to_owned()),
            ("PermitLocalCommand", "no".to_owned()),
            ("ControlMaster", "no".to_owned()),
            ("ControlPath", "none".to_owned()),
            ("ForwardAgent", "no".to_owned()),
            ("ForwardX11", "no".to_owned()),
            ("Compression", "no".to_owned()),
        ];
        let mut arguments: Vec<OsString> = ["-F", "none", "-T"].map(OsString::from).to_vec();
        for (name, value) in options {
            arguments.push("-o".into());
            arguments.push(format!("{name}={value}").into());
        }
        let user = self.login.as_ref().map_or("anonymous", |login| login.user);
        arguments.extend(["-l", user, "-s", "server", "sftp"].map(OsString::from));
        Ok(arguments)
    }

    /// The password goes by the environment, to this program, which `ssh` starts to ask for it.
    fn say_who(&self, command: &mut Command) {
        command.env_remove("SSH_AUTH_SOCK").env_remove("DISPLAY").env_remove(PASSWORD_VARIABLE);
        if let Some(login) = self.login.as_ref().filter(|login| !login.password.is_empty()) {
            command.env("SSH_ASKPASS", format!("/proc/{}/exe", std::process::id()));
            command.env("SSH_ASKPASS_REQUIRE", "force").env(PASSWORD_VARIABLE, login.password);
        }
    }
}

impl SshProgram {
    /// How long the bandwidth limit has delayed the connection.
    pub(super) fn held(&self) -> Duration {
        self.hold.so_far()
    }

    /// Why it has ended, as far as it says.
    pub(super) async fn reason(&mut self, call: &SshCall<'_>) -> BrokenOff {
        let mut said = Vec::new();
        let mut words = (&mut self.words).take(MOST_WORDS);
        let _ = timeout(LAST_WORDS, words.read_to_end(&mut said)).await;
        let failure = explained(&String::from_utf8_lossy(&said), &call.config.host_keys, &call.alias());
        let is_refused = matches!(failure.kind, FailureKind::HostKey | FailureKind::Malformed);
        if is_refused { BrokenOff::refused(failure) } else { failure.into() }
    }
}

impl Drop for SshProgram {
    fn drop(&mut self) {
        // It has ended by itself, or has nothing left to do; either way it must not stay a zombie.
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.relay.abort();
    }
}

/// Starts it with sockets for its standard output, for what it says to people, and for its standard
/// input. It leads a process group of its own: what the user types at the terminal is not meant for
/// it.
fn spawn(command: &mut Command) -> io::Result<(Child, [UnixStream; 3])> {
    let pairs = [PlainStream::pair()?, PlainStream::pair()?, PlainStream::pair()?];
    let [(output, its_output), (words, its_words), (input, its_input)] = pairs;
    command.stdin(OwnedFd::from(its_input)).stdout(OwnedFd::from(its_output)).stderr(OwnedFd::from(its_words));
    let child = command.process_group(0).spawn();
    // The command holds the other ends, which only the program may keep open.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = child?;
    let ours = |stream: PlainStream| {
        stream.set_nonblocking(true)?;
        UnixStream::from_std(stream)
    };
    Ok((child, [ours(output)?, ours(words)?, ours(input)?]))
}

/// Carries bytes between the program and the server until either is done.
async fn relay(listener: TcpListener, mut server: Socket, patience: Duration) {
    let Ok(Ok((mut program, _))) = timeout(patience, listener.accept()).await else { return };
    drop(listener);
    let _ = program.set_nodelay(true);
    // How it ends is told by the program.
    let _ = copy_bidirectional_with_sizes(&mut program, &mut server, RELAYED, RELAYED).await;
    server.close();
}

/// A path as a value of OpenSSH's settings, which expand some characters.
fn quoted(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().filter(|text| !text.contains(['"', '\\', '\n', '\r']) && !text.contains("${"));
    let text = text.ok_or_else(|| {
        let line = format!("ssh cannot be told the path {}", path.display());
        Failure::new(FailureKind::Local, line)
    })?;
    Ok(format!("\"{}\"", text.replace('%', "%%")))
}

fn not_started(error: &io::Error, program: &Path) -> Failure {
    let program = program.display();
    match error.kind() {
        io::ErrorKind::NotFound => {
            let line =
                format!("sftp needs the program {program}: install OpenSSH (openssh-client), or set sftp.program");
            Failure::new(FailureKind::Unsupported, line)
        }
        _ => Failure::new(FailureKind::Local, format!("{program} cannot be started: {error}")),
    }
}

/// What the program's words mean.
fn explained(words: &str, keys: &HostKeys, alias: &str) -> Failure {
    let said = |what: &str| words.contains(what);
    let file = keys.file().map(|file| file.display().to_string()).unwrap_or_default();
    if said("IDENTIFICATION HAS CHANGED") || said("host key for") && said("has changed") {
        let known = keys.known(alias).join(", ");
        let line = format!(
            "the server has another host key than before ({known}); \
             if that is right, remove the line of {alias} from {file}"
        );
        return Failure::new(FailureKind::HostKey, line);
    }
    if said("host key is known") || said("Host key verification failed") {
        return Failure::new(FailureKind::HostKey, format!("the server's host key is not in {file}"));
    }
    if said("Permission denied") || said("Too many authentication failures") {
        let line = format!("the server does not let us in: {} ([[auth]] with user and key_file)", last_line(words));
        return Failure::new(FailureKind::Malformed, line);
    }
    if said("subsystem request failed") {
        return Failure::new(FailureKind::Malformed, "the server has no SFTP");
    }
    let line = match last_line(words) {
        "" => "the connection ended without an answer".to_owned(),
        line => format!("the connection ended: {line}"),
    };
    Failure::new(FailureKind::Protocol, line)
}

/// The last line that says something, without what only a terminal understands.
fn last_line(words: &str) -> &str {
    let line = words.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    let clean = line.find(char::is_control).map_or(line, |at| &line[..at]);
    clean.get(..200).unwrap_or(clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_quoted_for_openssh() {
        assert_eq!(quoted(Path::new("/a b/100%")).unwrap(), "\"/a b/100%%\"");
        for wrong in ["/a\"b", "/a\\b", "/${HOME}", "/a\nb"] {
            assert!(quoted(Path::new(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_ssh_says_is_a_failure_of_its_kind() {
        let keys = HostKeys::new(None, Some("/nowhere/known_hosts".into()));
        let kind = |words: &str| explained(words, &keys, "h.test").kind;
        let changed = "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\r\nHost key verification failed.\r\n";
        assert_eq!(kind(changed), FailureKind::HostKey);
        assert_eq!(kind("Host key verification failed."), FailureKind::HostKey);
        assert_eq!(kind("me@h: Permission denied (publickey)."), FailureKind::Malformed);
        assert_eq!(kind("subsystem request failed on channel 0"), FailureKind::Malformed);
        assert_eq!(kind("kex_exchange_identification: Connection closed"), FailureKind::Protocol);
        assert_eq!(explained("", &keys, "h").detail, "the connection ended without an answer");
        assert!(explained(changed, &keys, "h.test").detail.contains("/nowhere/known_hosts"));
    }

    #[test]
    fn a_program_that_is_not_there_is_told_with_what_to_install() {
        let failure = not_started(&io::Error::from(io::ErrorKind::NotFound), Path::new("ssh"));
        assert_eq!(failure.kind, FailureKind::Unsupported);
        assert!(failure.detail.contains("openssh-client"));
    }
}
