//! `orb cat`: how is a page's content printed from the archive?

use super::open;
use crate::args::{CatArgs, Common, ContentFormat};
use crate::failure::CommandFailure;
use crate::out;
use orb_answers::{ArchivedVersion, ContentExtent, ContentForm};
use std::io::Write as _;

pub(crate) fn run(common: &Common, args: &CatArgs) -> Result<(), CommandFailure> {
    let collection = open(common, &args.page.of)?;
    let version = orb_answers::content(&collection, &args.page.url, args.run)?;
    let form = match args.form {
        ContentFormat::Raw => ContentForm::Raw,
        ContentFormat::Text => ContentForm::Text,
        ContentFormat::Markdown => ContentForm::Markdown,
        ContentFormat::Picture => return picture(&version),
    };
    if form == ContentForm::Raw && !common.json {
        let mut stdout = out::content();
        std::io::copy(&mut version.raw()?, &mut stdout)?;
        return Ok(stdout.flush()?);
    }
    let mut stdout = out::stdout();
    let page = version.content(form, if args.whole { ContentExtent::Whole } else { ContentExtent::Main })?;
    if common.json {
        out::json(&mut stdout, &page)?;
    } else {
        stdout.write_all(page.content.as_bytes())?;
        if !page.content.ends_with('\n') {
            writeln!(stdout)?;
        }
    }
    Ok(stdout.flush()?)
}

fn picture(version: &ArchivedVersion) -> Result<(), CommandFailure> {
    let Some((_, bytes)) = version.picture()? else {
        let what =
            format!("there is no picture of {}; orb crawl --render always --screenshots takes some", version.url);
        return Err(CommandFailure::Failed(anyhow::anyhow!(what)));
    };
    let mut stdout = out::content();
    stdout.write_all(&bytes)?;
    Ok(stdout.flush()?)
}
