//! XXH64, the hash of which a frame stores the low 32 bits.
//!
//! Source: the specification of xxHash, section "XXH64 algorithm description"; RFC 8878, section
//! 3.1.1, Content_Checksum.

use super::frame::number;
use crate::kit::num::to_u64;

const PRIME_1: u64 = 0x9e37_79b1_85eb_ca87;
const PRIME_2: u64 = 0xc2b2_ae3d_27d4_eb4f;
const PRIME_3: u64 = 0x1656_67b1_9e37_79f9;
const PRIME_4: u64 = 0x85eb_ca77_c2b2_ae63;
const PRIME_5: u64 = 0x27d4_eb2f_1656_67c5;

/// Bytes that are hashed at a time.
const STRIPE: usize = 32;
/// Bytes of a lane in a stripe.
const LANE: usize = 8;

/// The hash of the bytes so far, with the seed 0.
#[derive(Clone, Debug)]
pub(super) struct Xxh64 {
    lanes: [u64; 4],
    /// The last bytes, which do not fill a stripe.
    rest: Vec<u8>,
    length: u64,
}

impl Default for Xxh64 {
    fn default() -> Self {
        let lanes = [PRIME_1.wrapping_add(PRIME_2), PRIME_2, 0, 0_u64.wrapping_sub(PRIME_1)];
        Self { lanes, rest: Vec::new(), length: 0 }
    }
}

impl Xxh64 {
    /// Adds bytes.
    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.length = self.length.wrapping_add(to_u64(bytes.len()));
        let mut bytes = bytes;
        if !self.rest.is_empty() {
            let missing = STRIPE.saturating_sub(self.rest.len()).min(bytes.len());
            let (first, others) = bytes.split_at_checked(missing).unwrap_or((bytes, &[]));
            self.rest.extend_from_slice(first);
            bytes = others;
            if self.rest.len() < STRIPE {
                return;
            }
            let stripe = std::mem::take(&mut self.rest);
            self.add_stripe(&stripe);
        }
        let mut stripes = bytes.chunks_exact(STRIPE);
        for stripe in &mut stripes {
            self.add_stripe(stripe);
        }
        self.rest.extend_from_slice(stripes.remainder());
    }

    fn add_stripe(&mut self, stripe: &[u8]) {
        for (lane, word) in self.lanes.iter_mut().zip(stripe.chunks_exact(LANE)) {
            *lane = round(*lane, number(word));
        }
    }

    /// Returns the hash of all bytes.
    pub(super) fn digest(&self) -> u64 {
        let mut hash = if to_u64(STRIPE) <= self.length { self.merge() } else { PRIME_5 };
        hash = hash.wrapping_add(self.length);
        let mut words = self.rest.chunks_exact(LANE);
        for word in &mut words {
            hash ^= round(0, number(word));
            hash = hash.rotate_left(27).wrapping_mul(PRIME_1).wrapping_add(PRIME_4);
        }
        let mut last = words.remainder();
        if let Some((half, others)) = last.split_at_checked(4) {
            hash ^= number(half).wrapping_mul(PRIME_1);
            hash = hash.rotate_left(23).wrapping_mul(PRIME_2).wrapping_add(PRIME_3);
            last = others;
        }
        for byte in last {
            hash ^= u64::from(*byte).wrapping_mul(PRIME_5);
            hash = hash.rotate_left(11).wrapping_mul(PRIME_1);
        }
        hash = (hash ^ (hash >> 33)).wrapping_mul(PRIME_2);
        hash = (hash ^ (hash >> 29)).wrapping_mul(PRIME_3);
        hash ^ (hash >> 32)
    }

    /// Joins the lanes.
    fn merge(&self) -> u64 {
        let turned = self.lanes.iter().zip([1, 7, 12, 18]);
        let sum = turned.fold(0_u64, |sum, (lane, turn)| sum.wrapping_add(lane.rotate_left(turn)));
        self.lanes.iter().fold(sum, |hash, lane| {
            (hash ^ round(0, *lane)).wrapping_mul(PRIME_1).wrapping_add(PRIME_4)
        })
    }
}

const fn round(lane: u64, word: u64) -> u64 {
    lane.wrapping_add(word.wrapping_mul(PRIME_2)).rotate_left(31).wrapping_mul(PRIME_1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(bytes: &[u8]) -> u64 {
        let mut hash = Xxh64::default();
        hash.update(bytes);
        hash.digest()
    }

    #[test]
    fn known_texts_have_their_known_hashes() {
        assert_eq!(hash(b""), 0xef46_db37_51d8_e999);
        assert_eq!(hash(b"a"), 0xd24e_c4f1_a98c_6e5b);
        assert_eq!(hash(b"abc"), 0x44bc_2cf5_ad77_0999);
    }

    #[test]
    fn pieces_of_any_length_give_the_hash_of_the_whole() {
        let bytes: Vec<u8> = (0..=255).cycle().take(1000).collect();
        for step in [1, 3, 8, 31, 32, 33, 100, 999] {
            let mut pieces = Xxh64::default();
            bytes.chunks(step).for_each(|piece| pieces.update(piece));
            assert_eq!(pieces.digest(), hash(&bytes), "pieces of {step}");
        }
    }
}
