//! Corner: which two hosts are one?

use super::{Corner, OTHER_TWIN, Spot, TWIN, Via};
use crate::prose;
use crate::reply::{Ask, Reply, WebView};
use crate::spec::Feature;

pub(super) const CORNER: Corner = Corner {
    feature: Feature::Mirrors,
    name: "mirrors",
    title: "Two hosts with one content",
    hosts: &[TWIN, OTHER_TWIN],
    spots,
    answer,
};

const PAGES: usize = 6;

fn path(number: usize) -> String {
    if number == 0 { "/".into() } else { format!("/page-{number}.html") }
}

fn spots(scene: &WebView<'_>) -> Vec<Spot> {
    let mut spots = Vec::new();
    for host in [scene.beyond(TWIN), scene.beyond(OTHER_TWIN)] {
        for number in 0..PAGES {
            let via = if number == 0 { Via::Index } else { Via::Spot };
            spots.push(Spot::page(path(number)).on(host).via(via).same(format!("mirror {number}")));
        }
    }
    spots
}

fn answer(ask: &Ask<'_>, _: &str, reply: &mut Reply) -> bool {
    let Some(number) = (0..PAGES).find(|number| ask.host != 0 && path(*number) == ask.path) else {
        return false;
    };
    let next = path((number + 1) % PAGES);
    let text = String::from_utf8_lossy(prose::stock(number + 100));
    reply.page(200, &format!("Mirrored page {number}"), &format!("{text}<p><a href=\"{next}\">Next</a></p>"));
    true
}
