//! What does a page do while it is loaded?
//!
//! A task of its own listens to the browser and answers at once, because a page waits for nobody:
//! dialogs are dismissed, windows closed, downloads denied, and the page is held where it is when
//! its scripts want to go elsewhere. Each of these is noted: an address is a link.

use super::UsedLink;
use crate::browser::{CdpEvent, CdpSession};
use orb_page::{LinkKind, Problem};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, mpsc};
use url::Url;

/// Dialogs after which a page's scripts are ended.
const DIALOGS: u32 = 3;

/// Times that a page may load itself again, as some do once they have set a cookie.
const RELOADS: u32 = 1;

/// Requests that a page waits for before it is complete. Films may never end, and nobody waits for
/// a beacon.
const AWAITED: [&str; 5] = ["Document", "Script", "Stylesheet", "XHR", "Fetch"];

/// Maximum links that are noted.
const LINKS: usize = 5_000;

/// What was noted about a page.
#[derive(Default)]
pub(super) struct PageNotes {
    noted: Mutex<Noted>,
    /// The page's process has ended, or the browser has.
    pub(super) over: Notify,
}

#[derive(Default)]
struct Noted {
    links: Vec<UsedLink>,
    /// What the page wanted the URLs for that it asked for.
    kinds: HashMap<String, String>,
    dialogs: u32,
    windows: u32,
    downloads: u32,
    navigations: u32,
    crashed: bool,
    gone: bool,
    /// Requests that the page has made and that have not ended, and when that last changed.
    under_way: HashSet<String>,
    changed: Option<Instant>,
}

/// Where a page's notes come from.
pub(super) struct PageListener {
    pub(super) notes: Arc<PageNotes>,
    pub(super) session: CdpSession,
    pub(super) root: CdpSession,
    /// The page's own target, which is also the name of its main frame.
    pub(super) target: String,
    pub(super) url: Url,
}

impl PageNotes {
    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long the page has been waiting for nothing, as far as the browser knows; `None` while it
    /// is. The proxy learns of a request later: on a busy machine a second may lie between.
    pub(super) fn quiet_for(&self) -> Option<Duration> {
        let noted = self.noted();
        noted.under_way.is_empty().then(|| noted.changed.map_or(Duration::MAX, |changed| changed.elapsed()))
    }

    fn begins(&self, request: &str) {
        let mut noted = self.noted();
        if noted.under_way.len() < LINKS {
            noted.under_way.insert(request.to_owned());
        }
        noted.changed = Some(Instant::now());
    }

    fn ends(&self, request: &str) {
        let mut noted = self.noted();
        if noted.under_way.remove(request) {
            noted.changed = Some(Instant::now());
        }
    }

    /// Whether the page's process has ended.
    pub(super) fn crashed(&self) -> bool {
        self.noted().crashed
    }

    /// Whether nothing more can come of the page.
    pub(super) fn is_over(&self) -> bool {
        let noted = self.noted();
        noted.crashed || noted.gone
    }

    /// The links, once.
    pub(super) fn take_links(&self) -> Vec<UsedLink> {
        std::mem::take(&mut self.noted().links)
    }

    /// What the page wanted the URLs for that it asked for, once.
    pub(super) fn take_kinds(&self) -> HashMap<String, String> {
        std::mem::take(&mut self.noted().kinds)
    }

    fn wants(&self, url: &str, kind: &str) {
        let mut noted = self.noted();
        if noted.kinds.len() < LINKS && url.starts_with("http") {
            noted.kinds.entry(url.to_owned()).or_insert_with(|| kind.to_ascii_lowercase());
        }
    }

