//! How does a synthetic web run in a separate process, so that a bench can separate its cost from a
//! crawler's?
//!
//! It prints one line of JSON with its address, serves until its standard input ends or it is
//! killed, and prints its counters before it exits.

use clap::{Parser, ValueEnum};
use orb_testweb::{AppSites, Dns, Features, GzipMode, Latency, NewsServer, Server, Spec, TlsIdentity, Web};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// A synthetic web on loopback.
#[derive(Parser)]
#[command(version)]
struct Args {
    /// The web to start from; the other flags modify it.
    #[arg(long, value_enum, default_value_t = Preset::Plain)]
    preset: Preset,
    /// Where to listen; 0.0.0.0 stands for all loopback addresses.
    #[arg(long, default_value = "0.0.0.0:0")]
    listen: String,
    /// Random seed.
    #[arg(long)]
    seed: Option<u64>,
    /// Number of hosts.
    #[arg(long)]
    hosts: Option<u32>,
    /// Plain pages per host.
    #[arg(long)]
    pages: Option<u32>,
    /// Links per page.
    #[arg(long)]
    links: Option<u32>,
    /// Every how many pages of a host one is a PDF; 0 means that there are none.
    #[arg(long, default_value_t = 0)]
    documents: u32,
    /// Bytes per page.
    #[arg(long)]
    bytes: Option<usize>,
    /// The share of links to other hosts.
    #[arg(long)]
    cross: Option<f64>,
    /// Mean delay of a response in milliseconds.
    #[arg(long)]
    latency: Option<u64>,
    /// How far a page's delay may be from the mean, as a share of it.
    #[arg(long, default_value_t = 0.0)]
    spread: f64,
    /// The epoch.
    #[arg(long)]
    epoch: Option<u64>,
    /// Never compress.
    #[arg(long)]
    no_gzip: bool,
    /// `all`, `none`, or comma-separated names; `-name` removes one.
    #[arg(long, allow_hyphen_values = true)]
    features: Option<Features>,
    /// Words as real texts have them, in several languages, instead of a few hundred.
    #[arg(long)]
    vocabulary: bool,
    /// Crawl delay in the robots.txt of every fifth host, in milliseconds.
    #[arg(long)]
    crawl_delay: Option<u64>,
    /// Hosts per address.
    #[arg(long)]
    hosts_per_ip: Option<u32>,
    /// Serve over TLS 1.3 with this certificate (PEM).
    #[arg(long, requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The certificate's key (PEM).
    #[arg(long, requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Offer HTTP/2, too.
    #[arg(long, requires = "tls_cert")]
    http2: bool,
    /// Number of threads.
    #[arg(long)]
    threads: Option<usize>,
    /// Log every request, to be read at /.testweb/log.
    #[arg(long)]
    log: bool,
    /// Print the URLs that a crawl from the first host must request, and exit.
    #[arg(long)]
    expect: bool,
    /// Serve a newsgroup with this many articles instead, by NNTP.
    #[arg(long)]
    news: Option<u64>,
    /// Serve applications with this many items each instead, and a mixed site.
    #[arg(long, value_name = "ITEMS")]
    apps: Option<u32>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Preset {
    /// Plain pages only.
    Plain,
    /// The web of the demo.
    Demo,
    /// Every feature.
    Zoo,
}

impl Args {
    fn spec(&self) -> Spec {
        let start = match self.preset {
            Preset::Plain => Spec::bench(1, 1_000, 20_000, 40),
            Preset::Demo => Spec::demo(),
            Preset::Zoo => Spec::zoo(),
        };
        let hosts = self.hosts.unwrap_or(start.hosts);
        let connected = if hosts > 1 && start.hosts == 1 { 0.1 } else { start.cross_host_links };
        Spec {
            seed: self.seed.unwrap_or(start.seed),
            hosts,
            pages_per_host: self.pages.unwrap_or(start.pages_per_host),
            links: self.links.unwrap_or(start.links),
            documents: self.documents,
            page_bytes: self.bytes.unwrap_or(start.page_bytes),
            cross_host_links: self.cross.unwrap_or(connected),
            latency: Latency { mean: Duration::from_millis(self.latency.unwrap_or(0)), spread: self.spread },
            epoch: self.epoch.unwrap_or(start.epoch),
            gzip: if self.no_gzip { GzipMode::Never } else { start.gzip },
            features: self.features.unwrap_or(start.features),
            vocabulary: self.vocabulary,
            crawl_delay: self.crawl_delay.map_or(start.crawl_delay, Duration::from_millis),
            hosts_per_ip: self.hosts_per_ip.unwrap_or(start.hosts_per_ip),
            threads: self.threads.unwrap_or(start.threads),
            log: self.log,
        }
    }

