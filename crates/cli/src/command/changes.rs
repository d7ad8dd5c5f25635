//! `orb changes`: what changed, run after run, as JSON lines with a cursor to continue from?

use super::open;
use crate::args::{Common, ProjectArgs};
use crate::failure::CommandFailure;
use crate::{out, signals};
use clap::Args;
use orb_answers::{CHANGES, Collection, FeedEnd};
use orb_crawl::Stop;
use orb_page::Flag;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

/// Changes per read.
const PAGE: u32 = 500;

/// Polling interval of `--follow`.
const OFTEN: Duration = Duration::from_secs(1);

/// `orb changes`.
#[derive(Debug, Args)]
pub(crate) struct ChangesArgs {
    #[command(flatten)]
    of: ProjectArgs,
    /// Continue after this change: the seq of the last one read
    #[arg(long, value_name = "CURSOR", default_value_t = 0)]
    after: u64,
    /// Maximum number of changes
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Only these flags [default: NEW, UPD, MIS and ERR]
    #[arg(long, value_name = "FLAG", value_delimiter = ',', value_parser = flag)]
    flag: Vec<Flag>,
    /// Wait for more until stopped
    #[arg(long)]
    follow: bool,
}

/// A flag by its name, in upper or lower case.
pub(crate) fn flag(text: &str) -> Result<Flag, String> {
    Flag::from_name(&text.to_ascii_uppercase()).ok_or_else(|| "it is one of NEW, SAM, UPD, MIS and ERR".to_owned())
}

/// A reader's position in the feed.
struct FeedPosition {
    cursor: u64,
    left: u64,
    given: u64,
}

pub(crate) fn run(common: &Common, args: &ChangesArgs) -> Result<(), CommandFailure> {
    let collection = open(common, &args.of)?;
    let flags = if args.flag.is_empty() { &CHANGES[..] } else { &args.flag };
    let mut place = FeedPosition { cursor: args.after, left: args.limit.unwrap_or(u64::MAX), given: 0 };
    let mut stdout = out::stdout();
    let stop = Stop::new();
    let _listening = args.follow.then(|| signals::watch(Arc::clone(&stop))).transpose()?;
    loop {
        print(&mut stdout, common, &collection, flags, &mut place)?;
        if !args.follow || place.left == 0 {
            break;
        }
        stdout.flush()?;
        if stop.wait(OFTEN) {
            return Err(CommandFailure::Stopped);
        }
    }
    if common.json {
        writeln!(stdout, "{}", if place.given == 0 { "[]" } else { "]" })?;
    } else {
        out::json(&mut stdout, &FeedEnd { next: place.cursor, count: place.given })?;
    }
    Ok(stdout.flush()?)
}

/// Prints what there is from a position on.
fn print(
    sink: &mut impl Write,
    common: &Common,
    collection: &Collection,
    flags: &[Flag],
    place: &mut FeedPosition,
) -> Result<(), CommandFailure> {
    while place.left > 0 {
        let asked = u32::try_from(place.left).unwrap_or(PAGE).min(PAGE);
        let page = orb_answers::changes(collection, place.cursor, flags, asked)?;
        for row in &page.changes {
            if common.json {
                sink.write_all(if place.given == 0 { b"[" } else { b",\n" })?;
                serde_json::to_writer(&mut *sink, row).map_err(std::io::Error::from)?;
            } else {
                out::json(sink, row)?;
            }
            place.given += 1;
        }
        let given = page.changes.len() as u64;
        place.cursor = page.next;
        place.left -= given;
        if given < u64::from(asked) {
            break;
        }
    }
    Ok(())
}
