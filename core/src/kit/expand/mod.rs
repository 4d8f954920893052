//! Compressed data as bounded windows.

pub mod zstd;
