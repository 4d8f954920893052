//! Members that are added to `stream.json` in place, in the style of the text.
//!
//! Existing members keep their bytes, order and format; a new member follows the last one of its
//! object, on a line of its own if the members before it have one.

use crate::formats::ovni::decode::json::{Item, Json, Kind};
use crate::formats::ovni::layout::METADATA_VERSION;
use crate::kit::span::{Layer, Span};
use crate::model::edit::Edit;

/// Spaces that libovni's writer indents by.
const INDENT: usize = 4;

/// A value to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewValue {
    /// A number, or any other text that is JSON already.
    Raw(String),
    /// A string.
    Text(String),
    /// An object.
    Object(Vec<(String, Self)>),
    /// An array.
    Array(Vec<Self>),
}

/// A member to be added, or to get another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMember {
    /// Keys from the root to its object. Objects that do not exist are added.
    pub path: Vec<&'static str>,
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: NewValue,
}

impl NewMember {
    /// Returns a member of the object `ovni`.
    pub fn of_ovni(key: impl Into<String>, value: NewValue) -> Self {
        Self { path: vec!["ovni"], key: key.into(), value }
    }
}

/// Returns the member `"version": 3`.
pub fn version_member() -> NewMember {
    let value = NewValue::Raw(METADATA_VERSION.to_string());
    NewMember { path: Vec::new(), key: "version".to_string(), value }
}

/// Returns a CPU of `ovni.loom_cpus`, as libovni writes it.
pub fn cpu_text((index, phyid): (i64, i64)) -> String {
    /// Objects and arrays around it.
    const DEPTH: usize = 3;
    let mut text = String::new();
    write(&cpu_value(index, phyid), DEPTH, &mut text);
    text
}

/// Returns the value of a CPU.
pub fn cpu_value(index: i64, phyid: i64) -> NewValue {
    let member = |key: &str, value: i64| (key.to_string(), NewValue::Raw(value.to_string()));
    NewValue::Object(vec![member("index", index), member("phyid", phyid)])
}

/// A value that is replaced: its place, its depth, and the member that it becomes.
type Replaced = (Span, usize, Vec<(String, NewValue)>);

/// Members that are added to one object.
type Group<'j, 'a> = (Span, Vec<(String, NewValue)>, Item<'j, 'a>);

/// Returns the edits that add members to a text. A key that exists gets the new value, unless both
/// values are objects or arrays: then the new members or values are added to the existing ones.
pub fn insert_members(json: &Json<'_>, layer: Layer, members: Vec<NewMember>) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    let mut replaced: Vec<Replaced> = Vec::new();
    // Members of one object have to be one edit.
    let mut groups: Vec<Group<'_, '_>> = Vec::new();
    for member in members {
        let (object, (key, value)) = find_object(json.root(), member);
        if let Some(there) = object.member(&key) {
            let span = there.span();
            if let (Kind::Array, NewValue::Array(values)) = (there.kind(), &value) {
                edits.push(extend(json, layer, there, values));
                continue;
            }
            let span = Span::new(layer, span.start, span.end);
            match replaced.iter_mut().find(|(place, ..)| *place == span) {
                Some((.., members)) => merge(members, key, value),
                None => {
                    let depth = json.depth(&object).saturating_add(1);
                    replaced.push((span, depth, vec![(key, value)]));
                }
            }
            continue;
        }
        let span = object.span();
        let span = Span::new(layer, span.start, span.end);
        match groups.iter_mut().find(|(place, ..)| *place == span) {
            Some((_, members, _)) => merge(members, key, value),
            None => groups.push((span, vec![(key, value)], object)),
        }
    }
    for (span, depth, members) in replaced {
        let mut text = String::new();
        members.iter().for_each(|(_, value)| write(value, depth, &mut text));
        if json.slice(&(span.start..span.end)) != text.as_bytes() {
            edits.push(Edit::replace(span, text));
        }
    }
    edits.extend(
        groups.into_iter().map(|(_, members, object)| append(json, layer, object, &members)),
    );
    edits.sort_by_key(|edit| edit.span.start);
    edits
}

