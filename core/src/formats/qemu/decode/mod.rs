//! Bytes into events that tile. States what is there; judges nothing.

pub mod event;
pub mod skim;
pub mod walk;
