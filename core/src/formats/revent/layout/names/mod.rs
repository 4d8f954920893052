//! Names of event types and codes, by number.
//!
//! Source: `include/uapi/linux/input-event-codes.h`. If a number has several names, the tables keep
//! the first one that names a key rather than a group (`BTN_MISC`, `BTN_GAMEPAD`).

mod axes;
mod buttons;
mod keyboard;
mod remote;

use axes::{ABS, REL};
use buttons::{BUTTONS, EXTRA_BUTTONS};
use keyboard::KEYBOARD;
use remote::REMOTE;

use super::ABS_MAX;
use super::code::SYN_DROPPED;

/// A number and its name.
type Name = (u16, &'static str);

/// Types of events.
static TYPES: &[Name] = &[
    (0x0, "EV_SYN"),
    (0x1, "EV_KEY"),
    (0x2, "EV_REL"),
    (0x3, "EV_ABS"),
    (0x4, "EV_MSC"),
    (0x5, "EV_SW"),
    (0x11, "EV_LED"),
    (0x12, "EV_SND"),
    (0x14, "EV_REP"),
    (0x15, "EV_FF"),
    (0x16, "EV_PWR"),
    (0x17, "EV_FF_STATUS"),
];

/// Codes of `EV_SYN`.
static SYN: &[Name] =
    &[(0x0, "SYN_REPORT"), (0x1, "SYN_CONFIG"), (0x2, "SYN_MT_REPORT"), (0x3, "SYN_DROPPED")];

/// Codes of `EV_SW`.
static SW: &[Name] = &[
    (0x0, "SW_LID"),
    (0x1, "SW_TABLET_MODE"),
    (0x2, "SW_HEADPHONE_INSERT"),
    (0x3, "SW_RFKILL_ALL"),
    (0x4, "SW_MICROPHONE_INSERT"),
    (0x5, "SW_DOCK"),
    (0x6, "SW_LINEOUT_INSERT"),
    (0x7, "SW_JACK_PHYSICAL_INSERT"),
    (0x8, "SW_VIDEOOUT_INSERT"),
    (0x9, "SW_CAMERA_LENS_COVER"),
    (0xa, "SW_KEYPAD_SLIDE"),
    (0xb, "SW_FRONT_PROXIMITY"),
    (0xc, "SW_ROTATE_LOCK"),
    (0xd, "SW_LINEIN_INSERT"),
    (0xe, "SW_MUTE_DEVICE"),
    (0xf, "SW_PEN_INSERTED"),
    (0x10, "SW_MACHINE_COVER"),
];

/// Codes of `EV_MSC`.
static MSC: &[Name] = &[
    (0x0, "MSC_SERIAL"),
    (0x1, "MSC_PULSELED"),
    (0x2, "MSC_GESTURE"),
    (0x3, "MSC_RAW"),
    (0x4, "MSC_SCAN"),
    (0x5, "MSC_TIMESTAMP"),
];

/// Codes of `EV_LED`.
static LED: &[Name] = &[
    (0x0, "LED_NUML"),
    (0x1, "LED_CAPSL"),
    (0x2, "LED_SCROLLL"),
    (0x3, "LED_COMPOSE"),
    (0x4, "LED_KANA"),
    (0x5, "LED_SLEEP"),
    (0x6, "LED_SUSPEND"),
    (0x7, "LED_MUTE"),
    (0x8, "LED_MISC"),
    (0x9, "LED_MAIL"),
    (0xa, "LED_CHARGING"),
];

/// Codes of `EV_REP`.
static REP: &[Name] = &[(0x0, "REP_DELAY"), (0x1, "REP_PERIOD")];

/// Codes of `EV_SND`.
static SND: &[Name] = &[(0x0, "SND_CLICK"), (0x1, "SND_BELL"), (0x2, "SND_TONE")];

/// Returns the name of `number` in `table`, which ascends.
fn find_name(table: &[Name], number: u16) -> Option<&'static str> {
    let index = table.binary_search_by_key(&number, |(number, _)| *number).ok()?;
    table.get(index).map(|(_, name)| *name)
}

