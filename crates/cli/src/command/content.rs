//! What does a stored page say?

pub(crate) use orb_crawl::content::{decoded, markdown, source, text, viewed};
