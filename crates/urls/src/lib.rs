//! What is this address, and may we go there?
