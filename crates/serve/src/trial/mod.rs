//! How is the whole service tried without a socket?
//!
//! A home with one project and one user of each kind, behind the same gate that connections reach.

mod guard;
mod site;
mod walk;

use crate::desk::Desk;
use crate::gate::{AllowedHosts, Front, KnownVisitors, front};
use crate::state::AppState;
use axum::body::Body;
use axum::response::Response;
use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use orb_page::Moment;
use orb_project::{Home, Level, NewUser};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use tempfile::TempDir;
use tokio::sync::watch;

/// The project that everybody has another right on.
pub(crate) const PROJECT: &str = "p";

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Who {
    Nobody,
    Stranger,
    Reader,
    Runner,
    Editor,
    Admin,
}

impl Who {
    pub(crate) const ALL: [Self; 6] =
        [Self::Nobody, Self::Stranger, Self::Reader, Self::Runner, Self::Editor, Self::Admin];

    fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

/// A service to be tried.
pub(crate) struct Trial {
    pub(crate) home: TempDir,
    runtime: tokio::runtime::Runtime,
    front: Front,
    _close: watch::Sender<bool>,
}

impl Trial {
    pub(crate) fn new() -> Self {
        let home = TempDir::new().unwrap();
        let opened = Home::open(home.path()).unwrap();
        opened.project(PROJECT).unwrap();
        for who in Who::ALL.into_iter().skip(1) {
            let user = NewUser { name: who.name(), admin: who == Who::Admin, ..NewUser::default() };
            opened.accounts().add(&user, "a password").unwrap();
        }
        for (who, level) in [(Who::Reader, Level::Read), (Who::Runner, Level::Run), (Who::Editor, Level::Edit)] {
            opened.accounts().grant(&who.name(), PROJECT, Some(level)).unwrap();
        }
        let (close, closing) = watch::channel(false);
        let desk = Desk::open(home.path(), 2, None).unwrap();
        let hosts = AllowedHosts::new(IpAddr::V4(Ipv4Addr::LOCALHOST), &[]);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut state = AppState::new(desk, hosts, false, closing);
        state.known = KnownVisitors::watching(opened);
        let front = front(Arc::new(state));
        Self { home, runtime, front, _close: close }
    }

    /// The cookie of a new session.
    pub(crate) fn session(&self, who: Who) -> Option<String> {
        let accounts = Home::open(self.home.path()).unwrap();
        let accounts = accounts.accounts();
        let user = (who != Who::Nobody).then(|| accounts.user(&who.name()).unwrap())?;
        Some(format!("orb={}", accounts.begin_session(user.id, Moment::now()).unwrap()))
    }

    /// Sends a request as it is.
    pub(crate) fn send(&self, request: Request<Body>) -> Response {
        self.runtime.block_on(self.front.answer(request))
    }

    /// Asks as somebody, who wants JSON.
    pub(crate) fn ask(&self, who: Who, method: &str, path: &str) -> Response {
        let request = Request::builder().method(method).uri(path).header("host", "localhost");
        let request = request.header("accept", "application/json");
        let request = match self.session(who) {
            Some(cookie) => request.header("cookie", cookie),
            None => request,
        };
        self.send(request.body(Body::empty()).unwrap())
    }

    /// Status and body of a response.
    pub(crate) fn read(&self, response: Response) -> (StatusCode, String) {
        let status = response.status();
        let body = self.runtime.block_on(response.into_body().collect()).unwrap().to_bytes();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }
}
