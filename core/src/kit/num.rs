//! Integer conversions without `as`.

/// Converts a length in memory to a `u64`, without loss on every target that Rust supports.
pub fn to_u64(value: usize) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

/// Converts a `u64` to an index. It saturates: an offset beyond the address space is beyond every
/// slice.
pub fn to_usize(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// Rounds `value` up to a multiple of 8, saturating.
pub fn align8(value: u64) -> u64 {
    value.saturating_add(7) & !7
}

/// Encodes a number in groups of seven bits, the lowest first (LEB128), in its shortest form.
pub fn leb128(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let group = u8::try_from(value & 0x7f).unwrap_or_default();
        value >>= 7;
        if value == 0 {
            bytes.push(group);
            return bytes;
        }
        bytes.push(group | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligning_keeps_multiples_and_saturates() {
        assert_eq!([0, 1, 8, 9].map(align8), [0, 8, 8, 16]);
        assert_eq!(align8(u64::MAX), !7);
    }
}
