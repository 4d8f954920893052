//! Numbers: coordinates, sizes, and indices that count upwards.
//!
//! A program that draws the same object again and again passes each of its coordinates again and
//! again. If all numbers of an argument repeat but one, and that one differs in one bit from a
//! number that does, it is probably damaged. Numbers that change from call to call, as in an
//! animation, show nothing. The argument of a query is told apart by the constant that the query
//! passes, so that the sizes of colors and of depths are not compared.

use std::collections::HashMap;
use std::fmt;

use super::{FirstUse, OFTEN, Position, Rare, Scope, Uses};
use crate::kit::num::to_usize;

/// Numbers that are looked at per function, so that one that is called all the time costs no more,
/// and the highest id of such a function.
const NUMBERS_MAX: u16 = 1 << 14;
const FUNCTIONS_MAX: usize = 1 << 12;
/// Arguments whose numbers are looked at; later ones are not.
const PLACES_MAX: usize = 1 << 12;
/// Different numbers of an argument: one with more is not looked at.
const VALUES_MAX: usize = 1 << 9;
/// Different numbers of all arguments; an argument with later ones is not looked at.
const ALL_VALUES_MAX: usize = 1 << 15;
/// Numbers of an argument that repeat, from which one that does not is rare.
const REPEATED_OFTEN: u32 = 2 * OFTEN;
/// Steps from number to number before one that interrupts a count.
const STEPS: u32 = 3;
/// Numbers that interrupt a count and are reported.
const STRAY_MAX: usize = 1 << 10;
/// Integers below this differ in one bit by chance: 0 and 1, 4 and 5.
const INTEGER_MIN: u64 = 1 << 8;

/// A number that may repeat. Fractions are compared by their bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    /// The bits of a number of 32 bits.
    Float(u32),
    /// The bits of a number of 64 bits.
    Double(u64),
    /// An integer.
    Unsigned(u64),
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Float(bits) => write!(f, "{:?}", f32::from_bits(*bits)),
            Self::Double(bits) => write!(f, "{:?}", f64::from_bits(*bits)),
            Self::Unsigned(value) => write!(f, "{value}"),
        }
    }
}

/// A place of numbers: the argument, and the latest constant of its call.
type Place = (Position, Option<u64>);

/// The numbers of a trace.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    places: HashMap<Place, Values>,
    /// Different numbers of all places.
    values: usize,
    /// Numbers that were looked at, by the ids of functions.
    looked_at: Vec<u16>,
    /// Numbers that interrupt a count.
    stray: Vec<Rare>,
}

/// The numbers of a place.
#[derive(Debug, Default)]
struct Values {
    uses: HashMap<Number, Uses>,
    /// Whether there are too many different ones.
    has_more: bool,
    count: Count,
}

/// A row of numbers in which each is one higher than the one before it.
#[derive(Debug, Default)]
struct Count {
    latest: u64,
    steps: u32,
    /// The number after the latest that does not continue the count.
    stray: Option<(u64, FirstUse)>,
}

impl Count {
    /// Continues with a number. Returns a stray one, if this shows that only one bit of it is
    /// wrong.
    fn add(&mut self, value: u64, at: FirstUse) -> Option<Rare> {
        let next = self.latest.saturating_add(1);
        if let Some((stray, at)) = self.stray.take() {
            let continues = value == next.saturating_add(1);
            if continues && (stray ^ next).is_power_of_two() {
                let rare = Rare {
                    value: stray.to_string(),
                    frequent: next.to_string(),
                    count: self.steps,
                    at,
                    scope: Scope::Count,
                };
                (self.latest, self.steps) = (value, self.steps.saturating_add(1));
                return Some(rare);
            }
        } else if value == next {
            (self.latest, self.steps) = (value, self.steps.saturating_add(1));
            return None;
        } else if self.steps >= STEPS {
            self.stray = Some((value, at));
            return None;
        }
        (self.latest, self.steps) = (value, 0);
        None
    }
}

impl Numbers {
    #[inline(always)]
    pub(super) fn has_room(&self, function: u64) -> bool {
        let index = to_usize(function);
        self.looked_at.get(index).map_or(index < FUNCTIONS_MAX, |count| *count < NUMBERS_MAX)
    }

