//! Lists of the input devices of a machine, as `getevent -p`, `getevent -lp` and
//! `/proc/bus/input/devices` show them.
//!
//! ```text
//!  add device 3: /dev/input/event5            I: Bus=0019 Vendor=0001 Product=0001 Version=0100
//!    name:     "touch"                        N: Name="touch"
//!    events:                                  H: Handlers=event5
//!      KEY (0001): BTN_TOUCH                  B: EV=b
//!      ABS (0003): ABS_X : value 0, min 0, max 719, fuzz 0, ...   B: ABS=260800000000003
//! ```
//!
//! Sources: getevent.c of Android; Linux, drivers/input/input.c: `input_devices_seq_show`.

use std::collections::{BTreeMap, BTreeSet};

use crate::formats::revent::layout::{KEY_MAX, kind, names};
use crate::kit::source::Source;

/// Digits of a word of 32 bits.
const SHORT_WORD: usize = 8;

/// The events that a device can have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Types and codes.
    codes: BTreeSet<(u16, u16)>,
    /// Types of which a code has an unknown name: any code of them may be meant.
    unnamed: BTreeSet<u16>,
    /// Minimum and maximum of axes.
    ranges: BTreeMap<u16, (i32, i32)>,
}

impl Capabilities {
    /// Returns whether the device has an event. Every device has marks.
    pub fn has(&self, event: u16, code: u16) -> bool {
        event == kind::SYN || self.unnamed.contains(&event) || self.codes.contains(&(event, code))
    }

    /// Returns the values of an axis, if the list has them.
    pub fn range(&self, axis: u16) -> Option<(i32, i32)> {
        self.ranges.get(&axis).copied().filter(|(min, max)| min < max)
    }

    /// Adds codes of a type, as numbers or names.
    fn add(&mut self, event: u16, words: &str) {
        for word in words.split_whitespace().map(|word| word.trim_end_matches('*')) {
            match parse_code(event, word) {
                Some(code) => drop(self.codes.insert((event, code))),
                None => drop(self.unnamed.insert(event)),
            }
        }
    }

    /// Adds an axis with its values: `0035  : value 0, min 0, max 719, fuzz 0`.
    fn add_axis(&mut self, line: &str) {
        let (word, values) = line.split_once(':').unwrap_or((line, ""));
        let Some(code) = parse_code(kind::ABS, word.trim()) else {
            self.unnamed.insert(kind::ABS);
            return;
        };
        self.codes.insert((kind::ABS, code));
        let value = |name: &str| {
            let mut fields = values.split(',').map(str::trim);
            fields.find_map(|field| field.strip_prefix(name)?.trim().parse().ok())
        };
        if let (Some(min), Some(max)) = (value("min "), value("max ")) {
            self.ranges.insert(code, (min, max));
        }
    }

    /// Adds the codes of a bitmap, whose last word has the lowest ones.
    fn add_bitmap(&mut self, event: u16, words: &str, word_bits: u16) {
        let words = words.split_whitespace().rev().map(|word| u64::from_str_radix(word, 16));
        for (base, word) in (0..=KEY_MAX).step_by(usize::from(word_bits)).zip(words) {
            let Ok(word) = word else { return };
            let bits = (0..word_bits).filter(|bit| word >> bit & 1 == 1);
            self.codes.extend(bits.map(|bit| (event, base.saturating_add(bit))));
        }
    }
}

/// Returns the code that a word is: four hexadecimal digits, or a name.
fn parse_code(event: u16, word: &str) -> Option<u16> {
    if word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return u16::from_str_radix(word, 16).ok();
    }
    (0..=KEY_MAX).find(|code| names::code_name(event, *code) == Some(word))
}

/// Returns the devices of a list by their paths.
pub fn read_device_list(list: &Source<'_>) -> BTreeMap<String, Capabilities> {
    parse_device_list(&String::from_utf8_lossy(&list.read(0, list.len())))
}

fn parse_device_list(text: &str) -> BTreeMap<String, Capabilities> {
    if text.contains("Handlers=") { parse_bitmaps(text) } else { parse_getevent(text) }
}

fn parse_getevent(text: &str) -> BTreeMap<String, Capabilities> {
    let mut devices: BTreeMap<String, Capabilities> = BTreeMap::new();
    let (mut path, mut event) = (String::new(), None);
    for line in text.lines().map(str::trim) {
        if let Some((_, found)) =
            line.strip_prefix("add device").and_then(|rest| rest.split_once(": "))
        {
            (path, event) = (found.trim().to_string(), None);
            devices.entry(path.clone()).or_default();
            continue;
        }
        let Some(device) = devices.get_mut(&path) else { continue };
        let mut codes = line;
        if let Some((head, rest)) = line.split_once("):")
            && let Some((_, number)) = head.rsplit_once('(')
        {
            event = u16::from_str_radix(number, 16).ok();
            codes = rest.trim();
        } else if line.ends_with(':') || line.contains(": ") && event != Some(kind::ABS) {
            event = None;
        }
        match event {
            Some(kind::ABS) if codes.is_empty() => {}
            Some(kind::ABS) => device.add_axis(codes),
            Some(event) => device.add(event, codes),
            None => {}
        }
    }
    devices
}

