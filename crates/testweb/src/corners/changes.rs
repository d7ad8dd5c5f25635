//! Corner: what happens to pages from epoch to epoch?
//!
//! Everything tracking must distinguish: stable pages, pages rewritten often or seldom, pages that
//! change only their advertisement, pages that appear, vanish (404, 410, or with their link), move,
//! or fail for one epoch.

use super::{Corner, Fate, Spot, Via};
use crate::chance::{mixed, mixed_text};
use crate::prose;
use crate::reply::{Ask, Reply, WebView};
use crate::spec::Feature;

pub(super) const CORNER: Corner =
    Corner { feature: Feature::Changes, name: "changes", title: "Pages in time", hosts: &[], spots, answer };

/// What a page does over time.
#[derive(Clone, Copy)]
enum PageCourse {
    Steady,
    /// Rewritten every this many epochs.
    Renewed(u64),
    Advertised,
    /// Exists from this epoch on.
    Appears(u64),
    /// Gone from this epoch on, with this status, and whether the index still links to it.
    Vanishes(u64, u16, bool),
    /// A redirect to `moved.html` from this epoch on.
    Moves(u64),
    /// A server error in this epoch only.
    Fails(u64),
}

static PAGES: &[(&str, PageCourse)] = &[
    ("steady-1.html", PageCourse::Steady),
    ("steady-2.html", PageCourse::Steady),
    ("steady-3.html", PageCourse::Steady),
    ("always-1.html", PageCourse::Renewed(1)),
    ("always-2.html", PageCourse::Renewed(1)),
    ("seldom-1.html", PageCourse::Renewed(3)),
    ("advertised-1.html", PageCourse::Advertised),
    ("advertised-2.html", PageCourse::Advertised),
    ("appears-at-1.html", PageCourse::Appears(1)),
    ("appears-at-2.html", PageCourse::Appears(2)),
    ("vanishes-at-1.html", PageCourse::Vanishes(1, 404, true)),
    ("vanishes-at-2.html", PageCourse::Vanishes(2, 410, true)),
    ("dropped-at-1.html", PageCourse::Vanishes(1, 404, false)),
    ("moves-at-1.html", PageCourse::Moves(1)),
    ("fails-at-1.html", PageCourse::Fails(1)),
];

/// The fate of a page at an epoch, and whether the index links to it.
fn state(course: PageCourse, scene: &WebView<'_>) -> (Fate, bool) {
    let epoch = scene.epoch;
    match course {
        PageCourse::Appears(from) if epoch < from => (Fate::Status(404), false),
        PageCourse::Vanishes(from, status, listed) if epoch >= from => (Fate::Status(status), listed),
        PageCourse::Moves(from) if epoch >= from => (Fate::Redirect(301, scene.url(0, "/changes/moved.html")), true),
        PageCourse::Fails(at) if epoch == at => (Fate::Status(500), true),
        _ => (Fate::Page, true),
    }
}

/// Since which epochs article and bytes have been as they are.
fn since(course: PageCourse, epoch: u64) -> (u64, u64) {
    match course {
        PageCourse::Renewed(period) => (epoch - epoch % period, epoch - epoch % period),
        PageCourse::Advertised => (0, epoch),
        PageCourse::Appears(from) => (from, from),
        _ => (0, 0),
    }
}

fn spots(scene: &WebView<'_>) -> Vec<Spot> {
    let mut spots = Vec::new();
    for (name, course) in PAGES {
        let (fate, listed) = state(*course, scene);
        let moved = matches!(fate, Fate::Redirect(..));
        if listed {
            spots.push(Spot::new(format!("/changes/{name}"), fate).article(since(*course, scene.epoch).0));
        }
        if moved {
            spots.push(Spot::page("/changes/moved.html").via(Via::Spot));
        }
    }
    spots
}

fn answer(ask: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    let page = PAGES.iter().find(|(name, _)| *name == rest);
    let (name, course) = match page {
        Some((name, course)) => (*name, *course),
        None if rest == "moved.html" => ("moves-at-1.html", PageCourse::Steady),
        None => return false,
    };
    match state(course, &ask.scene).0 {
        Fate::Redirect(status, to) => reply.redirect(status, &to),
        Fate::Status(404) => reply.missing(),
        Fate::Status(status) => reply.page(status, "Not today", "<p>This page is not to be had.</p>"),
        _ => written(ask, name, course, reply),
    }
    true
}

fn written(ask: &Ask<'_>, name: &str, course: PageCourse, reply: &mut Reply) {
    let (article, bytes) = since(course, ask.scene.epoch);
    let key = mixed(&[mixed_text(name), article]);
    let mut inside = String::new();
    if matches!(course, PageCourse::Advertised) {
        let mut slogan = Vec::new();
        prose::title(mixed(&[key, ask.scene.epoch]), &mut slogan);
        inside += &format!("<aside class=\"advertisement\">Buy now: {}!</aside>\n", String::from_utf8_lossy(&slogan));
    }
    for n in 0..6 {
        inside += &String::from_utf8_lossy(prose::stock(mixed(&[key, n]) as usize % prose::SINGLE));
    }
    reply.page(200, "A page in time", &inside);
    if ask.scene.web.spec().features.has(Feature::Validators) {
        reply.version = Some((mixed(&[key, bytes]), bytes));
    }
}
