//! How are pages rendered?

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// How a browser is run, and what a page may cost.
#[derive(Clone, Debug)]
pub struct RenderConfig {
    /// The browser.
    pub program: PathBuf,
    /// The command that becomes the browser ([`crate::become_browser`]): this program, and what it
    /// is told first.
    pub keeper: Vec<OsString>,
    /// Whether the browser runs without its own sandbox, which root needs.
    pub no_sandbox: bool,
    /// The `User-Agent` that scripts see.
    pub user_agent: String,
    /// Pages that are loaded at once.
    pub tabs: usize,
    /// A browser is replaced when it and its children take more memory than this.
    pub memory: u64,
    /// A browser is replaced after so many pages.
    pub pages: u64,
    /// How long a page may go on before it is taken as it is.
    pub settle: Duration,
    /// How long a page may take in all.
    pub limit: Duration,
    /// Screens to scroll down.
    pub screens: u32,
    /// Whether what looks clickable is clicked.
    pub click: bool,
    /// Whether a picture is taken.
    pub screenshots: bool,
    /// Maximum requests of one page.
    pub max_requests: usize,
    /// Maximum bytes of all parts of one page.
    pub max_bytes: u64,
    /// Maximum length of the HTML of a rendered page.
    pub max_html: u64,
    /// Maximum bytes of parts kept for other pages.
    pub cache: u64,
    /// The directory for what the browser writes, which is removed afterwards.
    pub scratch: PathBuf,
}
