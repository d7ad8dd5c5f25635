//! Which pages answer this query?
