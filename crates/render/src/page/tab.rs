//! How is one page loaded, waited for and read?
//!
//! A page gets a context of its own, with its own proxy port and without cookies or storage of
//! others. It is loaded from the bytes at hand and waited for until nothing is under way and
//! nothing changes, scrolled, waited for again, and then taken as it is, at the latest when its
//! time is over. A script that never ends is ended, and what is there is taken.

use super::notes::{PageListener, PageNotes};
use super::{DrawnPage, PageJob, SeenResource, UsedLink};
use crate::browser::{Browser, CdpSession};
use crate::proxy::{PageTraffic, ProxyPort};
use crate::{RenderConfig, RenderError};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use orb_page::{LinkKind, Problem};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// A page is quiet when no request has been open for this long,
const NO_REQUEST: Duration = Duration::from_millis(500);

/// and its document has not changed for this long.
const NO_CHANGE: Duration = Duration::from_millis(300);

/// Both for a page whose scripts are known to wait for no answer, and for no timer that goes off
/// soon.
const AT_REST: Duration = Duration::from_millis(150);

/// How soon, and how long timers that never end are waited for.
const SOON: Duration = Duration::from_secs(2);

/// How often a page is looked at.
const LOOK: Duration = Duration::from_millis(40);

/// How long a page may take to answer a look: longer, and it is busy.
const ANSWER: Duration = Duration::from_secs(2);

/// How long a page may take to be scrolled down.
const SCROLLING: Duration = Duration::from_secs(5);

/// How long a page may take to be written down.
const WRITE: Duration = Duration::from_secs(5);

/// How many things are clicked, and how long that may take.
const CLICKS: usize = 50;
const CLICKING: Duration = Duration::from_secs(7);

/// What runs in every document, in a world of its own.
const SCRIPT: &str = include_str!("script.js");

/// What runs among the page's own scripts, and counts what they wait for.
const TIMERS: &str = include_str!("timers.js");

/// The name of our world.
const WORLD: &str = "orb";

/// A page in the browser.
struct Tab<'a> {
    config: &'a RenderConfig,
    session: CdpSession,
    target: String,
    traffic: &'a PageTraffic,
    notes: Arc<PageNotes>,
    /// When it is taken as it is.
    deadline: Instant,
    problems: Vec<Problem>,
}

/// A look at a page.
struct PageLook {
    /// Whether it and what belongs to it has loaded.
    complete: bool,
    /// Milliseconds since it last changed.
    still: f64,
    height: f64,
    screen: f64,
}

/// Renders a page in a browser, within its time.
pub(crate) async fn draw(
    browser: &Browser,
    config: &RenderConfig,
    job: &PageJob,
    (port, traffic): (&ProxyPort, &PageTraffic),
) -> (Result<DrawnPage, RenderError>, Vec<Problem>) {
    let root = browser.cdp().root();
    let opened = timeout(config.limit, open_context(&root, port)).await;
    let context = match opened {
        Ok(Ok(context)) => context,
        Ok(Err(error)) => return (Err(error), Vec::new()),
        // A browser that does not open a window in all that time is no good.
        Err(_) => {
            browser.wear_out();
            return (Err(RenderError::Gone), Vec::new());
        }
    };
    let drawn = draw_in(browser, config, job, (&context, traffic)).await;
    let closing = root.call("Target.disposeBrowserContext", json!({ "browserContextId": context }));
    if timeout(ANSWER, closing).await.is_err() {
        browser.wear_out();
    }
    drawn
}

async fn open_context(root: &CdpSession, port: &ProxyPort) -> Result<String, RenderError> {
    let wanted = json!({ "disposeOnDetach": true, "proxyServer": port.address(), "proxyBypassList": "<-loopback>" });
    let context = string(root.call("Target.createBrowserContext", wanted).await?, "browserContextId");
    let denied = json!({ "behavior": "deny", "browserContextId": context, "eventsEnabled": false });
    root.call("Browser.setDownloadBehavior", denied).await?;
    Ok(context)
}

async fn draw_in(
    browser: &Browser,
    config: &RenderConfig,
    job: &PageJob,
    (context, traffic): (&str, &PageTraffic),
) -> (Result<DrawnPage, RenderError>, Vec<Problem>) {
    let began = Instant::now();
    let root = browser.cdp().root();
    let opened = timeout(config.limit, open_target(&root, context)).await.unwrap_or(Err(RenderError::Gone));
    let (target, session) = match opened {
        Ok(opened) => opened,
        Err(error) => return (Err(error), Vec::new()),
    };
    let (session, events) = browser.cdp().session(&session);
    let notes = Arc::new(PageNotes::default());
    let listener = PageListener {
        notes: Arc::clone(&notes),
        session: session.clone(),
        root,
        target: target.clone(),
        url: job.url.clone(),
    };
    let listening = tokio::spawn(listener.listen(events));
    let deadline = began + config.settle;
    let mut tab = Tab { config, session, target, traffic, notes, deadline, problems: Vec::new() };
    let left = config.limit.saturating_sub(began.elapsed());
    let drawn = timeout(left, tab.run(job)).await.unwrap_or(Err(RenderError::Late(config.limit)));
    let drawn = if tab.notes.crashed() {
        browser.wear_out();
        drawn.map_err(|_| RenderError::Crashed)
    } else {
        drawn
    };
    tab.session.leave();
    listening.abort();
    tab.problems.extend(tab.notes.problems());
    (drawn, tab.problems)
}

