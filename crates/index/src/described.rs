//! Where does a page say what another page is about?
//!
//! A list or a table that begins its items with links describes the pages behind them: "`sqrt`
//! computes the square root". Such an item is two numbers in a column of the describing page: the
//! hash of the URL it leads to, and where in the text it stands. Its words are in the text anyway,
//! so that nothing else is stored, and it is as current as the page it stands on. The first number
//! of the column is the hash of the page's own URL.

/// An item that describes another page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DescriptionMark {
    /// The position of its first token in the text.
    pub begin: u32,
    /// Number of its tokens.
    pub len: u8,
    /// The page that it describes.
    pub target: UrlHash,
}

/// What a page is known by to those that describe it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UrlHash(u64);

impl UrlHash {
    /// The hash of a canonical URL.
    pub fn of(url: &str) -> Self {
        // FNV-1a: the same on every machine, and good enough for what only adds to a score.
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        Self(url.bytes().fold(0xcbf2_9ce4_8422_2325, mix))
    }
}

impl DescriptionMark {
    /// A page and what it describes as numbers.
    pub(crate) fn numbers(own: UrlHash, described: &[Self]) -> impl Iterator<Item = u64> {
        let packed = |item: &Self| [item.target.0, u64::from(item.begin) << 8 | u64::from(item.len)];
        std::iter::once(own.0).chain(described.iter().flat_map(packed))
    }

    /// From these numbers.
    pub(crate) fn all_of(mut numbers: impl Iterator<Item = u64>) -> (UrlHash, Vec<Self>) {
        let (own, mut described) = (UrlHash(numbers.next().unwrap_or(0)), Vec::new());
        while let (Some(target), Some(place)) = (numbers.next(), numbers.next()) {
            let [len, ..] = place.to_le_bytes();
            let begin = u32::try_from(place >> 8).unwrap_or(u32::MAX);
            described.push(Self { begin, len, target: UrlHash(target) });
        }
        (own, described)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_survive_being_numbers() {
        let own = UrlHash::of("http://a/b");
        let of = |begin, url| DescriptionMark { begin, len: 17, target: UrlHash::of(url) };
        for described in [vec![], vec![of(0, "")], vec![of(7, "http://a/c"), of(u32::MAX, "http://a/d")]] {
            let numbers = DescriptionMark::numbers(own, &described);
            assert_eq!(DescriptionMark::all_of(numbers), (own, described.clone()));
        }
        assert_eq!(DescriptionMark::all_of(std::iter::empty()), (UrlHash(0), vec![]));
    }
}