/// The innermost object on a path that exists, and the member that is added to it.
fn find_object<'j, 'a>(
    root: Item<'j, 'a>,
    member: NewMember,
) -> (Item<'j, 'a>, (String, NewValue)) {
    let mut object = root;
    let mut rest = member.path.into_iter();
    let mut made = None;
    for key in rest.by_ref() {
        match object.member(key).filter(|member| member.kind() == Kind::Object) {
            Some(member) => object = member,
            None => {
                made = Some(key);
                break;
            }
        }
    }
    let mut value = (member.key, member.value);
    let Some(first) = made else {
        // An object for a key that has one already: its only member is added.
        if let (Some(there), NewValue::Object(members)) = (object.member(&value.0), &value.1)
            && there.kind() == Kind::Object
            && let [(key, inner)] = members.as_slice()
        {
            return (there, (key.clone(), inner.clone()));
        }
        return (object, value);
    };
    let deeper: Vec<&str> = rest.collect();
    for key in deeper.into_iter().rev() {
        value = (key.to_string(), NewValue::Object(vec![value]));
    }
    (object, (first.to_string(), NewValue::Object(vec![value])))
}

/// Adds a member to a list, or to the object of the same key if the list has one.
fn merge(members: &mut Vec<(String, NewValue)>, key: String, value: NewValue) {
    match (members.iter_mut().find(|(other, _)| *other == key), value) {
        (Some((_, NewValue::Object(there))), NewValue::Object(more)) => {
            for (key, value) in more {
                merge(there, key, value);
            }
        }
        (Some((_, there)), value) => *there = value,
        (None, value) => members.push((key, value)),
    }
}

/// Returns the edit that adds members after the last one of an object.
fn append(
    json: &Json<'_>,
    layer: Layer,
    object: Item<'_, '_>,
    members: &[(String, NewValue)],
) -> Edit {
    let span = object.span();
    let last = object.items().last();
    let at = last.map_or(span.start.saturating_add(1), |last| last.span().end);
    let depth = json.depth(&object).saturating_add(1);
    let lines = last.is_none_or(|last| json.is_on_own_line(&last)) || members.len() > 2;
    let mut text = String::new();
    for (index, (key, value)) in members.iter().enumerate() {
        if index > 0 || last.is_some() {
            text.push(',');
        }
        if lines {
            newline(depth, &mut text);
        } else {
            text.push(' ');
        }
        quote(key, &mut text);
        text.push_str(": ");
        write(value, depth, &mut text);
    }
    if last.is_none() {
        newline(depth.saturating_sub(1), &mut text);
    }
    Edit::replace(Span::new(layer, at, at), text)
}

/// Returns the edit that adds values after the last one of an array.
fn extend(json: &Json<'_>, layer: Layer, array: Item<'_, '_>, values: &[NewValue]) -> Edit {
    let span = array.span();
    let last = array.items().last();
    let at = last.map_or(span.start.saturating_add(1), |last| last.span().end);
    let depth = json.depth(&array).saturating_add(1);
    let mut text = String::new();
    for (index, value) in values.iter().enumerate() {
        if index > 0 || last.is_some() {
            text.push(',');
        }
        newline(depth, &mut text);
        write(value, depth, &mut text);
    }
    if last.is_none() {
        newline(depth.saturating_sub(1), &mut text);
    }
    Edit::replace(Span::new(layer, at, at), text)
}

/// Returns a complete text with these members.
pub fn write_document(new: Vec<NewMember>) -> String {
    let mut members = Vec::new();
    for member in new {
        let mut value = (member.key, member.value);
        for key in member.path.into_iter().rev() {
            value = (key.to_string(), NewValue::Object(vec![value]));
        }
        merge(&mut members, value.0, value.1);
    }
    let mut text = String::new();
    write(&NewValue::Object(members), 0, &mut text);
    text
}

fn newline(depth: usize, text: &mut String) {
    text.push('\n');
    for _ in 0..depth.saturating_mul(INDENT) {
        text.push(' ');
    }
}

/// Writes a value as libovni's writer does. Values are a few levels deep by construction.
fn write(value: &NewValue, depth: usize, text: &mut String) {
    let inner = depth.saturating_add(1);
    match value {
        NewValue::Raw(raw) => text.push_str(raw),
        NewValue::Text(string) => quote(string, text),
        NewValue::Object(members) if members.is_empty() => text.push_str("{}"),
        NewValue::Object(members) => {
            text.push('{');
            for (index, (key, value)) in members.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                newline(inner, text);
                quote(key, text);
                text.push_str(": ");
                write(value, inner, text);
            }
            newline(depth, text);
            text.push('}');
        }
        NewValue::Array(values) => {
            text.push('[');
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                newline(inner, text);
                write(value, inner, text);
            }
            newline(depth, text);
            text.push(']');
        }
    }
}

