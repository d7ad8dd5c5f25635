//! How is PostgreSQL reached?
//!
//! A [`SharedLine`] is one connection with a small runtime of its own, used by one thread. Every
//! wait has an end: a server that says nothing is away, like one that refuses. TLS verifies the
//! certificate and the name, unless the address is a socket or says `sslmode=disable`.

use super::objects::ObjectArchive;
use super::refusal::failed;
use crate::error::{Result, StoreError};
use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Client, Config, Error, NoTls, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

/// The port that goes without saying.
const USUAL_PORT: u16 = 5432;

/// What is being done while there is no connection yet.
pub(super) const CONNECT: &str = "connect";

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long an answer is waited for that takes a scan, or a sort: a connection that is lost is
/// noticed by the system before.
const LONG_PATIENCE: Duration = Duration::from_secs(6 * 3_600);

/// How long the server waits for our next statement within a transaction before it ends the
/// connection. Others may be waiting for what the transaction has locked.
const SILENCE: Duration = Duration::from_secs(60);

/// How the server notices that our end of a connection is gone: it looks after these seconds, this
/// often, and gives up an answer that nobody acknowledges (in milliseconds).
const KEEPALIVE: &str = "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;
    SET tcp_user_timeout = 20000;";

/// A connection that has rested for longer may have been closed by the server.
const RESTED: Duration = Duration::from_secs(1);

/// Where shared projects live.
#[derive(Clone, Default)]
pub struct SharedAddress {
    /// The database, as `postgres://user@host/database`.
    pub postgres: String,
    /// The password, if the address has none.
    pub password: Option<String>,
    /// A PEM file with authorities to trust besides the usual ones.
    pub authorities: Option<PathBuf>,
    /// Where the bytes are: `file:///directory` or `s3://bucket/prefix`.
    pub archive: String,
    /// How to reach S3.
    pub s3: S3Options,
}

/// How to reach S3.
#[derive(Clone, Default)]
pub struct S3Options {
    /// Another server than Amazon's.
    pub endpoint: Option<String>,
    /// The region.
    pub region: Option<String>,
    /// The id of the key.
    pub key_id: Option<String>,
    /// The secret key.
    pub secret: Option<String>,
    /// The token of a session.
    pub token: Option<String>,
}

impl fmt::Debug for SharedAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.config().map_or_else(|_| "?".to_owned(), |config| place(&config));
        f.debug_struct("SharedAddress").field("postgres", &shown).field("archive", &self.archive).finish()
    }
}

impl fmt::Debug for S3Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3Options")
            .field("endpoint", &self.endpoint)
            .field("region", &self.region)
            .finish_non_exhaustive()
    }
}

impl SharedAddress {
    /// What it means, and a file with authorities to trust if it names one.
    fn parsed(&self) -> Result<(Config, Option<PathBuf>)> {
        let (known, authorities) = without_verification(&self.postgres);
        let is_url = ["postgres://", "postgresql://"].iter().any(|scheme| known.starts_with(scheme));
        let wrong = |error: Error| {
            let cause = std::error::Error::source(&error).filter(|_| is_url);
            let why = cause.map_or_else(String::new, |why| format!(" ({why})"));
            StoreError::Shared(format!("the store's address should look like postgres://user@host/database{why}"))
        };
        let config: Config = known.parse().map_err(wrong)?;
        if config.get_hosts().is_empty() {
            return Err(StoreError::Shared(
                "the store's address names no host: postgres://user@host/database".to_owned(),
            ));
        }
        Ok((config, authorities))
    }

    /// Whether it can be understood, and the archive's address as well. Nobody is asked.
    pub fn examine(&self) -> Result<()> {
        self.config()?;
        ObjectArchive::open(self, "any").map(drop)
    }

    fn config(&self) -> Result<Config> {
        let mut config = self.parsed()?.0;
        if config.get_password().is_none()
            && let Some(password) = &self.password
        {
            config.password(password);
        }
        config.connect_timeout(Duration::from_secs(10)).keepalives_idle(Duration::from_secs(10));
        config.tcp_user_timeout(PATIENCE);
        Ok(config)
    }

