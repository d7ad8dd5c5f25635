//! `orb project edit`: how is a project's file changed with an editor?
//!
//! The editor gets a copy, which replaces the file only if it is valid and nobody else has changed
//! the file meanwhile. A rejected text stays in the copy, and the next edit continues from it.

use crate::args::Common;
use crate::failure::{CommandFailure, complain};
use crate::out;
use anyhow::{Context as _, anyhow};
use orb_project::Settings;
use orb_store::{Home, ProjectDir, ProjectLock};
use std::fs;
use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::Command;

pub(super) fn run(common: &Common, home: &Home, name: &str) -> Result<(), CommandFailure> {
    let project = home.find(name)?;
    let file = project.settings();
    let before = read(&file)?;
    let draft = project.dir.join("edit.toml");
    match fs::read_to_string(&draft) {
        Ok(kept) if kept != before => complain(&format!("resuming the draft in {}", draft.display())),
        _ => fs::write(&draft, &before).with_context(|| format!("cannot write {}", draft.display()))?,
    }
    let text = loop {
        open_editor(&draft)?;
        let text = read(&draft)?;
        match check(&text, &draft, name) {
            Ok(()) => break text,
            Err(why) if again(&why)? => {}
            Err(why) => {
                return Err(anyhow!("{why:#} (orb project edit {name} resumes with what you wrote)").into());
            }
        }
    };
    let changed = text != before;
    if changed {
        replace(&project, &before, &text, &draft)?;
    }
    fs::remove_file(&draft).with_context(|| format!("cannot remove {}", draft.display()))?;
    if !common.quiet && !common.json {
        let mut stdout = out::stdout();
        let news = if changed { "the next run takes it up" } else { "nothing changed" };
        writeln!(stdout, "{}: {news}", file.display())?;
        stdout.flush()?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, CommandFailure> {
    Ok(fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?)
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

/// Says what is wrong with a text, and where.
fn check(text: &str, path: &Path, name: &str) -> anyhow::Result<()> {
    let settings = Settings::parse(text, path)?.examined(text, path)?;
    match settings.name {
        Some(other) if other != name => Err(anyhow!("{}: the project is called {name}, not {other}", path.display())),
        _ => Ok(()),
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

/// Replaces the file, unless somebody has changed it or is using it.
fn replace(project: &ProjectDir, before: &str, text: &str, draft: &Path) -> Result<(), CommandFailure> {
    let left = format!("what you wrote is left in {}", draft.display());
    let _lock = ProjectLock::take(project).map_err(|e| anyhow!("{e}; {left}"))?;
    if read(&project.settings())? != before {
        return Err(anyhow!("{} was changed meanwhile; {left}", project.settings().display()).into());
    }
    Ok(Settings::keep_text(project, text)?)
}
