//! What do they say, and where do they point?
