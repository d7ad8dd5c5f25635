//! How does a server come to know us?
//!
//! It greets, TLS begins where it is wanted and offered, and we say who we are: by a name and a
//! password that the user gave for this server, or as anybody.

use crate::FtpTls;
use crate::lines::{Dialogue, Opening, ServerReply};
use crate::sessions::BrokenOff;
use orb_page::{Failure, FailureKind, Timings};

/// Waits for the greeting, which may be preceded by a request for patience.
pub(super) async fn greet(talk: &mut Dialogue) -> Result<(), BrokenOff> {
    let mut greeting = talk.reply().await?;
    if greeting.code == 120 {
        greeting = talk.reply().await?;
    }
    if greeting.is_done() { Ok(()) } else { Err(turned_away(&greeting).into()) }
}

/// Asks for TLS.
pub(super) async fn with_tls(
    mut talk: Dialogue,
    opening: &Opening<'_>,
    timings: &mut Timings,
) -> Result<Dialogue, BrokenOff> {
    let reply = talk.ask(b"AUTH TLS").await?;
    if reply.code == 234 {
        return Ok(opening.secured(talk, timings).await?);
    }
    match opening.config.ftp_tls {
        FtpTls::Require => {
            let line = format!("the server has no TLS, and ftp.tls requires it: {}", reply.line());
            Err(Failure::new(FailureKind::Tls, line).into())
        }
        FtpTls::Try | FtpTls::Off => Ok(talk),
    }
}

/// Logs in with the credentials for this server, or as anybody.
pub(super) async fn log_in(talk: &mut Dialogue, opening: &Opening<'_>) -> Result<(), BrokenOff> {
    opening.check_password(talk)?;
    let contact = contact(&opening.config.user_agent);
    let (user, password) = match &opening.login {
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
    if reply.is_done() {
        return Ok(());
    }
    let failure = turned_away(&reply);
    let is_refused = failure.kind == FailureKind::Malformed;
    Err(if is_refused { BrokenOff::refused(failure) } else { failure.into() })
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
