//! The fields in the data of a tracepoint, as its format declares them.
//!
//! ```text
//!  field:pid_t next_pid;          offset:56;  size:4;   signed:1;   a number
//!  field:char next_comm[16];      offset:40;  size:16;  signed:0;   a text; an array
//!  field:__data_loc char[] name;  offset:8;   size:4;   signed:0;   u16 offset, u16 size of it
//!  field:__rel_loc char[] name;   offset:8;   size:4;   signed:0;   the offset counts from here on
//!  field:char buf[];              offset:16;  size:0;   signed:0;   the rest of the data
//! ```
//!
//! Source: `event-parse.c` of libtraceevent, by whose rules perf shows a field (`tep_print_field`).

use super::value::Value;
use crate::kit::cursor::Order;
use crate::kit::num::{to_u64, to_usize};

/// A field of the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceField {
    /// Its name: a word.
    pub name: String,
    place: Place,
    /// Offset in the data in bytes.
    offset: u64,
    /// Size in bytes.
    size: u64,
    form: Form,
}

/// The place of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The field.
    Here,
    /// At an offset in the data that the field holds.
    Data,
    /// At an offset that counts from after the field.
    Relative,
}

/// The form of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Signed,
    Unsigned,
    /// A number in hexadecimal: an address, or a `long`, which often is one.
    Hex,
    /// Bytes that are a text if all can be printed.
    Text,
    /// Numbers of so many bytes each.
    Array(u64, Number),
}

/// How a number is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Signed,
    Unsigned,
    Hex,
}

/// Returns the field that a line of a format declares; `None` for any other line.
pub fn parse(line: &[u8]) -> Option<TraceField> {
    let field = line.trim_ascii_start().strip_prefix(b"field")?;
    let (_, field) = split_at(field, b':')?;
    let mut parts = field.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    let declaration = std::str::from_utf8(parts.next()?).ok()?;
    let (mut offset, mut size, mut is_signed) = (0, 0, false);
    for part in parts {
        let Some((label, value)) = split_at(part, b':') else { continue };
        match (label, number(value)) {
            (b"offset", Some(value)) => offset = value,
            (b"size", Some(value)) => size = value,
            (b"signed", Some(value)) => is_signed = value != 0,
            _ => {}
        }
    }
    let (kind, name, array) = split_declaration(declaration)?;
    let place = match kind.split_ascii_whitespace().next() {
        Some("__data_loc") => Place::Data,
        Some("__rel_loc") => Place::Relative,
        _ => Place::Here,
    };
    let count = array.and_then(|count| count.trim().parse::<u64>().ok());
    let form = form_of(kind, array.is_some(), (size, count), is_signed);
    Some(TraceField { name: name.to_string(), place, offset, size, form })
}

/// Splits bytes at the first mark.
fn split_at(bytes: &[u8], mark: u8) -> Option<(&[u8], &[u8])> {
    let at = bytes.iter().position(|byte| *byte == mark)?;
    Some((bytes.get(..at)?, bytes.get(at.saturating_add(1)..)?))
}

/// Parses a decimal number.
fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text.trim_ascii()).ok()?.parse().ok()
}

/// Splits a declaration in type and name, and the count of an array: `char comm[16]`,
/// `__data_loc char[] name`, `unsigned long args[6]`.
fn split_declaration(declaration: &str) -> Option<(&str, &str, Option<&str>)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (before, array) = match declaration.trim_end().strip_suffix(']') {
        Some(open) => open.rsplit_once('[').map(|(before, count)| (before, Some(count)))?,
        None => (declaration, None),
    };
    let before = before.trim_end();
    let start = before.char_indices().rev().take_while(|(_, c)| is_part(*c)).last()?.0;
    let (kind, name) = (before.get(..start)?, before.get(start..)?);
    let array = array.or_else(|| kind.contains('[').then_some(""));
    Some((kind, name, array))
}

/// Returns the form of a field by its type, its size and the count of its array.
fn form_of(kind: &str, is_array: bool, (size, count): (u64, Option<u64>), signed: bool) -> Form {
    let has = |words: &[&str]| words.iter().any(|word| kind.contains(word));
    let (is_pointer, is_long) = (kind.trim_end().ends_with('*'), has(&["long"]));
    if !is_array {
        return match (is_pointer, is_long, signed) {
            (true, ..) | (_, true, false) => Form::Hex,
            (_, true, true) if size == 4 => Form::Hex,
            (_, _, true) => Form::Signed,
            (_, _, false) => Form::Unsigned,
        };
    }
    if has(&["char", "u8", "s8"]) && !is_pointer {
        return Form::Text;
    }
    let number = match (is_pointer || is_long && !signed, signed) {
        (true, _) => Number::Hex,
        (_, true) => Number::Signed,
        (_, false) => Number::Unsigned,
    };
    let by_count = count.and_then(|count| size.checked_div(count)).filter(|one| is_number(*one));
    let by_type = match () {
        () if is_pointer || is_long || has(&["64"]) => 8,
        () if has(&["short", "16"]) => 2,
        () if has(&["int", "32", "unsigned"]) => 4,
        () => 1,
    };
    Form::Array(by_count.unwrap_or(by_type), number)
}

const fn is_number(size: u64) -> bool {
    matches!(size, 1 | 2 | 4 | 8)
}

impl TraceField {
    /// Offset after the field in bytes.
    pub const fn end(&self) -> u64 {
        self.offset.saturating_add(self.size)
    }

    /// Whether the size of the data depends on the value.
    pub fn is_dynamic(&self) -> bool {
        self.size == 0 || self.place != Place::Here
    }

