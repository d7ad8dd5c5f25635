//! How does a test get its own PostgreSQL server?

use super::orb::Running;
use super::tls::server_files;
use postgres::{Client, NoTls};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use std::fs::Permissions;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// The password of its only user.
pub(crate) const PASSWORD: &str = "s3cret-of-the-test";

/// The user a server runs as when the tests run as root, which it refuses: nobody.
const NOBODY: u32 = 65_534;

/// What a server with Citus is started with.
const CITUS: [&str; 4] = [
    "shared_preload_libraries=citus",
    "citus.node_conninfo=sslmode=disable",
    "citus.shard_count=8",
    "citus.enable_statistics_collection=off",
];

/// A server in its own directory, reached by a socket in it, until it is dropped.
pub(crate) struct Postgres {
    dir: TempDir,
    server: Option<Child>,
    /// The port where others reach it, if they do.
    port: Option<u16>,
    /// What it is started with.
    settings: Vec<String>,
}

impl Postgres {
    /// Creates a database cluster and starts a server for it.
    pub(crate) fn start() -> Self {
        Self::start_as(None, |_| Vec::new())
    }

    /// One that is also reached at 127.0.0.1 and 127.0.0.2, with a certificate for the former, and
    /// the certificate of that one's issuer.
    pub(crate) fn start_secure() -> (Self, PathBuf) {
        let mut issued = PathBuf::new();
        let postgres = Self::start_as(Some(free_port()), |dir| {
            let (certificate, key, issuer) = server_files(&dir.join("tls"));
            std::fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
            if geteuid().is_root() {
                chown(&certificate, Some(NOBODY), Some(NOBODY)).unwrap();
                chown(&key, Some(NOBODY), Some(NOBODY)).unwrap();
            }
            issued = issuer.into();
            let files = [format!("ssl_cert_file={certificate}"), format!("ssl_key_file={key}")];
            let more = ["ssl=on", "listen_addresses=127.0.0.1,127.0.0.2"].map(str::to_owned);
            files.into_iter().chain(more).collect()
        });
        (postgres, issued)
    }

    /// Servers with Citus, the first of which knows the others; nothing where it is not installed.
    pub(crate) fn start_citus(servers: usize) -> Option<Vec<Self>> {
        let versions = std::fs::read_dir("/usr/share/postgresql").into_iter().flatten();
        let mut controls = versions.map(|entry| entry.unwrap().path().join("extension/citus.control"));
        controls.find(|path| path.exists())?;
        let settings = || CITUS.map(str::to_owned).to_vec();
        let made: Vec<Self> = (0..servers).map(|_| Self::start_as(Some(free_port()), |_| settings())).collect();
        made.iter().for_each(|server| server.client().batch_execute("CREATE EXTENSION citus").unwrap());
        let (mut first, port) = (made[0].client(), |server: &Self| i32::from(server.port.unwrap()));
        first.execute("SELECT citus_set_coordinator_host('127.0.0.1', $1)", &[&port(&made[0])]).unwrap();
        for server in &made[1..] {
            first.execute("SELECT citus_add_node('127.0.0.1', $1)", &[&port(server)]).unwrap();
        }
        // The first keeps rows of its own as well, as it must where it is alone.
        let keeps = "SELECT citus_set_node_property('127.0.0.1', $1, 'shouldhaveshards', true)";
        first.execute(keeps, &[&port(&made[0])]).unwrap();
        Some(made)
    }

