//! `orb project new`: how does a commented project file start?

use crate::args::Common;
use crate::failure::CommandFailure;
use crate::out;
use clap::{Args, ValueEnum};
use orb_project::{Home, Template, create};
use std::io::Write as _;
use std::path::PathBuf;

/// `orb project new`.
#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// Its name
    name: String,
    /// Where to start: a URL, or @file with one URL per line; may be repeated
    #[arg(long = "seed", value_name = "URL")]
    seeds: Vec<String>,
    /// Template
    #[arg(long, value_enum, default_value_t = TemplateName::Plain, value_name = "TEMPLATE")]
    template: TemplateName,
    /// Write the file here, to be run with orb crawl FILE, instead of into the home
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Kinds of projects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TemplateName {
    /// A site
    Plain,
    /// A news site, visited frequently
    News,
    /// A manual or reference, collected completely
    Docs,
    /// A site behind a log-in
    Members,
}

impl TemplateName {
    const fn template(self) -> Template {
        match self {
            Self::Plain => Template::Plain,
            Self::News => Template::News,
            Self::Docs => Template::Docs,
            Self::Members => Template::Members,
        }
    }
}

pub(super) fn run(common: &Common, home: &Home, args: &NewArgs) -> Result<(), CommandFailure> {
    let (name, output) = (&args.name, args.output.as_deref());
    let made = create(home, name, (args.template.template(), &args.seeds), output)?;
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &made)?;
    } else if !common.quiet {
        let how = output.map_or_else(|| name.clone(), |path| path.display().to_string());
        writeln!(stdout, "{}", made.file.display())?;
        match args.seeds.is_empty() {
            true if output.is_none() => writeln!(stdout, "orb project edit {name} says where to start")?,
            true => writeln!(stdout, "say in it where to start; orb crawl {how} collects")?,
            false => writeln!(stdout, "orb crawl {how} collects")?,
        }
    }
    Ok(stdout.flush()?)
}
