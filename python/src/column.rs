//! The values of a column as the buffers of an Arrow array, in the byte order of this machine.
//!
//! Each array has a bit map of the values that are there, and the buffers that the columnar format
//! of Arrow defines for its type. Python makes arrays of them without a copy, so this crate needs
//! neither unsafe code nor an implementation of Arrow.

use tracemend::{Row, text_of};

use crate::shape::{Members, Shape, elements};

/// Bits, the first one in the lowest bit of the first byte.
#[derive(Debug, Default)]
struct Bits {
    bytes: Vec<u8>,
    len: usize,
}

impl Bits {
    fn push(&mut self, bit: bool) {
        if self.len.is_multiple_of(8) {
            self.bytes.push(0);
        }
        if let Some(last) = self.bytes.last_mut() {
            *last |= u8::from(bit) << (self.len % 8);
        }
        self.len += 1;
    }
}

/// A column that grows value by value.
#[derive(Debug)]
pub(crate) struct Column {
    valid: Bits,
    values: Values,
}

#[derive(Debug)]
enum Values {
    Null,
    Bits(Bits),
    /// Numbers of eight bytes.
    Numbers(Vec<u8>, Number),
    Text(Ends, Vec<u8>, Text),
    List(Ends, Box<Column>),
    Struct(Vec<(String, Column)>),
}

/// How the text of a number becomes its bytes.
#[derive(Clone, Copy, Debug)]
enum Number {
    Int,
    Natural,
    Float,
}

/// What a text is of a value.
#[derive(Clone, Copy, Debug)]
enum Text {
    Characters,
    Json,
}

/// Where each value ends, with a 0 before the first.
#[derive(Debug)]
struct Ends(Vec<u8>);

impl Ends {
    fn new() -> Self {
        Self(0_i32.to_ne_bytes().to_vec())
    }

    fn push(&mut self, end: usize) -> Result<(), TooLong> {
        let end = i32::try_from(end).map_err(|_| TooLong)?;
        self.0.extend(end.to_ne_bytes());
        Ok(())
    }
}

/// The values of one batch have more than 2 GiB.
#[derive(Debug)]
pub(crate) struct TooLong;

/// The parts of an Arrow array, for `pyarrow.Array.from_buffers`.
#[derive(Debug)]
pub(crate) struct Array {
    /// `null`, `bool`, `int64`, `uint64`, `float64`, `text`, `list` or `struct`.
    pub(crate) kind: &'static str,
    pub(crate) len: usize,
    /// After the bit map of values that are there.
    pub(crate) buffers: Vec<Vec<u8>>,
    pub(crate) valid: Vec<u8>,
    pub(crate) children: Vec<(String, Array)>,
}

impl Column {
    pub(crate) fn new(shape: &Shape) -> Self {
        let number = |number| Values::Numbers(Vec::new(), number);
        let text = |text| Values::Text(Ends::new(), Vec::new(), text);
        let values = match shape {
            Shape::Null => Values::Null,
            Shape::Bool => Values::Bits(Bits::default()),
            Shape::Int => number(Number::Int),
            Shape::Natural => number(Number::Natural),
            Shape::Float => number(Number::Float),
            Shape::Text => text(Text::Characters),
            Shape::Json => text(Text::Json),
            Shape::List(of) => Values::List(Ends::new(), Box::new(Self::new(of))),
            Shape::Struct(members) => Values::Struct(columns_of(members)),
        };
        Self { valid: Bits::default(), values }
    }

    const fn len(&self) -> usize {
        self.valid.len
    }

    /// Adds a value as JSON, or none.
    pub(crate) fn push(&mut self, value: Option<&str>) -> Result<(), TooLong> {
        let value = value.filter(|value| *value != "null");
        self.valid.push(value.is_some());
        match &mut self.values {
            Values::Null => Ok(()),
            Values::Bits(bits) => {
                bits.push(value == Some("true"));
                Ok(())
            }
            Values::Numbers(bytes, number) => {
                bytes.extend(number.bytes(value.unwrap_or("0")));
                Ok(())
            }
            Values::Text(ends, bytes, Text::Characters) => {
                bytes.extend(text_of(value.unwrap_or_default()).as_bytes());
                ends.push(bytes.len())
            }
            Values::Text(ends, bytes, Text::Json) => {
                bytes.extend(value.unwrap_or_default().as_bytes());
                ends.push(bytes.len())
            }
            Values::List(ends, of) => {
                for value in value.and_then(elements).unwrap_or_default() {
                    of.push(Some(value.get()))?;
                }
                ends.push(of.len())
            }
            Values::Struct(columns) => push_row(columns, value.and_then(Row::read).as_ref()),
        }
    }

    pub(crate) fn finish(self) -> Array {
        let len = self.len();
        let array = |kind, buffers, children| Array {
            kind,
            len,
            buffers,
            valid: self.valid.bytes,
            children,
        };
        match self.values {
            Values::Null => array("null", Vec::new(), Vec::new()),
            Values::Bits(bits) => array("bool", vec![bits.bytes], Vec::new()),
            Values::Numbers(bytes, number) => array(number.name(), vec![bytes], Vec::new()),
            Values::Text(ends, bytes, _) => array("text", vec![ends.0, bytes], Vec::new()),
            Values::List(ends, of) => {
                array("list", vec![ends.0], vec![("item".to_string(), of.finish())])
            }
            Values::Struct(columns) => array("struct", Vec::new(), finish(columns)),
        }
    }
}

impl Number {
    /// The shape of the column holds every value, so none is out of range.
    fn bytes(self, value: &str) -> [u8; 8] {
        match self {
            Self::Int => value.parse::<i64>().unwrap_or_default().to_ne_bytes(),
            Self::Natural => value.parse::<u64>().unwrap_or_default().to_ne_bytes(),
            Self::Float => value.parse::<f64>().unwrap_or_default().to_ne_bytes(),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Int => "int64",
            Self::Natural => "uint64",
            Self::Float => "float64",
        }
    }
}

/// Returns an empty column for each member.
pub(crate) fn columns_of(members: &Members) -> Vec<(String, Column)> {
    members.iter().map(|(name, shape)| (name.clone(), Column::new(shape))).collect()
}

/// Adds the members of an object, each to the column of its name.
pub(crate) fn push_row(
    columns: &mut [(String, Column)],
    row: Option<&Row<'_>>,
) -> Result<(), TooLong> {
    let members = row.map_or(&[][..], |row| &row.members);
    columns.iter_mut().enumerate().try_for_each(|(at, (name, column))| {
        let value = match members.get(at) {
            Some((own, value)) if own == name => Some(*value),
            _ => members.iter().find(|(own, _)| own == name).map(|(_, value)| *value),
        };
        column.push(value)
    })
}

/// Returns the arrays of the columns.
pub(crate) fn finish(columns: Vec<(String, Column)>) -> Vec<(String, Array)> {
    columns.into_iter().map(|(name, column)| (name, column.finish())).collect()
}
