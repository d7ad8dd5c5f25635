//! What is this address, and may we go there?
//!
//! Every link passes through here first. [`Canonicaliser`] turns what a page or a user wrote into
//! an [`Address`], the one spelling under which a page is known. [`Scope`] decides whether the
//! crawl may go there. [`surt`] and [`site`] order and group addresses the way archives and people
//! do, [`session`] finds the parts of a URL that change with every visit, [`alias`] learns which
//! addresses of a host are one page, and [`scheme`] recognises what is not the web at all.
//!
//! Nothing here is async and nothing opens a socket. A refused address is a fact about the page
//! that contains the link ([`Refused`]); only an invalid scope is an error ([`ScopeError`]).

mod address;
pub mod alias;
mod canonical;
mod news;
mod refused;
pub mod scheme;
pub mod scope;
pub mod session;
pub mod site;
pub mod surt;

pub use address::{Address, Origin};
pub use canonical::{Canonicaliser, MAX_LENGTH, Rules};
pub use news::NewsReference;
pub use refused::Refused;
pub use scope::{DomainSet, Judgement, Mode, OutOfScope, Scope, ScopeError, ScopeRule, ScopeRuling, ScopeSpec};
