//! Members that are added to `stream.json` in place, in the way the text is written.
//!
//! What stands there keeps its bytes, order and format; a new member follows the last one of its
//! object, on a line of its own if the members before it have one.

use crate::formats::ovni::decode::json::{Item, Json, Kind};
use crate::formats::ovni::layout::METADATA_VERSION;
use crate::kit::span::{Layer, Span};
use crate::mend::edit::Edit;

/// Spaces that libovni's writer indents by.
const INDENT: usize = 4;

/// A value to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum New {
    /// A number, or any other text that is JSON already.
    Raw(String),
    /// A string.
    Text(String),
    /// An object.
    Object(Vec<(String, Self)>),
    /// An array.
    Array(Vec<Self>),
}

/// A member to be added, or given another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Add {
    /// Keys from the root to the object that gets it. What is missing on the way is made.
    pub path: Vec<&'static str>,
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: New,
}

impl Add {
    /// A member of the object `ovni`.
    pub fn ovni(key: impl Into<String>, value: New) -> Self {
        Self { path: vec!["ovni"], key: key.into(), value }
    }
}

/// `"version": 3`.
pub fn version() -> Add {
    let value = New::Raw(METADATA_VERSION.to_string());
    Add { path: Vec::new(), key: "version".to_string(), value }
}

/// Members that go into one object.
type Group<'j, 'a> = (Span, Vec<(String, New)>, Item<'j, 'a>);

/// The edits that add members to a text. A key that is there gets the new value, unless both are
/// objects or arrays: then what is new goes into the one that is there.
pub fn add(json: &Json<'_>, layer: Layer, adds: Vec<Add>) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    // Members that go into one object have to be one edit.
    let mut groups: Vec<Group<'_, '_>> = Vec::new();
    for add in adds {
        let (object, member) = landing(json.root(), add);
        let Some((key, value)) = member else { continue };
        if let Some(there) = object.member(&key) {
            let span = there.span();
            if let (Kind::Array, New::Array(values)) = (there.kind(), &value) {
                edits.push(extend(json, layer, there, values));
                continue;
            }
            let mut text = String::new();
            write(&value, depth(&object, json).saturating_add(1), &mut text);
            let span = Span::new(layer, span.start, span.end);
            edits.retain(|edit| edit.span != span);
            edits.push(Edit::replace(span, text));
            continue;
        }
        let span = object.span();
        let span = Span::new(layer, span.start, span.end);
        match groups.iter_mut().find(|(place, ..)| *place == span) {
            Some((_, members, _)) => merge(members, key, value),
            None => groups.push((span, vec![(key, value)], object)),
        }
    }
    edits.extend(
        groups.into_iter().map(|(_, members, object)| append(json, layer, object, &members)),
    );
    edits.sort_by_key(|edit| edit.span.start);
    edits
}

/// The innermost object on a path that is there, and the member that goes into it.
fn landing<'j, 'a>(root: Item<'j, 'a>, add: Add) -> (Item<'j, 'a>, Option<(String, New)>) {
    let mut object = root;
    let mut rest = add.path.into_iter();
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
    let mut value = (add.key, add.value);
    let Some(first) = made else {
        // An object that goes where one is already: member by member, the first of them.
        if let (Some(there), New::Object(members)) = (object.member(&value.0), &value.1)
            && there.kind() == Kind::Object
            && let [(key, inner)] = members.as_slice()
        {
            return (there, Some((key.clone(), inner.clone())));
        }
        return (object, Some(value));
    };
    let deeper: Vec<&str> = rest.collect();
    for key in deeper.into_iter().rev() {
        value = (key.to_string(), New::Object(vec![value]));
    }
    (object, Some((first.to_string(), New::Object(vec![value]))))
}

/// Adds a member to a list, into the object of the same key if there is one.
fn merge(members: &mut Vec<(String, New)>, key: String, value: New) {
    match (members.iter_mut().find(|(other, _)| *other == key), value) {
        (Some((_, New::Object(there))), New::Object(more)) => {
            for (key, value) in more {
                merge(there, key, value);
            }
        }
        (Some((_, there)), value) => *there = value,
        (None, value) => members.push((key, value)),
    }
}

/// One edit that puts members behind the last one of an object.
fn append(json: &Json<'_>, layer: Layer, object: Item<'_, '_>, members: &[(String, New)]) -> Edit {
    let span = object.span();
    let last = object.items().last();
    let at = last.map_or(span.start.saturating_add(1), |last| last.span().end);
    let depth = depth(&object, json).saturating_add(1);
    let lines = last.is_none_or(|last| json.own_line(&last)) || members.len() > 2;
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
        // An empty object may hold white space: it goes.
        let inner = Span::new(layer, at, span.end.saturating_sub(1));
        return Edit::replace(inner, text);
    }
    Edit::replace(Span::new(layer, at, at), text)
}