    /// Which database it is, without user and password.
    pub(crate) fn place(&self) -> Result<String> {
        let config = self.config()?;
        let ports: Vec<String> = config.get_ports().iter().map(u16::to_string).collect();
        let hosts: Vec<String> = hosts(&config).collect();
        Ok(format!("{}:{}/{}", hosts.join(","), ports.join(","), config.get_dbname().unwrap_or_default()))
    }

    /// A name for that database that may be part of a path.
    pub fn key(&self) -> Result<String> {
        Ok(format!("{:016x}", xxhash_rust::xxh3::xxh3_64(self.place()?.as_bytes())))
    }

    /// Opens a connection that finds its tables in this schema.
    pub(crate) fn connect(&self, schema: Option<&str>, who: &str) -> Result<SharedLine> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|e| StoreError::StoreAway { what: "begin", source: e.into() })?;
        let mut config = self.config()?;
        config.application_name(who);
        let shown = place(&config);
        let local = config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_)));
        let plain = config.get_ssl_mode() == SslMode::Disable || local;
        let client = if plain {
            runtime.block_on(async {
                let (client, connection) = config.connect(NoTls).await?;
                tokio::spawn(connection);
                Ok(client)
            })
        } else {
            config.ssl_mode(SslMode::Require);
            let authorities = self.parsed()?.1.or_else(|| self.authorities.clone());
            let tls = MakeRustlsConnect::new(client_config(authorities.as_deref())?);
            runtime.block_on(async {
                let (client, connection) = config.connect(tls).await?;
                tokio::spawn(connection);
                Ok(client)
            })
        };
        let client = client.map_err(|e: Error| failed(CONNECT, &shown, &e))?;
        let (silence, patience) = (SILENCE, PATIENCE);
        let line = SharedLine { runtime, client, shown, silence, patience, statements: HashMap::new() };
        let path = schema.map_or_else(String::new, |schema| format!("SET search_path = {};", quoted(schema)));
        line.run(
            "connect",
            &format!("{path} {KEEPALIVE} SET default_transaction_isolation = 'read committed'; SET client_min_messages = warning"),
        )?;
        Ok(line)
    }
}

/// One connection to PostgreSQL, used by one thread.
pub(crate) struct SharedLine {
    runtime: Runtime,
    client: Client,
    shown: String,
    /// How long the server lets a transaction rest.
    silence: Duration,
    /// How long an answer is waited for.
    patience: Duration,
    statements: HashMap<String, Statement>,
}

impl SharedLine {
    /// The connection itself, for futures given to [`Self::wait`].
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Whether it is of no use any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Hears what the server has said meanwhile: that it has closed the connection, mostly.
    fn listen(&self) {
        self.runtime.block_on(async { tokio::time::sleep(Duration::from_millis(1)).await });
    }

    /// Waits for an answer, but not for ever.
    pub(crate) fn wait<T>(
        &self,
        what: &'static str,
        answer: impl Future<Output = std::result::Result<T, Error>>,
    ) -> Result<T> {
        self.wait_for(self.patience, answer, |error| failed(what, &self.shown, &error))
            .unwrap_or_else(|silent| Err(StoreError::StoreAway { what, source: silent.into() }))
    }

    /// Waits for what may take the server long, such as a scan of a table.
    pub(crate) fn wait_long<T>(
        &self,
        what: &'static str,
        answer: impl Future<Output = std::result::Result<T, Error>>,
    ) -> Result<T> {
        self.wait_for(LONG_PATIENCE, answer, |error| failed(what, &self.shown, &error))
            .unwrap_or_else(|silent| Err(StoreError::StoreAway { what, source: silent.into() }))
    }

    /// Waits so long for an answer, of which failures are told as the caller says; the error is
    /// that there was none.
    pub(crate) fn wait_for<T, E>(
        &self,
        time: Duration,
        answer: impl Future<Output = std::result::Result<T, Error>>,
        told: impl FnOnce(Error) -> E,
    ) -> std::result::Result<std::result::Result<T, E>, tokio::time::error::Elapsed> {
        self.runtime.block_on(async { Ok(tokio::time::timeout(time, answer).await?.map_err(told)) })
    }

    /// What a failure of this connection is.
    pub(crate) fn failed(&self, what: &'static str, error: &Error) -> StoreError {
        failed(what, &self.shown, error)
    }

