//! Which pages are worth a visit now, and when are the others due?
//!
//! Before a tracking run with a limit, and after every run of a project with a budget, the history
//! of visits is scanned page by page, twice. The first scan takes a sample, from which priors and
//! price are estimated; the second judges every page. Memory holds the sample and the result,
//! whatever the number of pages.

use crate::CrawlError;
use orb_page::{Flag, HostId, Moment, PageId};
use orb_store::{CatalogueReader, DueRow, PastVisit, Project, SharedProject, StoreError};
use orb_track::rate::simulate::Dice;
use orb_track::rate::{Belief, Best, History, Outlook, Price, Priors, days_after, days_between};
use std::cell::RefCell;

/// Maximum sample size.
const SAMPLE: usize = 4_000;

/// Rows per write.
const CHUNK: usize = 20_000;

/// Minimum time between runs, as far as a budget is concerned.
const SHORTEST: f64 = 1.0 / 24.0;

/// Which known pages a tracking run visits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RevisitSelection {
    /// All of them.
    #[default]
    All,
    /// Those that are due under the project's budget.
    Due,
    /// This many, where a visit is worth most.
    Best(u64),
}

impl RevisitSelection {
    /// As stored with a run.
    pub(crate) fn text(self) -> String {
        match self {
            Self::All => "all".to_owned(),
            Self::Due => "due".to_owned(),
            Self::Best(n) => format!("best {n}"),
        }
    }

    /// Restores it.
    pub(crate) fn of(text: &str) -> Self {
        match (text, text.strip_prefix("best ").and_then(|n| n.parse().ok())) {
            ("due", _) => Self::Due,
            (_, Some(n)) => Self::Best(n),
            _ => Self::All,
        }
    }
}

/// Where the history of visits is.
pub(crate) trait PastVisits {
    /// Calls back with every visit of every page that may be revisited, page by page, earliest
    /// first.
    fn each_past(&self, each: &mut dyn FnMut(PastVisit)) -> Result<(), StoreError>;
}

impl PastVisits for CatalogueReader {
    fn each_past(&self, each: &mut dyn FnMut(PastVisit)) -> Result<(), StoreError> {
        self.each_seen(each)
    }
}

impl PastVisits for RefCell<&mut SharedProject> {
    fn each_past(&self, each: &mut dyn FnMut(PastVisit)) -> Result<(), StoreError> {
        self.borrow_mut().each_seen(each)
    }
}

/// The visit history of one page.
#[derive(Clone, Debug)]
pub(crate) struct Visited {
    pub(crate) page: PageId,
    pub(crate) host: HostId,
    /// When it was last seen as it was.
    pub(crate) seen: Moment,
    pub(crate) history: History,
    gone: bool,
}

impl Visited {
    fn new(first: &PastVisit) -> Self {
        Self {
            page: first.page,
            host: first.host,
            seen: first.at,
            history: History::default(),
            gone: first.flag == Flag::Missing,
        }
    }

    /// Adds a later visit; `Some` with its interval in days and whether the page had changed, if it
    /// revealed that.
    pub(crate) fn add(&mut self, visit: &PastVisit) -> Option<(f64, bool)> {
        let changed = match visit.flag {
            Flag::Error => return None,
            Flag::Updated => true,
            Flag::Same => self.gone,
            Flag::New => self.gone,
            Flag::Missing => !self.gone,
        };
        let days = days_between(self.seen, visit.at);
        self.history.push(days, changed);
        (self.seen, self.gone) = (visit.at, visit.flag == Flag::Missing);
        Some((days, changed))
    }

    /// A deterministic pseudo-random number from 0 to 1.
    fn chance(&self) -> f64 {
        Dice::new(self.page.0).unit()
    }
}

