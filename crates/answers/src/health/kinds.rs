//! What does each kind of problem mean, how grave is it, and how is it repaired?

use orb_store::HealthKind;
use schemars::JsonSchema;
use serde::Serialize;

/// How grave a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Readers meet it as something that does not work.
    Error,
    /// It costs readers or search engines something.
    Warning,
    /// Often intended; worth a look.
    Notice,
}

impl Severity {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Notice => "notice",
        }
    }
}

use Severity::{Error, Notice, Warning};

/// How grave a kind is, what it means, and how it is repaired.
pub(super) const fn meaning(kind: HealthKind) -> (Severity, &'static str, &'static str) {
    match kind {
        HealthKind::BrokenLink => {
            (Error, "links to pages that could not be fetched", "correct or remove the link, or bring the page back")
        }
        HealthKind::RedirectLoop => {
            (Error, "redirects that lead back to themselves", "let one of them answer with a page, or remove them")
        }
        HealthKind::MixedContent => (
            Error,
            "parts of https pages that are fetched by http, which browsers refuse or warn of",
            "name the part by its https URL",
        ),
        HealthKind::RedirectChain => {
            (Warning, "redirects that lead to redirects", "let the first one, and links to it, lead to the end")
        }
        HealthKind::MissingTitle => (Warning, "HTML pages without a title", "give the page a <title>"),
        HealthKind::EqualTitle => (
            Warning,
            "HTML pages with the title of another page of their host",
            "give each page a title that says what is on it alone",
        ),
        HealthKind::Duplicate => (
            Warning,
            "pages with exactly the content of an earlier one",
            "redirect to one of them, or name it as canonical",
        ),
        HealthKind::MissingAlt => (
            Warning,
            "images without an alt attribute",
            "describe the image in alt, or leave alt empty if it is decoration",
        ),
        HealthKind::SlowPage => (
            Warning,
            "pages that took two seconds or more to fetch",
            "find out what the server does for so long, or cache it",
        ),
        HealthKind::LargePage => {
            (Warning, "HTML pages of a million bytes or more", "split the page, or move scripts and data out of it")
        }
        HealthKind::Orphan => (
            Warning,
            "pages that only a sitemap names",
            "link to the page from another one, or drop it from the sitemap",
        ),
        HealthKind::Trap => (
            Warning,
            "URLs taken for a trap and not fetched: endless calendars, queries, repeated paths",
            "stop linking to endless variants, or disallow them in robots.txt",
        ),
        HealthKind::NearDuplicate => (
            Notice,
            "HTML pages with the same text as an earlier one and other bytes",
            "merge the pages, or name one of them as canonical",
        ),
        HealthKind::CanonicalElsewhere => (
            Notice,
            "pages that name another page as canonical",
            "link to the canonical page directly; remove rel=canonical where it is wrong",
        ),
        HealthKind::DisallowedLink => (
            Notice,
            "links to pages that robots.txt disallows",
            "allow the page in robots.txt if it is meant to be found",
        ),
        HealthKind::DeepPage => (
            Notice,
            "pages six or more links away from the nearest seed",
            "link to the page from one nearer to the start",
        ),
    }
}
