//! How are feeds told to us instead of being asked for?
//!
//! WebSub (W3C Recommendation, 2018), as a subscriber. A feed may name a hub that delivers its news
//! to whoever subscribes. The server subscribes for every project whose feeds name one, if it is
//! told under which address hubs reach it (`--public-url`):
//!
//! 1. [`keeper`] finds topics in what the project has collected, and asks their hubs, again before
//!    each lease ends;
//! 2. the hub asks back whether we meant it (`doors/websub.rs`), at an address that only it knows;
//! 3. it delivers the feed; if the delivery is signed with the secret of the subscription, the
//!    links of the feed go to the project's intake.
//!
//! Subscriptions are in `websub.json` of the project ([`book`]), readable by its owner alone, since
//! it holds their secrets.

mod book;
mod keeper;
mod signature;

pub(crate) use book::{SubscriptionState, Subscriptions};
pub(crate) use keeper::keep_subscriptions;
pub(crate) use signature::is_signed;
