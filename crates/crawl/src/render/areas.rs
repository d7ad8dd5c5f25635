//! Where does rendering pay?
//!
//! A page that is empty without its scripts is rendered at sight. Other pages of the same host may
//! need it as well and not look like it: a list that is filled in later, below a heading that is
//! there. So on a host where one page was empty, the first pages of every area are read both ways,
//! and a few later ones; an area belongs to the browser when most of them gained links or text. An
//! area where nothing is gained is left alone, however empty its pages look.

use hashbrown::HashMap;
use orb_page::{HostId, UrlKey};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Pages of an area that are read both ways before it is judged.
const FIRST: usize = 5;

/// Of the later ones, one in so many.
const LATER: u128 = 50;

/// Links that make a difference.
const LINKS: usize = 3;

/// Text that makes a difference: more than this part of what was there, and so many characters.
const TEXT: (usize, usize) = (30, 50);

/// Outcomes that are remembered for an area.
const REMEMBERED: usize = 21;

/// Maximum areas in memory; beyond, they are learnt again.
const MOST: usize = 100_000;

/// What the browser has added to a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RenderGain {
    /// Links before and after.
    pub links: (usize, usize),
    /// Characters of text before and after.
    pub text: (usize, usize),
}

impl RenderGain {
    /// Whether it was worth a browser.
    fn pays(self) -> bool {
        let (before, after) = self.text;
        let more_text = after >= before + TEXT.1 && (after - before) * 100 >= before * TEXT.0;
        self.links.1 >= self.links.0 + LINKS || more_text
    }
}

/// What was learnt about the areas of a run.
#[derive(Default)]
pub(crate) struct RenderAreas {
    learnt: Mutex<LearntAreas>,
}

#[derive(Default)]
struct LearntAreas {
    /// Hosts with a page that was empty without its scripts.
    hosts: hashbrown::HashSet<HostId>,
    /// Whether the last renderings of an area paid.
    areas: HashMap<u64, Vec<bool>>,
}

impl RenderAreas {
    /// Whether a page of this host and area is to be rendered; `is_shell` looks at it.
    pub(crate) fn wants(&self, (host, area): (HostId, u64), url: &str, is_shell: impl FnOnce() -> bool) -> bool {
        let known = self.learnt().areas.get(&area).map(|paid| (paid.len(), pays(paid)));
        if let Some((tried, true)) = known
            && tried >= FIRST
        {
            return true;
        }
        let is_shell = is_shell();
        let mut learnt = self.learnt();
        if is_shell {
            learnt.hosts.insert(host);
        }
        match known {
            Some((tried, _)) if tried >= FIRST => UrlKey::of(url).0.is_multiple_of(LATER),
            _ => is_shell || learnt.hosts.contains(&host),
        }
    }

    /// A page of this area was read both ways.
    pub(crate) fn note(&self, area: u64, gain: RenderGain) {
        let mut learnt = self.learnt();
        if learnt.areas.len() >= MOST {
            learnt.areas.clear();
        }
        let paid = learnt.areas.entry(area).or_default();
        if paid.len() == REMEMBERED {
            paid.remove(0);
        }
        paid.push(gain.pays());
    }

    fn learnt(&self) -> MutexGuard<'_, LearntAreas> {
        self.learnt.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether most of them paid.
fn pays(paid: &[bool]) -> bool {
    paid.iter().filter(|paid| **paid).count() * 2 > paid.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAIN: RenderGain = RenderGain { links: (0, 3), text: (0, 0) };
    const NONE: RenderGain = RenderGain { links: (9, 11), text: (1_000, 1_290) };

    #[test]
    fn a_host_without_an_empty_page_is_never_rendered() {
        let areas = RenderAreas::default();
        assert!((0..1_000).all(|n| !areas.wants((HostId(1), 7), &format!("http://a/{n}"), || false)));
    }

    #[test]
    fn an_area_is_tried_on_both_ways_and_then_believed() {
        let areas = RenderAreas::default();
        assert!(areas.wants((HostId(1), 1), "http://a/", || true));
        for area in [2, 3] {
            for n in 0..FIRST {
                assert!(areas.wants((HostId(1), area), &format!("http://a/{n}"), || false), "{area} {n}");
                areas.note(area, if area == 2 { GAIN } else { NONE });
            }
        }
        let wanted =
            |area| (0..1_000).filter(|n| areas.wants((HostId(1), area), &format!("http://a/{n}"), || false)).count();
        assert_eq!(wanted(2), 1_000);
        assert!((5..50).contains(&wanted(3)), "{}", wanted(3));
        assert!(!areas.wants((HostId(2), 4), "http://b/", || false));
        // Nothing is gained there, however empty its pages look.
        assert!(
            !areas.wants((HostId(1), 3), "http://a/0", || true) || UrlKey::of("http://a/0").0.is_multiple_of(LATER)
        );
    }

    #[test]
    fn a_gain_is_three_links_or_a_third_more_text() {
        let text = |before, after| RenderGain { links: (5, 5), text: (before, after) }.pays();
        assert!(GAIN.pays() && !NONE.pays());
        assert!(text(1_000, 1_300) && text(0, 50) && !text(0, 49) && !text(10, 40) && !text(500, 100));
    }
}
