//! What do all pages have in common?
//!
//! Templates are in `templates`, one a screen. They extend `frame.html` and fill its blocks, and
//! everything they insert is escaped. Their structs hold what is shown, ready to be shown: a
//! template computes nothing.

use crate::gate::Identity;
use crate::routes::Right;
use crate::shared::{SharedMark, SharedProjects};
use crate::{assets, routes};
use askama::Template;
use orb_answers::is_shared_copy;
use orb_page::Moment;
use orb_project::ProjectDir;
use std::sync::Arc;

/// The places the bar on top leads to. One that has no page is not shown.
const PLACES: &[(&str, &str)] = &[
    ("Projects", "/"),
    ("Changes", "/changes"),
    ("Search", "/search"),
    ("Schedule", "/schedule"),
    ("Machines", "/machines"),
    ("Users", "/users"),
];

/// The places of a project, below its path, in groups: a newcomer sees the groups, and inside
/// one of them its places. A place that takes a right that is not there is not shown; a group leads
/// to its first place that is.
const PROJECT_PLACES: &[(&str, &[(&str, &str)])] = &[
    ("Overview", &[("Overview", "")]),
    ("Runs", &[("All runs", "/runs"), ("Start a run", "/run"), ("Queue", "/queue"), ("Intake", "/intake")]),
    ("Changes", &[("Changes", "/changes")]),
    ("Search", &[("Search", "/search")]),
    (
        "Explore",
        &[
            ("Pages", "/pages"),
            ("Hosts", "/hosts"),
            ("Health", "/health"),
            ("Map", "/graph"),
            ("Structure", "/structure"),
            ("SQL", "/sql"),
            ("Exports", "/exports"),
            ("Check", "/check"),
        ],
    ),
    ("Settings", &[("Settings", "/settings"), ("Rules", "/rules"), ("Steps", "/steps"), ("Comparing", "/compare")]),
];

/// Places that a project on the shared store has not: they change what is kept beside a project.
const AT_HOME: [&str; 5] = ["/intake", "/check", "/rules", "/steps", "/compare"];

/// A place to go to.
pub(crate) struct NavPlace {
    pub(crate) label: &'static str,
    pub(crate) path: String,
    pub(crate) is_here: bool,
}

/// What stands around a page.
pub(crate) struct Frame {
    /// Who is logged in.
    pub(crate) user: Option<String>,
    pub(crate) places: Vec<NavPlace>,
    /// The project the page is about.
    pub(crate) project: Option<String>,
    /// The groups of its places.
    pub(crate) project_places: Vec<NavPlace>,
    /// The places of the group we are in, if it has several.
    pub(crate) group_places: Vec<NavPlace>,
    /// What there is to say about a project and the shared store.
    pub(crate) note: Option<String>,
    /// Whether that is bad news.
    pub(crate) is_stale: bool,
    /// Whether the project is on the shared store.
    pub(crate) is_shared: bool,
    /// Whether runs of the project may be started.
    pub(crate) may_run: bool,
    pub(crate) has_search: bool,
    pub(crate) style: &'static str,
    pub(crate) script: &'static str,
}

impl Frame {
    /// Around the page at this path, for somebody.
    pub(crate) fn new(identity: Option<&Identity>, path: &str, project: Option<String>) -> Self {
        let user = identity.filter(|identity| !identity.is_guest()).map(|identity| identity.user.name.clone());
        let admin = identity.is_some_and(|identity| identity.user.admin);
        let shown = PLACES
            .iter()
            .filter(|(label, place)| user.is_some() && routes::has_page(place) && (admin || *label != "Users"));
        let places = shown.map(|&(label, place)| NavPlace {
            label,
            path: place.to_owned(),
            is_here: place == path || (place != "/" && path.starts_with(&format!("{place}/"))),
        });
        let may_run = |name: &String| identity.is_some_and(|identity| identity.may(Right::Run, name));
        let groups = project.iter().flat_map(|name| groups(identity, path, name));
        let (mut project_places, mut group_places) = (Vec::new(), Vec::new());
        for (label, places) in groups {
            let is_here = places.iter().any(|place| place.is_here);
            project_places.extend(places.first().map(|first| NavPlace { label, path: first.path.clone(), is_here }));
            if is_here && places.len() > 1 {
                group_places = places;
            }
        }
        Self {
            places: places.collect(),
            project_places,
            group_places,
            may_run: project.as_ref().is_some_and(may_run),
            has_search: user.is_some() && routes::has_page("/search"),
            user,
            project,
            note: None,
            is_stale: false,
            is_shared: false,
            style: assets::style(),
            script: assets::script(),
        }
    }

    /// Around the page at this path, of a project that may be on the shared store.
    pub(crate) fn around(
        identity: Option<&Identity>,
        path: &str,
        project: Option<&ProjectDir>,
        shared: Option<&Arc<SharedProjects>>,
    ) -> Self {
        let frame = Self::new(identity, path, project.map(|project| project.name.clone()));
        match project.zip(shared) {
            Some((project, shared)) if is_shared_copy(project) => frame.of_shared(&shared.mark(project)),
            Some((project, shared)) if shared.has(&project.name) => frame.of_two(),
            _ => frame,
        }
    }