    /// A standby that follows it, reached by a socket of its own.
    pub(crate) fn standby(&self) -> Self {
        let dir = TempDir::new().unwrap();
        if geteuid().is_root() {
            chown(dir.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let mut copy = program(dir.path(), "pg_basebackup");
        copy.arg("-d").arg(format!("{} password={PASSWORD}", self.without_password()));
        copy.arg("-D").arg(dir.path().join("cluster")).args(["-R", "-c", "fast", "--no-sync"]);
        Running::start(copy).finish().expect(0);
        let mut standby = Self { dir, server: None, port: None, settings: Vec::new() };
        standby.serve();
        standby
    }

    /// A standby follows nobody any more: what is committed from now on it will never know.
    pub(crate) fn lose_sight(&self) {
        let mut client = self.client();
        client.batch_execute("ALTER SYSTEM SET primary_conninfo = ''").unwrap();
        client.batch_execute("SELECT pg_reload_conf()").unwrap();
        super::until("it has hung up", || self.number("SELECT count(*) FROM pg_stat_wal_receiver") == 0);
    }

    /// A standby takes over.
    pub(crate) fn promote(&self) {
        self.client().batch_execute("SELECT pg_promote()").unwrap();
    }

    fn start_as(port: Option<u16>, settings: impl FnOnce(&Path) -> Vec<String>) -> Self {
        let dir = TempDir::new().unwrap();
        let password = dir.path().join("password");
        std::fs::write(&password, PASSWORD).unwrap();
        if geteuid().is_root() {
            chown(dir.path(), Some(NOBODY), Some(NOBODY)).unwrap();
            chown(&password, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let mut make = program(dir.path(), "initdb");
        make.arg("-D").arg(dir.path().join("cluster")).arg(format!("--pwfile={}", password.display()));
        make.args(["-U", "orb", "-A", "scram-sha-256", "-N", "--locale=C", "--encoding=UTF8"]);
        if port.is_some() {
            // Servers of a Citus cluster reach each other without a password.
            make.arg("--auth-host=trust");
        }
        Running::start(make).finish().expect(0);
        let settings = settings(dir.path());
        let mut postgres = Self { dir, server: None, port, settings };
        postgres.serve();
        postgres
    }

    /// Starts the server, which was stopped.
    pub(crate) fn serve(&mut self) {
        let dir = self.dir.path();
        let mut serve = program(dir, "postgres");
        serve.arg("-D").arg(dir.join("cluster")).arg("-k").arg(dir);
        serve.args(["-c", "fsync=off", "-c", "shared_buffers=16MB"]);
        match self.port {
            None => serve.args(["-c", "listen_addresses="]),
            Some(port) => serve.args(["-c", "listen_addresses=127.0.0.1", "-p", &port.to_string()]),
        };
        self.settings.iter().for_each(|setting| _ = serve.args(["-c", setting.as_str()]));
        let server = serve.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        self.server = Some(server);
        super::until("the server answers", || Client::connect(&self.url(), NoTls).is_ok());
    }

    /// Stops the server as `pg_ctl stop -m immediate` does.
    pub(crate) fn stop(&mut self) {
        if let Some(mut server) = self.server.take() {
            let _ = kill_process(Pid::from_child(&server), Signal::QUIT);
            let _ = server.wait();
        }
    }

    /// The socket it listens at.
    pub(crate) fn socket(&self) -> PathBuf {
        self.dir.path().join(format!(".s.PGSQL.{}", self.port.unwrap_or(5432)))
    }

    /// Its port in a URL, where that is not the usual one.
    fn at(&self) -> String {
        self.port.map_or_else(String::new, |port| format!(":{port}"))
    }

    /// Its URL, including the password.
    pub(crate) fn url(&self) -> String {
        self.with_password(PASSWORD)
    }

    /// Its URL at one of its addresses, without a password.
    pub(crate) fn url_at(&self, address: &str) -> String {
        format!("postgres://orb@{address}{}/postgres", self.at())
    }

    /// Its URL with this password.
    pub(crate) fn with_password(&self, password: &str) -> String {
        let socket = self.dir.path().to_str().unwrap().replace('/', "%2F");
        format!("postgres://orb:{password}@{socket}{}/postgres", self.at())
    }

    /// Its URL without a password, which comes from the environment.
    pub(crate) fn open_url(&self) -> String {
        let socket = self.dir.path().to_str().unwrap().replace('/', "%2F");
        format!("postgres://orb@{socket}{}/postgres", self.at())
    }

    /// Its parameters without a password.
    pub(crate) fn without_password(&self) -> String {
        format!("host={} user=orb dbname=postgres", self.dir.path().display())
    }

    /// A connection to it.
    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.url(), NoTls).unwrap()
    }

    /// The single number that a query returns.
    pub(crate) fn number(&self, sql: &str) -> i64 {
        self.client().query_one(sql, &[]).unwrap_or_else(|error| panic!("{sql}: {error}")).get(0)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A port that is free now; a server that finds it taken fails the test.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A program of the newest installed PostgreSQL, run as a user it accepts.
fn program(dir: &Path, name: &str) -> Command {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let mut found: Vec<PathBuf> = versions.map(|entry| entry.unwrap().path().join("bin").join(name)).collect();
    found.retain(|path| path.exists());
    found.sort();
    let program = found.pop().expect("PostgreSQL is missing; `cargo xtask setup` installs it");
    let mut command = Command::new(program);
    command.current_dir(dir).env_remove("PGPASSWORD");
    if geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}
