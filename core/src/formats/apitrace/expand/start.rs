//! The first bytes of a stream, by which a container without a valid header is recognised.

use crate::formats::apitrace::layout::{VERSION_MAX, VERSION_PROPERTIES, VERSION_THREADS, event};

/// Bytes of a stream that are looked at.
pub(super) const START_LEN: usize = 256;
/// The shortest name of a property or function, and the longest that is believed.
const NAMES: std::ops::RangeInclusive<u8> = 2..=100;
/// Bytes of a small number, such as the id of a function.
const NUMBER_LEN: usize = 3;

/// Whether a trace may begin with the bytes: versions, then a name where one has to be.
pub(super) fn begins_stream(bytes: &[u8]) -> bool {
    find_name(bytes).is_some_and(|(len, rest)| {
        let name = rest.get(..usize::from(len)).unwrap_or(rest);
        let is_text = |byte: &u8| byte.is_ascii_alphanumeric() || b"._:~ -".contains(byte);
        NAMES.contains(&len)
            && name.len() >= usize::from(*NAMES.start())
            && name.iter().all(is_text)
    })
}

/// Returns the length of the first name, and the bytes after it.
fn find_name(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let (version, mut rest) = bytes.split_first()?;
    let version = u64::from(*version);
    if version > VERSION_MAX {
        return None;
    }
    if version >= VERSION_PROPERTIES {
        let (semantic, after) = rest.split_first()?;
        let (len, name) = after.split_first()?;
        if u64::from(*semantic) > version {
            return None;
        }
        if *len > 0 {
            return Some((*len, name));
        }
        rest = name;
    }
    let after = rest.split_off_first().filter(|tag| **tag == event::ENTER);
    after?;
    if version >= VERSION_THREADS {
        skip_number(&mut rest)?;
    }
    skip_number(&mut rest)?;
    rest.split_first().map(|(len, name)| (*len, name))
}

fn skip_number(rest: &mut &[u8]) -> Option<()> {
    let len = rest.iter().take(NUMBER_LEN).position(|byte| byte & 0x80 == 0)?;
    rest.split_off(..=len).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_begin_with_versions_and_a_name() {
        let starts: [&[u8]; 4] = [
            b"\x06\x06\x02OS\x05Linux",
            b"\x06\x06\0\0\0\x82\x01\x09glXFooBar",
            b"\x05\0\x01\x05\x06glFoos",
            b"\x02\0\x05\x06glFoos",
        ];
        assert_eq!(starts.map(begins_stream), [true; 4]);
        let others: [&[u8]; 5] = [
            b"",
            b"\x07\x06\x02OS",
            b"\x06\x07\x02OS",
            b"\x05\x01\x01\x05\x06glFoos",
            b"\0\0\0\0\0",
        ];
        assert_eq!(others.map(begins_stream), [false; 5]);
    }
}
