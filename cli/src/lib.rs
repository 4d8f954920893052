//! x
pub fn nothing() {}
