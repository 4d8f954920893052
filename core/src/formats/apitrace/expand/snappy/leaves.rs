//! Calls in bytes of the stream of which no definition is known yet.
//!
//! A leave follows the last byte of another event, a zero, and has the number of its call. Leaves
//! of calls that follow one another have numbers that do: damaged bytes hold few of these.

use crate::formats::apitrace::layout::{detail, event};

/// Numbers of the latest leaves that the next one may follow: threads leave calls in turns.
const LATEST: usize = 4;
/// Bytes of a number that is looked at.
const NUMBER_LEN: usize = 5;

/// Counts the leaves whose number is one more than that of a leave shortly before them.
pub(super) fn count_leaves(bytes: &[u8]) -> usize {
    let mut latest = [u64::MAX; LATEST];
    let (mut count, mut found) = (0_usize, 0_usize);
    for window in bytes.windows(NUMBER_LEN + 2) {
        let [detail::END, event::LEAVE, number @ ..] = window else { continue };
        let Some(number) = uint(number) else { continue };
        let follows = number.checked_sub(1).is_some_and(|before| latest.contains(&before));
        count = count.saturating_add(usize::from(follows));
        if let Some(cell) = latest.get_mut(found % LATEST) {
            *cell = number;
        }
        found = found.saturating_add(1);
    }
    count
}

/// Returns the integer that begins the bytes.
fn uint(bytes: &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for (byte, shift) in bytes.iter().zip((0_u32..64).step_by(7)) {
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_of_calls_that_follow_one_another_count_and_others_do_not() {
        let leave = |number: u8| [0, 1, number | 0x80, 2, 0];
        let bytes = |numbers: &[u8]| -> Vec<u8> {
            numbers.iter().flat_map(|number| leave(*number)).chain([9; 8]).collect()
        };
        let count = |numbers: &[u8]| count_leaves(&bytes(numbers));
        assert_eq!(count(&[3, 4, 5, 6]), 3);
        // Two threads, and calls from elsewhere.
        assert_eq!(count(&[3, 50, 4, 51]), 2);
        assert_eq!(count(&[3, 5, 7, 3, 2]), 0);
        assert_eq!(count_leaves(&[0; 100]), 0);
    }
}
