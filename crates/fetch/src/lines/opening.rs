//! How does a conversation in lines begin?
//!
//! On a connection of the line, and under TLS: from the first byte on where the scheme says so, or
//! later, where the server offers it.

use super::{Dialogue, LineStream, malformed};
use crate::keyring::Login;
use crate::line::Permit;
use crate::sessions::SessionPlace;
use crate::{FetchConfig, Line};
use orb_page::{Failure, FailureKind, Timings};
use rustls::ClientConfig;
use std::sync::Arc;
use tokio::time::Instant;

/// What a session is opened with.
pub(crate) struct Opening<'a> {
    pub(crate) line: &'a Arc<Line>,
    pub(crate) config: &'a Arc<FetchConfig>,
    pub(crate) client: Arc<ClientConfig>,
    pub(crate) place: SessionPlace,
    /// Whether TLS begins with the connection.
    pub(crate) implicit: bool,
    pub(crate) login: Option<Login<'a>>,
}

impl Opening<'_> {
    /// Connects under a permit.
    pub(crate) async fn dial(&self, permit: Permit, timings: &mut Timings) -> Result<Dialogue, Failure> {
        let place = &self.place;
        let socket = self.line.open_permitted(&place.to, place.addr, permit.into(), timings).await?;
        let plain = Dialogue::new(LineStream::Plain(Box::new(socket)), self.config.timeouts.head);
        if self.implicit { self.secured(plain, timings).await } else { Ok(plain) }
    }

    /// Continues under TLS.
    pub(crate) async fn secured(&self, talk: Dialogue, timings: &mut Timings) -> Result<Dialogue, Failure> {
        let (wire, record) = talk.into_wire();
        let LineStream::Plain(socket) = wire else { return Err(malformed("TLS within TLS")) };
        let begun = Instant::now();
        let wire = LineStream::secured(*socket, &self.place.to.host, &self.client, self.config).await?;
        timings.tls = begun.elapsed();
        let mut talk = Dialogue::new(wire, self.config.timeouts.head);
        talk.recall(record);
        Ok(talk)
    }

    /// Refuses to send a password where anybody on the way can read it.
    pub(crate) fn check_password(&self, talk: &Dialogue) -> Result<(), Failure> {
        match &self.login {
            Some(login) if !login.in_clear && !talk.wire().is_secured() => {
                let line = "the server has no TLS, and the password may not go over the line in the clear \
                            (allow_plain in [[auth]])";
                Err(Failure::new(FailureKind::Tls, line))
            }
            _ => Ok(()),
        }
    }
}
