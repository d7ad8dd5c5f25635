//! Where does the server offer a data connection?
//!
//! It names a port, and in the older form an address, too. The address is ignored: the data come
//! from where the commands went, or a server could have us connect to machines of its choice
//! (CVE-2020-8284, CVE-2021-4189). A port of the system's services is refused for the same reason.

use crate::lines::{ServerReply, malformed};
use orb_page::Failure;

/// The first port that no service of the system has.
const FIRST_PORT: u16 = 1_024;

/// The port in the reply to EPSV: `229 Entering Extended Passive Mode (|||6446|)` (RFC 2428).
pub(super) fn extended(reply: &ServerReply) -> Result<u16, Failure> {
    let inside = between(&reply.text).ok_or_else(unclear)?;
    let mut parts = inside.split(inside.chars().next().ok_or_else(unclear)?);
    let port = parts.nth(3).and_then(|port| port.parse().ok()).ok_or_else(unclear)?;
    allowed(port)
}

/// The port in the reply to PASV: `227 Entering Passive Mode (10,0,0,1,25,46)` (RFC 959). Some
/// servers leave the brackets out.
pub(super) fn plain(reply: &ServerReply) -> Result<u16, Failure> {
    let text = between(&reply.text).unwrap_or(&reply.text);
    let start = text.find(|c: char| c.is_ascii_digit()).ok_or_else(unclear)?;
    let numbers = text[start..].split(|c: char| !c.is_ascii_digit()).take(6).map(str::parse::<u8>);
    let numbers = numbers.collect::<Result<Vec<_>, _>>().map_err(|_| unclear())?;
    let [_, _, _, _, high, low] = numbers[..] else { return Err(unclear()) };
    allowed(u16::from(high) << 8 | u16::from(low))
}

fn allowed(port: u16) -> Result<u16, Failure> {
    if port < FIRST_PORT {
        return Err(malformed(&format!("the server offers its data on port {port}, where a service of the system is")));
    }
    Ok(port)
}

fn unclear() -> Failure {
    malformed("the server does not say where its data are")
}

fn between(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once('(')?;
    Some(rest.split_once(')')?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(text: &str) -> ServerReply {
        ServerReply { code: 229, text: text.to_owned() }
    }

    #[test]
    fn the_port_is_read_from_both_forms() {
        assert_eq!(extended(&reply("Entering Extended Passive Mode (|||6446|)")), Ok(6446));
        assert_eq!(extended(&reply("ok (!!!6446!)")), Ok(6446));
        assert_eq!(plain(&reply("Entering Passive Mode (10,0,0,1,25,46).")), Ok(25 * 256 + 46));
        assert_eq!(plain(&reply("Entering Passive Mode 10,0,0,1,25,46")), Ok(25 * 256 + 46));
    }

    #[test]
    fn a_port_of_the_system_and_nonsense_are_refused() {
        for text in ["(|||22|)", "(|||0|)", "(|||99999|)", "(||)", "()", "", "(|||", "(ü1ü2ü3ü)"] {
            assert!(extended(&reply(text)).is_err(), "{text}");
        }
        for text in ["(127,0,0,1,0,22)", "(1,2,3)", "(1,2,3,4,5,999)", "none", "(a,b,c,d,e,f)"] {
            assert!(plain(&reply(text)).is_err(), "{text}");
        }
    }
}
