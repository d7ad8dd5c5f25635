//! `orb project edit`: how is a project's file changed with an editor?

use crate::args::{Common, ProjectArgs};
use crate::command::{ProjectPlace, find_facts};
use crate::failure::{CommandFailure, complain};
use crate::out;
use anyhow::{Context as _, anyhow};
use orb_project::{Draft, Home};
use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::Command;

pub(super) fn run(common: &Common, of: &ProjectArgs) -> Result<(), CommandFailure> {
    let name = &of.project;
    let (draft, kept) = match find_facts(common, of)? {
        ProjectPlace::Here(project) => {
            let file = project.settings().display().to_string();
            (Draft::open(project)?, file)
        }
        ProjectPlace::There(at) => {
            // The home holds the draft.
            Home::open(&common.home)?;
            (Draft::open_shared(&common.home, &at, name)?, format!("project {name}"))
        }
    };
    if draft.is_resumed() {
        complain(&format!("resuming the draft in {}", draft.path().display()));
    }
    let text = loop {
        open_editor(draft.path())?;
        let text = draft.text()?;
        match draft.check(&text).map_err(anyhow::Error::from) {
            Ok(()) => break text,
            Err(why) if again(&why)? => {}
            Err(why) => {
                return Err(anyhow!("{why:#} (orb project edit {name} resumes with what you wrote)").into());
            }
        }
    };
    let changed = draft.keep(&text)?;
    if !common.quiet && !common.json {
        let mut stdout = out::stdout();
        let news = if changed { "the next run takes it up" } else { "nothing changed" };
        writeln!(stdout, "{kept}: {news}")?;
        stdout.flush()?;
    }
    Ok(())
}

/// The user's editor, possibly with arguments.
fn open_editor(file: &Path) -> Result<(), CommandFailure> {
    let named = |variable| std::env::var(variable).ok().filter(|editor| !editor.trim().is_empty());
    let editor = named("VISUAL").or_else(|| named("EDITOR")).unwrap_or_else(|| "vi".to_owned());
    let status = Command::new("sh").arg("-c").arg(format!("{editor} \"$@\"")).arg(&editor).arg(file).status();
    match status.with_context(|| format!("cannot start the editor {editor}"))? {
        status if status.success() => Ok(()),
        _ => Err(anyhow!("the editor {editor} failed and nothing was changed; EDITOR names another").into()),
    }
}

/// Reports what is wrong and asks whether to continue; without a terminal, it does not.
fn again(why: &anyhow::Error) -> Result<bool, CommandFailure> {
    if !std::io::stdin().is_terminal() {
        return Ok(false);
    }
    let mut stderr = std::io::stderr();
    write!(stderr, "{}\nEdit again? [Y/n] ", out::harmless(&format!("{why:#}")))?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(!answer.trim().eq_ignore_ascii_case("n") && !answer.is_empty())
}
