//! The definitions of a trace: names of functions, arguments, members, values and frames.

use std::collections::BTreeMap;

use super::functions::{ends_frame, is_query};
use crate::formats::apitrace::decode::grammar::Space;
use crate::formats::apitrace::decode::raw::Raw;
use crate::formats::apitrace::layout::{VERSION_ENUM_SETS, VERSION_MAX, kind};
use crate::kit::num::to_u64;
use crate::kit::text::is_safe;

/// Returns text from a file with what is not safe to print escaped.
pub(super) fn safe_text(bytes: &[u8]) -> String {
    let mut text = String::new();
    for character in String::from_utf8_lossy(bytes).chars() {
        match is_safe(character) {
            true => text.push(character),
            false => text.extend(character.escape_default()),
        }
    }
    text
}

/// A function or a struct.
#[derive(Clone, Debug, Default)]
pub(in crate::formats::apitrace) struct Signature {
    /// Its name, safe to print.
    pub(in crate::formats::apitrace) name: String,
    /// The names of its arguments or members, safe to print, without spare room: a trace may have a
    /// million definitions.
    pub(super) items: Box<[String]>,
    /// Whether a call of the function is the last one of its frame.
    pub(super) ends_frame: bool,
    /// Whether `apitrace dump` leaves the function out.
    pub(super) is_query: bool,
}

/// The values of an enum.
#[derive(Clone, Debug, Default)]
pub(super) struct EnumValues {
    /// The value that the definition begins with.
    pub(super) first: Option<i64>,
    /// The first name of each value, safe to print.
    pub(super) names: BTreeMap<i64, String>,
}

/// All definitions up to a place of the stream.
#[derive(Clone, Debug, Default)]
pub(in crate::formats::apitrace) struct Names {
    functions: BTreeMap<u64, Signature>,
    structs: BTreeMap<u64, Signature>,
    enums: BTreeMap<u64, EnumValues>,
    bitmasks: BTreeMap<u64, Vec<(u64, String)>>,
    frames: BTreeMap<u64, String>,
}

impl Names {
    /// Returns the number of items of an id that is defined.
    pub(in crate::formats::apitrace) fn item_count(&self, space: Space, id: u64) -> Option<usize> {
        match space {
            Space::Function => self.function(id).map(|function| function.items.len()),
            Space::Struct => self.structure(id).map(|structure| structure.items.len()),
            Space::Enum => self.enums.get(&id).map(|values| values.names.len()),
            Space::Bitmask => self.bitmasks.get(&id).map(Vec::len),
            Space::Frame => self.frames.get(&id).map(|_| 0),
        }
    }

    pub(in crate::formats::apitrace) fn function(&self, id: u64) -> Option<&Signature> {
        self.functions.get(&id)
    }

    pub(super) fn structure(&self, id: u64) -> Option<&Signature> {
        self.structs.get(&id)
    }

    pub(super) fn enumeration(&self, id: u64) -> Option<&EnumValues> {
        self.enums.get(&id)
    }

    /// Returns the flags of a bitmask in the order of their definition.
    pub(super) fn flags(&self, id: u64) -> &[(u64, String)] {
        self.bitmasks.get(&id).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the line of a stack frame.
    pub(super) fn frame(&self, id: u64) -> &str {
        self.frames.get(&id).map(String::as_str).unwrap_or("?")
    }

    /// Adds a definition, as it is stored after its id. Bytes that are missing are left out.
    pub(in crate::formats::apitrace) fn add(
        &mut self,
        version: u64,
        space: Space,
        id: u64,
        raw: &[u8],
    ) {
        let mut raw = Raw(raw);
        match space {
            Space::Function => _ = self.functions.insert(id, raw.signature()),
            Space::Struct => _ = self.structs.insert(id, raw.signature()),
            Space::Enum => _ = self.enums.insert(id, raw.enumeration(version)),
            Space::Bitmask => _ = self.bitmasks.insert(id, raw.flags()),
            Space::Frame => _ = self.frames.insert(id, raw.frame()),
        }
    }
}

/// The definitions up to a place of a stream.
pub(in crate::formats::apitrace) struct Known {
    pub(in crate::formats::apitrace) names: Names,
    /// The version of the stream.
    pub(in crate::formats::apitrace) version: u64,
    /// Items of definitions that were lost, by what their uses show.
    lost: BTreeMap<(Space, u64), u64>,
    /// The bytes of the one that is being read.
    pub(in crate::formats::apitrace) raw: Vec<u8>,
}

impl Known {
    /// No definition.
    pub(in crate::formats::apitrace) fn new() -> Self {
        let (names, lost) = Default::default();
        Self { names, version: VERSION_MAX, lost, raw: Vec::new() }
    }

