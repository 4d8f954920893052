//! QEMU: its replay shows no events, so they are read by a decoder of this crate that shares no
//! code with the product: the ids of the forge, and the payloads as `replay/*.c` reads them. It
//! accepts a log whose events lead to END and to the end of the file. Whether QEMU replays a log is
//! asked apart from this. AUDIO_IN of a full ring has no samples, which its count does not show, so
//! logs with such events are not used.

use super::{Place, Reading, Shown, Sound};
use crate::forge::qemu::Sound as Audio;
use crate::forge::qemu::ids::{self, Ids};
use crate::known_originals::Files;

/// Length of the header in bytes.
const HEADER: usize = 12;

/// An event of a log.
struct Event {
    start: usize,
    end: usize,
    name: &'static str,
}

/// Reads a log up to the first event that has no meaning.
struct Decoder<'a> {
    bytes: &'a [u8],
    ids: Ids,
    at: usize,
}

impl Decoder<'_> {
    fn skip(&mut self, len: usize) -> Option<()> {
        self.at = self.at.checked_add(len).filter(|end| *end <= self.bytes.len())?;
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn word(&mut self) -> Option<usize> {
        let word = self.bytes.get(self.at..)?.first_chunk::<4>()?;
        self.at += 4;
        usize::try_from(u32::from_be_bytes(*word)).ok()
    }

    fn array(&mut self) -> Option<()> {
        let len = self.word()?;
        self.skip(len)
    }

    /// Reads an event and returns its name.
    fn event(&mut self) -> Option<&'static str> {
        let id = self.byte()?;
        let ids = self.ids;
        let after = |first: Option<u8>| first.and_then(|first| id.checked_sub(first));
        let named = |first: u8, names: &'static [&'static str]| {
            names.get(usize::from(id.checked_sub(first)?)).copied()
        };
        if let Some(name) = named(ids.shutdown, ids.causes) {
            return Some(name);
        }
        if let Some(name) = named(ids.checkpoint, ids.checkpoints()) {
            return Some(name);
        }
        if let Some(name) = named(3, ids.asynchronous).filter(|_| ids.own_ids) {
            return self.asynchronous(name);
        }
        match (after(ids.chars), after(ids.audio), after(ids.random)) {
            (Some(0), ..) => return self.skip(8).map(|()| "CHAR_WRITE"),
            (Some(1), ..) => return self.array().map(|()| "CHAR_READ_ALL"),
            (Some(2), ..) => return self.skip(4).map(|()| "CHAR_READ_ALL_ERROR"),
            (_, Some(0), _) => return self.count().map(|_| "AUDIO_OUT"),
            (_, Some(1), _) => return self.audio_in().map(|()| "AUDIO_IN"),
            (_, _, Some(0)) => {
                self.skip(4)?;
                return self.array().map(|()| "RANDOM");
            }
            _ => {}
        }
        match id {
            0 => self.skip(4).map(|()| "INSTRUCTION"),
            1 => Some("INTERRUPT"),
            2 => Some("EXCEPTION"),
            3 if !ids.own_ids => {
                self.byte()?;
                let number = usize::from(self.byte()?);
                self.asynchronous(ids.asynchronous.get(number)?)
            }
            _ if id == ids.clocks => self.skip(8).map(|()| "CLOCK_HOST"),
            _ if id == ids.clocks + 1 => self.skip(8).map(|()| "CLOCK_VIRTUAL_RT"),
            _ if id == ids.end => Some("END"),
            _ => None,
        }
    }

    fn count(&mut self) -> Option<usize> {
        if self.ids.sound == Audio::Narrow {
            return self.word();
        }
        let upper = self.word()?;
        self.word().filter(|_| upper == 0)
    }

    fn audio_in(&mut self) -> Option<()> {
        let samples = self.count()?;
        if self.ids.sound != Audio::Unplaced {
            self.count()?;
        }
        self.skip(samples.checked_mul(16)?)
    }

    fn asynchronous(&mut self, name: &'static str) -> Option<&'static str> {
        match name {
            "ASYNC_BH" | "ASYNC_BH_ONESHOT" | "ASYNC_BLOCK" => self.skip(8)?,
            "ASYNC_INPUT" => self.input()?,
            "ASYNC_CHAR_READ" => {
                self.byte()?;
                self.array()?;
            }
            "ASYNC_NET" => {
                self.skip(5)?;
                self.array()?;
            }
            _ => {}
        }
        Some(name)
    }

    fn input(&mut self) -> Option<()> {
        match self.word()? {
            0 if self.ids.qcodes == 0 => self.skip(5),
            0 => match self.word()? {
                0 => self.skip(9),
                1 => self.skip(5),
                _ => None,
            },
            1 => self.skip(5),
            2 | 3 => self.skip(12),
            4 if self.ids.inputs > 4 => self.skip(32),
            _ => None,
        }
    }
}

/// Returns the events of a log, and whether they reach from the header to its end.
fn events(bytes: &[u8], ids: Ids) -> (Vec<Event>, bool) {
    let mut decoder = Decoder { bytes, ids, at: HEADER };
    let mut found = Vec::new();
    let has_header = bytes.get(..4) == Some(&ids.version.to_be_bytes());
    loop {
        let start = decoder.at;
        let Some(name) = decoder.event() else { return (found, false) };
        found.push(Event { start, end: decoder.at, name });
        if name == "END" {
            return (found, has_header && decoder.at == bytes.len());
        }
    }
}

/// Returns the release whose layout a sound log has.
pub fn release(bytes: &[u8]) -> Option<&'static str> {
    let fits = |ids: &&Ids| events(bytes, **ids).1;
    ids::all().iter().rev().find(fits).map(|ids| ids.release)
}

/// Reads a log in the layout of a release.
pub(super) fn read(files: &Files, release: &str) -> Reading {
    let (_, bytes) = &files[0];
    let (events, is_whole) = events(bytes, ids::of(release));
    let accepted = if is_whole { Ok(()) } else { Err("the events do not lead to END".to_string()) };
    let shown = events.iter().map(|event| {
        let bytes = bytes[event.start..event.end].to_vec();
        let label = format!("{} {:02x?}", event.name, &bytes[1..]);
        Shown { lane: String::new(), label, offset: None, bytes: Some(bytes) }
    });
    Reading { accepted, shown: shown.collect() }
}

/// Finds the events.
pub(super) fn place(sound: &mut Sound) -> Option<()> {
    sound.group = "qemu";
    let (events, _) = events(&sound.original.files[0].1, ids::of(sound.release?));
    let place = |event: &Event| Place { own: (0, event.start..event.end), needs: Vec::new() };
    sound.places = events.iter().map(place).collect();
    Some(())
}
