//! Who points to whom, and who matters?