    /// What was odd.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let noted = self.noted();
        let line =
            |count: u32, code: &str, what: &str| (count > 0).then(|| Problem::new(code, format!("{count} {what}")));
        [
            line(noted.dialogs, "render-dialogs", "dialogs were dismissed"),
            line(noted.windows, "render-windows", "windows were closed"),
            line(noted.downloads, "render-downloads", "downloads were denied; they are links now"),
            line(
                noted.navigations.saturating_sub(1 + RELOADS),
                "render-navigation",
                "times the page wanted to go elsewhere",
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn link(&self, url: &str, kind: LinkKind) {
        let mut noted = self.noted();
        let seen = UsedLink { url: url.to_owned(), kind };
        if url.starts_with("http") && noted.links.len() < LINKS && !noted.links.contains(&seen) {
            noted.links.push(seen);
        }
    }
}

impl PageListener {
    /// Listens until the page is left.
    pub(super) async fn listen(self, mut events: mpsc::UnboundedReceiver<CdpEvent>) {
        while let Some(event) = events.recv().await {
            self.hear(&event);
        }
        self.notes.noted().gone = true;
        self.notes.over.notify_waiters();
    }

    fn hear(&self, CdpEvent { method, params }: &CdpEvent) {
        let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default();
        match method.as_str() {
            "Fetch.requestPaused" => self.navigates(params),
            "Network.requestWillBeSent" => {
                let kind = text("type");
                let url = params.pointer("/request/url").and_then(Value::as_str).unwrap_or_default();
                self.notes.wants(url, kind);
                if matches!(kind, "XHR" | "Fetch" | "EventSource") {
                    self.notes.link(url, LinkKind::ScriptText);
                }
                if AWAITED.contains(&kind) {
                    self.notes.begins(text("requestId"));
                }
            }
            "Network.loadingFinished" | "Network.loadingFailed" => self.notes.ends(text("requestId")),
            "Page.navigatedWithinDocument" if text("frameId") == self.target => {
                self.notes.link(text("url"), LinkKind::Handler);
            }
            "Page.javascriptDialogOpening" => self.dismiss(text("type") == "beforeunload"),
            "Page.windowOpen" => self.notes.link(text("url"), LinkKind::Handler),
            "Page.downloadWillBegin" => {
                self.notes.noted().downloads += 1;
                self.notes.link(text("url"), LinkKind::Handler);
            }
            "Target.attachedToTarget" => self.attached(params),
            "Inspector.targetCrashed" | "Inspector.detached" => {
                self.notes.noted().crashed = true;
                self.notes.over.notify_waiters();
            }
            _ => {}
        }
    }

    /// A document is asked for: the page itself, a frame, or somewhere else to go.
    fn navigates(&self, params: &Value) {
        let request = params.get("requestId").cloned().unwrap_or_default();
        let url = params.pointer("/request/url").and_then(Value::as_str).unwrap_or_default();
        let own = params.get("frameId").and_then(Value::as_str) == Some(&self.target);
        if own && !self.stays(url) {
            self.notes.link(url, LinkKind::Handler);
            self.session.tell("Fetch.failRequest", json!({ "requestId": request, "errorReason": "Aborted" }));
        } else {
            self.session.tell("Fetch.continueRequest", json!({ "requestId": request }));
        }
    }

    /// Whether a navigation leads to the page itself, and not too often.
    fn stays(&self, url: &str) -> bool {
        let mut noted = self.notes.noted();
        noted.navigations += 1;
        let itself = Url::parse(url).is_ok_and(|mut to| {
            to.set_fragment(None);
            to[url::Position::BeforeHost..] == self.url[url::Position::BeforeHost..url::Position::AfterQuery]
        });
        noted.navigations == 1 || (itself && noted.navigations <= 1 + RELOADS)
    }

    fn dismiss(&self, leaves: bool) {
        let dialogs = {
            let mut noted = self.notes.noted();
            noted.dialogs += 1;
            noted.dialogs
        };
        if dialogs > DIALOGS {
            self.session.tell("Runtime.terminateExecution", json!({}));
        }
        self.session.tell("Page.handleJavaScriptDialog", json!({ "accept": leaves }));
    }

    /// A window or a worker that the page has opened. Windows are closed; workers go on.
    fn attached(&self, params: &Value) {
        let at = |path: &str| params.pointer(path).and_then(Value::as_str).unwrap_or_default();
        if at("/targetInfo/type") == "page" {
            self.notes.noted().windows += 1;
            self.notes.link(at("/targetInfo/url"), LinkKind::Handler);
            self.root.tell("Target.closeTarget", json!({ "targetId": at("/targetInfo/targetId") }));
        }
    }
}
