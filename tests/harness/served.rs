//! How is a home served and asked over HTTP?

use super::orb::Home;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};

/// A running `orb serve`, killed on drop.
pub(crate) struct Served {
    child: Child,
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// The path that makes the first account.
    pub(crate) first: Option<String>,
}

/// What was answered.
#[derive(Debug)]
pub(crate) struct HttpReply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl HttpReply {
    /// The first header field of this name, in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// The cookie that it sets.
    pub(crate) fn cookie(&self) -> Option<&str> {
        self.header("set-cookie")?.split(';').next()
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("no JSON ({error}): {self:?}"))
    }

    /// Reads a response up to the end of the stream.
    pub(crate) fn read(stream: impl Read) -> Self {
        let mut stream = BufReader::new(stream);
        let mut head = Vec::new();
        let mut line = String::new();
        while stream.read_line(&mut line).unwrap() > 2 {
            head.push(line.trim_end().to_owned());
            line.clear();
        }
        let status = head.first().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let fields = head.iter().skip(1).filter_map(|line| line.split_once(": "));
        let headers: Vec<_> = fields.map(|(n, v)| (n.to_lowercase(), v.to_owned())).collect();
        let mut body = Vec::new();
        // A TLS connection that is closed without notice is an error after the last byte.
        let _ = stream.read_to_end(&mut body);
        let status = status.unwrap_or_else(|| panic!("no response: {head:?}"));
        Self { status, headers, body: String::from_utf8(body).unwrap() }
    }
}

impl Served {
    /// Serves a home on a free port of loopback.
    pub(crate) fn start(home: &Home, args: &[&str]) -> Self {
        Self::start_with(home, args, &[])
    }

    /// The same with more in its environment.
    pub(crate) fn start_with(home: &Home, args: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut command = home.command(&[&["serve", "--listen", "127.0.0.1:0", "--json"], args].concat());
        command.envs(environment.iter().copied());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let url = told["url"].as_str().unwrap();
        let address = url.split("://").nth(1).unwrap().trim_end_matches('/').parse().unwrap();
        let first = told["first_account"].as_str().map(|link| format!("/{}", &link[url.len()..]));
        Self { child, address, first }
    }

    /// Sends a request with these header fields and this body, and reads the response.
    pub(crate) fn send(&self, request: &str, fields: &[(&str, &str)], body: &str) -> HttpReply {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.write_all(text(self.address, request, fields, body).as_bytes()).unwrap();
        HttpReply::read(stream)
    }

    /// Gets a path.
    pub(crate) fn get(&self, path: &str, fields: &[(&str, &str)]) -> HttpReply {
        self.send(&format!("GET {path}"), fields, "")
    }

    /// Sends a form.
    pub(crate) fn post(&self, path: &str, fields: &[(&str, &str)], form: &str) -> HttpReply {
        let kind = [("Content-Type", "application/x-www-form-urlencoded")];
        self.send(&format!("POST {path}"), &[&kind, fields].concat(), form)
    }

    /// Sends a signal and waits for the end; returns the exit code.
    pub(crate) fn stop(mut self, signal: Signal) -> Option<i32> {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request as it is sent, for one response.
pub(crate) fn text(address: SocketAddr, request: &str, fields: &[(&str, &str)], body: &str) -> String {
    let mut out = format!("{request} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    if !fields.iter().any(|(name, _)| *name == "Host") {
        out.push_str(&format!("Host: {address}\r\n"));
    }
    fields.iter().for_each(|(name, value)| out.push_str(&format!("{name}: {value}\r\n")));
    format!("{out}\r\n{body}")
}

/// Adds a user as on the command line, with the password on standard input.
pub(crate) fn add_user(home: &Home, name: &str, more: &[&str]) {
    let mut command = home.command(&[&["user", "add", name], more].concat());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"a password\n").unwrap();
    assert!(child.wait().unwrap().success());
}
