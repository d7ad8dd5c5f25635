//! `orb cat`: how is a page's content printed from the archive?

use super::open;
use crate::args::{CatArgs, Common, Form};
use crate::failure::Failure;
use crate::out;
use orb_answers::ContentForm;
use std::io::Write as _;

pub(crate) fn run(common: &Common, args: &CatArgs) -> Result<(), Failure> {
    let collection = open(common, &args.page.project)?;
    let version = orb_answers::content(&collection, &args.page.url, args.run)?;
    let form = match args.form {
        Form::Raw => ContentForm::Raw,
        Form::Text => ContentForm::Text,
        Form::Markdown => ContentForm::Markdown,
    };
    if common.json {
        let mut stdout = out::stdout();
        out::json(&mut stdout, &version.content(form)?)?;
        return Ok(stdout.flush()?);
    }
    let shown = version.bytes(form)?;
    let raw = form == ContentForm::Raw;
    let mut stdout = if raw { out::content() } else { out::stdout() };
    stdout.write_all(&shown)?;
    if !raw && !shown.ends_with(b"\n") {
        writeln!(stdout)?;
    }
    Ok(stdout.flush()?)
}
