//! Does the reader agree with the published cases?
