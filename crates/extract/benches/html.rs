//! How fast is HTML extraction?
//!
//! `cargo bench -p orb-extract` reads the pages in the directory `ORB_BENCH_PAGES`, or a generated
//! page if it is unset.

use divan::Bencher;
use divan::counter::BytesCount;
use orb_extract::{Content, extract, language, simhash};
use std::path::Path;

fn main() {
    divan::main();
}

/// A page of about 20 kB with 40 links.
fn made_page() -> String {
    let mut page =
        String::from("<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>A page</title></head><body>");
    for i in 0..40 {
        page.push_str(&format!("<div class=\"section\" id=\"s{i}\"><h2>Section {i}</h2><p>"));
        page.push_str(
            &"Some words of an ordinary paragraph &amp; some <em>more</em> of them, as on most pages. ".repeat(4),
        );
        page.push_str(&format!("<a class=\"reference internal\" href=\"/some/where/page-{i}.html\" title=\"t\">the page {i}</a></p></div>\n"));
    }
    page.push_str("</body></html>");
    page
}

fn pages() -> Vec<String> {
    let Some(directory) = std::env::var_os("ORB_BENCH_PAGES") else { return vec![made_page()] };
    let mut out = Vec::new();
    collect(Path::new(&directory), &mut out);
    out
}

fn collect(directory: &Path, out: &mut Vec<String>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, out);
        } else if path.extension().is_some_and(|e| e == "html") {
            out.extend(std::fs::read_to_string(path));
        }
    }
}

fn read(page: &str) -> orb_page::Document {
    extract(&Content {
        bytes: page.as_bytes(),
        mime: Some("text/html"),
        charset: Some("utf-8"),
        url: "http://a.example/",
    })
}

#[divan::bench]
fn documents(bencher: Bencher<'_, '_>) {
    let pages = pages();
    let bytes: usize = pages.iter().map(String::len).sum();
    bencher.counter(BytesCount::new(bytes)).bench_local(|| {
        for page in &pages {
            divan::black_box(read(divan::black_box(page)));
        }
    });
}

#[divan::bench]
fn simhashes(bencher: Bencher<'_, '_>) {
    let texts: Vec<_> = pages().iter().map(|p| read(p).text).collect();
    let bytes: usize = texts.iter().map(String::len).sum();
    bencher.counter(BytesCount::new(bytes)).bench_local(|| texts.iter().fold(0, |all, text| all ^ simhash(text)));
}

#[divan::bench]
fn languages(bencher: Bencher<'_, '_>) {
    let text = read(&made_page()).text;
    bencher.bench_local(|| language(divan::black_box(&text)));
}
