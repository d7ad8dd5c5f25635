//! What does it cost to have a document read aside?
//!
//! `cargo run --release -p orb-aside --example overhead` reads a small PDF some thousand times in
//! this process and as often in a helper, and prints a line of JSON: the median microseconds of
//! each.

#![expect(clippy::print_stdout, reason = "it is a program")]

use orb_aside::{HelperLimits, HelperProgram, Helpers};
use orb_extract::Content;
use std::io;
use std::time::Instant;

const TIMES: usize = 3_000;
const PDF: &[u8] = b"%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n\
    2 0 obj\n<</Type/Pages/Count 1/Kids[3 0 R]>>\nendobj\n\
    3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]>>\nendobj\n\
    trailer\n<</Size 4/Root 1 0 R>>\n%%EOF\n";

fn main() -> io::Result<()> {
    if std::env::args().nth(1).as_deref() == Some("__read") {
        return orb_aside::serve(io::stdin().lock(), io::stdout().lock(), &HelperLimits::default());
    }
    let content = Content { bytes: PDF, mime: Some("application/pdf"), charset: None, url: "http://a.example/" };
    let own = median(|| {
        std::hint::black_box(orb_extract::extract(&content));
    });
    orb_aside::install(HelperProgram { path: "/proc/self/exe".into(), arguments: vec!["__read".to_owned()] });
    let helpers = Helpers::new(1, HelperLimits::default());
    let aside = median(|| {
        std::hint::black_box(helpers.extract(&content, String::new(), true));
    });
    println!("{}", serde_json::json!({ "here": own, "aside": aside }));
    Ok(())
}

/// The median time in microseconds.
fn median(mut work: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = Vec::with_capacity(TIMES);
    for _ in 0..TIMES {
        let began = Instant::now();
        work();
        times.push(began.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    times[TIMES / 2]
}