    /// The server's timeline: another one after each failover. A standby has none of its own, and
    /// is to be asked again when it has taken over.
    pub(crate) fn timeline(&self) -> Result<i64> {
        let sql = "SELECT CASE WHEN pg_is_in_recovery() THEN 0 ELSE
                     ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint END";
        match self.wait("ask for the timeline", self.client.query_one(sql, &[]))?.get(0) {
            0 => Err(StoreError::StoreAway { what: "write", source: "the server is a standby".into() }),
            timeline => Ok(timeline),
        }
    }

    /// Runs statements without a result.
    pub(crate) fn run(&self, what: &'static str, sql: &str) -> Result<()> {
        self.wait(what, self.client.batch_execute(sql))
    }

    /// Lets the server end transactions that rest for longer than this.
    pub(crate) fn resting_at_most(self, silence: Duration) -> Self {
        Self { silence, ..self }
    }

    /// Begins a transaction that changes something. The server rolls it back if we fall silent in
    /// it, so that a process that is stopped there does not keep others waiting for its locks.
    pub(crate) fn begin(&self, what: &'static str) -> Result<()> {
        let silence = self.silence.as_millis();
        self.run(what, &format!("BEGIN; SET LOCAL idle_in_transaction_session_timeout = {silence}"))
    }

    /// A statement, prepared once for the connection.
    pub(crate) fn prepared(&mut self, what: &'static str, sql: &str) -> Result<Statement> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.wait(what, self.client.prepare(sql))?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

/// Keeps a line and opens another when it was lost.
pub(crate) struct Redial {
    address: Arc<SharedAddress>,
    schema: String,
    who: String,
    line: Option<SharedLine>,
    used: Instant,
    /// Whose line it is, if a worker's.
    joined: Option<JoinedAs>,
    /// How long a lock and an answer are waited for, if not as long as usual.
    waits: Option<(Duration, Duration)>,
}

/// The worker that a line belongs to.
pub(crate) struct JoinedAs {
    /// Its name.
    pub(crate) name: String,
    /// The timeline in which it joined.
    pub(crate) timeline: i64,
    /// How long the server lets its transactions rest.
    pub(crate) silence: Duration,
}

impl Redial {
    pub(crate) fn new(address: Arc<SharedAddress>, schema: &str, who: &str) -> Self {
        let (schema, who) = (schema.to_owned(), who.to_owned());
        Self { address, schema, who, line: None, used: Instant::now(), joined: None, waits: None }
    }

    /// The same for a worker: it reaches only a server of the timeline in which it joined. After a
    /// failover the store may have forgotten what it told us: our numbers, our leases, that we are
    /// there at all.
    pub(crate) fn of_worker(self, joined: JoinedAs) -> Self {
        Self { joined: Some(joined), ..self }
    }

    /// The same for whoever has something better to do than to wait for a lock, or for an answer
    /// that never comes.
    pub(crate) fn waiting_at_most(self, lock: Duration, answer: Duration) -> Self {
        Self { waits: Some((lock, answer)), ..self }
    }

    /// The line, opened if need be.
    pub(crate) fn line(&mut self) -> Result<&mut SharedLine> {
        if let Some(line) = self.line.as_ref().filter(|_| self.used.elapsed() > RESTED) {
            line.listen();
        }
        self.used = Instant::now();
        if self.line.as_ref().is_none_or(SharedLine::is_closed) {
            self.line = None;
            let mut line = self.address.connect(Some(&self.schema), &self.who)?;
            if let Some(joined) = &self.joined {
                if line.timeline()? != joined.timeline {
                    return Err(StoreError::Fenced { worker: joined.name.clone() });
                }
                line = line.resting_at_most(joined.silence);
            }
            if let Some((lock, answer)) = self.waits {
                line.run("connect", &format!("SET lock_timeout = {}", lock.as_millis()))?;
                line.patience = answer;
            }
            self.line = Some(line);
        }
        self.line.as_mut().ok_or(StoreError::Stopped)
    }

    /// Does something over the line. After a failure the line is hung up: what it was in the middle
    /// of is rolled back by the server.
    pub(crate) fn with<T>(&mut self, work: impl FnOnce(&mut SharedLine) -> Result<T>) -> Result<T> {
        let done = work(self.line()?);
        if done.is_err() {
            self.line = None;
        }
        done
    }
}

/// An address without what other programs call the verification of certificates, which is always
/// made here, and the file of authorities that it names.
fn without_verification(url: &str) -> (String, Option<PathBuf>) {
    let Some((place, query)) = url.split_once('?') else { return (url.to_owned(), None) };
    let (mut kept, mut authorities) = (Vec::new(), None);
    for pair in query.split('&') {
        match pair.split_once('=') {
            Some(("sslmode", "verify-full" | "verify-ca")) => {}
            Some(("sslrootcert", path)) => {
                authorities = Some(PathBuf::from(path.replace("%2F", "/").replace("%2f", "/")));
            }
            _ => kept.push(pair),
        }
    }
    let mark = if kept.is_empty() { "" } else { "?" };
    (format!("{place}{mark}{}", kept.join("&")), authorities)
}

/// Whom an error speaks of: never a password.
fn place(config: &Config) -> String {
    let ports = config.get_ports();
    let port = |at: usize| ports.get(at).or(ports.first()).copied().filter(|port| *port != USUAL_PORT);
    let shown = |(at, host): (usize, String)| port(at).map_or_else(|| host.clone(), |port| format!("{host}:{port}"));
    let hosts: Vec<_> = hosts(config).enumerate().map(shown).collect();
    format!("PostgreSQL at {} (database {})", hosts.join(","), config.get_dbname().unwrap_or("of the user"))
}

fn hosts(config: &Config) -> impl Iterator<Item = String> {
    config.get_hosts().iter().map(|host| match host {
        Host::Tcp(name) => name.clone(),
        Host::Unix(path) => path.display().to_string(),
    })
}

/// An identifier in quotes.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn client_config(authorities: Option<&Path>) -> Result<rustls::ClientConfig> {
    let mut roots = rustls::RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    if let Some(path) = authorities {
        use rustls::pki_types::{CertificateDer, pem::PemObject as _};
        let read = CertificateDer::pem_file_iter(path)
            .map_err(|e| StoreError::Shared(format!("cannot read the authorities in {}: {e}", path.display())))?;
        for certificate in read {
            let added = certificate.map_err(|e| e.to_string()).and_then(|c| roots.add(c).map_err(|e| e.to_string()));
            added.map_err(|e| StoreError::Shared(format!("{} holds no certificate: {e}", path.display())))?;
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|e| StoreError::Shared(format!("TLS: {e}")))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

    use super::*;

    #[test]
    fn what_other_programs_call_verification_is_understood() {
        let known = |url: &str| without_verification(url);
        let plain = "postgres://orb@db.example/crawls";
        assert_eq!(known(plain), (plain.to_owned(), None));
        assert_eq!(known(&format!("{plain}?sslmode=verify-full")), (plain.to_owned(), None));
        let both = known(&format!("{plain}?sslmode=verify-ca&sslrootcert=%2Fetc%2Fca.pem&connect_timeout=3"));
        assert_eq!(both, (format!("{plain}?connect_timeout=3"), Some(PathBuf::from("/etc/ca.pem"))));
        let off = format!("{plain}?sslmode=disable");
        assert_eq!(known(&off), (off.clone(), None));
    }

    #[test]
    fn an_address_that_means_nothing_is_refused_with_the_reason() {
        let refused = |postgres: &str| {
            let address = SharedAddress { postgres: postgres.to_owned(), ..SharedAddress::default() };
            address.config().unwrap_err().to_string()
        };
        assert!(refused("postgres:///crawls").contains("names no host"));
        assert!(refused("postgres://db/crawls?sslmode=never").contains("sslmode"));
        assert!(refused("localhost/crawls").contains("postgres://user@host/database"));
    }

    #[test]
    fn no_secret_is_shown() {
        let s3 = S3Options { secret: Some("s3cret".to_owned()), ..S3Options::default() };
        let postgres = "postgres://orb:s3cret@db.example:5433/crawls".to_owned();
        let address = SharedAddress { postgres, password: Some("s3cret".to_owned()), s3, ..SharedAddress::default() };
        let shown = format!("{address:?} {:?}", address.s3);
        assert!(shown.contains("db.example") && shown.contains("crawls") && !shown.contains("s3cret"), "{shown}");
    }
}