    /// The same for a project on the shared store, which has fewer places.
    fn of_shared(mut self, mark: &SharedMark) -> Self {
        let is_there = |place: &NavPlace| !AT_HOME.iter().any(|path| place.path.ends_with(path));
        self.group_places.retain(is_there);
        if self.group_places.len() < 2 {
            self.group_places.clear();
        }
        (self.note, self.is_stale) = (Some(mark.text()), mark.problem.is_some());
        self.is_shared = true;
        self
    }

    /// The same for a project of the home, where the store has one of its name.
    fn of_two(mut self) -> Self {
        let note = "There is a project of this name on the shared store, too. This one is of the home.";
        self.note = Some(note.to_owned());
        self
    }

    /// Around a page for nobody.
    pub(crate) fn nobody() -> Self {
        Self::new(None, "", None)
    }
}

/// The places of a project that somebody may go to, in groups.
fn groups<'a>(
    identity: Option<&'a Identity>,
    path: &'a str,
    project: &'a str,
) -> impl Iterator<Item = (&'static str, Vec<NavPlace>)> + 'a {
    let may = move |row: &routes::RouteRow| {
        let is_open = |identity: &&Identity| !identity.is_guest() || row.for_guests;
        identity.filter(is_open).is_some_and(|identity| identity.may(row.right, project))
    };
    let place = move |&(label, place): &(&'static str, &str)| {
        routes::page_at(&format!("/p/{{p}}{place}")).filter(|row| may(row))?;
        let target = format!("/p/{project}{place}");
        let is_below = !place.is_empty() && path.starts_with(&format!("{target}/"));
        Some(NavPlace { label, is_here: target == path || is_below, path: target })
    };
    PROJECT_PLACES.iter().map(move |(label, places)| (*label, places.iter().filter_map(place).collect()))
}

/// The page that says what went wrong.
#[derive(Template)]
#[template(path = "error.html")]
pub(crate) struct ErrorPage<'a> {
    pub(crate) frame: Frame,
    pub(crate) status: u16,
    pub(crate) title: &'a str,
    pub(crate) detail: &'a str,
    /// Whether the page is to be asked for again in a moment.
    pub(crate) again: bool,
    /// Whether it is a run that would help, and whoever asks may start one.
    pub(crate) may_begin: bool,
}

/// Bytes in readable units.
pub(crate) fn bytes(n: u64) -> String {
    const UNITS: [(u64, &str); 4] =
        [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match UNITS.iter().find(|(unit, _)| n >= *unit) {
        Some((unit, name)) if n < 10 * unit => format!("{}.{} {name}", n / unit, n % unit * 10 / unit),
        Some((unit, name)) => format!("{} {name}", n / unit),
        None => format!("{n} B"),
    }
}

/// A measure as people read it: a whole number, or about three digits that count; with an exponent
/// only if it is tiny.
pub(crate) fn measure(x: f64) -> String {
    match x {
        x if x.fract() == 0.0 => format!("{x:.0}"),
        x if x >= 1.0 => format!("{x:.1}"),
        x if x >= 0.1 => format!("{x:.3}"),
        x if x >= 0.01 => format!("{x:.4}"),
        x if x >= 0.001 => format!("{x:.5}"),
        x if x >= 0.000_1 => format!("{x:.6}"),
        x => format!("{x:.2e}"),
    }
}

/// The day and minute of a moment, as people read it; the text as it is if it is none.
pub(crate) fn minute(at: &str) -> String {
    let Some(moment) = Moment::parse(at) else { return at.to_owned() };
    let c = moment.civil();
    format!("{:04}-{:02}-{:02} {:02}:{:02} UTC", c.year, c.month, c.day, c.hour, c.minute)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_read_well() {
        assert_eq!([999, 1_000, 12_345, 9_990_000_000].map(bytes), ["999 B", "1.0 kB", "12 kB", "9.9 GB"]);
        assert_eq!(
            [0.0, 29.51, 0.173, 0.016_02, 0.000_123_4].map(measure),
            ["0", "29.5", "0.173", "0.0160", "0.000123"]
        );
        assert_eq!(measure(35.0), "35");
        assert_eq!(measure(4.051_8e-14), "4.05e-14");
        assert_eq!(minute("2026-11-16T23:05:59Z"), "2026-11-16 23:05 UTC");
        assert_eq!(minute("never"), "never");
    }

    #[test]
    fn what_is_inserted_into_a_page_is_escaped() {
        let (title, detail) = ("<b>", "<script>alert(1)</script>");
        let page = ErrorPage { frame: Frame::nobody(), status: 404, title, detail, again: false, may_begin: false }
            .render()
            .unwrap();
        assert!(!page.contains("<script>alert") && !page.contains("<b>&"), "{page}");
        assert!(page.contains("&#60;script&#62;"), "{page}");
    }
}
