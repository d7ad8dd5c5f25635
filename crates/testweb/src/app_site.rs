//! How are the applications served to a bench, many pages of them at once?
//!
//! One port at all loopback addresses: the applications in their order from 127.0.0.1 on, and
//! behind them a mixed site, most of whose pages are static articles. A thread for each connection;
//! whatever is asked for is counted.

use crate::WebApp;
use crate::prose::{SINGLE, stock};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Links of an article to others.
const LINKS: u32 = 20;

/// Paragraphs of an article.
const PARAGRAPHS: u32 = 6;

/// Applications with many pages, and a mixed site, on loopback.
#[derive(Clone, Debug)]
pub struct AppSites {
    port: u16,
    served: Arc<AtomicU64>,
}

impl AppSites {
    /// Serves applications with this many items each, as long as the process lives.
    pub fn serve(items: u32) -> std::io::Result<Self> {
        let listener = TcpListener::bind("0.0.0.0:0")?;
        let sites = Self { port: listener.local_addr()?.port(), served: Arc::default() };
        let served = Arc::clone(&sites.served);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let served = Arc::clone(&served);
                std::thread::spawn(move || converse(&stream, items, &served));
            }
        });
        Ok(sites)
    }

    /// Number of requests so far.
    pub fn served(&self) -> u64 {
        self.served.load(Ordering::Relaxed)
    }

    /// The origin of each application.
    pub fn apps(&self) -> Vec<String> {
        (0..WebApp::ALL.len()).map(|n| self.origin(n)).collect()
    }

    /// The origin of the mixed site: items like an application's, and articles at `/articles/1` and
    /// so on.
    pub fn mixed(&self) -> String {
        self.origin(WebApp::ALL.len())
    }

    fn origin(&self, site: usize) -> String {
        format!("http://127.0.0.{}:{}", site + 1, self.port)
    }
}

fn converse(stream: &TcpStream, items: u32, served: &AtomicU64) {
    let _ = stream.set_nodelay(true);
    let Ok(local) = stream.local_addr() else { return };
    let (mut reader, mut writer) = (BufReader::new(stream), stream);
    loop {
        let lines = (&mut reader).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
        let lines: Vec<String> = lines.collect();
        let Some(target) = lines.first().and_then(|first| first.split(' ').nth(1)) else { return };
        served.fetch_add(1, Ordering::Relaxed);
        let reply = match answer(local, items, target) {
            Some((mime, body)) => {
                format!("HTTP/1.1 200 OK\r\nContent-Type: {mime}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
            }
            None => "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_owned(),
        };
        if writer.write_all(reply.as_bytes()).is_err() {
            return;
        }
    }
}

fn answer(local: SocketAddr, items: u32, target: &str) -> Option<(&'static str, String)> {
    let IpAddr::V4(address) = local.ip() else { return None };
    let site = usize::from(address.octets()[3]).checked_sub(1)?;
    match WebApp::ALL.get(site) {
        Some(app) => app.answer_among(items, target),
        None => match target.strip_prefix("/articles/").and_then(|number| number.parse().ok()) {
            Some(number) => Some(("text/html; charset=utf-8", article(number))),
            None => WebApp::React.answer_among(items, target),
        },
    }
}

/// A page that says everything without its script.
fn article(number: u32) -> String {
    let mut html = format!(
        "<!doctype html><html lang=en><head><meta charset=utf-8><title>Article {number}</title></head><body>\
         <h1>Article {number}</h1>"
    );
    for n in 0..PARAGRAPHS {
        html += &String::from_utf8_lossy(stock((number * PARAGRAPHS + n) as usize % SINGLE));
    }
    for n in 1..=LINKS {
        let _ = write!(html, "<a href=\"/articles/{}\">Article {}</a> ", number + n, number + n);
    }
    html + "<script>document.body.dataset.seen = Date.now()</script></body></html>"
}
