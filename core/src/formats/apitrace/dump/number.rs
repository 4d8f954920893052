//! Numbers with a point, as C prints them (`%g`).

use std::fmt::Write as _;

/// Digits of a number of 32 bits.
pub(super) const FLOAT_DIGITS: usize = 7;
/// Digits of a number of 64 bits.
pub(super) const DOUBLE_DIGITS: usize = 16;
/// The lowest exponent without scientific notation.
const EXPONENT_MIN: i32 = -4;

/// Returns a number of 32 bits as one of 64. A conversion may change the sign of what is no number.
pub(super) fn widen(value: f32) -> f64 {
    match value.is_nan() {
        true if value.is_sign_negative() => f64::NAN.copysign(-1.0),
        true => f64::NAN.copysign(1.0),
        false => value.into(),
    }
}

/// Appends a number with at most `digits` significant digits, without zeros at the end.
pub(super) fn write_number(value: f64, digits: usize, text: &mut String) {
    if !value.is_finite() {
        let name = if value.is_nan() { "nan" } else { "inf" };
        let sign = if value.is_sign_negative() { "-" } else { "" };
        let _infallible = write!(text, "{sign}{name}");
        return;
    }
    let start = text.len();
    let _infallible = write!(text, "{value:.*e}", digits.saturating_sub(1));
    let scientific = text.split_off(start);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let places = i32::try_from(digits).unwrap_or(i32::MAX).saturating_sub(1);
    if exponent < EXPONENT_MIN || exponent > places {
        let sign = if exponent < 0 { '-' } else { '+' };
        let mantissa = without_zeros(mantissa);
        let _infallible = write!(text, "{mantissa}e{sign}{:02}", exponent.unsigned_abs());
    } else {
        write_decimals(mantissa, exponent, text);
    }
}

/// Appends a number of one digit before its point times a power of ten, without an exponent.
fn write_decimals(mantissa: &str, exponent: i32, text: &mut String) {
    let (sign, digits) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits = without_zeros(digits);
    let (first, rest) = digits.split_once('.').unwrap_or((digits, ""));
    text.push_str(sign);
    let shift = usize::try_from(exponent.unsigned_abs()).unwrap_or_default();
    if exponent < 0 {
        text.push_str("0.");
        text.extend(std::iter::repeat_n('0', shift.saturating_sub(1)));
        text.push_str(first);
        text.push_str(rest);
        return;
    }
    text.push_str(first);
    match rest.split_at_checked(shift) {
        None => {
            text.push_str(rest);
            text.extend(std::iter::repeat_n('0', shift.saturating_sub(rest.len())));
        }
        Some((whole, decimals)) => {
            text.push_str(whole);
            text.push_str(if decimals.is_empty() { "" } else { "." });
            text.push_str(decimals);
        }
    }
}

/// Removes zeros at the end of the decimals, and a point after which none is left.
fn without_zeros(number: &str) -> &str {
    if !number.contains('.') {
        return number;
    }
    number.trim_end_matches('0').trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_c_prints_them() {
        let shown = |value: f64, digits| {
            let mut text = String::new();
            write_number(value, digits, &mut text);
            text
        };
        let float = |value: f32| shown(widen(value), FLOAT_DIGITS);
        assert_eq!(float(0.1), "0.1");
        assert_eq!(float(-0.0), "-0");
        assert_eq!(float(3.549_15), "3.54915");
        assert_eq!(float(1e-5), "1e-05");
        assert_eq!(float(0.0001), "0.0001");
        assert_eq!(
            (float(-0.025), float(0.5), float(-120.5)),
            ("-0.025".into(), "0.5".into(), "-120.5".into())
        );
        assert_eq!((float(10.0), float(1_200_000.0)), ("10".into(), "1200000".into()));
        assert_eq!(float(1_234_567.0), "1234567");
        assert_eq!(float(12_345_678.0), "1.234568e+07");
        assert_eq!(float(9_999_999.5), "1e+07");
        assert_eq!(float(f32::MAX), "3.402823e+38");
        assert_eq!(float(f32::NEG_INFINITY), "-inf");
        assert_eq!((float(-f32::NAN), float(f32::NAN)), ("-nan".to_string(), "nan".to_string()));
        assert_eq!(shown(0.1, DOUBLE_DIGITS), "0.1");
        assert_eq!(shown(1.0 / 3.0, DOUBLE_DIGITS), "0.3333333333333333");
        assert_eq!(shown(1e100, DOUBLE_DIGITS), "1e+100");
    }
}
