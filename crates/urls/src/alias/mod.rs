//! Which addresses of a host lead to the same page?
//!
//! Servers give one page many addresses: mirrors (`/mirror/x`), print versions (`/print/x`,
//! `x?print=1`), tracking parameters, doubled slashes, letter case, `index.html`. Fetched one by
//! one they cost a request each and say nothing new. From pairs of addresses with equal content a
//! rule becomes a hypothesis ([`explain`]): the one difference between the two addresses. It is
//! believed ([`host`]) when it was confirmed by several pages with different content and
//! contradicted by none; a single contradiction withdraws it for good. Believed rules give an
//! address its normal form, which the crawl looks up before it fetches.
//!
//! Merging two pages loses one, fetching one twice costs a request. So the value of a parameter is
//! only ignored if it was seen not to matter, and every part of a host to which a rule is applied
//! for the first time is tested ([`HostAliases::wants_test`]).
//!
//! The idea is known as DUST, different URLs with similar text (Bar-Yossef, Keidar, Schonfeld: "Do
//! Not Crawl in the DUST", WWW 2007), there mined from logs after the fact. Nothing here touches a
//! store.

mod explain;
mod host;
mod rule;
#[cfg(test)]
mod tests;

pub use explain::explain;
pub use host::{HostAliases, LearntRule, NormalForm, RuleState};
pub use rule::AliasRule;

/// A stable 64-bit hash (FNV-1a): what is stored with a host must mean the same in every version.
pub(crate) fn stable_hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
