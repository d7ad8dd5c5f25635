//! Which web does the store grow on?
//!
//! Generated as needed: URL and host of a page follow from its number, so any known page can be
//! linked to without being remembered. One page in 500 is the first of a new host; the others are
//! more often on older hosts than on younger ones, as on the real web, where few hosts have many
//! pages. A fifth of what is found is out of scope.

use orb_page::{HostId, PageId};

/// Initial hosts, and known URLs per host after them.
const FIRST_HOSTS: u64 = 200;
const URLS_A_HOST: u64 = 500;

/// Words for URLs and anchor texts.
const WORDS: [&str; 16] = [
    "archive", "notes", "harbour", "library", "council", "garden", "museum", "results", "meeting", "history",
    "weather", "science", "records", "travel", "market", "letters",
];

/// A pseudo-random number (SplitMix64).
pub(crate) fn mix(n: u64) -> u64 {
    let z = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Whether a page is the first of its host.
pub(crate) fn opens_host(page: PageId) -> bool {
    page.0 <= FIRST_HOSTS || page.0.is_multiple_of(URLS_A_HOST)
}

/// The host of a page.
pub(crate) fn host_of(page: PageId) -> HostId {
    let hosts = FIRST_HOSTS + page.0 / URLS_A_HOST;
    let host = match page.0 {
        n if n <= FIRST_HOSTS => n,
        n if n.is_multiple_of(URLS_A_HOST) => hosts,
        n => {
            let chance = (mix(n) >> 11) as f64 / (1u64 << 53) as f64;
            1 + (hosts as f64 * chance * chance) as u64
        }
    };
    HostId(u32::try_from(host).unwrap_or(u32::MAX))
}

/// The name of a host; the synthetic web of the restart bench serves it as a proxy.
pub(crate) fn name_of(host: HostId) -> String {
    format!("www.{}-{}.test", WORDS[host.0 as usize % WORDS.len()], host.0)
}

/// The URL of a page.
pub(crate) fn url_of(page: PageId) -> String {
    let (n, chance) = (page.0, mix(page.0 ^ 0x5eed));
    let word = |shift: u32| WORDS[(chance >> shift) as usize % WORDS.len()];
    format!("http://{}/{}/{}/{}-{}-{n}.html", name_of(host_of(page)), word(0), 2000 + chance % 26, word(8), word(16))
}

/// A title or an anchor text.
pub(crate) fn words(n: u64) -> String {
    let chance = mix(n);
    let word = |shift: u32| WORDS[(chance >> shift) as usize % WORDS.len()];
    format!("{} of the {} {}", word(0), word(8), word(16))
}

/// Whether a page is out of scope.
pub(crate) fn is_outside(page: PageId) -> bool {
    page.0 % 5 == 3 && !opens_host(page)
}
