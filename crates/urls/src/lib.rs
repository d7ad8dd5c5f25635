//! What is this address, and may we go there?
//!
//! The first thing that happens to a link and the last thing that must be in doubt: [`Canonicaliser`] turns what a page
//! or a person wrote into an [`Address`], the one spelling under which a page is known; [`Scope`] says whether the crawl
//! may go there. [`surt`] and [`site`] order addresses as archives and people do, [`session`] finds the parts that change
//! from visit to visit, [`scheme`] knows what is no web at all.
//!
//! Nothing here is asynchronous and nothing opens a socket. An address that is refused is a fact about the page that
//! holds the link ([`Refused`]); only a scope that cannot be understood is an error ([`ScopeError`]).

mod address;
mod canonical;
mod refused;
pub mod scheme;
pub mod scope;
pub mod session;
pub mod site;
pub mod surt;

pub use address::{Address, Origin};
pub use canonical::{Canonicaliser, MAX_LENGTH, Rules};
pub use refused::Refused;
pub use scope::{DomainSet, Judgement, Mode, Rule, Scope, ScopeError, ScopeSpec};
