//! How does a server start and stop?

use crate::accept::accept;
use crate::desk::Desk;
use crate::error::ServeError;
use crate::first::FirstLink;
use crate::gate::{AllowedHosts, KnownVisitors, ProxyRange, TrustedProxies, front};
use crate::launch::{Launch, Launcher};
use crate::scheduler::keep_schedule;
use crate::shared::{SharedProjects, keep_shared_schedule};
use crate::state::AppState;
use crate::viewing::ViewHost;
use crate::websub::keep_subscriptions;
use orb_crawl::{SharedAddress, Stop, machine};
use orb_project::Home;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject as _};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig, crypto};
use url::Url;

/// How many connections wait in the kernel until they are accepted.
const BACKLOG: i32 = 1_024;

/// What to serve, and where.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The home.
    pub home: PathBuf,
    /// Where to listen.
    pub listen: SocketAddr,
    /// Names to answer to, besides those of loopback and the address itself.
    pub hosts: Vec<String>,
    /// The name on which archived pages are shown, apart from everything else.
    pub view_host: Option<String>,
    /// Certificates and private key, both PEM, for TLS.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// How long a TLS handshake, the head of a request or the silence between two may take.
    pub patience: Duration,
    /// How runs are started.
    pub launch: Launch,
    /// Where shared projects are, if they are shown, too.
    pub shared: Option<SharedAddress>,
    /// Whether an administrator may change settings that run programs, read files or reach inside.
    pub operator_keys: bool,
    /// The address by which others reach this server, if hubs are to deliver feeds to it.
    pub public_url: Option<String>,
    /// The proxies whose word on the addresses of visitors is believed.
    pub trusted_proxies: Vec<ProxyRange>,
    /// An address that people are offered to collect.
    pub suggestion: Option<String>,
    /// How many scheduled runs there may be at once; none are started with 0.
    pub scheduled_runs: usize,
}

/// A server that listens, and answers once it is run.
pub struct WebServer {
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
    state: Arc<AppState>,
    first: Option<String>,
    close: watch::Sender<bool>,
    patience: Duration,
    scheduled_runs: usize,
    public_url: Option<String>,
}

impl WebServer {
    /// Opens the home and the address. While nobody has an account, only loopback will do.
    pub fn bind(options: &ServeOptions) -> Result<Self, ServeError> {
        let has_users = Home::open(&options.home)?.accounts().has_users()?;
        if !has_users && !options.listen.ip().is_loopback() {
            return Err(ServeError::NoAccount { address: options.listen });
        }
        let tls = options.tls.as_ref().map(|(certificate, key)| acceptor(certificate, key)).transpose()?;
        let failed = |source| ServeError::Listen { address: options.listen, source };
        let listener = TcpListener::bind(options.listen).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        // Those who come all at once wait here rather than to try again later.
        socket2::SockRef::from(&listener).listen(BACKLOG).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        // Answers wait for the disk as much as they compute.
        let shared = options.shared.clone().map(|at| SharedProjects::open(&options.home, at)).transpose()?;
        let desk = Desk::open(&options.home, (machine::cores() * 2).clamp(4, 16), shared.as_ref())?;
        let public_url = options.public_url.as_deref().map(public_address).transpose()?;
        // Who speaks TLS is not reached without: what hubs deliver would go in the clear.
        if let Some(url) = public_url.as_ref().filter(|url| url.scheme() == "http" && tls.is_some()) {
            return Err(ServeError::PublicUrl { url: url.to_string() });
        }
        let public_host = public_url.as_ref().and_then(|url| url.host_str().map(str::to_owned));
        let names: Vec<String> = options.hosts.iter().cloned().chain(public_host).collect();
        let hosts = AllowedHosts::new(address.ip(), &names);
        if let Some(name) = options.view_host.as_ref().filter(|name| hosts.allow(name)) {
            return Err(ServeError::ViewHost { name: name.clone() });
        }
        let (close, closing) = watch::channel(false);
        // Before a proxy browsers speak TLS, too.
        let is_secure = tls.is_some() || public_url.as_ref().is_some_and(|url| url.scheme() == "https");
        let mut state = AppState::new(desk, hosts, is_secure, closing);
        state.proxies = TrustedProxies::new(&options.trusted_proxies);
        state.known = KnownVisitors::watching(Home::open(&options.home)?);
        state.views = ViewHost::new(options.view_host.as_deref());
        state.launcher = Launcher::new(Some(options.launch.clone())).reaching(options.shared.clone());
        state.shared = shared;
        (state.operator_keys, state.patience) = (options.operator_keys, options.patience);
        state.suggestion.clone_from(&options.suggestion);
        let first = if has_users { None } else { Some(orb_project::fresh_secret()?) };
        if let Some(secret) = &first {
            state.first = FirstLink::new(secret, Instant::now());
        }
        let (patience, scheduled_runs) = (options.patience, options.scheduled_runs);
        let (state, public_url) = (Arc::new(state), public_url.map(String::from));
        Ok(Self { listener, address, tls, state, first, close, patience, scheduled_runs, public_url })
    }

