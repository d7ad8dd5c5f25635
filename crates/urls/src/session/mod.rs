//! Which parts of a URL identify the visitor instead of the page?
//!
//! Servers that do without cookies write a session id into every link: as a path parameter
//! (`;jsessionid=…`), as a path segment (`/104-5791018-2027935`), or as a query parameter. The same
//! page then has a new URL on every visit, and a crawl never ends. A page is identified by its URL
//! without session ids; requests keep them.
//!
//! Some parameter names are well known ([`known`]). They need no evidence, and canonicalisation
//! removes them. All other positions are learnt host by host, whatever their name or length. A
//! session id is the same in most links of one session and different in the next. So [`learn`]
//! looks in one list of links for random-looking words that most of them share, and in two lists
//! for words that differ between the lists but not within them. [`watch`] does the same page by
//! page during a crawl, where there is better evidence: a new id appears in the links of a response
//! whose request did not contain it.
//!
//! The result is a [`Site`]: positions, and the exact ids seen there. **Only ids that were seen are
//! ever removed**, so a product number or a content hash in the position of an id keeps its page.
//! Merging two pages is worse than visiting one twice: when in doubt, the word stays.
//!
//! The problem and its first solution, for ids of one fixed length, are from "Smart Crawler",
//! sections 4.2 and 6.1 (longest common substring of two long links).

mod drawn;
mod known;
mod learn;
mod site;
mod token;
mod watch;

pub use known::{SessionId, SessionIdPlace, found, strip};
pub use learn::{one_session, two_sessions};
pub use site::{Near, SessionRule, Site};

pub(crate) use known::without;
