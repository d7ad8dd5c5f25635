//! Corner: which pages succeed on a retry?
//!
//! Attempts are counted per client, path and epoch.

use super::{Corner, Fate, Spot};
use crate::clock;
use crate::reply::{Ask, Reply, WebView, Wire};
use crate::spec::Feature;
use std::time::{Duration, SystemTime};

pub(super) const CORNER: Corner =
    Corner { feature: Feature::Retries, name: "retries", title: "Pages that yield", hosts: &[], spots, answer };

/// How an attempt is refused.
#[derive(Clone, Copy)]
enum Refusal {
    /// With this status and optionally `Retry-After: 1`.
    Status(u16, bool),
    /// With 503 and a date one second ahead.
    Date,
    /// The connection closes without a response.
    Silence,
    /// The connection closes within the header.
    Half,
}

static PAGES: &[(&str, u32, Refusal)] = &[
    ("too-many.html", 2, Refusal::Status(429, true)),
    ("too-many-unsaid.html", 1, Refusal::Status(429, false)),
    ("busy.html", 1, Refusal::Status(503, true)),
    ("busy-until.html", 1, Refusal::Date),
    ("stumbles.html", 1, Refusal::Status(500, false)),
    ("flaky.html", 1, Refusal::Silence),
    ("cut.html", 1, Refusal::Half),
];

fn spots(_: &WebView<'_>) -> Vec<Spot> {
    PAGES.iter().map(|(name, tries, _)| Spot::new(format!("/retries/{name}"), Fate::Later(*tries))).collect()
}

fn answer(ask: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    let Some((name, tries, refusal)) = PAGES.iter().find(|(name, ..)| *name == rest) else {
        return false;
    };
    if ask.scene.web.tried(ask) >= *tries {
        reply.page(200, "At last", &format!("<p>You asked for {name} often enough.</p>"));
        return true;
    }
    reply.page(503, "Not yet", "<p>Ask again.</p>");
    match refusal {
        Refusal::Status(status, says_when) => {
            reply.status = *status;
            if *says_when {
                reply.header("Retry-After", "1");
            }
        }
        Refusal::Date => {
            reply.header("Retry-After", &clock::http_date(SystemTime::now() + Duration::from_millis(1_500)));
        }
        Refusal::Silence => reply.wire = Wire::Silence,
        Refusal::Half => reply.verbatim(b"HTTP/1.1 200 OK\r\nContent-Ty"),
    }
    true
}
