//! Which parts of a URL name the visitor instead of the page?
//!
//! Servers that do without cookies write a session id into every link: as a path parameter (`;jsessionid=…`), as a path
//! segment (`/104-5791018-2027935`), or as a query parameter. The same page then has a new URL each time, and a crawl
//! never ends. A page's identity is its URL with the ids taken out; what a server is asked for keeps them.
//!
//! Some names are known for it ([`known`]): they need no proof, and canonical form takes them out. All other places are
//! learnt, host by host, with no name and no length given. An id is the same in most links of one session and another
//! in the next, so [`learn`] asks of a list of links what most of them share and nobody would write by hand, and of two
//! lists what differs between them and stays within each. [`watch`] asks the same of page after page while crawling,
//! where there is better evidence: an id is in the links of an answer that was asked for without it. What is learnt is
//! a [`Site`]: its places, and the very ids that were seen there. **Only ids that were seen are ever taken out**, so that
//! a product number or a hash that stands where an id may stand keeps its page. Merging two pages is worse than visiting
//! one twice; what is in doubt stays.
//!
//! The problem and its first solution, for ids of one given length: "Smart Crawler", sections 4.2 and 6.1 (finding the common
//! substring of two long links).

mod drawn;
mod known;
mod learn;
mod site;
mod token;
mod watch;

pub use known::{Place, SessionId, found, strip};
pub use learn::{one_session, two_sessions};
pub use site::{Near, Rule, Site};

pub(crate) use known::without;
