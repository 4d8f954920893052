//! Control characters that a terminal or a serial line keeps for itself.

use crate::kit::source::Source;

/// Bytes at the beginning that are counted.
const WINDOW: u64 = 4 << 20;
/// How often each other byte up to the space has to be there. Of 210 recordings of all formats that
/// have each of them twice, one lacks a control character by chance.
const LEAST: u64 = 4;
/// The characters: those of a line discipline, and of flow control.
const CONTROLS: [(u8, &str); 8] = [
    (0x03, "^C"),
    (0x04, "^D"),
    (0x0d, "carriage return"),
    (0x11, "XON"),
    (0x13, "XOFF"),
    (0x1a, "^Z"),
    (0x1b, "escape"),
    (0x7f, "delete"),
];
/// Other bytes, up to the space and beside the delete.
const OTHERS: [u8; 28] = [
    0x00, 0x01, 0x02, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0e, 0x0f, 0x10, 0x12, 0x14,
    0x15, 0x16, 0x17, 0x18, 0x19, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x7e, 0x80,
];

/// Control characters that bytes do not have.
#[derive(Debug, PartialEq, Eq)]
pub struct LostControls {
    /// The characters and their names.
    pub lost: Vec<(u8, &'static str)>,
    /// How often each other byte up to the space is there at least.
    pub others: u64,
}

impl LostControls {
    /// Returns the control characters that are nowhere, although all others are there.
    pub fn of(source: &Source<'_>) -> Option<Self> {
        let mut counts = [0_u64; 256];
        for piece in source.slices(0, WINDOW.min(source.len())) {
            for byte in piece {
                if let Some(count) = counts.get_mut(usize::from(*byte)) {
                    *count = count.saturating_add(1);
                }
            }
        }
        let count = |byte: u8| counts.get(usize::from(byte)).copied().unwrap_or_default();
        let others = OTHERS.map(count).into_iter().min().unwrap_or_default();
        let lost: Vec<(u8, &'static str)> =
            CONTROLS.into_iter().filter(|(byte, _)| count(*byte) == 0).collect();
        (others >= LEAST && !lost.is_empty()).then_some(Self { lost, others })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_lost_only_where_all_others_are_there() {
        let all: Vec<u8> = (0..LEAST).flat_map(|_| 0..=u8::MAX).collect();
        let without = |lost: &[u8]| -> Vec<u8> {
            all.iter().copied().filter(|byte| !lost.contains(byte)).collect()
        };
        let find = |bytes: &[u8]| LostControls::of(&Source::new(bytes));
        assert_eq!(find(&all), None);
        for (byte, name) in CONTROLS {
            let found = find(&without(&[byte]));
            assert_eq!(found, Some(LostControls { lost: vec![(byte, name)], others: LEAST }));
        }
        let flow = find(&without(&[0x11, 0x13])).map(|found| found.lost);
        assert_eq!(flow, Some(vec![(0x11, "XON"), (0x13, "XOFF")]));
        for byte in OTHERS {
            assert_eq!(find(&without(&[byte, 0x11])), None, "{byte:#x}");
        }
        assert_eq!(CONTROLS.len() + OTHERS.len(), 0x21 + 3);
    }
}
