//! Which pages go through a browser, and where does that stand in a page's life?
//!
//! Between fetch and read: the page is fetched as ever, and its lease is held while a browser draws
//! it from those bytes, so that the parts it asks for fall into its host's turn. What comes out is
//! a response whose body is the document as its scripts have made it ([`ResponseKind::Rendered`]);
//! reader, archive, index and comparison take it like any other. Where nothing came of it, the page
//! is read as it was fetched, and recorded as BROWSER_ERROR.

mod areas;
mod gate;
mod wish;

pub(crate) use areas::{RenderAreas, RenderGain};
pub(crate) use gate::FrontierDoor;
pub(crate) use wish::RenderWishes;

use crate::CrawlError;
use crate::drive::clock::SteadyClock;
use bytes::Bytes;
use gate::{PageGate, RobotsDesk};
use orb_fetch::Fetchers;
use orb_frontier::Target;
use orb_page::{Lease, Outcome, Problem, Purpose, Response, ResponseKind};
use orb_project::{PartRobots, RenderWhen, Settings};
use orb_render::{
    DrawnPage, FetchedPart, PageJob, RenderConfig, RenderError, Renderer, Rendering, SeenResource, UsedLink,
};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use url::Url;

/// The hidden command by which this program becomes a browser.
pub const BROWSER_COMMAND: &str = "__browser";

/// Larger pages are not rendered.
const LARGEST: u64 = 10 << 20;

/// Tabs for each core: most of a page's time is waiting for it to be quiet.
const TABS_A_CORE: usize = 3;

/// What a browser has added to a response.
#[derive(Default)]
pub(crate) struct DrawnExtras {
    /// What the page loaded, to be archived.
    pub parts: Vec<FetchedPart>,
    /// Addresses that the page used besides those in its document.
    pub links: Vec<UsedLink>,
    /// What was odd.
    pub problems: Vec<Problem>,
    /// Why there is no rendered page.
    pub failed: Option<String>,
    /// A picture of it.
    pub screenshot: Option<Bytes>,
    /// What the page was made of, whether it was fetched for this page or another.
    pub resources: Vec<SeenResource>,
    /// Where to report what rendering has gained, and for which area.
    pub learning: Option<(Arc<RenderAreas>, u64)>,
}

impl DrawnExtras {
    /// Bytes of the parts.
    pub(crate) fn bytes(&self) -> u64 {
        let of = |part: &FetchedPart| part.outcome.result.as_ref().map_or(0, |response| response.wire.len());
        self.parts.iter().map(of).sum()
    }
}

/// The browser of a run.
pub(crate) struct RenderDesk {
    renderer: Renderer,
    wishes: RenderWishes,
    areas: Arc<RenderAreas>,
    robots: Arc<RobotsDesk>,
}

/// What a browser is started with.
#[derive(Clone, Debug)]
pub struct BrowserProgram {
    program: PathBuf,
    keeper: Vec<OsString>,
}

impl BrowserProgram {
    /// The browser that settings want, if they want one; `variable` looks up an environment
    /// variable.
    pub fn of(settings: &Settings, variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Self>, CrawlError> {
        if !RenderWishes::wants_any(settings) {
            return Ok(None);
        }
        let program = match &settings.render.program {
            Some(program) if program.is_file() => program.clone(),
            Some(program) => return Err(RenderError::NoProgram(program.clone()).into()),
            None => {
                let path = OsString::from(variable("PATH").unwrap_or_default());
                orb_render::find_browser(&path).ok_or(RenderError::NoBrowser)?
            }
        };
        let own = std::env::current_exe().map_err(CrawlError::Threads)?;
        Ok(Some(Self { program, keeper: vec![own.into(), BROWSER_COMMAND.into(), "--".into()] }))
    }

    fn config(self, settings: &Settings, scratch: &Path) -> RenderConfig {
        let render = &settings.render;
        RenderConfig {
            program: self.program,
            keeper: self.keeper,
            no_sandbox: render.no_sandbox,
            user_agent: settings.fetch.user_agent.clone(),
            tabs: if render.tabs == 0 { crate::machine::cores() * TABS_A_CORE } else { render.tabs },
            memory: render.memory.0,
            pages: render.pages,
            settle: render.settle.0,
            limit: render.timeout.0,
            screens: render.screens,
            click: render.click,
            screenshots: render.screenshots,
            max_requests: render.max_requests,
            max_bytes: render.max_bytes.0,
            max_html: settings.fetch.max_size.0,
            cache: render.cache.0,
            scratch: scratch.to_owned(),
        }
    }
}

impl RenderDesk {
    /// The desk of a run that renders pages.
    pub(crate) fn open(
        program: BrowserProgram,
        settings: &Settings,
        scratch: &Path,
        fetchers: Arc<Fetchers>,
    ) -> Result<Self, CrawlError> {
        let agent = crate::config::agent(&settings.fetch).to_owned();
        let obeyed = settings.render.robots == PartRobots::Parts && !settings.frontier.ignore_robots;
        let robots = RobotsDesk::new(Arc::clone(&fetchers), agent, obeyed);
        Ok(Self {
            renderer: Renderer::new(program.config(settings, scratch), fetchers)?,
            wishes: RenderWishes::new(settings)?,
            areas: Arc::default(),
            robots: Arc::new(robots),
        })
    }