fn quote(string: &str, text: &mut String) {
    text.push('"');
    for character in string.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            c if u32::from(c) < 0x20 => text.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => text.push(c),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::ovni::decode::json;
    use crate::kit::num::to_u64;
    use crate::kit::source::Source;
    use crate::model::limits::Limits;
    use crate::model::patch::Patch;

    fn parse(text: &[u8]) -> Json<'_> {
        json::parse(text.into(), &Limits::default()).unwrap()
    }

    fn added(text: &str, adds: Vec<NewMember>) -> String {
        let json = parse(text.as_bytes());
        let edits = insert_members(&json, Layer::stored(0), adds);
        let patch = Patch::from_edits(to_u64(text.len()), &edits).unwrap();
        let out = patch.view(&Source::new(text.as_bytes())).pieces().collect::<Vec<_>>().concat();
        parse(&out);
        String::from_utf8(out).unwrap()
    }

    fn raw(text: &str) -> NewValue {
        NewValue::Raw(text.to_string())
    }

    #[test]
    fn members_follow_the_last_one_and_all_others_keep_their_bytes() {
        let text =
            "{\n    \"version\": 3, // three\n    \"ovni\": {\n        \"tid\": 1\n    }\n}\n";
        let adds =
            vec![NewMember::of_ovni("finished", raw("1")), NewMember::of_ovni("rank", raw("0"))];
        assert_eq!(
            added(text, adds),
            "{\n    \"version\": 3, // three\n    \"ovni\": {\n        \"tid\": 1,\n        \
             \"finished\": 1,\n        \"rank\": 0\n    }\n}\n"
        );
        let text = r#"{"ovni": {"tid": 1, "finished": 0}, "x": []}"#;
        assert_eq!(
            added(
                text,
                vec![
                    NewMember::of_ovni("finished", raw("1")),
                    NewMember::of_ovni("rank", raw("0"))
                ]
            ),
            r#"{"ovni": {"tid": 1, "finished": 1, "rank": 0}, "x": []}"#
        );
    }

    #[test]
    fn objects_that_do_not_exist_are_added_once() {
        let require = |model: &str| NewMember {
            path: vec!["ovni", "require"],
            key: model.to_string(),
            value: NewValue::Text("1.1.0".to_string()),
        };
        let lib =
            || vec![require("ovni"), require("nosv"), NewMember::of_ovni("finished", raw("1"))];
        let want = parse(br#"{"ovni":{"require":{"ovni":"1.1.0","nosv":"1.1.0"},"finished":1}}"#);
        for text in ["{}", "{ \"ovni\": { } }", "{\"ovni\": {\"require\": {}}}"] {
            let out = added(text, lib());
            let json = parse(out.as_bytes());
            for path in ["ovni.require.ovni", "ovni.require.nosv", "ovni.finished"] {
                let value = |json: &Json<'_>| json.root().path(path).map(|item| item.kind());
                assert_eq!(value(&json), value(&want), "{path} in {out}");
            }
        }
        assert_eq!(write_document(lib()), added("{}", lib()));
    }

    #[test]
    fn strings_are_quoted() {
        let add = NewMember::of_ovni("loom", NewValue::Text("a\"\\\u{1}é".to_string()));
        assert!(added("{}", vec![add]).contains(r#""loom": "a\"\\\u0001é""#));
    }

    #[test]
    fn an_object_for_a_key_that_has_one_is_merged_and_replaces_any_other_value() {
        let lib = || NewValue::Object(vec![("version".to_string(), raw("1"))]);
        let with_lib = |text| {
            let out = added(text, vec![NewMember::of_ovni("lib", lib())]);
            out.split_whitespace().collect::<String>()
        };
        let merged = r#"{"ovni":{"lib":{"commit":2,"version":1}}}"#;
        assert_eq!(with_lib(r#"{"ovni": {"lib": {"commit": 2}}}"#), merged);
        let replaced = r#"{"ovni":{"lib":{"version":1}}}"#;
        assert_eq!(with_lib(r#"{"ovni": {"lib": 7}}"#), replaced);
        let both = vec![NewMember::of_ovni("tid", raw("1")), NewMember::of_ovni("pid", raw("2"))];
        let out = added(r#"{"ovni": 7}"#, both).split_whitespace().collect::<String>();
        assert_eq!(out, r#"{"ovni":{"tid":1,"pid":2}}"#);
    }
}
