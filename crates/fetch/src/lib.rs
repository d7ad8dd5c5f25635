//! Give me the bytes.
