//! What must hold for any bytes at all?
//!
//! Every parser of untrusted bytes has a function here that runs the parser on its input and checks
//! the result: that it terminates is the minimum, that it is right is the goal. Where another
//! implementation exists (html5ever, encoding_rs, the text of a standard), it serves as the oracle.
//! `cargo xtask fuzz` drives each function with libFuzzer; `tests/replay.rs` replays the corpora in
//! `corpus/`, so past findings stay fixed.
//!
//! A target is one function, one line in [`TARGETS`], one file in `fuzz_targets/` and one directory
//! in `corpus/`.

mod attributes;
mod charset;
mod compare;
mod cookies;
mod deflate;
mod document;
mod ftp_listing;
mod html;
mod linear;
mod office;
mod reading;
mod replies;
mod response;
mod robots;
mod settings;
mod url;
mod values;
mod warc;

pub use attributes::{attributes, headers};
pub use charset::charset;
pub use compare::compare;
pub use cookies::cookies;
pub use deflate::deflate;
pub use document::{css, page, pdf, script, text, xml};
pub use ftp_listing::{ftp_listing, sftp_listing};
pub use html::html;
pub use linear::linear;
pub use office::{binary, package};
pub use reading::{main_content, markdown};
pub use replies::{ftp_replies, news};
pub use response::{archive, coding, response};
pub use robots::robots;
pub use settings::settings;
pub use url::url;
pub use values::values;
pub use warc::warc;

use orb_page::Moment;
use orb_store::ProjectDir;
use std::borrow::Cow;
use std::path::Path;

/// A target: its name and its function.
pub type FuzzTarget = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: &[FuzzTarget] = &[
    ("archive", archive),
    ("attributes", attributes),
    ("binary", binary),
    ("charset", charset),
    ("coding", coding),
    ("compare", compare),
    ("cookies", cookies),
    ("css", css),
    ("deflate", deflate),
    ("ftp_listing", ftp_listing),
    ("ftp_replies", ftp_replies),
    ("headers", headers),
    ("html", html),
    ("linear", linear),
    ("main_content", main_content),
    ("markdown", markdown),
    ("news", news),
    ("package", package),
    ("page", page),
    ("pdf", pdf),
    ("response", response),
    ("robots", robots),
    ("script", script),
    ("settings", settings),
    ("sftp_listing", sftp_listing),
    ("text", text),
    ("url", url),
    ("values", values),
    ("warc", warc),
    ("xml", xml),
];

/// The first byte, which selects a variant, and the rest as text.
fn options(bytes: &[u8]) -> (u8, Cow<'_, str>) {
    match bytes.split_first() {
        Some((first, rest)) => (*first, String::from_utf8_lossy(rest)),
        None => (0, Cow::Borrowed("")),
    }
}

/// The first line and what follows it.
fn lines(text: &str) -> [&str; 2] {
    text.split_once('\n').map_or([text, ""], |(first, rest)| [first, rest])
}

/// An example site.
fn example() -> ::url::Url {
    ::url::Url::parse("http://example.org/").unwrap_or_else(|e| panic!("{e}"))
}

/// A project in a directory, with a place for its archive.
fn project_in(dir: &Path) -> ProjectDir {
    let project = ProjectDir { name: "p".to_owned(), dir: dir.to_owned(), created_at: Moment(0) };
    std::fs::create_dir(project.archive()).unwrap_or_else(|e| panic!("{e}"));
    project
}

/// Runs `work` in an empty directory, in memory if the system has such a place.
fn scratch<T>(work: impl FnOnce(&Path) -> T) -> T {
    let memory = Path::new("/dev/shm");
    let dir = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    let dir = dir.unwrap_or_else(|e| panic!("no directory to work in: {e}"));
    work(dir.path())
}