/// Returns the table that names the key or button `number`.
const fn key_table(number: u16) -> &'static [Name] {
    match number {
        0x000..=0x0ff => KEYBOARD,
        0x100..=0x15f => BUTTONS,
        0x160..=0x2bf => REMOTE,
        _ => EXTRA_BUTTONS,
    }
}

/// Returns the name of an event type, for example `EV_KEY`.
pub fn type_name(kind: u16) -> Option<&'static str> {
    find_name(TYPES, kind)
}

/// Returns the name of a code of events of type `kind`, for example `KEY_ENTER`.
pub fn code_name(kind: u16, code: u16) -> Option<&'static str> {
    let table = match kind {
        0x00 => SYN,
        0x01 => key_table(code),
        0x02 => REL,
        0x03 => ABS,
        0x04 => MSC,
        0x05 => SW,
        0x11 => LED,
        0x12 => SND,
        0x14 => REP,
        _ => return None,
    };
    find_name(table, code)
}

/// Returns whether the kernel's header defines the pair.
///
/// Types without a table (force feedback, power) and the numbered buttons of joysticks, most of
/// which have no name, count as known.
#[inline]
pub fn is_known(kind: u16, code: u16) -> bool {
    // The types of nearly all events need no search.
    match kind {
        0x00 => code <= SYN_DROPPED,
        // A device with more axes of one kind than the header names numbers them on from the last.
        0x03 => code <= ABS_MAX,
        0x01 if is_button(code) => true,
        0x15..=0x17 => true,
        _ => code_name(kind, code).is_some(),
    }
}

/// Returns whether `code` lies in a group of buttons: `BTN_MISC` to `BTN_TRIGGER_HAPPY40`.
const fn is_button(code: u16) -> bool {
    matches!(code, 0x100..=0x15f | 0x2c0..=0x2ff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_ascend_so_that_they_can_be_searched() {
        let keys = [KEYBOARD, BUTTONS, REMOTE, EXTRA_BUTTONS];
        let others = [TYPES, SYN, REL, ABS, SW, MSC, LED, REP, SND];
        for table in keys.into_iter().chain(others) {
            assert!(table.windows(2).all(|pair| pair[0].0 < pair[1].0), "{:?}", table.first());
        }
    }

    #[test]
    fn every_key_is_found_in_the_table_of_its_range() {
        for (number, name) in [KEYBOARD, BUTTONS, REMOTE, EXTRA_BUTTONS].into_iter().flatten() {
            assert_eq!(code_name(1, *number), Some(*name));
        }
    }

    #[test]
    fn names_match_the_kernel_header() {
        assert_eq!(
            (type_name(3), code_name(3, 0x39)),
            (Some("EV_ABS"), Some("ABS_MT_TRACKING_ID"))
        );
        assert_eq!((code_name(1, 28), code_name(1, 330)), (Some("KEY_ENTER"), Some("BTN_TOUCH")));
        assert_eq!((code_name(0, 0), code_name(0, 3)), (Some("SYN_REPORT"), Some("SYN_DROPPED")));
        assert_eq!((code_name(0x12, 1), code_name(0x14, 0)), (Some("SND_BELL"), Some("REP_DELAY")));
        assert_eq!((type_name(0x18), code_name(3, 0x40)), (None, None));
    }

    #[test]
    fn every_axis_up_to_the_last_is_known_and_those_of_other_types_by_name() {
        assert!((0..=ABS_MAX).all(|code| is_known(3, code)) && !is_known(3, ABS_MAX + 1));
        assert!(code_name(3, ABS_MAX - 1).is_none());
        assert!(is_known(2, 8) && !is_known(2, 0x0d) && is_known(0x15, 0xffff));
    }

    #[test]
    fn the_marks_that_are_known_are_those_with_a_name() {
        for code in 0..9 {
            assert_eq!(is_known(0, code), code_name(0, code).is_some(), "{code}");
        }
    }

    #[test]
    fn numbered_buttons_and_types_without_a_table_are_known() {
        assert!(is_known(1, 0x2c5) && is_known(0x15, 0x60));
        assert!(!is_known(3, 0x40) && !is_known(9, 0) && !is_known(1, 0x300));
    }
}
