//! What is heard of a news server that says these bytes?
//!
//! The door for fuzzing: everything that is asked of a server about a group, in the order in which
//! it is asked. It exists only with the feature `fuzzing` and never in the program.

use super::overview::{number_in, overview_line, read_listing};
use super::session::{NewsBlock, NewsSession};
use crate::lines::LineRehearsal;
use crate::{BoxFuture, Unwatched};
use orb_page::{Listing, ListingEntry};
use std::io;

/// What was heard, as far as the server spoke sense.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct HeardNews {
    /// Count, first and last number of the group.
    pub figures: Option<[u64; 3]>,
    /// The groups, the articles by their overview, the articles by their numbers; of each, how many
    /// lines of what we made of it are no entries.
    pub listings: Vec<(Listing, usize)>,
    /// The first article, and whether it was cut off.
    pub article: Option<(Vec<u8>, bool)>,
}

/// What a server says that is asked for its groups, for one of them, for its articles, for their
/// numbers and for one of them; of each answer at most so many bytes. For fuzzing.
pub fn hear_news(rehearsal: &LineRehearsal, pieces: &[&[u8]], most: u64) -> io::Result<HeardNews> {
    rehearsal.hear(pieces, move |talk, place| {
        Box::pin(async move {
            let mut heard = HeardNews::default();
            // Whatever ends it, what was heard before counts.
            let _ = listen(NewsSession::begun(talk, place), most, &mut heard).await;
            heard
        })
    })
}

fn listen(mut session: NewsSession, most: u64, heard: &mut HeardNews) -> BoxFuture<'_, Option<()>> {
    Box::pin(async move {
        let group = |line: &[u8]| ListingEntry::new(line.split(|b| *b == b' ').next()?, true);
        let number = |line: &[u8]| ListingEntry::new(number_in(line)?, false);
        if let Ok(block) = session.groups(b"", most, &Unwatched).await.ok()? {
            heard.list(&block, group);
        }
        let Ok(figures) = session.enter(b"a.group").await.ok()? else { return None };
        heard.figures = Some([figures.count, figures.low, figures.high]);
        if let Ok(block) = session.overview(figures, most, &Unwatched).await.ok()? {
            heard.list(&block, overview_line);
        }
        if let Ok(block) = session.numbers(b"a.group", most, &Unwatched).await.ok()? {
            heard.list(&block, number);
        }
        let Ok((_, block)) = session.article(b"1", most, &Unwatched).await.ok()? else { return None };
        heard.article = Some((block.bytes, block.is_cut));
        Some(())
    })
}

impl HeardNews {
    /// What the program makes of a block.
    fn list(&mut self, block: &NewsBlock, read: impl Fn(&[u8]) -> Option<ListingEntry>) {
        let made = read_listing(block, read).ok().and_then(|(response, _)| response.body.read(u64::MAX).ok());
        self.listings.extend(made.map(|body| Listing::parse(&body)));
    }
}