    /// Counts a number of a call that passed `constant` before it.
    pub(super) fn add(
        &mut self,
        position: Position,
        constant: Option<u64>,
        number: Number,
        first: FirstUse,
    ) {
        let index = to_usize(position.function);
        if index >= self.looked_at.len() {
            self.looked_at.resize(index.min(FUNCTIONS_MAX).saturating_add(1), 0);
        }
        let Some(count) = self.looked_at.get_mut(index) else { return };
        *count = count.saturating_add(1);
        let place = (position, constant);
        if self.places.len() >= PLACES_MAX && !self.places.contains_key(&place) {
            return;
        }
        let values = self.places.entry(place).or_default();
        if let Number::Unsigned(value) = number
            && let Some(stray) = values.count.add(value, first)
            && self.stray.len() < STRAY_MAX
        {
            self.stray.push(stray);
        }
        if let Some(uses) = values.uses.get_mut(&number) {
            uses.count = uses.count.saturating_add(1);
        } else if values.uses.len() >= VALUES_MAX || self.values >= ALL_VALUES_MAX {
            self.values = self.values.saturating_sub(values.uses.len());
            (values.uses, values.has_more) = (HashMap::new(), true);
        } else if !values.has_more {
            self.values = self.values.saturating_add(1);
            values.uses.insert(number, Uses { count: 1, first });
        }
    }

    /// Returns the numbers that interrupt a count, and those that alone do not repeat.
    pub(super) fn find_rare(&self) -> impl Iterator<Item = Rare> {
        let alone = self.places.values().filter_map(|values| {
            let is_single = |(_, uses): &(&Number, &Uses)| uses.count == 1;
            let mut single = values.uses.iter().filter(is_single);
            let (number, uses) = single.next().filter(|_| single.next().is_none())?;
            let all = values.uses.values().fold(0_u32, |sum, one| sum.saturating_add(one.count));
            let near = neighbours(*number).filter_map(|near| Some((near, values.uses.get(&near)?)));
            let (near, usual) = near.max_by_key(|(_, usual)| usual.count)?;
            (all > REPEATED_OFTEN).then(|| Rare {
                value: number.to_string(),
                frequent: near.to_string(),
                count: usual.count,
                at: uses.first,
                scope: Scope::Argument,
            })
        });
        self.stray.iter().cloned().chain(alone)
    }
}

/// Returns the numbers that differ in one bit from one, as they would not by chance: neither by
/// rounding, nor by a small factor, nor as two round numbers or two opposite ones do.
fn neighbours(number: Number) -> impl Iterator<Item = Number> {
    /// Bits of a fraction that differ by rounding.
    const ROUNDING: u32 = 4;
    /// Bits of the exponent that multiply by 2, 4 and 16: a program halves and doubles.
    const FACTORS: u32 = 3;
    let (bits, fraction_bits) = match number {
        Number::Float(_) | Number::Double(_) if is_written(number) => (0..0, 0),
        Number::Float(bits) if is_round(bits.into(), f32::MANTISSA_DIGITS, 8) => (0..0, 0),
        Number::Float(_) => (ROUNDING..31, f32::MANTISSA_DIGITS.saturating_sub(1)),
        Number::Double(bits) if is_round(bits, f64::MANTISSA_DIGITS, 11) => (0..0, 0),
        Number::Double(_) => (ROUNDING..63, f64::MANTISSA_DIGITS.saturating_sub(1)),
        Number::Unsigned(value) if value < INTEGER_MIN => (0..0, 0),
        Number::Unsigned(_) => (0..64, u64::BITS),
    };
    let is_factor =
        move |bit: &u32| (fraction_bits..fraction_bits.saturating_add(FACTORS)).contains(bit);
    bits.filter(move |bit| !is_factor(bit)).filter_map(move |bit| {
        let one = 1_u64.wrapping_shl(bit);
        Some(match number {
            Number::Float(bits) => Number::Float(bits ^ u32::try_from(one).ok()?),
            Number::Double(bits) => Number::Double(bits ^ one),
            Number::Unsigned(value) => {
                Number::Unsigned(Some(value ^ one).filter(|near| *near >= INTEGER_MIN)?)
            }
        })
    })
}

