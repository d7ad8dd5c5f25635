//! Where do the steps lead?
//!
//! [`Path::walk`] goes through the steps in order and returns the roots of those that collect. If
//! something does not go as a step expects, it ends with the offending key of the project file.

use super::areas;
use super::choose::{LinkChoice, LinkSource, unexpected};
use super::rules::StepRules;
use super::submit::submit;
use super::walker::{Halt, Passed, Question, Walker};
use crate::CrawlError;
use crate::drive::way_out::WayOut;
use crate::render::RenderDesk;
use crate::shared::Stop;
use hashbrown::{HashMap, HashSet};
use orb_frontier::FrontierConfig;
use orb_page::LinkKind;
use orb_project::Settings;
use orb_project::StepSettings;
use orb_project::Wrong;
use orb_project::number;
use orb_urls::{Address, Canonicaliser, Judgement, Rules};
use std::sync::Arc;

/// Maximum pages that one step passes through.
const MOST_PASSED: usize = 1_000;
/// Maximum roots of one step.
const MOST_ROOTS: usize = 1_000_000;

/// Where a step that collects starts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Roots {
    /// The step's number in the catalogue.
    pub step: u32,
    /// Distinct canonical addresses.
    pub addresses: Vec<Address>,
}

/// The path through the steps of a project.
pub(crate) struct Path<'a> {
    settings: &'a Settings,
    rules: Arc<HashMap<u32, StepRules>>,
    walker: Walker<'a>,
    way_out: &'a WayOut,
    /// The project's own canonicaliser.
    canonical: Canonicaliser,
    /// What was passed through, for the log.
    notes: Vec<String>,
    /// Steps of which something came in earlier runs.
    known: HashSet<u32>,
}

/// What a step passes to the next.
#[derive(Default)]
struct Handed {
    /// The links that the next step chooses.
    chosen: Vec<Address>,
    /// The pages that contain the next step's form.
    pages: Vec<Passed>,
    /// Number of pages, and one of them.
    seen: usize,
    example: String,
}

