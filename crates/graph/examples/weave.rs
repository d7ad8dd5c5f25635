//! How does a graph of fifty million arcs compare with what other tools build?
//!
//! `weave build DIR PAGES` builds the graph and prints figures, `weave arcs PAGES` prints the same
//! arcs for other tools, `weave sum` reads arcs and prints their number and an order-independent
//! checksum.
//!
//! Hosts have 8 to 16,000 pages in directories of 32. A page links to its host's navigation, its
//! directory's, its neighbours, some pages of its host, and occasionally to another host's home
//! page: the similarity between neighbours that makes web graphs compressible. Pages are numbered,
//! and their links emitted, in an order unrelated to their URLs, as in a crawl.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for the bench")]
#![expect(clippy::cast_possible_truncation, reason = "pages have 32 bits")]

use orb_graph::{CatalogueMark, GraphOptions, Naming, SeenLink, unwatched};
use orb_page::{HostId, LinkKind, PageId, RunId};
use std::io::{BufRead as _, BufWriter, Write as _, stdin, stdout};
use std::path::Path;
use std::time::Instant;

/// The pages in URL order, and where each host begins.
struct Weave {
    pages: u64,
    hosts: Vec<u64>,
}

/// Hashes a number.
fn mix(n: u64) -> u64 {
    let n = (n ^ n >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ n >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ n >> 31
}

impl Weave {
    fn new(pages: u64) -> Self {
        let (mut hosts, mut at) = (Vec::new(), 0);
        while at < pages {
            hosts.push(at);
            at += 8 << (mix(at + 1) % 12);
        }
        Self { pages, hosts }
    }

    fn host(&self, page: u64) -> usize {
        self.hosts.partition_point(|first| *first <= page) - 1
    }

    /// The n-th page in order of discovery: a permutation of the pages.
    fn discovered(&self, n: u64) -> u64 {
        // The multiplier is prime, and no useful page count is a multiple of it.
        n * 982_451_653 % self.pages
    }

    fn url(&self, page: u64, out: &mut String) {
        use std::fmt::Write as _;
        let host = self.host(page);
        let at = page - self.hosts[host];
        out.clear();
        write!(out, "http://www.host-{host:06}.example/section-{:05}/page-{at:07}.html", at / 32).unwrap();
    }

    /// The distinct targets of a page, sorted.
    fn links(&self, page: u64, out: &mut Vec<u64>) {
        let host = self.host(page);
        let first = self.hosts[host];
        let size = self.hosts.get(host + 1).copied().unwrap_or(self.pages) - first;
        let seed = mix(page + 77);
        let section = (page - first) / 32;
        out.clear();
        out.extend((0..8).map(|k| first + mix((host as u64) << 8 | k) % size.min(60)));
        out.extend((0..6).map(|k| first + (section * 32 + mix(mix((host as u64) << 32 | section) + k) % 64) % size));
        out.extend((1..5).map(|k| first + (page - first + 1 + mix(seed + k) % (1 << (k + 1))) % size));
        out.extend((5..8).map(|k| first + mix(seed + k) % size));
        if seed.is_multiple_of(2) {
            let other = mix(seed + 9) % self.hosts.len() as u64;
            out.push(self.hosts[(other * other / self.hosts.len() as u64) as usize]);
        }
        out.sort_unstable();
        out.dedup();
        out.retain(|to| *to != page);
    }
}

fn build(dir: &Path, weave: &Weave) {
    let begin = Instant::now();
    let mark = CatalogueMark { batch: 1, nonce: 1, run: RunId(1), pages: weave.pages, sources: weave.pages };
    let mut naming = Naming::begin(dir, GraphOptions::default(), mark, unwatched()).unwrap();
    for host in 0..weave.hosts.len() {
        naming.host(HostId(host as u32 + 1), &format!("http://www.host-{host:06}.example")).unwrap();
    }
    let mut number = vec![0u32; weave.pages as usize];
    let mut url = String::new();
    for n in 0..weave.pages {
        let page = weave.discovered(n);
        number[page as usize] = n as u32 + 1;
        weave.url(page, &mut url);
        naming.page(PageId(n + 1), HostId(weave.host(page) as u32 + 1), &url).unwrap();
    }
    let mut linking = naming.number().unwrap();
    let numbered = begin.elapsed().as_secs_f64();
    let mut links = Vec::new();
    for n in 0..weave.pages {
        weave.links(weave.discovered(n), &mut links);
        for to in &links {
            let (src, dst) = (PageId(n + 1), PageId(u64::from(number[*to as usize])));
            linking.link(&SeenLink { src, dst, kind: LinkKind::A, nofollow: false, gone: false }).unwrap();
        }
    }
    let told = begin.elapsed().as_secs_f64();
    let manifest = linking.finish().unwrap();
    println!("pages {}", manifest.nodes);
    println!("arcs {}", manifest.web.arcs);
    println!("numbered {numbered:.1}");
    println!("told {told:.1}");
    println!("seconds {:.1}", begin.elapsed().as_secs_f64());
    println!("bits {:.4}", manifest.web.bits as f64 / manifest.web.arcs as f64);
    println!("transposed {:.4}", manifest.web_t.bits as f64 / manifest.web_t.arcs as f64);
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let weave = |pages: &str| Weave::new(pages.parse().unwrap());
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["build", dir, pages] => build(Path::new(dir), &weave(pages)),
        ["arcs", pages] => {
            let (weave, mut links) = (weave(pages), Vec::new());
            let mut out = BufWriter::with_capacity(1 << 18, stdout().lock());
            for n in 0..weave.pages {
                let page = weave.discovered(n);
                weave.links(page, &mut links);
                links.iter().for_each(|to| writeln!(out, "{page}\t{to}").unwrap());
            }
            out.flush().unwrap();
        }
        ["sum"] => {
            let (mut count, mut forward, mut backward) = (0u64, 0u64, 0u64);
            let (mut input, mut line) = (stdin().lock(), String::new());
            while input.read_line(&mut line).unwrap() > 0 {
                let (src, dst) = line.trim_end().split_once('\t').unwrap();
                let (src, dst): (u64, u64) = (src.parse().unwrap(), dst.parse().unwrap());
                count += 1;
                forward = forward.wrapping_add(mix(src << 32 | dst));
                backward = backward.wrapping_add(mix(dst << 32 | src));
                line.clear();
            }
            println!("{count} {forward} {backward}");
        }
        _ => panic!("weave build DIR PAGES | weave arcs PAGES | weave sum"),
    }
}