fn parse_bitmaps(text: &str) -> BTreeMap<String, Capabilities> {
    const TYPES: [(&str, u16); 8] = [
        ("KEY", 0x01),
        ("REL", 0x02),
        ("ABS", 0x03),
        ("MSC", 0x04),
        ("SW", 0x05),
        ("LED", 0x11),
        ("SND", 0x12),
        ("FF", 0x15),
    ];
    let bitmaps =
        || text.lines().filter_map(|line| line.trim().strip_prefix("B: ")?.split_once('='));
    // The kernel prints words of its own size, without zeros before them.
    let is_long = |words: &str| words.split_whitespace().any(|word| word.len() > SHORT_WORD);
    let word_bits = if bitmaps().any(|(_, words)| is_long(words)) { 64 } else { 32 };
    let mut devices: BTreeMap<String, Capabilities> = BTreeMap::new();
    let mut path = String::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with("I: ") {
            path.clear();
        } else if let Some(handlers) = line.strip_prefix("H: Handlers=") {
            let event = handlers.split_whitespace().find(|name| name.starts_with("event"));
            if let Some(event) = event {
                path = format!("/dev/input/{event}");
                devices.entry(path.clone()).or_default();
            }
        } else if let Some((name, words)) =
            line.strip_prefix("B: ").and_then(|rest| rest.split_once('='))
            && let Some(device) = devices.get_mut(&path)
            && let Some((_, event)) = TYPES.iter().find(|(known, _)| *known == name)
        {
            device.add_bitmap(*event, words, word_bits);
        }
    }
    devices
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGES: [&str; 2] = [
        "value 0, min 0, max 719, fuzz 0, flat 0, resolution 0",
        "value 0, min 0, max 9, fuzz 0, flat 0, resolution 0",
    ];
    const LABELS: &str = "add device 1: /dev/input/event2\n  name:     \"touch\"\n  events:\n    \
        KEY (0001): BTN_TOUCH             KEY_POWER*            KEY_NO_SUCH\n    \
        ABS (0003): ABS_X                 : SCREEN\n\
        \x20               ABS_MT_SLOT           : SLOTS\n  \
        input props:\n    INPUT_PROP_DIRECT\nadd device 2: /dev/input/event0\n  \
        name:     \"keys\"\n  \
        events:\n    KEY (0001): 0072  0073* 0074 \n                0160 \n    SW  (0005): 0002 \n";

    #[test]
    fn lists_of_getevent_are_read_with_names_and_with_numbers() {
        let [screen, slots] = RANGES;
        let devices = parse_device_list(&LABELS.replace("SCREEN", screen).replace("SLOTS", slots));
        let paths: Vec<&str> = devices.keys().map(String::as_str).collect();
        assert_eq!(paths, ["/dev/input/event0", "/dev/input/event2"]);
        let (keys, touch) = (&devices["/dev/input/event0"], &devices["/dev/input/event2"]);
        let has = |device: &Capabilities, event, codes: &[u16]| {
            codes.iter().map(|code| device.has(event, *code)).collect::<Vec<_>>()
        };
        assert_eq!(has(keys, 1, &[0x72, 0x73, 0x74, 0x75, 0x160]), [true, true, true, false, true]);
        assert_eq!(has(keys, 5, &[2, 3]), [true, false]);
        assert_eq!(has(keys, 0, &[0, 3]), [true, true]);
        assert_eq!(has(touch, 3, &[0, 1, 0x2f]), [true, false, true]);
        assert_eq!(
            (touch.range(0), touch.range(0x2f), touch.range(1)),
            (Some((0, 719)), Some((0, 9)), None)
        );
        // One name of a key is unknown: it may be any.
        assert_eq!(has(touch, 1, &[0x14a, 0x74, 0x20]), [true, true, true]);
    }

    #[test]
    fn bitmaps_of_the_kernel_are_read_in_words_of_either_size() {
        let list = |keys: &str| {
            let text = format!(
                "I: Bus=0019 Vendor=0001\nN: Name=\"keys\"\nH: Handlers=kbd event7 \nB: PROP=0\n\
                 B: EV=3\nB: KEY={keys}\n\nI: Bus=0\nH: Handlers=js0\nB: KEY=1\n"
            );
            parse_device_list(&text)
        };
        for keys in ["10000000000000 0", "100000 0 0 0"] {
            let devices = list(keys);
            assert_eq!(devices.len(), 1, "{keys}");
            let device = &devices["/dev/input/event7"];
            assert!(device.has(1, 116) && !device.has(1, 0) && !device.has(1, 115), "{keys}");
        }
        assert_eq!(parse_device_list("nothing"), BTreeMap::new());
    }
}