impl<'a> Path<'a> {
    /// The path that the settings describe.
    pub(crate) fn new(
        settings: &'a Settings,
        rules: Arc<HashMap<u32, StepRules>>,
        (way_out, frontier): (&'a WayOut, FrontierConfig),
        stop: &'a Stop,
    ) -> Self {
        // A page that is passed through is requested exactly as its links say, including session
        // ids.
        let lenient = Rules { strip_session_ids: false, tidy_query: false, sort_query: false, ..settings.urls };
        let (canonical, hops) = (Canonicaliser::new(lenient), settings.frontier.max_redirects);
        let walker = Walker::new(way_out.fetchers(), frontier, canonical, hops, stop);
        Self {
            settings,
            rules,
            walker,
            way_out,
            canonical: Canonicaliser::new(settings.urls),
            notes: Vec::new(),
            known: HashSet::new(),
        }
    }

    /// The same with the steps of which something came in earlier runs.
    pub(crate) fn knowing(self, known: HashSet<u32>) -> Self {
        Self { known, ..self }
    }

    /// Whether a step need not be walked again, or is on the way to one of that kind.
    fn is_over(&self, n: usize) -> bool {
        let way = self.settings.steps.iter().enumerate().skip(n).take_while(|(at, step)| *at == n || step.goes_on());
        let collects = way.map(|(_, step)| step).find(|step| step.collects());
        collects.is_some_and(|step| step.once == Some(true) && self.known.contains(&number(&step.name)))
    }

    /// The same with a browser for the pages that need one.
    pub(crate) fn drawing(mut self, render: Option<&Arc<RenderDesk>>) -> Self {
        self.walker.render = render.map(Arc::clone);
        self
    }

    /// What was passed through, a line per step.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Walks all steps that do not wait for collected pages; `None` if the user asked to stop.
    pub(crate) fn walk(&mut self) -> Result<Option<Vec<Roots>>, CrawlError> {
        let way_out = self.way_out;
        let (mut roots, mut handed) = (Vec::new(), Handed::default());
        for n in 0..self.settings.steps.len() {
            if waits(self.settings, n) || self.is_over(n) {
                continue;
            }
            match way_out.block_on(self.step(n, std::mem::take(&mut handed)))? {
                Ok(Went::On(next)) => handed = next,
                Ok(Went::Collects(found)) => roots.push(found),
                Err(WalkEnd::Stopped) => return Ok(None),
                Err(WalkEnd::Wrong(wrong)) => return Err(wrong.into()),
            }
        }
        Ok(Some(roots))
    }

    /// One step.
    async fn step(&mut self, n: usize, before: Handed) -> Result<Went, WalkEnd> {
        let settings = self.settings;
        let Some(step) = settings.steps.get(n) else { return Ok(Went::On(Handed::default())) };
        self.walker.step = Some(number(&step.name));
        let (seen, questions) = self.begin(n, step, before).await?;
        if !step.collects() {
            let handed = self.pass_through(n, step, questions).await?;
            self.notes.push(format!("step '{}': {} pages passed through", step.name, handed.seen + seen));
            return Ok(Went::On(handed));
        }
        let mut addresses = Vec::new();
        for question in questions {
            let address = match question.payload.is_none() && !step.expects() {
                true => question.address,
                false => self.collected(n, step, question).await?,
            };
            addresses.push(address);
        }
        let addresses = self.canonical_roots(&addresses);
        self.notes.push(format!("step '{}': begins at {} pages", step.name, addresses.len()));
        Ok(Went::Collects(Roots { step: number(&step.name), addresses }))
    }

    /// The requests a step starts with, its form filled in, and how many pages that took.
    async fn begin(
        &mut self,
        n: usize,
        step: &StepSettings,
        before: Handed,
    ) -> Result<(usize, Vec<Question>), WalkEnd> {
        let addresses = if step.goes_on() { self.chosen(n, step, &before)? } else { self.starts(step) };
        let Some(form) = &step.form else { return Ok((0, addresses.into_iter().map(Question::plain).collect())) };
        let mut pages = before.pages;
        for address in addresses {
            let page =
                self.walker.pass(Question::plain(address)).await.map_err(|halt| ended(n, step, "start", halt))?;
            pages.push(page);
        }
        let mut questions = Vec::with_capacity(pages.len());
        for page in &pages {
            let question = submit(form, self.walker.canonical(), page);
            questions.push(question.map_err(|(key, why)| wrong(n, step, &key, &why))?);
        }
        Ok((pages.len(), questions))
    }

    fn starts(&self, step: &StepSettings) -> Vec<Address> {
        step.start.iter().filter_map(|url| self.walker.canonical().parse_seed(url).ok()).collect()
    }

    /// The links in scope that a step takes from the previous pages.
    fn chosen(&self, n: usize, step: &StepSettings, before: &Handed) -> Result<Vec<Address>, WalkEnd> {
        if !step.chooses() {
            return Ok(Vec::new());
        }
        let key = if step.links.is_some() { "links" } else { "links_matching" };
        let said = step.links.as_deref().or(step.links_matching.as_deref()).unwrap_or_default();
        let on = format!("the {} pages of the step before, such as {}", before.seen, before.example);
        if before.chosen.is_empty() && step.chooses_by_kind() {
            return Err(wrong(n, step, key, &format!("nothing was found on {on}")));
        }
        if before.chosen.is_empty() {
            return Err(wrong(n, step, key, &format!("'{said}' chooses no link on {on}")));
        }
        if step.chooses_by_kind() {
            // Wherever they are: each of them is a seed.
            let mut known = HashSet::new();
            return Ok(before.chosen.iter().filter(|address| known.insert(*address)).cloned().collect());
        }
        let within = self.within(step, before.chosen.iter());
        match within.is_empty() {
            true => {
                let example = &before.chosen[0];
                Err(wrong(
                    n,
                    step,
                    key,
                    &format!(
                        "all links that '{said}' chooses lie outside of its area or are denied, such as {example}"
                    ),
                ))
            }
            false => Ok(within),
        }
    }

    /// The distinct addresses in a step's scope.
    fn within<'b>(&self, step: &StepSettings, addresses: impl Iterator<Item = &'b Address>) -> Vec<Address> {
        let Some(rules) = self.rules.get(&number(&step.name)) else { return Vec::new() };
        let scope = rules.scope.current();
        let mut known = HashSet::new();
        let fits = |address: &&Address| scope.judge(address, None) == Judgement::In && known.insert((*address).clone());
        addresses.filter(fits).cloned().collect()
    }

    /// The address of a page that a step collects, after examining it.
    async fn collected(&mut self, n: usize, step: &StepSettings, question: Question) -> Result<Address, WalkEnd> {
        let page = self.first_page(n, step, question).await?;
        if !page.addressed {
            let why = "the answer to a form sent by POST has no address of its own and cannot be collected; say collect = false here and \
                       choose its links in the next step";
            return Err(wrong(n, step, "form", why));
        }
        Ok(page.address)
    }

    /// A first page of a step, examined.
    async fn first_page(&mut self, n: usize, step: &StepSettings, question: Question) -> Result<Passed, WalkEnd> {
        let key = if step.form.is_some() { "form" } else { "start" };
        let page = self.walker.pass(question).await.map_err(|halt| ended(n, step, key, halt))?;
        if let Some((key, why)) = unexpected(step, &page) {
            return Err(wrong(n, step, key, &why));
        }
        // The path's target is part of its area, like the redirect target of a seed.
        for later in areas(self.settings)
            .iter()
            .enumerate()
            .skip(n)
            .take_while(|(at, _)| *at == n || self.settings.steps.get(*at).is_some_and(StepSettings::goes_on))
        {
            let later = self.settings.steps.get(later.0).filter(|step| !step.chooses_by_kind());
            if let Some(rules) = later.and_then(|step| self.rules.get(&number(&step.name))) {
                rules.scope.widen(&page.address);
            }
        }
        Ok(page)
    }

