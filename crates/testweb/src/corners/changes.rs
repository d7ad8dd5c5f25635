//! Corner: what happens to pages from epoch to epoch?
//!
//! Everything tracking must distinguish: stable pages, pages rewritten often or seldom, pages that
//! change only their advertisement, pages that appear, vanish (404, 410, or with their link), move,
//! or fail for one epoch.

use super::{Corner, Fate, Spot, Via};
use crate::chance::{mixed, mixed_text};
use crate::prose;
use crate::reply::{Ask, Reply, Scene};
use crate::spec::Feature;

pub(super) const CORNER: Corner =
    Corner { feature: Feature::Changes, name: "changes", title: "Pages in time", hosts: &[], spots, answer };

/// What a page does over time.
#[derive(Clone, Copy)]
enum Course {
    Steady,
    /// Rewritten every so many epochs.
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

static PAGES: &[(&str, Course)] = &[
    ("steady-1.html", Course::Steady),
    ("steady-2.html", Course::Steady),
    ("steady-3.html", Course::Steady),
    ("always-1.html", Course::Renewed(1)),
    ("always-2.html", Course::Renewed(1)),
    ("seldom-1.html", Course::Renewed(3)),
    ("advertised-1.html", Course::Advertised),
    ("advertised-2.html", Course::Advertised),
    ("appears-at-1.html", Course::Appears(1)),
    ("appears-at-2.html", Course::Appears(2)),
    ("vanishes-at-1.html", Course::Vanishes(1, 404, true)),
    ("vanishes-at-2.html", Course::Vanishes(2, 410, true)),
    ("dropped-at-1.html", Course::Vanishes(1, 404, false)),
    ("moves-at-1.html", Course::Moves(1)),
    ("fails-at-1.html", Course::Fails(1)),
];

/// The fate of a page at an epoch, and whether the index links to it.
fn state(course: Course, scene: &Scene<'_>) -> (Fate, bool) {
    let epoch = scene.epoch;
    match course {
        Course::Appears(from) if epoch < from => (Fate::Status(404), false),
        Course::Vanishes(from, status, listed) if epoch >= from => (Fate::Status(status), listed),
        Course::Moves(from) if epoch >= from => (Fate::Redirect(301, scene.url(0, "/changes/moved.html")), true),
        Course::Fails(at) if epoch == at => (Fate::Status(500), true),
        _ => (Fate::Page, true),
    }
}

/// Since which epochs article and bytes have been as they are.
fn since(course: Course, epoch: u64) -> (u64, u64) {
    match course {
        Course::Renewed(period) => (epoch - epoch % period, epoch - epoch % period),
        Course::Advertised => (0, epoch),
        Course::Appears(from) => (from, from),
        _ => (0, 0),
    }
}

fn spots(scene: &Scene<'_>) -> Vec<Spot> {
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
        None if rest == "moved.html" => ("moves-at-1.html", Course::Steady),
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

fn written(ask: &Ask<'_>, name: &str, course: Course, reply: &mut Reply) {
    let (article, bytes) = since(course, ask.scene.epoch);
    let key = mixed(&[mixed_text(name), article]);
    let mut inside = String::new();
    if matches!(course, Course::Advertised) {
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