    /// Where it can be reached.
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}/", self.address)
    }

    /// The link that makes the first account, valid for ten minutes; `None` if there is one.
    pub fn first_link(&self) -> Option<String> {
        self.first.as_ref().map(|secret| format!("{}first/{secret}", self.url()))
    }

    /// Answers until it is asked to stop.
    pub fn run(self, stop: &Stop) -> Result<(), ServeError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(machine::cores().clamp(1, 4))
            .max_blocking_threads(4)
            .thread_name("serve")
            .enable_all()
            .build()
            .map_err(ServeError::Start)?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener).map_err(ServeError::Start)?;
            let closing = self.close.subscribe();
            if self.scheduled_runs > 0 {
                tokio::spawn(keep_schedule(Arc::clone(&self.state), self.scheduled_runs));
            }
            let schedule = SharedSchedule::begin(&self.state, self.scheduled_runs)?;
            if let Some(public) = self.public_url {
                tokio::spawn(keep_subscriptions(Arc::clone(&self.state), public));
            }
            let accepting = tokio::spawn(accept((listener, self.tls), front(self.state), self.patience, closing));
            stop.asked().await;
            // Nobody listens any more if it has ended by itself.
            let _ = self.close.send(true);
            let _ = accepting.await;
            schedule.end();
            Ok(())
        })
    }
}

/// How long a server that stops waits until others may start what is due on the shared store.
const LEAVE: Duration = Duration::from_secs(2);

/// The thread that starts what is due on the shared store, if there is one.
struct SharedSchedule {
    stop: Arc<Stop>,
    over: Receiver<()>,
}

impl SharedSchedule {
    fn begin(state: &Arc<AppState>, at_once: usize) -> Result<Self, ServeError> {
        let (stop, (tell, over)) = (Stop::new(), channel());
        let Some(shared) = state.shared.clone().filter(|_| at_once > 0) else { return Ok(Self { stop, over }) };
        let (state, asked) = (Arc::clone(state), Arc::clone(&stop));
        let keep = move || {
            if let Err(error) = keep_shared_schedule((&shared, &state), at_once, &asked) {
                tracing::warn!("nothing is started any more on the shared store: {error}");
            }
            // Nobody may be waiting.
            let _ = tell.send(());
        };
        std::thread::Builder::new().name("schedule".into()).spawn(keep).map_err(ServeError::Start)?;
        Ok(Self { stop, over })
    }

    /// Gives the right to start runs up, if the store answers.
    fn end(self) {
        self.stop.ask();
        // Without an answer the right runs out.
        let _ = self.over.recv_timeout(LEAVE);
    }
}

/// The address by which others reach a server.
fn public_address(text: &str) -> Result<Url, ServeError> {
    let wrong = || ServeError::PublicUrl { url: text.to_owned() };
    let url = Url::parse(text).map_err(|_| wrong())?;
    let is_plain = url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
    if matches!(url.scheme(), "http" | "https") && url.has_host() && is_plain { Ok(url) } else { Err(wrong()) }
}

/// TLS with these files.
fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, ServeError> {
    let wrong = |why: String| ServeError::Tls { certificate: certificate.to_owned(), key: key.to_owned(), why };
    let unread = |path: &Path, error: pem::Error, what: &str| {
        let why = match error {
            pem::Error::NoItemsFound => format!("there is no {what} in it (PEM)"),
            pem::Error::Io(e) => e.to_string(),
            other => other.to_string(),
        };
        ServeError::TlsFile { path: path.to_owned(), why }
    };
    let certificates = CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let certificates =
        certificates.and_then(|all| if all.is_empty() { Err(pem::Error::NoItemsFound) } else { Ok(all) });
    let certificates = certificates.map_err(|e| unread(certificate, e, "certificate"))?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|e| unread(key, e, "private key without a passphrase"))?;
    let provider = Arc::new(crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|e| wrong(e.to_string()))?.with_no_client_auth();
    let mut config = builder.with_single_cert(certificates, private).map_err(|e| match e {
        rustls::Error::InconsistentKeys(_) => wrong("the key belongs to another certificate".to_owned()),
        other => wrong(other.to_string()),
    })?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