    /// Adds the definition that was read.
    pub(in crate::formats::apitrace) fn add(&mut self, space: Space, id: u64) {
        self.names.add(self.version, space, id, &self.raw);
    }

    /// Adds one that was lost.
    pub(in crate::formats::apitrace) fn add_lost(
        &mut self,
        (space, id): (Space, u64),
        count: u64,
        raw: &[u8],
    ) {
        self.names.add(self.version, space, id, raw);
        self.lost.insert((space, id), count);
    }

    /// Returns the number of items of a definition.
    pub(in crate::formats::apitrace) fn item_count(&self, space: Space, id: u64) -> Option<u64> {
        let lost = self.lost.get(&(space, id)).copied();
        lost.or_else(|| self.names.item_count(space, id).map(to_u64))
    }
}

impl Raw<'_> {
    fn text(&mut self) -> Option<String> {
        self.name().map(safe_text)
    }

    fn signature(&mut self) -> Signature {
        let name = self.text().unwrap_or_default();
        let count = self.uint().unwrap_or_default();
        let items = (0..count).map_while(|_| self.text()).collect();
        let (ends_frame, is_query) = (ends_frame(&name), is_query(&name));
        Signature { name, items, ends_frame, is_query }
    }

    fn enumeration(&mut self, version: u64) -> EnumValues {
        let count = if version >= VERSION_ENUM_SETS { self.uint().unwrap_or_default() } else { 1 };
        let mut values = EnumValues::default();
        for _ in 0..count {
            let (Some(name), Some(tag), Some(value)) = (self.text(), self.byte(), self.uint())
            else {
                break;
            };
            let value = signed(tag == kind::SINT, value);
            values.first.get_or_insert(value);
            values.names.entry(value).or_insert(name);
        }
        values
    }

    fn flags(&mut self) -> Vec<(u64, String)> {
        let count = self.uint().unwrap_or_default();
        let flag = |_| {
            let name = self.text()?;
            Some((self.uint()?, name))
        };
        (0..count).map_while(flag).collect()
    }

    /// The line of a stack frame: `module: function+0x1f: file:12`.
    fn frame(&mut self) -> String {
        let (mut texts, mut numbers) = ([None, None, None], [None, None]);
        while let Some(tag) = self.byte() {
            match tag {
                1..=3 => {
                    let cell = texts.get_mut(usize::from(tag.saturating_sub(1)));
                    cell.into_iter().for_each(|cell| *cell = self.text());
                }
                4..=5 => {
                    let cell = numbers.get_mut(usize::from(tag.saturating_sub(4)));
                    cell.into_iter().for_each(|cell| *cell = self.uint());
                }
                _ => break,
            }
        }
        let ([module, function, file], [line, offset]) = (texts, numbers);
        let mut text = module.unwrap_or_else(|| "?".to_string());
        text += &function.map(|function| format!(": {function}")).unwrap_or_default();
        text += &offset.map(|offset| format!("+{offset:#x}")).unwrap_or_default();
        let place = line.map(|line| format!(":{line}")).unwrap_or_default();
        text += &file.map(|file| format!(": {file}{place}")).unwrap_or_default();
        text
    }
}

/// Returns the number that a sign and a magnitude of 64 bits stand for in C.
pub(super) const fn signed(is_negative: bool, magnitude: u64) -> i64 {
    let value = magnitude.cast_signed();
    if is_negative { value.wrapping_neg() } else { value }
}
