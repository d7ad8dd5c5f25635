//! How does a model ask over standard input and output?

use super::{Assistant, reply};
use crate::desk::OpenShelf;
use crate::error::ServeError;
use crate::launch::{Launch, Launcher};
use crate::shared::ServedHome;
use orb_project::Home;
use serde_json::{Value, json};
use std::io::{self, BufRead, Read as _, Write};
use std::path::Path;

/// The longest message.
const LONGEST: u64 = 1 << 20;

/// Answers messages, one a line, until there are no more. Runs are started and stopped only with
/// `launch`.
pub fn converse(
    home: &Path,
    launch: Option<Launch>,
    mut input: impl BufRead,
    mut output: impl Write,
) -> Result<(), ServeError> {
    let (home, shelf, may_act) = (ServedHome::new(Home::open(home)?, None)?, OpenShelf::default(), launch.is_some());
    let launcher = Launcher::new(launch);
    let (counting, identity) = (None, None);
    let assistant = Assistant { home: &home, shelf: &shelf, launcher: &launcher, counting, identity, may_act };
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = input.by_ref().take(LONGEST).read_until(b'\n', &mut line).map_err(ServeError::Converse)?;
        if read == 0 {
            return Ok(());
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let answer = match serde_json::from_slice::<Value>(&line) {
            Ok(message) => reply(&assistant, &message),
            Err(e) => Some(json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": e.to_string()}})),
        };
        if let Some(answer) = answer {
            match writeln!(output, "{answer}").and_then(|()| output.flush()) {
                Err(e) if e.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                written => written.map_err(ServeError::Converse)?,
            }
        }
    }
}
