//! Which entries does a directory have?
//!
//! A protocol that lists instead of linking gives its directories as [`Listing`]s. Each entry is a
//! link; what the listing says of size and time goes with it, so that a later run can tell what has
//! changed without asking for every file.

use crate::gather::Gather;
use crate::{Extract, TypedContent};
use orb_page::{EntryFacts, LinkKind, Listing};

/// Extracts directory listings.
#[derive(Debug)]
pub(crate) struct ListingExtractor;

impl Extract for ListingExtractor {
    fn accepts(&self, source: &TypedContent<'_>) -> bool {
        source.mime == Listing::MIME
    }

    fn extract(&self, source: &TypedContent<'_>, found: &mut Gather) {
        let (listing, broken) = Listing::parse(source.bytes);
        if broken > 0 {
            found.problem("listing-broken", format!("{broken} lines of the listing are not entries"));
        }
        for (place, entry) in listing.entries.iter().enumerate() {
            let name = entry.name();
            found.doc.text.push_str(&name);
            found.doc.text.push('\n');
            if let Some(link) = found.link(LinkKind::Entry, &entry.reference, place) {
                link.anchor = name;
                if entry.size.is_some() || entry.modified.is_some() {
                    link.entry = Some(Box::new(EntryFacts { size: entry.size, modified: entry.modified }));
                }
            }
        }
        found.doc.title = Some(path(source.url).to_owned());
    }
}

/// The path of a URL: the name of the directory.
fn path(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find('/').map_or("/", |at| &rest[at..])
}

#[cfg(test)]
mod tests {
    use crate::{Content, extract};
    use orb_page::{EntryFacts, LinkKind, Listing, Moment};

    #[test]
    fn entries_are_links_with_their_size_and_time() {
        let bytes = b"5\t1000\tread%20me.txt\n-\t-\tsub/\nbroken\n";
        let content = Content { bytes, mime: Some(Listing::MIME), charset: None, url: "x://h/dir/" };
        let document = extract(&content);
        let [file, directory] = &document.links[..] else { panic!("two entries") };
        assert_eq!(
            (file.kind, file.target.as_str(), file.anchor.as_str()),
            (LinkKind::Entry, "read%20me.txt", "read me.txt")
        );
        assert_eq!(file.entry.as_deref(), Some(&EntryFacts { size: Some(5), modified: Some(Moment(1_000)) }));
        assert_eq!((directory.target.as_str(), &directory.entry), ("sub/", &None));
        assert_eq!((document.title.as_deref(), document.text.as_str()), (Some("/dir/"), "read me.txt\nsub/\n"));
        assert_eq!(document.problems[0].code, "listing-broken");
    }
}
