//! What does `[render]` say?

use crate::examine::Wrong;
use crate::steps::matching;
use crate::units::{ByteSize, HumanDuration};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// When a page is rendered in a browser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RenderWhen {
    /// Never.
    #[default]
    Never,
    /// If the page is empty without its scripts, or pages like it were.
    Auto,
    /// Every HTML page.
    Always,
}

/// Which parts of a page obey robots.txt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PartRobots {
    /// Everything that a page loads, as pages do.
    #[default]
    Parts,
    /// Pages only: what they load is loaded.
    Pages,
}

/// Section `[render]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RenderSettings {
    /// `never`, `auto` or `always`.
    pub when: RenderWhen,
    /// What replaces it for pages whose URL matches; the first that fits applies.
    pub rules: Vec<RenderRule>,
    /// The browser.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<PathBuf>,
    /// Whether the browser runs without its own sandbox.
    pub no_sandbox: bool,
    /// Pages that are loaded at once; 0 means three per core.
    pub tabs: usize,
    /// Maximum memory of a browser.
    pub memory: ByteSize,
    /// A browser is replaced after so many pages.
    pub pages: u64,
    /// How long a page may go on before it is taken as it is.
    pub settle: HumanDuration,
    /// How long a page may take in all.
    pub timeout: HumanDuration,
    /// Screens to scroll down.
    pub screens: u32,
    /// Whether to click on what looks clickable.
    pub click: bool,
    /// Whether to keep a picture of every rendered page.
    pub screenshots: bool,
    /// Which parts obey robots.txt.
    pub robots: PartRobots,
    /// Maximum requests of one page.
    pub max_requests: usize,
    /// Maximum bytes of the parts of one page.
    pub max_bytes: ByteSize,
    /// Memory for parts that several pages use.
    pub cache: ByteSize,
}

/// A row of `render.rules`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RenderRule {
    /// A regular expression on URLs.
    #[serde(rename = "match")]
    pub matches: String,
    /// When the pages that match are rendered.
    pub when: RenderWhen,
}

impl Default for RenderSettings {
    fn default() -> Self {
        Self {
            when: RenderWhen::Never,
            rules: Vec::new(),
            program: None,
            no_sandbox: false,
            tabs: 0,
            memory: ByteSize(1_000_000_000),
            pages: 200,
            settle: HumanDuration(Duration::from_secs(10)),
            timeout: HumanDuration(Duration::from_secs(30)),
            screens: 10,
            click: false,
            screenshots: false,
            robots: PartRobots::Parts,
            max_requests: 500,
            max_bytes: ByteSize(50_000_000),
            cache: ByteSize(256_000_000),
        }
    }
}

impl RenderSettings {
    /// What is invalid.
    pub(crate) fn examine(&self) -> Vec<Wrong> {
        let rule = |(n, rule): (usize, &RenderRule)| {
            matching(&rule.matches).err().map(|why| Wrong::new(format!("render.rules[{n}].match"), why.to_string()))
        };
        let mut wrongs: Vec<Wrong> = self.rules.iter().enumerate().filter_map(rule).collect();
        if self.timeout < self.settle {
            wrongs.push(Wrong::new("render.timeout", "a page may take at least as long as render.settle"));
        }
        if self.pages == 0 {
            wrongs.push(Wrong::new("render.pages", "a browser renders at least one page"));
        }
        wrongs
    }
}
