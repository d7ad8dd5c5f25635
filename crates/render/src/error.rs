//! Why was a page not rendered?

use std::path::PathBuf;

/// Why there is no rendered page. The page is then read as it was fetched.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// No browser is installed.
    #[error(
        "no browser was found; install one (Debian: apt install chromium-headless-shell) or name one in render.program"
    )]
    NoBrowser,
    /// The browser that was named is not there.
    #[error("render.program: there is no program {0}")]
    NoProgram(PathBuf),
    /// Root needs a setting.
    #[error("Chromium does not run as root with its sandbox; run as another user, or set render.no_sandbox = true")]
    Root,
    /// The browser does not start.
    #[error("the browser does not start: {0}")]
    Start(String),
    /// Something of ours failed.
    #[error("cannot {what}")]
    Local {
        /// What was attempted.
        what: &'static str,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The certificate for the browser could not be made.
    #[error("cannot make a certificate: {0}")]
    Certificate(String),
    /// The browser ended.
    #[error("the browser ended")]
    Gone,
    /// The page's process ended.
    #[error("the page made its process end")]
    Crashed,
    /// The page did not answer in time.
    #[error("the page did not end within {0:?}")]
    Late(std::time::Duration),
    /// The browser refused a command.
    #[error("{method}: {why}")]
    Refused {
        /// The command.
        method: &'static str,
        /// What the browser says.
        why: String,
    },
    /// The browser could not load the page.
    #[error("the browser did not load the page: {0}")]
    NotLoaded(String),
}

impl RenderError {
    /// A failure of ours.
    pub(crate) fn local(what: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Local { what, source }
    }

    /// Whether another browser may do better.
    pub(crate) fn is_the_browsers(&self) -> bool {
        matches!(self, Self::Gone | Self::Start(_))
    }
}
