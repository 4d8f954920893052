//! The description of a gamepad, which takes the place of the device list in mode 1.

use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::head_error::HeadError;
use crate::formats::revent::layout::{
    ABS_MAX, ABSINFO, ABSINFO_MAX, CODE_BITS, NAME_MAX, NAME_READ,
};
use crate::kit::cursor::{Cursor, ReadError};
use crate::kit::num::to_u64;
use crate::kit::span::Span;

/// A bitmap of codes: bit `n` is bit `n % 8` of byte `n / 8`.
pub type CodeBits = [u8; 96];

/// A gamepad as the recorder describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gamepad {
    /// Bus, vendor, product and version.
    pub id: [u16; 4],
    /// Bytes of the name, without its length.
    pub name_span: Span,
    /// The name.
    pub name: Vec<u8>,
    /// Bits of event types.
    pub types: [u8; 4],
    /// Bytes of the three bitmaps of codes.
    pub bits_span: Span,
    /// Bits of absolute axes.
    pub abs: CodeBits,
    /// Bits of relative axes.
    pub rel: CodeBits,
    /// Bits of keys.
    pub key: CodeBits,
    /// Bytes of the axis descriptions.
    pub axes_span: Span,
    /// The axis descriptions.
    pub axes: Vec<Axis>,
}

/// The description of an axis of a gamepad: seven `i32`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Axis {
    /// Code of the axis.
    pub code: i32,
    /// Position when the recording began.
    pub value: i32,
    /// Smallest value.
    pub min: i32,
    /// Largest value.
    pub max: i32,
    /// Noise that the kernel filters out.
    pub fuzz: i32,
    /// Values around the centre that count as the centre.
    pub flat: i32,
    /// Units per millimetre.
    pub resolution: i32,
}

/// Lengths in the description of a gamepad that are not as stored, because those are damaged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forced {
    /// Length of the name.
    pub name_len: Option<u64>,
    /// Whether the number of axes is the number of bits in `abs_bits`.
    pub has_axes_of_bits: bool,
}

/// Reads the description of a gamepad.
///
/// # Errors
///
/// The first field that is truncated or out of range.
pub(super) fn parse_gamepad(cursor: &mut Cursor<'_>, forced: Forced) -> Result<Gamepad, HeadError> {
    let id = [
        cursor.u16("bustype")?,
        cursor.u16("vendor")?,
        cursor.u16("product")?,
        cursor.u16("version")?,
    ];
    let at = cursor.position();
    let stored = u64::from(cursor.u32("name_len")?);
    let len = forced.name_len.unwrap_or(stored);
    if len > NAME_READ {
        return Err(HeadError::Name { span: cursor.since(at), len });
    }
    let at = cursor.position();
    let name = cursor.bytes(len, "name")?.to_vec();
    let name_span = cursor.since(at);
    let types = cursor.array("ev_bits")?;
    let at = cursor.position();
    let abs = cursor.array("abs_bits")?;
    let rel = cursor.array("rel_bits")?;
    let key = cursor.array("key_bits")?;
    let bits_span = cursor.since(at);
    let at = cursor.position();
    let stored = u64::from(cursor.u32("num_absinfo")?);
    let count = if forced.has_axes_of_bits { to_u64(set_bits(&abs).count()) } else { stored };
    if count > ABSINFO_MAX {
        return Err(HeadError::Axes { span: cursor.since(at), count });
    }
    let axes_span = Span::sized(FILE, cursor.position(), count.saturating_mul(ABSINFO));
    let axes = (0..count).map(|_| parse_axis(cursor)).collect::<Result<_, _>>()?;
    Ok(Gamepad { id, name_span, name, types, bits_span, abs, rel, key, axes_span, axes })
}

fn parse_axis(cursor: &mut Cursor<'_>) -> Result<Axis, ReadError> {
    Ok(Axis {
        code: cursor.u32("ev_code")?.cast_signed(),
        value: cursor.u32("value")?.cast_signed(),
        min: cursor.u32("minimum")?.cast_signed(),
        max: cursor.u32("maximum")?.cast_signed(),
        fuzz: cursor.u32("fuzz")?.cast_signed(),
        flat: cursor.u32("flat")?.cast_signed(),
        resolution: cursor.u32("resolution")?.cast_signed(),
    })
}

/// Returns whether bit `number` is set.
pub fn is_bit_set(bits: &[u8], number: u16) -> bool {
    let byte = bits.get(usize::from(number >> 3)).copied().unwrap_or(0);
    byte >> (number & 7) & 1 == 1
}

/// Returns the numbers of the bits that are set, ascending.
pub fn set_bits(bits: &[u8]) -> impl Iterator<Item = u16> + '_ {
    let bytes = bits.iter().zip((0_u16..).step_by(8)).filter(|(byte, _)| **byte != 0);
    bytes.flat_map(|(byte, first)| {
        (0_u16..8).filter(move |bit| byte >> bit & 1 == 1).map(move |bit| first.saturating_add(bit))
    })
}

impl Gamepad {
    /// Returns the codes of the axis descriptions, ascending.
    pub fn axis_codes(&self) -> Vec<i32> {
        let mut codes: Vec<i32> = self.axes.iter().map(|axis| axis.code).collect();
        codes.sort_unstable();
        codes
    }

    /// Returns whether `abs_bits` names the described axes.
    pub fn has_matching_bits(&self) -> bool {
        set_bits(&self.abs).map(i32::from).eq(self.axis_codes())
    }

    /// Returns whether the bitmaps are in the order of the published description: key, rel, abs.
    pub fn has_swapped_bits(&self) -> bool {
        !self.has_matching_bits() && set_bits(&self.key).map(i32::from).eq(self.axis_codes())
    }

    /// Returns the bitmaps of axes and of keys, in this order.
    pub fn axis_and_key_bits(&self) -> (&CodeBits, &CodeBits) {
        if self.has_swapped_bits() { (&self.key, &self.abs) } else { (&self.abs, &self.key) }
    }

    /// Returns whether the codes of the axis descriptions are as the recorder writes them: in
    /// order, each once, and all of them codes of axes.
    pub fn has_valid_codes(&self) -> bool {
        let is_valid = |axis: &Axis| (0..=i32::from(ABS_MAX)).contains(&axis.code);
        self.axes.iter().all(is_valid)
            && self.axes.windows(2).all(|pair| matches!(pair, [a, b] if a.code < b.code))
    }

    /// Returns the bytes of the bitmaps that the recorder writes first (abs) and last (key).
    pub const fn swapped_spans(&self) -> [Span; 2] {
        let first = self.bits_span.start;
        let last = first.saturating_add(CODE_BITS.saturating_mul(2));
        [Span::sized(FILE, first, CODE_BITS), Span::sized(FILE, last, CODE_BITS)]
    }

    /// Returns the description of an axis.
    pub fn axis(&self, code: u16) -> Option<&Axis> {
        self.axes.iter().find(|axis| axis.code == i32::from(code))
    }

    /// Returns whether the buffers of the readers have room for the name, and it is not empty.
    pub const fn has_valid_name(&self) -> bool {
        !self.name_span.is_empty() && self.name_span.len() <= NAME_MAX
    }
}