/// Calls back with the history of each page; `visit` is called for every visit after the first of
/// its page.
pub(crate) fn each_page(
    visits: &impl PastVisits,
    mut visit: impl FnMut(&Visited, &PastVisit),
    mut each: impl FnMut(Visited),
) -> Result<(), StoreError> {
    let mut page: Option<Visited> = None;
    visits.each_past(&mut |seen| match &mut page {
        Some(known) if known.page == seen.page => {
            visit(known, &seen);
            known.add(&seen);
        }
        _ => page.replace(Visited::new(&seen)).into_iter().for_each(&mut each),
    })?;
    page.into_iter().for_each(each);
    Ok(())
}

/// Priors and price of a project.
pub(crate) struct Forecast {
    pub(crate) priors: Priors,
    price: Price,
}

impl Forecast {
    /// For this many visits per day.
    pub(crate) fn of(reader: &impl PastVisits, visits_a_day: f64) -> Result<Self, StoreError> {
        let mut sample = Sample::default();
        each_page(reader, |_, _| {}, |page| sample.offer(page))?;
        let priors = Priors::fit(sample.kept.iter().map(|(_, page)| (page.host.0, &page.history)));
        let beliefs: Vec<Belief> =
            sample.kept.iter().map(|(_, page)| page.history.belief(&priors, page.host.0)).collect();
        let share = beliefs.len() as f64 / sample.pages.max(1) as f64;
        Ok(Self { price: Price::of(&beliefs, visits_a_day * share), priors })
    }

    fn judge(&self, page: &Visited) -> (Belief, Outlook) {
        let belief = page.history.belief(&self.priors, page.host.0);
        let outlook = self.price.outlook(&belief);
        (belief, outlook)
    }

    /// How many days after its last visit a page is due. Pages that were never revisited are spread
    /// over that time: otherwise everything that was collected at once would be due at once.
    fn days(page: &Visited, outlook: &Outlook) -> Option<f64> {
        let early = if page.history.looks() == 0 { page.chance() } else { 1.0 };
        outlook.days().map(|days| days * early)
    }

    /// When a page is due.
    fn due(&self, page: &Visited) -> DueRow {
        let (belief, outlook) = self.judge(page);
        let due = Self::days(page, &outlook).map(|days| days_after(page.seen, days));
        DueRow { page: page.page, rate: belief.rate(), due }
    }
}

/// A uniform sample of the pages, whatever their number.
#[derive(Default)]
struct Sample {
    kept: Vec<(f64, Visited)>,
    /// Pages with a smaller random number are left out.
    least: f64,
    pages: u64,
}

impl Sample {
    fn offer(&mut self, page: Visited) {
        self.pages += 1;
        let chance = page.chance();
        if chance < self.least {
            return;
        }
        self.kept.push((chance, page));
        while self.kept.len() >= 2 * SAMPLE {
            self.least = f64::midpoint(self.least, 1.0);
            self.kept.retain(|(chance, _)| *chance >= self.least);
        }
    }
}

/// How many visits a tracking run may make to known pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VisitAllowance {
    /// In this run.
    pub(crate) room: u64,
    /// In the long run.
    visits_a_day: f64,
}

