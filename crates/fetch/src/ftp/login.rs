//! How does a server come to know us?
//!
//! It greets, TLS begins where it is wanted and offered, and we say who we are: by a name and a
//! password that the user gave for this server, or as anybody.

use crate::keyring::Login;
use crate::line::Endpoint;
use crate::lines::{BrokenOff, Dialogue, LineStream, ServerReply};
use crate::{FetchConfig, FtpTls, Line};
use orb_page::{Failure, FailureKind, Timings};
use rustls::ClientConfig;
use std::net::IpAddr;
use std::sync::Arc;
use tokio::time::Instant;

/// What a session is opened with.
pub(super) struct Opening<'a> {
    pub(super) line: &'a Arc<Line>,
    pub(super) config: &'a Arc<FetchConfig>,
    pub(super) client: &'a ClientConfig,
    pub(super) to: Arc<Endpoint>,
    pub(super) addr: Option<IpAddr>,
    /// Whether TLS begins with the connection.
    pub(super) implicit: bool,
    pub(super) login: Option<Login<'a>>,
}

/// Waits for the greeting, which may be preceded by a request for patience.
pub(super) async fn greet(talk: &mut Dialogue) -> Result<(), BrokenOff> {
    let mut greeting = talk.reply().await?;
    if greeting.code == 120 {
        greeting = talk.reply().await?;
    }
    if greeting.is_done() { Ok(()) } else { Err(turned_away(&greeting).into()) }
}

pub(super) async fn secured(
    wire: LineStream,
    opening: &Opening<'_>,
    client: &Arc<ClientConfig>,
    timings: &mut Timings,
) -> Result<LineStream, BrokenOff> {
    let LineStream::Plain(socket) = wire else { return Ok(wire) };
    let start = Instant::now();
    let wire = LineStream::secured(*socket, &opening.to.host, client, opening.config).await?;
    timings.tls = start.elapsed();
    Ok(wire)
}

/// Asks for TLS.
pub(super) async fn with_tls(
    mut talk: Dialogue,
    opening: &Opening<'_>,
    client: &Arc<ClientConfig>,
    timings: &mut Timings,
) -> Result<Dialogue, BrokenOff> {
    let reply = talk.ask(b"AUTH TLS").await?;
    if reply.code != 234 {
        return match opening.config.ftp_tls {
            FtpTls::Require => {
                let line = format!("the server has no TLS, and ftp.tls requires it: {}", reply.line());
                Err(Failure::new(FailureKind::Tls, line).into())
            }
            FtpTls::Try | FtpTls::Off => Ok(talk),
        };
    }
    let (wire, record) = talk.into_wire();
    let wire = secured(wire, opening, client, timings).await?;
    let mut talk = Dialogue::new(wire, opening.config.timeouts.head);
    talk.recall(record);
    Ok(talk)
}

/// Logs in with the credentials for this server, or as anybody.
pub(super) async fn log_in(talk: &mut Dialogue, opening: &Opening<'_>) -> Result<(), BrokenOff> {
    let contact = contact(&opening.config.user_agent);
    let (user, password) = match &opening.login {
        Some(login) if !login.in_clear && !talk.wire().is_secured() => {
            let line = "the server has no TLS, and the password may not go over the line in the clear \
                        (allow_plain in [[auth]])";
            return Err(Failure::new(FailureKind::Tls, line).into());
        }
        Some(login) => (login.user, login.password),
        None => ("anonymous", contact.as_str()),
    };
    let is_anonymous = opening.login.is_none();
    let mut reply = talk.ask(format!("USER {user}").as_bytes()).await?;
    if reply.code == 331 {
        match is_anonymous {
            true => talk.tell(format!("PASS {password}").as_bytes()).await?,
            false => talk.tell_secret("PASS", password).await?,
        }
        reply = talk.reply().await?;
    }
    if reply.is_done() { Ok(()) } else { Err(turned_away(&reply).into()) }
}

/// What an anonymous visitor gives for a password: the address of who runs the crawl, if the user
/// agent names one.
fn contact(user_agent: &str) -> String {
    let words = user_agent.split([' ', '(', ')', ';', ',', '<', '>']);
    let mail = words.map(|word| word.trim_start_matches(['+']).trim_start_matches("mailto:"));
    let mail = mail.into_iter().find(|word| word.split_once('@').is_some_and(|(a, b)| !a.is_empty() && !b.is_empty()));
    mail.unwrap_or("anonymous@").to_owned()
}

/// Why there is no session. What may pass is a failure to connect, after which the frontier backs
/// off from the server; a refused login is none.
fn turned_away(reply: &ServerReply) -> Failure {
    let text = reply.text.to_ascii_lowercase();
    let busy = reply.code < 500 || ["too many", "busy", "try again", "maximum"].iter().any(|word| text.contains(word));
    let kind = if busy { FailureKind::Protocol } else { FailureKind::Malformed };
    Failure::new(kind, format!("the server lets nobody in: {}", reply.line()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anonymous_visitor_says_whom_to_write_to() {
        assert_eq!(contact("Bot/1.0 (+mailto:me@example.org)"), "me@example.org");
        assert_eq!(contact("Orbweaver/1.0"), "anonymous@");
        assert_eq!(contact("Bot (contact: ops@example.org; x)"), "ops@example.org");
    }

    #[test]
    fn a_server_that_is_busy_may_let_us_in_later() {
        let kind = |code, text: &str| turned_away(&ServerReply { code, text: text.to_owned() }).kind;
        assert_eq!(kind(421, "closing"), FailureKind::Protocol);
        assert_eq!(kind(530, "Too many users"), FailureKind::Protocol);
        assert_eq!(kind(530, "Login incorrect"), FailureKind::Malformed);
    }
}