    /// Passes through a step's pages to its depth, and gathers what the next step takes from them.
    async fn pass_through(&mut self, n: usize, step: &StepSettings, first: Vec<Question>) -> Result<Handed, WalkEnd> {
        let next = self.settings.steps.get(n + 1).filter(|next| next.goes_on());
        let choice = next.filter(|next| next.chooses()).map(LinkChoice::of).transpose();
        let choice = choice.map_err(|why| wrong(n + 1, step, "links", &why))?;
        let mut known: HashSet<Address> =
            first.iter().filter(|q| q.payload.is_none()).map(|q| q.address.clone()).collect();
        let mut handed = Handed::default();
        let mut level = first;
        for depth in 0..=step.depth.unwrap_or(0) {
            let mut deeper = Vec::new();
            for question in level {
                if handed.seen >= MOST_PASSED {
                    let why =
                        format!("more than {MOST_PASSED} pages to pass through; say fewer levels or stricter rules");
                    return Err(wrong(n, step, "depth", &why));
                }
                let page = match depth {
                    0 => self.first_page(n, step, question).await?,
                    _ => self.walker.pass(question).await.map_err(|halt| ended(n, step, "depth", halt))?,
                };
                if depth < step.depth.unwrap_or(0) {
                    deeper.extend(self.links(step, &page, &mut known).into_iter().map(Question::plain));
                }
                self.hand(n, step, choice.as_ref(), page, &mut handed)?;
            }
            level = deeper;
        }
        Ok(handed)
    }

    /// Keeps what the next step needs of a page.
    fn hand(
        &self,
        n: usize,
        step: &StepSettings,
        choice: Option<&LinkChoice>,
        page: Passed,
        handed: &mut Handed,
    ) -> Result<(), WalkEnd> {
        handed.seen += 1;
        page.address.as_str().clone_into(&mut handed.example);
        if let Some(choice) = choice {
            let found = choice.links(self.walker.canonical(), &LinkSource::from(&page));
            handed.chosen.extend(found.map_err(|why| wrong(n + 1, step, "links", &why))?);
            if handed.chosen.len() > MOST_ROOTS {
                return Err(wrong(n + 1, step, "links", &format!("more than {MOST_ROOTS} links are chosen")));
            }
        } else if self.settings.steps.get(n + 1).is_some_and(|next| next.goes_on() && !page.document.forms.is_empty()) {
            // Of a page with a form, only the form is needed.
            let mut page = Passed { html: String::new(), ..page };
            page.document.links = Vec::new();
            page.document.text = String::new();
            handed.pages.push(page);
        }
        Ok(())
    }

    /// The links of a page that a step follows and that are new.
    fn links(&self, step: &StepSettings, page: &Passed, known: &mut HashSet<Address>) -> Vec<Address> {
        let followed = |link: &&orb_page::Link| {
            matches!(link.kind, LinkKind::A | LinkKind::Area | LinkKind::Frame | LinkKind::Entry | LinkKind::Document)
                && (self.settings.frontier.follow_nofollow || !link.has_rel("nofollow"))
        };
        let links = page.document.links.iter().filter(followed);
        let found: Vec<Address> =
            links.filter_map(|link| self.walker.canonical().resolve(&page.base, &link.target).ok()).collect();
        self.within(step, found.iter()).into_iter().filter(|address| known.insert(address.clone())).collect()
    }

    /// Distinct addresses in the project's canonical form.
    fn canonical_roots(&self, addresses: &[Address]) -> Vec<Address> {
        let mut known = HashSet::new();
        let written = addresses.iter().filter_map(|address| self.canonical.parse(address.as_str()).ok());
        written.filter(|address| known.insert(address.clone())).collect()
    }
}

/// How a step went.
enum Went {
    On(Handed),
    Collects(Roots),
}

/// Why the walk ended.
enum WalkEnd {
    Wrong(Wrong),
    Stopped,
}

fn wrong(n: usize, step: &StepSettings, key: &str, why: &str) -> WalkEnd {
    WalkEnd::Wrong(Wrong::new(format!("steps[{n}].{key}"), format!("step '{}': {why}", step.name)))
}

fn ended(n: usize, step: &StepSettings, key: &str, halt: Halt) -> WalkEnd {
    match halt {
        Halt::Stopped => WalkEnd::Stopped,
        Halt::Why(why) => wrong(n, step, key, &why),
    }
}

/// Whether a step waits for collected pages: it, or an earlier one on its path, chooses links on
/// them.
pub(super) fn waits(settings: &Settings, n: usize) -> bool {
    let way = (0..=n).rev().take_while(|at| settings.steps[*at].goes_on());
    way.filter_map(|at| at.checked_sub(1)).any(|before| settings.steps[before].collects())
}

/// Whether a step waits for collected pages.
pub(crate) fn any_waits(settings: &Settings) -> bool {
    (0..settings.steps.len()).any(|n| waits(settings, n))
}
