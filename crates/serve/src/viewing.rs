//! How are archived pages shown on a host of their own?
//!
//! What a page says is shown in a frame in which nothing runs. With `--view-host` that frame is
//! also of another origin, so that even a hole in a browser's sandbox would lead to an origin
//! without cookies. No cookie comes there, so the address of a view holds a ticket: random, for one
//! view of one page, handed out to somebody who may read it, and good for ten minutes. That host
//! answers to tickets and to nothing else.

use crate::gate::without_port;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a ticket is good.
const LIFE: Duration = Duration::from_secs(600);

/// Tickets that are kept at most.
const KEPT: usize = 10_000;

/// What a ticket shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ViewTicket {
    pub(crate) project: String,
    pub(crate) page: u64,
    pub(crate) run: Option<u32>,
    /// The name by which its reader reaches us, with the port: links lead there.
    pub(crate) home: String,
}

/// The host for views, and the tickets to it, oldest first.
#[derive(Debug, Default)]
pub(crate) struct ViewHost {
    name: Option<String>,
    tickets: Mutex<VecDeque<(String, Instant, ViewTicket)>>,
}

impl ViewHost {
    /// Views on a host of this name, with or without a port.
    pub(crate) fn new(name: Option<&str>) -> Self {
        Self { name: name.map(str::to_ascii_lowercase), tickets: Mutex::default() }
    }

    /// Whether a request names this host.
    pub(crate) fn is(&self, host: &str) -> bool {
        let asked = without_port(host).trim_end_matches('.');
        self.name.as_deref().is_some_and(|name| without_port(name).eq_ignore_ascii_case(asked))
    }

    /// The host as its address names it, for somebody who reaches us by `home`: without a port of
    /// its own it has that of home. `None` if there is none.
    pub(crate) fn beside(&self, home: &str) -> Option<String> {
        let name = self.name.as_deref()?;
        let port = &home[without_port(home).len()..];
        Some(if without_port(name) == name { format!("{name}{port}") } else { name.to_owned() })
    }

    /// Keeps a ticket under its secret.
    pub(crate) fn hand_out(&self, secret: String, ticket: ViewTicket, now: Instant) {
        let mut tickets = self.tickets.lock().unwrap_or_else(PoisonError::into_inner);
        tickets.retain(|(_, until, _)| now < *until);
        if tickets.len() >= KEPT {
            tickets.pop_front();
        }
        tickets.push_back((secret, now + LIFE, ticket));
    }

    /// What a ticket shows; `None` if there is none, or its time is over.
    pub(crate) fn shown(&self, secret: &str, now: Instant) -> Option<ViewTicket> {
        let tickets = self.tickets.lock().unwrap_or_else(PoisonError::into_inner);
        let found = tickets.iter().find(|(kept, until, _)| kept == secret && now < *until);
        found.map(|(_, _, ticket)| ticket.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_shows_one_view_for_ten_minutes() {
        let (host, now) = (ViewHost::new(Some("View.example")), Instant::now());
        let ticket = ViewTicket { project: "p".into(), page: 7, run: None, home: "orb.example".into() };
        host.hand_out("s".into(), ticket.clone(), now);
        assert_eq!(host.shown("s", now), Some(ticket));
        assert!(host.shown("t", now).is_none() && host.shown("s", now + LIFE).is_none());
    }

    #[test]
    fn the_host_has_the_port_of_its_server_unless_it_has_one() {
        let host = |name| ViewHost::new(Some(name));
        assert_eq!(host("view.localhost").beside("localhost:8787").as_deref(), Some("view.localhost:8787"));
        assert_eq!(host("view.example:81").beside("orb.example").as_deref(), Some("view.example:81"));
        assert!(host("view.example").is("VIEW.example:80") && !host("view.example").is("example"));
        assert!(!ViewHost::default().is("") && ViewHost::default().beside("x").is_none());
    }
}
