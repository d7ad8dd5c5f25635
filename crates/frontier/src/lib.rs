//! What next, and when?