/// One edit that puts values behind the last one of an array.
fn extend(json: &Json<'_>, layer: Layer, array: Item<'_, '_>, values: &[New]) -> Edit {
    let span = array.span();
    let last = array.items().last();
    let at = last.map_or(span.start.saturating_add(1), |last| last.span().end);
    let depth = depth(&array, json).saturating_add(1);
    let mut text = String::new();
    for (index, value) in values.iter().enumerate() {
        if index > 0 || last.is_some() {
            text.push(',');
        }
        newline(depth, &mut text);
        write(value, depth, &mut text);
    }
    let end = if last.is_none() { span.end.saturating_sub(1) } else { at };
    if last.is_none() {
        newline(depth.saturating_sub(1), &mut text);
    }
    Edit::replace(Span::new(layer, at, end), text)
}

/// How many objects and arrays hold a value.
fn depth(item: &Item<'_, '_>, json: &Json<'_>) -> usize {
    json.depth(item)
}

/// A whole text.
pub fn document(adds: Vec<Add>) -> String {
    let mut members = Vec::new();
    for add in adds {
        let mut value = (add.key, add.value);
        for key in add.path.into_iter().rev() {
            value = (key.to_string(), New::Object(vec![value]));
        }
        merge(&mut members, value.0, value.1);
    }
    let mut text = String::new();
    write(&New::Object(members), 0, &mut text);
    text
}

fn newline(depth: usize, text: &mut String) {
    text.push('\n');
    for _ in 0..depth.saturating_mul(INDENT) {
        text.push(' ');
    }
}

/// Writes a value as libovni's writer does. Values are a few levels deep by construction.
fn write(value: &New, depth: usize, text: &mut String) {
    let inner = depth.saturating_add(1);
    match value {
        New::Raw(raw) => text.push_str(raw),
        New::Text(string) => quote(string, text),
        New::Object(members) if members.is_empty() => text.push_str("{}"),
        New::Object(members) => {
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
        New::Array(values) => {
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
    use crate::formats::ovni::decode::json::parse;
    use crate::kit::num::to_u64;
    use crate::kit::source::Source;
    use crate::mend::patch::Patch;

    fn added(text: &str, adds: Vec<Add>) -> String {
        let json = parse(text.as_bytes()).unwrap();
        let edits = add(&json, Layer::stored(0), adds);
        let patch = Patch::from_edits(to_u64(text.len()), &edits).unwrap();
        let out = patch.view(&Source::new(text.as_bytes())).pieces().collect::<Vec<_>>().concat();
        parse(&out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn raw(text: &str) -> New {
        New::Raw(text.to_string())
    }

    #[test]
    fn members_follow_the_last_one_and_the_rest_keeps_its_bytes() {
        let text =
            "{\n    \"version\": 3, // three\n    \"ovni\": {\n        \"tid\": 1\n    }\n}\n";
        let adds = vec![Add::ovni("finished", raw("1")), Add::ovni("rank", raw("0"))];
        assert_eq!(
            added(text, adds),
            "{\n    \"version\": 3, // three\n    \"ovni\": {\n        \"tid\": 1,\n        \
             \"finished\": 1,\n        \"rank\": 0\n    }\n}\n"
        );
        let text = r#"{"ovni": {"tid": 1, "finished": 0}, "x": []}"#;
        assert_eq!(
            added(text, vec![Add::ovni("finished", raw("1")), Add::ovni("rank", raw("0"))]),
            r#"{"ovni": {"tid": 1, "finished": 1, "rank": 0}, "x": []}"#
        );
    }

    #[test]
    fn what_is_missing_on_the_way_is_made_once() {
        let require = |model: &str| Add {
            path: vec!["ovni", "require"],
            key: model.to_string(),
            value: New::Text("1.1.0".to_string()),
        };
        let lib = || vec![require("ovni"), require("nosv"), Add::ovni("finished", raw("1"))];
        let want = parse(br#"{"ovni":{"require":{"ovni":"1.1.0","nosv":"1.1.0"},"finished":1}}"#);
        let want = want.unwrap();
        for text in ["{}", "{ \"ovni\": { } }", "{\"ovni\": {\"require\": {}}}"] {
            let out = added(text, lib());
            let json = parse(out.as_bytes()).unwrap();
            for path in ["ovni.require.ovni", "ovni.require.nosv", "ovni.finished"] {
                let value = |json: &Json<'_>| json.root().path(path).map(|item| item.kind());
                assert_eq!(value(&json), value(&want), "{path} in {out}");
            }
        }
        assert_eq!(document(lib()), added("{}", lib()));
    }

    #[test]
    fn strings_are_quoted() {
        let add = Add::ovni("loom", New::Text("a\"\\\u{1}é".to_string()));
        assert!(added("{}", vec![add]).contains(r#""loom": "a\"\\\u0001é""#));
    }
}
