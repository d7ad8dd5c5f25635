//! `orb words`: in how many pages does a word occur, and where?

use super::{index, tell};
use crate::args::{Common, ListingArgs, ProjectArgs};
use crate::failure::CommandFailure;
use crate::out;
use clap::Args;
use orb_answers::{WordCount, WordPlaces, WordRow, Words};
use std::io::Write;

/// Default number of occurrences shown.
const SHOWN: u64 = 20;

/// `orb words`.
#[derive(Debug, Args)]
pub(crate) struct WordsArgs {
    #[command(flatten)]
    of: ProjectArgs,
    /// The word; with a trailing *, all words with that prefix
    word: String,
    #[command(flatten)]
    listing: ListingArgs,
}

pub(crate) fn run(common: &Common, args: &WordsArgs) -> Result<(), CommandFailure> {
    let collection = index::open_searchable(common, &args.of)?;
    let (words, note) = orb_answers::words(&collection, &args.word, args.listing.window(SHOWN))?;
    tell(common, note.as_ref());
    let mut stdout = out::stdout();
    match &words {
        Words::Beginning(rows) if common.json => out::json(&mut stdout, rows)?,
        Words::Beginning(rows) => dictionary(&mut stdout, rows)?,
        Words::Whole(found) if common.json => out::json(&mut stdout, &found.places)?,
        Words::Whole(found) => occurrences(&mut stdout, found)?,
    }
    Ok(stdout.flush()?)
}

/// The words with a common prefix.
fn dictionary(stdout: &mut impl Write, rows: &[WordRow]) -> std::io::Result<()> {
    let row = |r: &WordRow| vec![r.word.clone(), r.field.name().to_owned(), r.documents.to_string()];
    out::table(stdout, &["word", "field", "pages"], &rows.iter().map(row).collect::<Vec<_>>())
}

fn occurrences(stdout: &mut impl Write, found: &WordPlaces) -> std::io::Result<()> {
    let count = |c: &WordCount| {
        format!("{} {} ({} times)", c.field.name(), out::grouped(c.documents), out::grouped(c.occurrences))
    };
    let word = &found.word;
    match found.counts.as_slice() {
        [] => writeln!(stdout, "{word}: in no page")?,
        counts => {
            writeln!(stdout, "{word}: pages by field: {}", counts.iter().map(count).collect::<Vec<_>>().join(", "))?;
        }
    }
    for place in &found.places {
        writeln!(stdout, "{}@{}  {}  {}", place.page, place.position, place.field.name(), place.url)?;
    }
    Ok(())
}
