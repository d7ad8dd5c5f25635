//! What does a browser make of it?
//!
//! Between fetching and reading: a page that needs its scripts is loaded in Chromium, and what they
//! have made of it comes back as HTML for the ordinary reader. The page itself is not asked for
//! again: the browser gets the bytes that were fetched. For everything else it has one way out, a
//! proxy of ours with one port for each page ([`proxy`]), which asks [`orb_fetch::Fetchers`]: so
//! the address guard, the resolver, bandwidth, cookies and the archive hold for a script's requests
//! as for ours. Which parts may be asked for is up to the crawl ([`PartGate`]).
//!
//! The browser is driven over a pipe ([`browser`]), never over a port that a page could reach. A
//! page never decides how long it takes, how much it loads or what becomes of the browser.

mod browser;
mod config;
mod error;
mod find;
mod gate;
mod page;
mod proxy;
mod renderer;

pub use browser::become_browser;
pub use config::RenderConfig;
pub use error::RenderError;
pub use find::find_browser;
pub use gate::{PartGate, PartRefusal};
pub use page::{DrawnPage, PageJob, Rendering, SeenResource, UsedLink};
pub use proxy::{FetchedPart, PartCounts};
pub use renderer::Renderer;