/// Whether a fraction is one that people write, such as 0.13 or 2.25, or comes close to one by
/// rounding: it has few decimal digits, and one in which a bit was inverted has many.
fn is_written(number: Number) -> bool {
    const DIGITS: usize = 3;
    let text = match number {
        Number::Float(bits) => format!("{:.5e}", f32::from_bits(bits)),
        Number::Double(bits) => format!("{:.5e}", f64::from_bits(bits)),
        Number::Unsigned(_) => return true,
    };
    let fraction = text.split('e').next().unwrap_or_default().trim_end_matches('0');
    fraction.bytes().filter(u8::is_ascii_digit).count() <= DIGITS
}

/// Whether a number has few bits, as 0.5, 30 and 1000, and is neither huge nor tiny.
fn is_round(bits: u64, digits: u32, exponent_bits: u32) -> bool {
    const BITS: u32 = 6;
    const EXPONENT: u64 = 20;
    let fraction_bits = digits.saturating_sub(1);
    let bias = 1_u64.wrapping_shl(exponent_bits.saturating_sub(1)).saturating_sub(1);
    let exponent =
        bits.wrapping_shr(fraction_bits) & 1_u64.wrapping_shl(exponent_bits).wrapping_sub(1);
    let has_few = bits.trailing_zeros() >= fraction_bits.saturating_sub(BITS);
    has_few && (exponent == 0 || exponent.abs_diff(bias) <= EXPONENT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::num::to_u64;

    const HERE: Position = Position { function: 1, argument: Some(0), is_output: false };

    fn first(call: u64) -> FirstUse {
        FirstUse { call, argument: Some(0), at: call, end: call + 1 }
    }

    /// The texts of the numbers that are rare, and of those that they should be.
    fn rare(all: impl IntoIterator<Item = Number>) -> Vec<(String, String)> {
        let mut numbers = Numbers::default();
        (0..).zip(all).for_each(|(call, number)| numbers.add(HERE, None, number, first(call)));
        numbers.find_rare().map(|one| (one.value, one.frequent)).collect()
    }

    fn floats(all: &[f32]) -> Vec<Number> {
        all.iter().map(|value| Number::Float(value.to_bits())).collect()
    }

    fn flipped(value: f32, bit: u32) -> f32 {
        f32::from_bits(value.to_bits() ^ 1 << bit)
    }

    fn pair(value: &str, frequent: &str) -> Vec<(String, String)> {
        vec![(value.to_string(), frequent.to_string())]
    }

    #[test]
    fn a_coordinate_that_alone_is_used_once_is_rare_if_one_bit_differs() {
        let shape = floats(&[0.309_017, -1.396_793, 0.5, 30.0, 0.0]).repeat(4);
        assert_eq!(rare(shape.clone()), []);
        let with = |more: &[f32]| rare([shape.clone(), floats(more)].concat());
        assert_eq!(with(&[flipped(0.309_017, 9)]), pair("0.30900174", "0.309017"));
        assert_eq!(with(&[flipped(30.0, 12)]), pair("30.007813", "30.0"));
        assert_eq!(with(&[flipped(0.5, 30)]), pair("1.7014118e38", "0.5"));
        // Rounding, another sign, round numbers, two bits, and another one that is used once.
        for other in [flipped(0.309_017, 3), -0.309_017, 1.0, 0.75, 31.0, 2.0, 0.309_1] {
            assert_eq!(with(&[other]), [], "{other}");
        }
        assert_eq!(with(&[flipped(30.0, 12), 7.7]), []);
        assert_eq!(with(&[flipped(30.0, 12), flipped(30.0, 12)]), []);
        let few = floats(&[0.309_017, 0.5]).repeat(7);
        assert_eq!(rare([few, floats(&[flipped(0.309_017, 9)])].concat()), []);
    }

    /// Numbers below a bound that follow from a seed.
    fn draws(seed: u64) -> impl FnMut(u64) -> u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        move |below| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) % below
        }
    }

    #[test]
    fn coordinates_that_a_program_computes_are_not_rare_however_often_each_is_used() {
        for seed in 1..=400 {
            let mut draw = draws(seed);
            let step = [0.01_f32, 0.02, 0.05, 0.1, 0.125, 0.3, 1.3][to_usize(draw(7))];
            let is_halved = draw(2) == 0;
            let count = if is_halved { 12_u8 } else { 40 };
            let mut all = Vec::new();
            for index in 0..count {
                let value = match is_halved {
                    true => 0.309_017 * 2_f32.powi(i32::from(index) - 6),
                    false => (f32::from(index) - 20.0) * step,
                };
                // One number is used once.
                let uses = if index == 7 { 1 } else { 2 + draw(9) };
                all.extend((0..uses).map(|_| value));
            }
            let found = rare(floats(&all));
            assert_eq!(found, [], "seed {seed}, step {step}, halves {is_halved}");
        }
    }

    #[test]
    fn numbers_of_64_bits_and_integers_are_compared_alike() {
        let double = |value: f64, bit: u32| Number::Double(value.to_bits() ^ 1 << bit);
        let usual = vec![Number::Double(0.1_f64.to_bits()); 17];
        assert_eq!(rare([usual.clone(), vec![double(0.1, 40)]].concat()).len(), 1);
        assert_eq!(rare([usual, vec![double(0.1, 2)]].concat()), []);
        let usual = [12344, 1031, 0, 8].map(Number::Unsigned).repeat(5);
        let with = |value| rare([usual.clone(), vec![Number::Unsigned(value)]].concat());
        assert_eq!(with(12472), pair("12472", "12344"));
        assert_eq!(with(1095), pair("1095", "1031"));
        assert_eq!([1, 9, 256, 1096].map(with), [const { Vec::new() }; 4]);
    }

    #[test]
    fn a_number_that_interrupts_a_count_is_rare_if_one_bit_differs() {
        let count = |changed: u64, value: u64| {
            let number = |index| if index == changed { value } else { index };
            rare((0..100).map(number).map(Number::Unsigned))
        };
        assert_eq!(count(63, 31), pair("31", "63"));
        assert_eq!(count(4, 12), pair("12", "4"));
        assert_eq!(count(63, 60), []);
        assert_eq!(count(3, 11), []);
        // The count ends there.
        assert_eq!(rare((0..64).chain([0, 1, 2]).map(Number::Unsigned)), []);
    }

    #[test]
    fn numbers_are_told_apart_by_the_constant_of_their_call() {
        let mut numbers = Numbers::default();
        for call in 0..20 {
            for (constant, value) in [(1, 12344), (2, 12472)] {
                let value = if (call, constant) == (9, 2) { 12344 } else { value };
                numbers.add(HERE, Some(constant), Number::Unsigned(value), first(call));
            }
        }
        let found: Vec<_> = numbers.find_rare().map(|one| (one.value, one.at.call)).collect();
        assert_eq!(found, [("12344".to_string(), 9)]);
    }

    #[test]
    fn numbers_are_counted_up_to_limits() {
        let mut numbers = Numbers::default();
        let mut add = |function, argument, value| {
            let position = Position { function, argument: Some(argument), is_output: false };
            numbers.add(position, None, Number::Unsigned(value), first(value));
            (numbers.values, numbers.places.len(), numbers.has_room(function))
        };
        // Too many of one place: none of them counts.
        (0..to_u64(VALUES_MAX)).for_each(|value| _ = add(0, 0, value * 2));
        assert_eq!(add(0, 0, 1), (0, 1, true));
        assert_eq!(add(0, 0, 1), (0, 1, true));
        for argument in 1..to_u64(PLACES_MAX) {
            for value in 0..12 {
                _ = add(argument % 64, argument, value * 2);
            }
        }
        let (values, places, _) = add(1, to_u64(PLACES_MAX), 1);
        assert_eq!(places, PLACES_MAX);
        assert!((ALL_VALUES_MAX - 12..=ALL_VALUES_MAX).contains(&values), "{values}");
        let mut room = true;
        for _ in 0..NUMBERS_MAX {
            (_, _, room) = add(100, 1, 1);
        }
        assert!(!room);
        assert!(!numbers.has_room(u64::MAX) && numbers.has_room(101));
    }

    #[test]
    fn stray_numbers_are_reported_up_to_a_limit() {
        let rounds = (0..3 * to_u64(STRAY_MAX)).flat_map(|_| [0, 1, 2, 3, 12, 5]);
        let mut numbers = Numbers::default();
        for (call, value) in (0..).zip(rounds) {
            let position = Position { function: call / 10_000, ..HERE };
            numbers.add(position, None, Number::Unsigned(value), first(call));
        }
        assert_eq!(numbers.stray.len(), STRAY_MAX);
    }
}
