//! Corner: which servers keep clients waiting?

use super::{Corner, Fate, Spot};
use crate::reply::{Ask, Flow, Reply, WebView, Wire};
use crate::spec::Feature;

pub(super) const CORNER: Corner =
    Corner { feature: Feature::Stalls, name: "stalls", title: "Servers that stall", hosts: &[], spots, answer };

fn spots(_: &WebView<'_>) -> Vec<Spot> {
    vec![Spot::page("/stalls/drip.html"), Spot::new("/stalls/never.html", Fate::Broken)]
}

fn answer(_: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    reply.page(200, "Patience", "<p>This page comes a few bytes at a time.</p>");
    reply.wire = match rest {
        "drip.html" => Wire::Flow(Flow::Drip),
        "never.html" => Wire::Flow(Flow::Hang),
        _ => return false,
    };
    true
}
