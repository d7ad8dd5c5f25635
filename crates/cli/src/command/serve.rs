//! `orb serve`: how is a home shown to people and programs?

use crate::args::{Common, StoreArgs};
use crate::failure::{CommandFailure, complain};
use crate::{out, signals};
use anyhow::Context as _;
use clap::Args;
use orb_crawl::{SharedAddress, Stop};
use orb_project::units::HumanDuration;
use orb_serve::{Launch, ProxyRange, ServeOptions, WebServer, host_name};
use serde::Serialize;
use std::ffi::OsString;
use std::io::Write as _;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;

/// `orb serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The address to listen on; one that others can reach takes an account (orb user add)
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8787")]
    listen: String,
    /// A name that the server is reached by, besides localhost and its address; may be repeated
    #[arg(long = "host", value_name = "NAME", value_parser = host_name)]
    hosts: Vec<String>,
    /// Another name of this server, on which archived pages are shown apart from everything else,
    /// such as view.localhost
    #[arg(long, value_name = "NAME", value_parser = host_name)]
    view_host: Option<String>,
    /// The certificates for TLS (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The private key for TLS (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// How long a client may keep silent before its connection is closed
    #[arg(long, value_name = "DUR", default_value = "20s")]
    patience: HumanDuration,
    /// Let administrators change settings that run programs, read files of this machine or reach
    /// private addresses
    #[arg(long)]
    operator_keys: bool,
    /// The address by which others reach this server, such as https://orb.example; feeds that
    /// offer it (WebSub) are then delivered instead of being asked for
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// A proxy in front, as an address or a range such as 10.0.0.0/8: what it says about the
    /// addresses of visitors is believed; may be repeated
    #[arg(long = "trusted-proxy", value_name = "ADDR")]
    trusted_proxies: Vec<ProxyRange>,
    /// How many scheduled runs to have at once; what is due beyond that waits
    #[arg(long, value_name = "N", default_value_t = 1)]
    runs: usize,
    /// Start no scheduled runs; orb run-due does
    #[arg(long, conflicts_with = "runs")]
    no_schedule: bool,
    #[command(flatten)]
    place: StoreArgs,
    /// An address that people are offered to collect.
    #[arg(skip)]
    suggestion: Option<String>,
}

impl ServeArgs {
    /// On a free port of this machine, with nothing started by itself, for trying it on a site.
    pub(crate) fn for_trying(site: String) -> Self {
        Self {
            listen: "127.0.0.1:0".to_owned(),
            hosts: Vec::new(),
            view_host: None,
            tls_cert: None,
            tls_key: None,
            patience: HumanDuration(std::time::Duration::from_secs(20)),
            operator_keys: true,
            public_url: None,
            trusted_proxies: Vec::new(),
            runs: 1,
            no_schedule: true,
            place: StoreArgs::default(),
            suggestion: Some(site),
        }
    }
}

/// Where the server is, for `--json`.
#[derive(Serialize)]
struct Listening {
    url: String,
    first_account: Option<String>,
}

pub(crate) fn run(common: &Common, args: &ServeArgs) -> Result<(), CommandFailure> {
    // Failures of ours are logged even without --verbose, where they would be lost.
    let log = tracing_subscriber::fmt().with_writer(std::io::stderr).with_target(false).compact();
    let _ = log.with_max_level(tracing_subscriber::filter::LevelFilter::WARN).try_init();
    let listen = read_address(&args.listen)?;
    if args.patience.0.is_zero() {
        return Err(CommandFailure::Usage("--patience 0s would close every connection; give it some seconds".into()));
    }
    let tls = args.tls_cert.clone().zip(args.tls_key.clone());
    let shared = match args.place.address(false)? {
        None if args.suggestion.is_none() => args.place.elsewhere()?,
        named => named,
    };
    let options = ServeOptions {
        home: common.home.clone(),
        listen,
        hosts: args.hosts.clone(),
        view_host: args.view_host.clone(),
        tls,
        patience: args.patience.0,
        launch: Launch { environment: shared.as_ref().map(environment).unwrap_or_default(), ..launch(common)? },
        shared,
        operator_keys: args.operator_keys,
        public_url: args.public_url.clone(),
        trusted_proxies: args.trusted_proxies.clone(),
        suggestion: args.suggestion.clone(),
        scheduled_runs: if args.no_schedule { 0 } else { args.runs },
    };
    let server = WebServer::bind(&options)?;
    if options.tls.is_none() && !listen.ip().is_loopback() && !common.quiet {
        complain("without --tls-cert, passwords travel in the clear; put TLS in front of this, or give a certificate");
    }
    announce(common, &server)?;
    let stop = Stop::new();
    let _watch = signals::watch(std::sync::Arc::clone(&stop))?;
    server.run(&stop)?;
    Err(CommandFailure::Stopped)
}

/// Where the runs that are started here find the shared store. Its address may hold a password, so
/// it is never on their command line.
fn environment(at: &SharedAddress) -> Vec<(&'static str, OsString)> {
    vec![("ORB_STORE", at.postgres.clone().into()), ("ORB_ARCHIVE", at.archive.clone().into())]
}

/// How runs are started: this program, with the same home.
pub(crate) fn launch(common: &Common) -> Result<Launch, CommandFailure> {
    let program = std::env::current_exe().context("cannot tell which program this is")?;
    // Runs are started from here, but they must find the home wherever they are.
    let home = std::path::absolute(&common.home).context("cannot tell where the home is")?;
    Ok(Launch { program, flags: vec!["--home".into(), home.into()], environment: Vec::new() })
}

fn announce(common: &Common, server: &WebServer) -> Result<(), CommandFailure> {
    let listening = Listening { url: server.url(), first_account: server.first_link() };
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &listening)?;
    } else {
        writeln!(stdout, "serving {} at {}", common.home.display(), listening.url)?;
        if let Some(link) = listening.first_account {
            writeln!(stdout, "nobody has an account yet; for ten minutes this makes the first one:\n{link}")?;
        }
    }
    Ok(stdout.flush()?)
}

fn read_address(text: &str) -> Result<SocketAddr, CommandFailure> {
    let found = text.to_socket_addrs().ok().and_then(|mut all| all.next());
    let wrong = || format!("'{text}' is not an address to listen on; write it like 127.0.0.1:8787");
    found.ok_or_else(|| CommandFailure::Usage(wrong()))
}
