//! `orb words`: the dictionary: in how many pages a word stands, and where.

use super::open_reader;
use super::search::{guarded, open, tell_lag};
use crate::args::{Common, Listing};
use crate::failure::Failure;
use crate::out;
use clap::Args;
use orb_index::{Occurrence, Searcher, WordCount};
use orb_store::CatalogueReader;
use serde_json::json;
use std::collections::HashMap;
use std::io::Write;

/// Places shown unless more are asked for.
const SHOWN: u64 = 20;

/// `orb words`.
#[derive(Debug, Args)]
pub(crate) struct WordsArgs {
    /// The project
    project: String,
    /// The word; with a trailing *, all words with that prefix
    word: String,
    #[command(flatten)]
    listing: Listing,
}

pub(crate) fn run(common: &Common, args: &WordsArgs) -> Result<(), Failure> {
    let (project, reader) = open_reader(common, &args.project)?;
    let searcher = open(&project)?;
    let start = args.word.strip_suffix('*');
    let Some(word) = Searcher::as_kept(start.unwrap_or(&args.word)) else {
        return Err(Failure::Usage(format!(
            "'{}' is not one word; orb search finds phrases",
            out::clip(&args.word, 100)
        )));
    };
    tell_lag(common, &project, &searcher, &reader)?;
    let (limit, offset) = (args.listing.limit.unwrap_or(SHOWN), args.listing.offset);
    let mut stdout = out::stdout();
    if start.is_some() {
        let counts = guarded(&project, || searcher.beginning(&word, limit, offset))??;
        dictionary(&mut stdout, common, &counts)?;
    } else {
        let counts = guarded(&project, || searcher.count(&word))??;
        let places = guarded(&project, || searcher.occurrences(&word, limit, offset))??;
        let urls = urls(&reader, &places)?;
        occurrences(&mut stdout, common, &word, (&counts, &places, &urls))?;
    }
    Ok(stdout.flush()?)
}

/// The words that begin alike.
fn dictionary(stdout: &mut impl Write, common: &Common, counts: &[WordCount]) -> std::io::Result<()> {
    if common.json {
        let rows: Vec<_> =
            counts.iter().map(|c| json!({"word": c.word, "field": c.field, "documents": c.documents})).collect();
        return out::json(stdout, &rows);
    }
    let row = |c: &WordCount| vec![c.word.clone(), c.field.name().to_owned(), c.documents.to_string()];
    out::table(stdout, &["word", "field", "pages"], &counts.iter().map(row).collect::<Vec<_>>())
}

fn urls(reader: &CatalogueReader, places: &[Occurrence]) -> Result<HashMap<u64, String>, Failure> {
    let mut urls = HashMap::new();
    for place in places {
        if !urls.contains_key(&place.page.0)
            && let Some(page) = reader.page(place.page)?
        {
            urls.insert(place.page.0, page.url);
        }
    }
    Ok(urls)
}

fn occurrences(
    stdout: &mut impl Write,
    common: &Common,
    word: &str,
    (counts, places, urls): (&[WordCount], &[Occurrence], &HashMap<u64, String>),
) -> std::io::Result<()> {
    let url = |place: &Occurrence| urls.get(&place.page.0).cloned().unwrap_or_default();
    if common.json {
        let documents = |place: &Occurrence| counts.iter().find(|c| c.field == place.field).map(|c| c.documents);
        let row = |p: &Occurrence| {
            json!({"word": word, "field": p.field, "page": p.page, "position": p.position, "url": url(p),
                "documents": documents(p)})
        };
        return out::json(stdout, &places.iter().map(row).collect::<Vec<_>>());
    }
    let count = |c: &WordCount| {
        format!("{} {} ({} times)", c.field.name(), out::grouped(c.documents), out::grouped(c.occurrences))
    };
    match counts {
        [] => writeln!(stdout, "{word}: in no page")?,
        counts => {
            writeln!(stdout, "{word}: pages by field: {}", counts.iter().map(count).collect::<Vec<_>>().join(", "))?;
        }
    }
    for place in places {
        writeln!(stdout, "{}@{}  {}  {}", place.page.0, place.position, place.field.name(), url(place))?;
    }
    Ok(())
}
