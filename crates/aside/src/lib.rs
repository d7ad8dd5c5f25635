//! Who reads what may kill its reader?
//!
//! Most formats are read where they are: their parsers are linear and bounded. Whole-document
//! formats (PDF, office files) are not like that. A hostile file can overflow the stack of a
//! parser, ask for more memory than there is or loop for ever, and none of that can be caught in a
//! thread. So they are read aside: in a helper process, the same program started again, which may
//! touch no file and no network, has little memory and little time, and is replaced when it dies.
//! What became of it is a problem of the document, never of the command that asked.
//!
//! Documents are read through here, not through `extract`: [`extract`], or the [`Helpers`] of a
//! crawl. The program says once what it is ([`install`]); without that, as in tests of libraries,
//! everything is read in process. See `docs/decisions/0052-reading-aside.md`.

mod confine;
mod frame;
mod helper;
mod pool;
mod serve;

pub use confine::HelperLimits;
pub use pool::Helpers;
pub use serve::serve;

use orb_extract::Content;
use orb_page::Document;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The program that helpers run, and its arguments.
static PROGRAM: OnceLock<HelperProgram> = OnceLock::new();

/// How a helper is started.
#[derive(Clone, Debug)]
pub struct HelperProgram {
    /// The program.
    pub path: PathBuf,
    /// The arguments that make it a helper. Its limits follow.
    pub arguments: Vec<String>,
}

/// Says how helpers are started. The first word counts.
pub fn install(program: HelperProgram) {
    let _ = PROGRAM.set(program);
}

pub(crate) fn program() -> Option<&'static HelperProgram> {
    PROGRAM.get()
}

/// Extracts a document, aside and under these limits if its format asks for it. Never fails:
/// whatever goes wrong is among its problems.
pub fn extract(content: &Content<'_>, limits: HelperLimits) -> Document {
    Helpers::under(limits).extract(content, String::new(), true)
}
