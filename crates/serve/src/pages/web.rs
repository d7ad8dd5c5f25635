//! How are the hosts of a run drawn?
//!
//! In a circle, in the order of their numbers, so that a host stays where it is from one look to
//! the next; as large as the number of its pages, and as dark as it is busy. A line leads from the
//! host on which pages were found to theirs. The server draws and nothing moves by itself.

use orb_answers::{HostWeb, WebbedHost, grouped};
use std::f64::consts::TAU;

/// The size of the drawing, in its own units.
const WIDTH: f64 = 700.0;
const HEIGHT: f64 = 320.0;

/// How far from the middle the hosts are.
const AROUND: (f64, f64) = (220.0, 115.0);

/// The radius of the largest and of the smallest host.
const LARGEST: f64 = 22.0;
const SMALLEST: f64 = 5.0;

/// The longest name that is shown whole.
const NAME: usize = 22;

/// A drawing of hosts.
pub(super) struct WebChart {
    pub(super) hosts: Vec<WebSpot>,
    pub(super) threads: Vec<WebLine>,
}

/// A host.
pub(super) struct WebSpot {
    pub(super) path: String,
    /// What it says when pointed at.
    pub(super) title: String,
    pub(super) name: String,
    pub(super) is_busy: bool,
    pub(super) x: String,
    pub(super) y: String,
    pub(super) radius: String,
    pub(super) text_y: String,
}

/// A line from one to another, bent so that both directions are seen.
pub(super) struct WebLine {
    pub(super) path: String,
    pub(super) width: String,
}

/// The drawing; `None` if there are no two hosts to draw.
#[expect(clippy::cast_precision_loss, reason = "a drawing")]
pub(super) fn web_chart(web: &HostWeb, project: &str) -> Option<WebChart> {
    if web.hosts.len() < 2 {
        return None;
    }
    let mut hosts: Vec<&WebbedHost> = web.hosts.iter().collect();
    hosts.sort_by_key(|host| host.id);
    let place = |id: u32| {
        let turn = hosts.iter().position(|host| host.id == id)? as f64 / hosts.len() as f64 * TAU;
        Some((WIDTH / 2.0 + AROUND.0 * turn.cos(), HEIGHT / 2.0 + AROUND.1 * turn.sin()))
    };
    let most = hosts.iter().map(|host| host.pages).max().unwrap_or(1).max(1) as f64;
    let recent: u64 = hosts.iter().map(|host| host.recent).sum();
    let spot = |host: &&WebbedHost| {
        let (x, y) = place(host.id)?;
        let radius = SMALLEST + (LARGEST - SMALLEST) * (host.pages as f64 / most).sqrt();
        let [x, y, text_y, radius] = [x, y, y + radius + 14.0, radius].map(|n| format!("{n:.1}"));
        Some(WebSpot {
            path: format!("/p/{project}/hosts/{}", host.id),
            title: format!("{}: {} pages, {} of the last {recent}", host.name, grouped(host.pages), host.recent),
            name: shortened(&host.name),
            is_busy: host.recent * hosts.len() as u64 >= recent,
            x,
            y,
            radius,
            text_y,
        })
    };
    let line = |thread: &orb_answers::WebThread| {
        let ((x1, y1), (x2, y2)) = (place(thread.from)?, place(thread.to)?);
        let (bend_x, bend_y) = ((x1 + x2) / 2.0 + (y2 - y1) * 0.12, (y1 + y2) / 2.0 - (x2 - x1) * 0.12);
        let width = (1.0 + (thread.pages as f64).sqrt() / 2.0).min(6.0);
        let path = format!("M{x1:.1} {y1:.1}Q{bend_x:.1} {bend_y:.1} {x2:.1} {y2:.1}");
        Some(WebLine { path, width: format!("{width:.1}") })
    };
    let threads = web.threads.iter().filter_map(line).collect();
    Some(WebChart { hosts: hosts.iter().filter_map(spot).collect(), threads })
}

/// A name, or its end: what tells hosts of one domain apart is long enough to be seen there.
fn shortened(name: &str) -> String {
    if name.chars().count() <= NAME {
        return name.to_owned();
    }
    let kept: String = name.chars().take(NAME - 1).collect();
    kept + "…"
}

#[cfg(test)]
mod tests {
    use super::*;
    use orb_answers::WebThread;

    #[test]
    fn hosts_keep_their_places_and_lines_join_those_that_are_shown() {
        let host = |id: u32, pages: u64| WebbedHost { id, name: format!("h{id}.test"), pages, recent: pages };
        let threads = vec![WebThread { from: 1, to: 2, pages: 9 }, WebThread { from: 9, to: 1, pages: 1 }];
        let web = HostWeb { hosts: vec![host(2, 100), host(1, 1)], threads };
        let drawn = web_chart(&web, "p").unwrap();
        let again = web_chart(&HostWeb { hosts: vec![host(1, 5), host(2, 6)], threads: Vec::new() }, "p").unwrap();
        assert_eq!((drawn.hosts.len(), drawn.threads.len()), (2, 1));
        for (first, then) in drawn.hosts.iter().zip(&again.hosts) {
            assert_eq!((&first.path, &first.x, &first.y), (&then.path, &then.x, &then.y));
        }
        assert_eq!(drawn.hosts[1].radius, "22.0");
        assert!(web_chart(&HostWeb { hosts: vec![host(1, 1)], threads: Vec::new() }, "p").is_none());
    }
}
