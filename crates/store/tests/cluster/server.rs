//! A PostgreSQL server of the test's own.

use super::until;
use rustix::process::{Pid, Signal, geteuid, kill_process};
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;
use tokio_postgres::NoTls;

/// The user a server runs as when the tests run as root, which it refuses: nobody.
const NOBODY: u32 = 65_534;

/// A server in its own directory, until it is dropped.
pub struct Server {
    dir: TempDir,
    server: Option<Child>,
    pub port: u16,
}

impl Server {
    /// Creates a database cluster and starts a server for it.
    pub fn start() -> Self {
        let dir = TempDir::new().unwrap();
        if geteuid().is_root() {
            chown(dir.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let mut make = program(dir.path(), "initdb");
        make.arg("-D").arg(dir.path().join("cluster")).args([
            "-U",
            "orb",
            "-A",
            "trust",
            "-N",
            "--locale=C",
            "--encoding=UTF8",
        ]);
        assert!(make.stdout(Stdio::null()).status().unwrap().success());
        // Free now; a server that finds it taken fails the test.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut server = Self { dir, server: None, port };
        server.run();
        server
    }

    fn run(&mut self) {
        let mut serve = program(self.dir.path(), "postgres");
        serve.arg("-D").arg(self.dir.path().join("cluster")).arg("-k").arg(self.dir.path());
        serve.args(["-p", &self.port.to_string(), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]);
        serve.args(["-c", "shared_buffers=16MB", "-c", "max_connections=60", "-c", "log_min_messages=fatal"]);
        serve.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.server = Some(serve.spawn().unwrap());
        until("the server's answer", || self.try_number("SELECT 1::bigint").is_some());
    }

    /// Stops the server as a crash would.
    pub fn crash(&mut self) {
        let mut server = self.server.take().unwrap();
        kill_process(Pid::from_child(&server), Signal::QUIT).unwrap();
        server.wait().unwrap();
    }

    /// Starts it again.
    pub fn restart(&mut self) {
        self.run();
    }

    /// Its address, reached at this port.
    pub fn url_at(&self, port: u16) -> String {
        format!("postgres://orb@127.0.0.1:{port}/postgres?sslmode=disable")
    }

    /// Its address.
    pub fn url(&self) -> String {
        self.url_at(self.port)
    }

    fn try_number(&self, sql: &str) -> Option<i64> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&self.url(), NoTls).await.ok()?;
            tokio::spawn(connection);
            Some(client.query_one(sql, &[]).await.unwrap_or_else(|e| panic!("{sql}: {e:?}")).get(0))
        })
    }

    /// The number that a query returns.
    pub fn number(&self, sql: &str) -> i64 {
        self.try_number(sql).expect("the server answers")
    }

    /// The rows that a query returns.
    pub fn rows(&self, sql: &str) -> Vec<tokio_postgres::Row> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&self.url(), NoTls).await.unwrap();
            tokio::spawn(connection);
            client.query(sql, &[]).await.unwrap_or_else(|e| panic!("{sql}: {e:?}"))
        })
    }

    /// The processor time that the connections of our program have taken. What the server does by
    /// itself (autovacuum, checkpoints, writing its log) is not in it.
    pub fn cpu(&self) -> std::time::Duration {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let pids: Vec<i32> = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&self.url(), NoTls).await.unwrap();
            tokio::spawn(connection);
            let sql = "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'orb %'";
            client.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
        });
        let ticks: u64 = pids.into_iter().map(ticks_of).sum();
        std::time::Duration::from_millis(ticks * 1_000 / rustix::param::clock_ticks_per_second())
    }

    /// Holds a snapshot open until it is dropped.
    pub fn hold_snapshot(&self) -> HeldSnapshot {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let client = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&self.url(), NoTls).await.unwrap();
            tokio::spawn(connection);
            client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1").await.unwrap();
            client
        });
        HeldSnapshot { _client: client, _runtime: runtime }
    }

    /// A connection of this name that has run these statements and is silent since, until it is
    /// dropped.
    pub fn fall_silent(&self, name: &str, sql: &str) -> HeldSnapshot {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let client = runtime.block_on(async {
            let mut config: tokio_postgres::Config = self.url().parse().unwrap();
            let (client, connection) = config.application_name(name).connect(NoTls).await.unwrap();
            tokio::spawn(connection);
            client.batch_execute(sql).await.unwrap();
            client
        });
        HeldSnapshot { _client: client, _runtime: runtime }
    }

    /// Runs statements.
    pub fn run_sql(&self, sql: &str) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&self.url(), NoTls).await.unwrap();
            tokio::spawn(connection);
            client.batch_execute(sql).await.unwrap_or_else(|e| panic!("{sql}: {e:?}"));
        });
    }
}

/// A transaction that sees what was there when it began.
pub struct HeldSnapshot {
    _client: tokio_postgres::Client,
    _runtime: tokio::runtime::Runtime,
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut server) = self.server.take() {
            let _ = kill_process(Pid::from_child(&server), Signal::QUIT);
            let _ = server.wait();
        }
    }
}

/// What a process has used of the processor, in ticks of the kernel's clock.
fn ticks_of(pid: i32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    let fields: Vec<&str> = fields.split(' ').collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
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
