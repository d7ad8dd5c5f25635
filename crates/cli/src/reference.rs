//! Do the documents say what the program understands?
//!
//! The reference, docs/commands.md, is rendered from clap's own description of the command line, so
//! that it cannot drift from it. `UPDATE_EXPECT=1 cargo test -p orb --bin orb reference` rewrites
//! the file. Every command that the README and the manual show is parsed.

use crate::args::Cli;
use clap::{Arg, Command, CommandFactory as _};
use expect_test::expect_file;
use std::fs;
use std::path::{Path, PathBuf};

const WIDTH: usize = 100;

const HEAD: &str = "# Command reference

<!-- Generated from the command line's definition. Do not edit; run
     UPDATE_EXPECT=1 cargo test -p orb --bin orb reference -->

`orb COMMAND --help` prints the same. Durations are written `500ms`, `2s`, `5m`, `1h`, `7d`; sizes
`10MB`, `64KiB`; rates `10MB/s`, `20Mbit/s`. A flag of `orb crawl` and `orb track` overrides the
setting of the same meaning in the project file ([project.toml](project.toml)).

Exit codes: 0 done; 1 failed, with one line on standard error that says why; 2 wrong usage; 3
changes were found and `--fail-on-change` was given; 130 stopped by Ctrl-C or SIGTERM with
everything saved.
";

#[test]
fn the_command_reference_is_what_clap_knows() {
    let mut root = Cli::command();
    root.build();
    let mut page = HEAD.to_owned();
    page.push_str("\n## Common options\n\n");
    root.get_arguments().filter(|arg| arg.is_global_set()).for_each(|arg| option(&mut page, arg));
    page.push_str("\n## Commands\n\n");
    for command in visible(&root) {
        let name = command.get_name();
        wrap(&mut page, &format!("- [`orb {name}`](#orb-{name}): {}", about(command)), "  ");
    }
    visible(&root).for_each(|command| section(&mut page, command, &format!("orb {}", command.get_name()), 2));
    expect_file!["../../../docs/commands.md"].assert_eq(&page);
}

#[test]
fn every_command_that_the_manual_shows_is_understood() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let pages = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages: Vec<PathBuf> = pages.chain([root.join("README.md")]).collect();
    let mut understood = 0;
    for page in pages.iter().filter(|page| page.extension().is_some_and(|extension| extension == "md")) {
        for words in commands(&fs::read_to_string(page).unwrap()) {
            let parsed = Cli::command().try_get_matches_from(&words);
            assert!(parsed.is_ok(), "{}: {}: {}", page.display(), words.join(" "), parsed.unwrap_err());
            understood += 1;
        }
    }
    assert!(understood > 80, "only {understood} commands were found");
}

#[test]
fn shown_commands_are_split_as_a_shell_does() {
    let page = "```sh\nA=b orb search p \"two\n  lines\" | head   # orb no\norb x '#1' \\\n  -y < in\ncd orb\n```\n\
                orb prose\n```console\n$ orb a && orb b …\norb says\n```\n```toml\norb = 1\n```\n";
    let shown: Vec<String> = commands(page).iter().map(|words| words.join("|")).collect();
    assert_eq!(shown, ["orb|search|p|two\n  lines", "orb|x|#1|-y", "orb|a", "orb|b"]);
}

/// The commands of this program that the shell blocks of a document show.
fn commands(document: &str) -> Vec<Vec<String>> {
    let (mut script, mut language) = (String::new(), None);
    for line in document.lines() {
        match (line.trim_start().strip_prefix("```"), language) {
            (Some(opened), None) => language = Some(opened),
            (Some(_), Some(_)) => language = None,
            (None, Some("sh")) => script.extend([line, "\n"]),
            (None, Some("console")) => script.extend(line.strip_prefix("$ ").into_iter().flat_map(|l| [l, "\n"])),
            _ => {}
        }
    }
    let named = |words: Vec<String>| {
        let at = words.iter().position(|word| !word.contains('='))?;
        (words[at] == "orb").then(|| words[at..].to_vec())
    };
    split(&script).into_iter().filter_map(named).collect()
}

