//! Bytes of the stream to events: [`machine`] knows the grammar, [`text`] what a name looks like.

pub mod machine;
pub mod text;
