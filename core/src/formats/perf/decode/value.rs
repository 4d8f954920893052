//! The values of fields, of records and of the data of tracepoints.

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(u64),
    /// A number with a sign.
    Signed(i64),
    /// A number that is shown in hexadecimal.
    Hex(u64),
    /// A text from the recording, without its NUL.
    Text(Vec<u8>),
    /// Bytes that are no text.
    Bytes(Vec<u8>),
    /// A list.
    List(Vec<Self>),
    /// An entry of a list that has several fields.
    Entry(Vec<(&'static str, Self)>),
}