    /// Returns the value in the data of a sample; `None` if it does not lie in them.
    pub fn value(&self, data: &[u8], order: Order) -> Option<Value> {
        let bytes = self.bytes(data, order)?;
        let shown = match self.form {
            Form::Signed => Number::Signed,
            Form::Unsigned => Number::Unsigned,
            Form::Hex => Number::Hex,
            Form::Text => return Some(text(bytes)),
            Form::Array(size, shown) => {
                let items = bytes.chunks_exact(to_usize(size).max(1));
                return Some(Value::List(items.map(|one| value(one, shown, order)).collect()));
            }
        };
        Some(value(bytes, shown, order))
    }

    /// Returns how many bytes of the data the value takes.
    pub fn len_in(&self, data: &[u8], order: Order) -> u64 {
        self.bytes(data, order).map_or(0, |bytes| to_u64(bytes.len()))
    }

    /// Returns the bytes of the value.
    fn bytes<'d>(&self, data: &'d [u8], order: Order) -> Option<&'d [u8]> {
        let field = |at: u64, len: u64| data.get(to_usize(at)..to_usize(at.checked_add(len)?));
        if self.place == Place::Here {
            return match self.size {
                0 => data.get(to_usize(self.offset)..),
                size => field(self.offset, size),
            };
        }
        let word = u64_of(field(self.offset, 4)?, order)?;
        let (at, len) = (word & 0xffff, word >> 16);
        let from = if self.place == Place::Relative { self.end() } else { 0 };
        field(from.saturating_add(at), len)
    }
}

/// Returns a text up to its NUL, or the bytes if one of them cannot be printed.
fn text(bytes: &[u8]) -> Value {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    let is_printed =
        |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace() || *byte == 0x0b;
    if text.iter().all(is_printed) {
        Value::Text(text.to_vec())
    } else {
        Value::Bytes(bytes.to_vec())
    }
}

/// Returns the number in up to eight bytes.
fn u64_of(bytes: &[u8], order: Order) -> Option<u64> {
    let mut word = [0; 8];
    let start = match order {
        Order::Little => 0,
        Order::Big => word.len().checked_sub(bytes.len())?,
    };
    word.get_mut(start..start.checked_add(bytes.len())?)?.copy_from_slice(bytes);
    Some(order.u64(word))
}

fn value(bytes: &[u8], shown: Number, order: Order) -> Value {
    let len = to_u64(bytes.len());
    let Some(number) = u64_of(bytes, order).filter(|_| is_number(len)) else {
        return Value::Bytes(bytes.to_vec());
    };
    match shown {
        Number::Hex => Value::Hex(number),
        Number::Unsigned => Value::Number(number),
        Number::Signed => {
            let unused = u32::try_from(64_u64.saturating_sub(len.saturating_mul(8))).unwrap_or(0);
            let high = number.checked_shl(unused).unwrap_or(0).cast_signed();
            Value::Signed(high.checked_shr(unused).unwrap_or(0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str, data: &[u8]) -> (String, Option<Value>) {
        let field = parse(line.as_bytes()).unwrap();
        (field.name.clone(), field.value(data, Order::Little))
    }

    #[test]
    fn a_field_has_the_value_that_its_declaration_describes() {
        let data = b"\xfe\xff\xff\xff\x08\x00\x03\x00ab\0xyz12";
        let text = |text: &str| Some(Value::Text(text.as_bytes().to_vec()));
        let numbers = |all: [u64; 2]| Some(Value::List(all.map(Value::Number).to_vec()));
        for (line, name, value) in [
            ("\tfield:int a;\toffset:0;\tsize:4;\tsigned:1;", "a", Some(Value::Signed(-2))),
            ("field:u32 b; offset:0; size:4; signed:0;", "b", Some(Value::Number(0xffff_fffe))),
            ("field:const char * p; offset:4; size:4; signed:0;", "p", Some(Value::Hex(0x3_0008))),
            ("field:unsigned long l; offset:4; size:4;", "l", Some(Value::Hex(0x3_0008))),
            ("field:char t[4]; offset:8; size:4; signed:0;", "t", text("ab")),
            ("field:__data_loc char[] d; offset:4; size:4; signed:0;", "d", text("ab")),
            ("field:__rel_loc char[] r; offset:4; size:4; signed:0;", "r", None),
            ("field:u16 s[2]; offset:4; size:4; signed:0;", "s", numbers([8, 3])),
            ("field:char rest[]; offset:11; size:0; signed:0;", "rest", text("xyz12")),
            ("field:int late; offset:14; size:4; signed:1;", "late", None),
            ("field special:char o[2]; offset:8; size:2;", "o", text("ab")),
        ] {
            assert_eq!(read(line, data), (name.to_string(), value), "{line}");
        }
        let near = b"\0\0\x02\0hi";
        assert_eq!(read("field:__rel_loc char[] r; offset:0; size:4;", near).1, text("hi"));
        let bytes = Some(Value::Bytes(vec![1, 0xff]));
        assert_eq!(read("field:u8 x[2]; offset:0; size:2;", &[1, 0xff]).1, bytes);
        assert!(parse(b"print fmt: \"\"").is_none() && parse(b"\tfield:;").is_none());
    }

    #[test]
    fn the_order_of_the_traced_kernel_counts() {
        let field = parse(b"field:short a; offset:0; size:2; signed:1;").unwrap();
        assert_eq!(field.value(&[0xff, 0xfe], Order::Big), Some(Value::Signed(-2)));
    }
}
