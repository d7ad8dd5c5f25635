//! Which groups and articles does a server list?

use super::NNTP;
use super::session::NewsBlock;
use crate::names::listing;
use orb_page::{Failure, Listing, ListingEntry, Response, Truncation};

/// The listing in a block of lines, and its entries if they are all.
pub(super) fn read_listing(
    block: &NewsBlock,
    read: impl Fn(&[u8]) -> Option<ListingEntry>,
) -> Result<(Response, Option<Vec<ListingEntry>>), Failure> {
    let lines = block.bytes.split(|b| *b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let mut entries: Vec<ListingEntry> = lines.filter_map(read).collect();
    entries.dedup_by(|a, b| a.reference == b.reference);
    let whole = (!block.is_cut).then(|| entries.clone());
    let response = listing(&Listing { entries }, NNTP)?;
    Ok((Response { truncated: block.is_cut.then_some(Truncation::Length), ..response }, whole))
}

pub(super) fn listed_answer(
    block: &NewsBlock,
    read: impl Fn(&[u8]) -> Option<ListingEntry>,
) -> Result<Response, Failure> {
    read_listing(block, read).map(|(response, _)| response)
}

/// `number TAB subject TAB from TAB date TAB id TAB references TAB bytes TAB lines`.
pub(super) fn overview_line(line: &[u8]) -> Option<ListingEntry> {
    let mut fields = line.split(|b| *b == b'\t');
    let entry = ListingEntry::new(number_in(fields.next()?)?, false)?;
    let size = fields.nth(5).and_then(|bytes| std::str::from_utf8(bytes).ok()?.trim().parse().ok());
    Some(ListingEntry { size, ..entry })
}

pub(super) fn number_in(field: &[u8]) -> Option<&[u8]> {
    let field = field.trim_ascii();
    (!field.is_empty() && field.len() <= 20 && field.iter().all(u8::is_ascii_digit)).then_some(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overview_tells_number_and_size() {
        let entry = overview_line(b"12\tRe: x\tme\tMon, 1 Jan 2024 00:00:00 GMT\t<1@x>\t\t345\t6").unwrap();
        assert_eq!((entry.reference.as_str(), entry.size), ("12", Some(345)));
        assert_eq!(overview_line(b"..\tx"), None);
        assert_eq!(overview_line(b""), None);
    }
}