    /// The certificate to serve with, if TLS is enabled.
    fn identity(&self) -> std::io::Result<Option<TlsIdentity>> {
        let (Some(certificate), Some(key)) = (&self.tls_cert, &self.tls_key) else { return Ok(None) };
        let (certificate, key) = (std::fs::read(certificate)?, std::fs::read(key)?);
        Ok(Some(TlsIdentity { certificate, key, http2: self.http2 }))
    }
}

/// Serves applications, and says so many requests were made whenever it gets a line.
fn serve_apps(items: u32) -> Result<(), Box<dyn std::error::Error>> {
    let sites = AppSites::serve(items)?;
    let mut out = std::io::stdout();
    let apps = sites.apps().join("\",\"");
    writeln!(out, "{{\"apps\":[\"{apps}\"],\"mixed\":\"{}\"}}", sites.mixed())?;
    out.flush()?;
    for line in std::io::stdin().lines() {
        line?;
        writeln!(out, "{{\"requests\":{}}}", sites.served())?;
        out.flush()?;
    }
    Ok(())
}

fn serve(args: &Args) -> Result<(), Box<dyn std::error::Error>> {
    if let Some(items) = args.apps {
        return serve_apps(items);
    }
    let web = Web::new(args.spec())?;
    let mut out = std::io::stdout();
    let server = match args.identity()? {
        Some(identity) => Server::start_tls(web.clone(), &args.listen, &identity)?,
        None => Server::start(web.clone(), &args.listen)?,
    };
    if args.expect {
        for url in server.expected(orb_testweb::CrawlReach::Linked).urls {
            writeln!(out, "{url}")?;
        }
        return Ok(());
    }
    let dns = Dns::spawn(&web)?;
    let (addr, dns_addr, hosts, pages) = (server.addr(), dns.addr(), web.hosts(), web.plain_pages());
    writeln!(out, "{{\"addr\":\"{addr}\",\"dns\":\"{dns_addr}\",\"hosts\":{hosts},\"pages\":{pages}}}")?;
    out.flush()?;
    await_parent()?;
    let counters = server.counters();
    let (requests, bytes, connections) = (counters.requests, counters.bytes, counters.connections);
    writeln!(out, "{{\"requests\":{requests},\"bytes\":{bytes},\"connections\":{connections}}}")?;
    Ok(())
}

/// Serves a newsgroup, after a line with its address.
fn serve_news(articles: u64) -> Result<(), Box<dyn std::error::Error>> {
    let server = NewsServer::start(&[("misc.test", articles)], Vec::new())?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", server.addr())?;
    out.flush()?;
    Ok(await_parent()?)
}

/// Returns when our input ends: the parent holds the other end, and when it goes, so do we.
fn await_parent() -> std::io::Result<()> {
    let mut ignored = [0; 256];
    while std::io::stdin().read(&mut ignored)? > 0 {}
    Ok(())
}

fn main() -> ExitCode {
    let args = Args::parse();
    match args.news.map_or_else(|| serve(&args), serve_news) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
            // There is nobody left to tell if this fails.
            let _ = writeln!(std::io::stderr(), "testweb: {error}{cause}");
            ExitCode::FAILURE
        }
    }
}