    /// Starts the browser now if every page needs it, to fail before the first request.
    pub(crate) async fn warm_up(&self) -> Result<(), CrawlError> {
        if self.wishes.of_project() == RenderWhen::Always {
            self.renderer.warm_up().await?;
        }
        Ok(())
    }

    /// Ends the browser.
    pub(crate) async fn close(&self) {
        self.renderer.close().await;
    }

    /// Draws a page if that is wanted; its lease is of the frontier behind `door`.
    pub(crate) async fn attend(
        &self,
        lease: &Lease,
        outcome: Outcome,
        (door, clock): (Arc<dyn FrontierDoor>, SteadyClock),
    ) -> (Outcome, Option<Box<DrawnExtras>>) {
        let Outcome { at, timings, result } = outcome;
        let response = match result {
            Ok(response) if is_html(lease, &response) => response,
            result => return (Outcome { at, timings, result }, None),
        };
        let area = Target::of(lease.host, &lease.url).area();
        let learning = match self.wishes.of(lease) {
            RenderWhen::Never => None,
            RenderWhen::Always => Some(None),
            RenderWhen::Auto => {
                let wanted = self.areas.wants((lease.host, area), &lease.url, || wish::is_shell(&response));
                wanted.then(|| Some((Arc::clone(&self.areas), area)))
            }
        };
        let Some(learning) = learning else { return (Outcome { at, timings, result: Ok(response) }, None) };
        let (response, extras) = self.draw(lease, response, (door, clock)).await;
        (Outcome { at, timings, result: Ok(response) }, Some(Box::new(DrawnExtras { learning, ..extras })))
    }

    async fn draw(
        &self,
        lease: &Lease,
        response: Response,
        (door, clock): (Arc<dyn FrontierDoor>, SteadyClock),
    ) -> (Response, DrawnExtras) {
        let failed = |why: String| DrawnExtras { failed: Some(why), ..DrawnExtras::default() };
        let url = match Url::parse(lease.request_url()) {
            Ok(url) => url,
            Err(error) => return (response, failed(error.to_string())),
        };
        let body = match response.body.read(LARGEST) {
            Ok(body) => body,
            Err(error) => return (response, failed(format!("the spooled body cannot be read: {error}"))),
        };
        let gate = Arc::new(PageGate::new(lease.host, &url, Arc::clone(&self.robots), (Arc::clone(&door), clock)));
        let job = PageJob { url, status: response.status, headers: response.headers.clone(), body };
        let Rendering { drawn, parts, problems, .. } = self.renderer.render(&job, Arc::clone(&gate) as _).await;
        door.frontier().parts_fetched(lease.host, gate.asked_own(), clock.now());
        let extras = DrawnExtras { parts, problems, ..DrawnExtras::default() };
        match drawn {
            Ok(DrawnPage { html, links, screenshot, resources }) => {
                (response.rendered(html), DrawnExtras { links, screenshot, resources, ..extras })
            }
            Err(error) => (response, DrawnExtras { failed: Some(told(&error)), ..extras }),
        }
    }
}

/// An error with its cause, in one line.
fn told(error: &RenderError) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

/// Whether a response is an HTML page that a browser could draw.
fn is_html(lease: &Lease, response: &Response) -> bool {
    let is_page = lease.purpose == Purpose::Page && (200..300).contains(&response.status);
    let mime = response.headers.mime();
    let is_html = mime.as_deref().is_none_or(|mime| matches!(mime, "text/html" | "application/xhtml+xml"));
    is_page
        && is_html
        && response.truncated.is_none()
        && !response.body.is_empty()
        && response.body.len() <= LARGEST
        && matches!(response.kind, ResponseKind::Http { .. })
}
