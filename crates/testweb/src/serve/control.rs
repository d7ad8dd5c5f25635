//! How does another process query the server?
//!
//! Below `/.testweb/` on any host; neither counted nor logged. `counters` and `log` answer in JSON,
//! `expected` with one URL per line, `epoch/3` changes the epoch, `reset` resets the counters.

use super::ServerState;
use crate::naming::HostNaming;
use crate::{CrawlReach, ServerCounters};
use std::fmt::Write;

/// The prefix of such targets.
pub(super) const PREFIX: &str = "/.testweb/";

/// The complete response to a target below the prefix.
pub(super) fn answer(shared: &ServerState, rest: &str) -> Vec<u8> {
    let (what, argument) = rest.split_once('/').unwrap_or((rest, ""));
    let body = match what {
        "counters" => Some(counters(&shared.gauge.counters())),
        "log" => Some(log(shared)),
        "expected" => expected(shared, argument),
        "epoch" => argument.parse().ok().map(|epoch| {
            shared.web.set_epoch(epoch);
            format!("{epoch}\n")
        }),
        "reset" => {
            shared.gauge.reset();
            shared.log.take();
            shared.web.forget_tries();
            Some("reset\n".into())
        }
        _ => None,
    };
    let status = if body.is_some() { "200 OK" } else { "404 Not Found" };
    let body = body.unwrap_or_default();
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// `linked/80` for names at port 80, `host/8080` for the first host by address at port 8080, and so
/// on.
fn expected(shared: &ServerState, argument: &str) -> Option<String> {
    let (reach, port) = argument.split_once('/')?;
    let port = port.parse().ok()?;
    let naming = if port == 80 { HostNaming::Names { port } } else { HostNaming::Addresses { port } };
    let reach = match reach {
        "host" => CrawlReach::Host(0),
        "linked" => CrawlReach::Linked,
        "seeded" => CrawlReach::Seeded,
        _ => return None,
    };
    let urls = shared.web.expected(naming, reach).urls;
    Some(urls.iter().flat_map(|url| [url.as_str(), "\n"]).collect())
}

fn counters(counters: &ServerCounters) -> String {
    let by_status: Vec<_> = counters.by_status.iter().map(|(status, count)| format!("\"{status}\":{count}")).collect();
    let ServerCounters { requests, bytes, connections, open, max_open, full_handshakes, resumed_handshakes, .. } =
        counters;
    let by_status = by_status.join(",");
    format!(
        "{{\"requests\":{requests},\"bytes\":{bytes},\"connections\":{connections},\"open\":{open},\
         \"max_open\":{max_open},\"full_handshakes\":{full_handshakes},\
         \"resumed_handshakes\":{resumed_handshakes},\"by_status\":{{{by_status}}}}}\n"
    )
}

/// One JSON object per line.
fn log(shared: &ServerState) -> String {
    let requests = shared.log.all().0;
    let Some(first) = requests.first().map(|request| request.at) else {
        return String::new();
    };
    let mut lines = String::new();
    for request in &requests {
        let micros = request.at.saturating_duration_since(first).as_micros();
        let (connection, local, status) = (request.connection, request.local, request.status);
        let (url, agent) = (quoted(&request.url()), quoted(&request.agent));
        // Writing to a string cannot fail.
        let _ = writeln!(
            lines,
            "{{\"micros\":{micros},\"connection\":{connection},\"local\":\"{local}\",\"url\":{url},\
             \"status\":{status},\"agent\":{agent}}}"
        );
    }
    lines
}

/// Quotes a text for JSON.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            _ if letter.is_control() => _ = write!(out, "\\u{:04x}", u32::from(letter)),
            _ => out.push(letter),
        }
    }
    out + "\""
}