/// A script as commands of words: quotes, comments and continued lines as in a shell; what a
/// command reads from or writes to is left out, and so is an ellipsis.
fn split(script: &str) -> Vec<Vec<String>> {
    let (mut commands, mut words, mut word) = (Vec::new(), Vec::new(), None::<String>);
    let mut chars = script.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => {
                let quoted = chars.by_ref().take_while(|next| *next != c);
                word.get_or_insert_default().extend(quoted);
            }
            '#' if word.is_none() => while chars.next_if(|next| *next != '\n').is_some() {},
            '\\' if chars.next_if_eq(&'\n').is_some() => {}
            ' ' => words.extend(word.take()),
            '\n' | '|' | '&' | ';' => {
                words.extend(word.take());
                commands.push(std::mem::take(&mut words));
            }
            _ => word.get_or_insert_default().push(c),
        }
    }
    for words in &mut commands {
        let read_on = words.iter().position(|word| word.starts_with(['<', '>']));
        words.truncate(read_on.unwrap_or(words.len()));
        words.retain(|word| word != "…");
    }
    commands
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
}

/// A command with its arguments and options, then its subcommands one level below.
fn section(page: &mut String, command: &Command, path: &str, level: usize) {
    page.push_str(&format!("\n{} {path}\n\n", "#".repeat(level)));
    wrap(page, &format!("{}.", about(command)), "");
    let usage = command.clone().render_usage().to_string();
    page.push_str(&format!("\n```\n{}\n```\n", usage.trim_start_matches("Usage: ")));
    let own = || command.get_arguments().filter(|arg| !arg.is_global_set() && !arg.is_hide_set());
    let own = || own().filter(|arg| arg.get_id() != "help" && arg.get_id() != "version");
    let (positional, options): (Vec<_>, Vec<_>) = own().partition(|arg| arg.is_positional());
    for (title, args) in [("Arguments", positional), ("Options", options)] {
        if !args.is_empty() {
            page.push_str(&format!("\n{title}:\n\n"));
        }
        args.iter().for_each(|arg| option(page, arg));
    }
    if let Some(more) = command.get_after_help() {
        page.push_str(&format!("\n```\n{more}\n```\n"));
    }
    visible(command).for_each(|sub| section(page, sub, &format!("{path} {}", sub.get_name()), level + 1));
}

/// One argument or option: how it is written, what it does, its default, its possible values.
fn option(page: &mut String, arg: &Arg) {
    let long = arg.get_long().map(|long| format!("--{long}"));
    let short = arg.get_short().map(|short| format!("-{short}"));
    let mut written = [short, long].into_iter().flatten().collect::<Vec<_>>().join(", ");
    if arg.is_positional() || arg.get_action().takes_values() {
        let names = arg.get_value_names().unwrap_or_default().join(" ");
        written = format!("{written} {names}").trim().to_owned();
    }
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let defaults = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect::<Vec<_>>();
    let default = match arg.get_action().takes_values() && !defaults.is_empty() {
        true => format!(" [default: {}]", defaults.join(", ")),
        false => String::new(),
    };
    wrap(page, &format!("- `{written}`: {}{default}", escaped(&help)), "  ");
    let values = arg.get_possible_values();
    for value in values.iter().filter(|value| arg.get_action().takes_values() && !value.is_hide_set()) {
        let help = value.get_help().map(|help| format!(": {}", escaped(&help.to_string())));
        wrap(page, &format!("  - `{}`{}", value.get_name(), help.unwrap_or_default()), "    ");
    }
}

fn about(command: &Command) -> String {
    escaped(&command.get_about().map(ToString::to_string).unwrap_or_default())
}

/// Text in which Markdown sees no markup.
fn escaped(text: &str) -> String {
    text.replace('*', "\\*").replace('<', "\\<")
}

/// Appends a paragraph, broken at white space, with an indent before every line but the first.
fn wrap(page: &mut String, text: &str, indent: &str) {
    let lead = &text[..text.len() - text.trim_start().len()];
    let mut line = lead.to_owned();
    for word in text.split_whitespace() {
        if line.trim().is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() > WIDTH {
            page.push_str(&line);
            page.push('\n');
            line = format!("{indent}{word}");
        } else {
            line = format!("{line} {word}");
        }
    }
    page.push_str(&line);
    page.push('\n');
}