impl VisitAllowance {
    /// What a choice allows; `None` if it is everything. `since` is when the previous run began.
    pub(crate) fn of(
        choice: RevisitSelection,
        budget: Option<f64>,
        since: Moment,
        now: Moment,
    ) -> Result<Option<Self>, CrawlError> {
        let days = days_between(since, now).max(SHORTEST);
        let (room, visits_a_day) = match (choice, budget) {
            (RevisitSelection::All, _) => return Ok(None),
            (RevisitSelection::Best(n), _) => (n as f64, n as f64 / days),
            (RevisitSelection::Due, Some(budget)) => ((budget * days).ceil(), budget),
            (RevisitSelection::Due, None) => {
                let what = "what is due depends on the budget: [track] budget = \"5000/d\" in the project's file, \
                            or --budget N";
                return Err(CrawlError::Setting(what.to_owned()));
            }
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        Ok(Some(Self { room: room.clamp(0.0, 1e9) as u64, visits_a_day }))
    }

    /// What is left after so many visits.
    pub(crate) fn without(self, visits: u64) -> Self {
        Self { room: self.room.saturating_sub(visits), ..self }
    }
}

/// The pages to visit now, in order; `None` for all of them.
pub(crate) fn choose(
    reader: &impl PastVisits,
    choice: RevisitSelection,
    allowance: Option<VisitAllowance>,
    now: Moment,
) -> Result<Option<Vec<PageId>>, CrawlError> {
    let Some(VisitAllowance { room, visits_a_day }) = allowance else { return Ok(None) };
    let forecast = Forecast::of(reader, visits_a_day)?;
    let mut best = Best::new(usize::try_from(room).unwrap_or(usize::MAX));
    each_page(
        reader,
        |_, _| {},
        |page| {
            let (belief, outlook) = forecast.judge(&page);
            let age = days_between(page.seen, now);
            let due = Forecast::days(&page, &outlook).is_some_and(|days| age >= days);
            if choice != RevisitSelection::Due || due {
                best.offer(page.page, outlook.worth(&belief, age));
            }
        },
    )?;
    Ok(Some(best.into_sorted()))
}

/// When pages are due under a budget.
pub(crate) fn dues(reader: &impl PastVisits, visits_a_day: f64) -> Result<Vec<DueRow>, StoreError> {
    let forecast = Forecast::of(reader, visits_a_day)?;
    let mut rows = Vec::new();
    each_page(reader, |_, _| {}, |page| rows.push(forecast.due(&page)))?;
    Ok(rows)
}

/// Stores when pages are due under a budget.
pub(crate) fn write_dues(project: &mut Project, visits_a_day: f64) -> Result<(), StoreError> {
    let reader = project.reader()?;
    let forecast = Forecast::of(&reader, visits_a_day)?;
    project.clear_dues()?;
    let (mut rows, mut written) = (Vec::with_capacity(CHUNK), Ok(()));
    each_page(
        &reader,
        |_, _| {},
        |page| {
            rows.push(forecast.due(&page));
            if rows.len() >= CHUNK && written.is_ok() {
                written = project.add_dues(&rows);
                rows.clear();
            }
        },
    )?;
    written?;
    project.add_dues(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(page: u64, hours: i64, flag: Flag) -> PastVisit {
        PastVisit { page: PageId(page), host: HostId(1), at: Moment(hours * 3_600_000), flag }
    }

    #[test]
    fn a_visit_tells_whether_the_page_changed_since_it_was_last_seen() {
        let mut page = Visited::new(&seen(1, 0, Flag::New));
        assert_eq!(page.add(&seen(1, 24, Flag::Same)), Some((1.0, false)));
        assert_eq!(page.add(&seen(1, 36, Flag::Error)), None);
        assert_eq!(page.add(&seen(1, 48, Flag::Updated)), Some((1.0, true)), "a failure tells nothing");
        assert_eq!(page.add(&seen(1, 72, Flag::Missing)), Some((1.0, true)));
        assert_eq!(page.add(&seen(1, 96, Flag::Missing)), Some((1.0, false)), "still gone");
        assert_eq!(page.add(&seen(1, 120, Flag::New)), Some((1.0, true)), "there again");
        assert_eq!((page.history.looks(), page.history.changes()), (5, 3));
    }

    #[test]
    fn a_choice_is_remembered() {
        for choice in [RevisitSelection::All, RevisitSelection::Due, RevisitSelection::Best(500)] {
            assert_eq!(RevisitSelection::of(&choice.text()), choice);
        }
        assert_eq!(RevisitSelection::of("best of all"), RevisitSelection::All);
    }

    #[test]
    fn a_sample_is_bounded_and_even() {
        let mut sample = Sample::default();
        (1..=50_000).for_each(|n| sample.offer(Visited::new(&seen(n, 0, Flag::New))));
        assert_eq!(sample.pages, 50_000);
        assert!((SAMPLE / 2..2 * SAMPLE).contains(&sample.kept.len()), "{}", sample.kept.len());
        let low = sample.kept.iter().filter(|(_, page)| page.page.0 <= 25_000).count() as f64;
        assert!((low / sample.kept.len() as f64 - 0.5).abs() < 0.05);
    }
}
