//! Corner: which servers send more than anybody can take?

use super::{Corner, Fate, Spot};
use crate::reply::{Ask, Flow, Reply, WebView, Wire};
use crate::spec::Feature;

pub(super) const CORNER: Corner =
    Corner { feature: Feature::Floods, name: "floods", title: "Servers without end", hosts: &[], spots, answer };

static FLOODS: &[(&str, Flow)] = &[
    ("endless.html", Flow::Endless),
    ("bomb.html", Flow::Bomb),
    ("headers.html", Flow::Headers),
    ("long-header.html", Flow::LongHeader),
    ("large.bin", Flow::Large),
];

fn spots(_: &WebView<'_>) -> Vec<Spot> {
    let fate = |flow| if flow == Flow::Large { Fate::Asset } else { Fate::Broken };
    FLOODS.iter().map(|(name, flow)| Spot::new(format!("/floods/{name}"), fate(*flow))).collect()
}

fn answer(_: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    let Some((_, flow)) = FLOODS.iter().find(|(name, _)| *name == rest) else {
        return false;
    };
    reply.mime = if *flow == Flow::Large { "application/octet-stream" } else { "text/html" };
    reply.wire = Wire::Flow(*flow);
    true
}