async fn open_target(root: &CdpSession, context: &str) -> Result<(String, String), RenderError> {
    let wanted = json!({ "url": "about:blank", "browserContextId": context });
    let target = string(root.call("Target.createTarget", wanted).await?, "targetId");
    let attached = root.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true })).await?;
    Ok((target, string(attached, "sessionId")))
}

impl Tab<'_> {
    async fn run(&mut self, job: &PageJob) -> Result<DrawnPage, RenderError> {
        self.prepare().await?;
        self.load(job).await?;
        self.settle().await;
        self.scroll().await;
        if self.notes.is_over() {
            return Err(RenderError::Gone);
        }
        let screenshot = if self.config.screenshots { self.picture().await } else { None };
        let html = self.html().await?;
        let clicked = if self.config.click { self.click().await } else { Vec::new() };
        let mut links = self.notes.take_links();
        links.extend(clicked.into_iter().map(|url| UsedLink { url, kind: LinkKind::Handler }));
        let kinds = self.notes.take_kinds();
        let kind = |url: &str| kinds.get(url).cloned().unwrap_or_else(|| "other".to_owned());
        let answers = self.traffic.take_answers().into_iter();
        let resources = answers.map(|(url, (status, mime))| SeenResource { kind: kind(&url), url, status, mime });
        Ok(DrawnPage { html, links, screenshot, resources: resources.collect() })
    }

    async fn prepare(&self) -> Result<(), RenderError> {
        let documents = json!({ "patterns": [{ "urlPattern": "*", "resourceType": "Document" }] });
        let attach = json!({ "autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true });
        let no_buffers = json!({ "maxTotalBufferSize": 0, "maxResourceBufferSize": 0 });
        tokio::try_join!(
            self.session.call("Page.enable", json!({})),
            self.session.call("Inspector.enable", json!({})),
            self.session.call("Network.enable", no_buffers),
            self.session.call("Network.setBypassServiceWorker", json!({ "bypass": true })),
            self.session.call("Fetch.enable", documents),
            self.session.call("Target.setAutoAttach", attach),
            self.session.call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": SCRIPT, "worldName": WORLD })),
            self.session.call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": TIMERS })),
        )?;
        Ok(())
    }

    async fn load(&self, job: &PageJob) -> Result<(), RenderError> {
        let going = self.session.call("Page.navigate", json!({ "url": job.url.as_str() }));
        let left = self.deadline.saturating_duration_since(Instant::now());
        // A page that has begun may keep the navigation open.
        let Ok(gone) = timeout(left, going).await else { return Ok(()) };
        match gone?.get("errorText").and_then(Value::as_str) {
            Some(why) if !self.traffic.has_begun() => Err(RenderError::NotLoaded(why.to_owned())),
            _ => Ok(()),
        }
    }

    /// Waits until the page is quiet, or its time is over.
    async fn settle(&mut self) {
        while Instant::now() < self.deadline && !self.notes.is_over() {
            if self.is_calm(AT_REST)
                && let Some(look) = self.look().await
                && look.complete
                && self.is_done(&look).await
            {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
        if !self.notes.is_over() {
            let told = format!("the page was not quiet after {:?} and was taken as it was", self.config.settle);
            self.problems.push(Problem::new("render-unsettled", told));
        }
    }

    /// Whether a page that has loaded is quiet: for a short while if its scripts wait for nothing,
    /// longer if that is not known, and for as long as their timers are waited for if they never
    /// end.
    async fn is_done(&self, look: &PageLook) -> bool {
        let (requests, changes) = match self.pending().await {
            Some(0) => (AT_REST, AT_REST),
            Some(_) => (SOON, NO_CHANGE),
            None => (NO_REQUEST, NO_CHANGE),
        };
        // What it did until then has been told by now.
        look.still >= changes.as_secs_f64() * 1e3 && self.is_calm(requests)
    }

    /// The answers and timers that the page's scripts wait for, if these tell what will happen.
    async fn pending(&self) -> Option<u64> {
        let wanted = format!("globalThis[Symbol.for('orb.pending')]?.({})", SOON.as_millis());
        let ask = self.session.call("Runtime.evaluate", json!({ "expression": wanted, "returnByValue": true }));
        timeout(ANSWER, ask).await.ok()?.ok()?.pointer("/result/value")?.as_u64()
    }

    /// Whether no request has been under way for this long, neither here nor within the browser.
    fn is_calm(&self, least: Duration) -> bool {
        let quiet = [self.traffic.quiet_for(), self.notes.quiet_for()];
        quiet.iter().all(|quiet| quiet.is_some_and(|quiet| quiet >= least))
    }

    /// Scrolls down while there is more, and waits for what that brings. Where the page has grown
    /// under way, its end is shown once more, in case nobody saw it leave.
    async fn scroll(&mut self) {
        let (mut seen, mut grows) = (1, false);
        while seen < self.config.screens && Instant::now() < self.deadline && !self.notes.is_over() {
            let Some(PageLook { height, screen, .. }) = self.look().await else { return };
            let down = match height > screen * f64::from(seen) {
                true => format!("orb.scroll({seen}, {})", self.config.screens - seen),
                false if grows => "orb.again()".to_owned(),
                false => return,
            };
            let requests = self.traffic.requests();
            let Some(moved) = self.evaluate(&down, SCROLLING).await.ok().and_then(|done| done.as_u64()) else { return };
            seen += u32::try_from(moved).unwrap_or(u32::MAX).max(1);
            // What loads on sight begins when it is seen.
            let grown = self.look().await.is_some_and(|look| look.height > height);
            let is_waiting = self.pending().await.is_some_and(|pending| pending > 0);
            grows = self.traffic.requests() > requests || grown || is_waiting;
            if grows {
                self.settle().await;
            }
        }
    }

    /// Clicks on what looks clickable, and returns the links that are there then.
    async fn click(&self) -> Vec<String> {
        let within = CLICKING.saturating_sub(ANSWER).as_millis();
        let clicked = self.evaluate(&format!("orb.clicks({CLICKS}, {within})"), CLICKING).await.unwrap_or_default();
        let links = clicked.as_array().into_iter().flatten().filter_map(Value::as_str);
        links.filter(|link| link.starts_with("http")).map(str::to_owned).collect()
    }

    async fn look(&self) -> Option<PageLook> {
        let state = self.evaluate("orb.state()", ANSWER).await.ok()?;
        let number = |n: usize| state.get(n).and_then(Value::as_f64);
        let complete = state.get(0)?.as_str() == Some("complete");
        Some(PageLook { complete, still: number(1)?, height: number(2)?, screen: number(3)? })
    }

    async fn picture(&self) -> Option<Bytes> {
        let _ = self.evaluate("window.scrollTo(0, 0)", ANSWER).await;
        let wanted = json!({ "format": "jpeg", "quality": 70 });
        let taken = timeout(WRITE, self.session.call("Page.captureScreenshot", wanted)).await.ok()?.ok()?;
        BASE64_STANDARD.decode(taken.get("data")?.as_str()?).ok().map(Bytes::from)
    }

    /// The document. A script that keeps the page busy is ended first.
    async fn html(&mut self) -> Result<String, RenderError> {
        let wanted = format!("orb.html({})", self.config.max_html);
        let written = match self.evaluate(&wanted, WRITE).await {
            Ok(written) => written,
            Err(_) if self.notes.is_over() => return Err(RenderError::Gone),
            Err(_) => {
                self.problems.push(Problem::new("render-busy", "a script that did not end was ended"));
                self.session.tell("Runtime.terminateExecution", json!({}));
                self.evaluate(&wanted, WRITE).await?
            }
        };
        if written.get(1).and_then(Value::as_bool) == Some(true) {
            let told = format!("only the first {} characters of the rendered page were read", self.config.max_html);
            self.problems.push(Problem::new("render-cut", told));
        }
        match written.get(0).and_then(Value::as_str) {
            Some(html) if !html.is_empty() => Ok(html.to_owned()),
            _ => Err(RenderError::NotLoaded("there is no document".to_owned())),
        }
    }

    /// Evaluates an expression in our own world of the page.
    async fn evaluate(&self, expression: &str, within: Duration) -> Result<Value, RenderError> {
        let ask = async {
            let world = json!({ "frameId": self.target, "worldName": WORLD });
            let world = self.session.call("Page.createIsolatedWorld", world).await?;
            let context = world.get("executionContextId").cloned().unwrap_or_default();
            let source = format!("{SCRIPT};{expression}");
            let wanted =
                json!({ "expression": source, "contextId": context, "returnByValue": true, "awaitPromise": true });
            let mut answer = self.session.call("Runtime.evaluate", wanted).await?;
            match answer.pointer("/exceptionDetails/text") {
                Some(why) => Err(RenderError::Refused { method: "Runtime.evaluate", why: why.to_string() }),
                None => Ok(answer.pointer_mut("/result/value").map(Value::take).unwrap_or_default()),
            }
        };
        tokio::select! {
            answer = timeout(within, ask) => answer.unwrap_or(Err(RenderError::Late(within))),
            () = self.notes.over.notified() => Err(RenderError::Gone),
        }
    }
}

fn string(mut value: Value, name: &str) -> String {
    match value.get_mut(name).map(Value::take) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    }
}
