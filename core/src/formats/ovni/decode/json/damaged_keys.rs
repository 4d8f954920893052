//! Keys that damage has changed.
//!
//! A key that is not known, in an object that lacks a known key, is that key if both begin and end
//! alike and the value is of its kind: `"lo1m_cpus": [..]` is `"loom_cpus"`. Other unknown keys
//! belong to the user.

use super::{Item, Json, Kind};

/// Kind of the value of a known key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Number,
    Text,
    Bool,
    Array,
    Object,
}

impl Form {
    const fn of(kind: Kind) -> Option<Self> {
        match kind {
            Kind::Number(_) => Some(Self::Number),
            Kind::String => Some(Self::Text),
            Kind::Bool(_) => Some(Self::Bool),
            Kind::Array => Some(Self::Array),
            Kind::Object => Some(Self::Object),
            Kind::Null => None,
        }
    }
}

/// Known keys inside a value.
#[derive(Clone, Copy, Debug)]
enum Inside {
    Nothing,
    Keys(&'static [Known]),
    /// Every member or value is an object with these keys.
    Each(&'static [Known]),
}

#[derive(Clone, Copy, Debug)]
struct Known {
    key: &'static str,
    form: Form,
    inside: Inside,
}

const fn known(key: &'static str, form: Form) -> Known {
    Known { key, form, inside: Inside::Nothing }
}

const fn object(key: &'static str, keys: &'static [Known]) -> Known {
    Known { key, form: Form::Object, inside: Inside::Keys(keys) }
}

static ROOT: [Known; 3] =
    [known("version", Form::Number), object("ovni", &OVNI), object("nosv", &NOSV)];

static OVNI: [Known; 12] = [
    object("lib", &[known("version", Form::Text), known("commit", Form::Text)]),
    known("part", Form::Text),
    known("tid", Form::Number),
    known("pid", Form::Number),
    known("loom", Form::Text),
    known("require", Form::Object),
    known("app_id", Form::Number),
    known("rank", Form::Number),
    known("nranks", Form::Number),
    Known {
        key: "loom_cpus",
        form: Form::Array,
        inside: Inside::Each(&[known("index", Form::Number), known("phyid", Form::Number)]),
    },
    Known {
        key: "mark",
        form: Form::Object,
        inside: Inside::Each(&[
            known("title", Form::Text),
            known("chan_type", Form::Text),
            known("labels", Form::Object),
        ]),
    },
    known("finished", Form::Number),
];

static NOSV: [Known; 2] = [
    known("can_breakdown", Form::Bool),
    Known { key: "hwc", form: Form::Object, inside: Inside::Each(&[known("name", Form::Text)]) },
];

/// Returns the members whose keys were changed, each with its number and its key, by number.
pub(super) fn find_damaged_keys(json: &Json<'_>) -> Vec<(usize, &'static str)> {
    let mut found = Vec::new();
    let mut open: Vec<(usize, &'static [Known])> = vec![(0, &ROOT)];
    while let Some((number, keys)) = open.pop() {
        let object = json.item(number);
        if object.kind() != Kind::Object {
            continue;
        }
        let restored = restore_keys(json, object, keys);
        for member in object.items() {
            let was = restored.iter().find(|(number, _)| *number == member.number);
            let key = was.map_or_else(|| member.key(), |(_, key)| (*key).to_string());
            match keys.iter().find(|known| known.key == key).map(|known| known.inside) {
                Some(Inside::Keys(inner)) => open.push((member.number, inner)),
                Some(Inside::Each(inner)) => {
                    open.extend(member.items().map(|item| (item.number, inner)));
                }
                Some(Inside::Nothing) | None => {}
            }
        }
        found.extend(restored);
    }
    found.sort_unstable();
    found
}

/// Whether an object other than `ovni` has keys that belong there, and no other object has: damage
/// has moved brackets.
pub(super) fn has_displaced_keys(json: &Json<'_>) -> bool {
    const KEYS: [&str; 6] = ["part", "tid", "pid", "loom", "loom_cpus", "finished"];
    let root = json.root();
    let ovni = root.member("ovni");
    let lib = ovni.and_then(|ovni| ovni.member("lib"));
    let require = ovni.and_then(|ovni| ovni.member("require"));
    let mut others = [Some(root), lib, require].into_iter().flatten();
    others.any(|object| object.items().any(|item| KEYS.contains(&item.key().as_str())))
}

/// The changed keys of one object.
fn restore_keys(
    json: &Json<'_>,
    object: Item<'_, '_>,
    keys: &'static [Known],
) -> Vec<(usize, &'static str)> {
    let present: Vec<(Item<'_, '_>, String)> =
        object.items().map(|member| (member, member.key())).collect();
    let is_present = |known: &&Known| present.iter().any(|(_, key)| key == known.key);
    let mut missing: Vec<&Known> = keys.iter().filter(|known| !is_present(known)).collect();
    let mut restored = Vec::new();
    for (member, key) in &present {
        if missing.is_empty() || keys.iter().any(|known| known.key == key) {
            continue;
        }
        let quoted = member.key_span().map(|span| json.slice(&span)).unwrap_or_default();
        let stored = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
        let form = Form::of(member.kind());
        let scored = missing.iter().enumerate().filter(|(_, known)| Some(known.form) == form);
        let scored =
            scored.filter_map(|(place, known)| Some((likeness(stored, known.key)?, place)));
        let mut scored: Vec<(usize, usize)> = scored.collect();
        scored.sort_unstable_by(|a, b| b.cmp(a));
        let place = match scored.as_slice() {
            [(_, place)] => *place,
            [(best, place), (next, _), ..] if best > next => *place,
            _ => continue,
        };
        restored.push((member.number, missing.remove(place).key));
    }
    restored
}

/// Returns the number of bytes at the beginning and at the end of a known key that a stored one has
/// as well, if they are most of it.
fn likeness(stored: &[u8], known: &str) -> Option<usize> {
    let known = known.as_bytes();
    let first = stored.iter().zip(known).take_while(|(a, b)| a == b).count();
    let left = known.len().min(stored.len()).saturating_sub(first);
    let last = stored.iter().rev().zip(known.iter().rev()).take_while(|(a, b)| a == b);
    let same = first.saturating_add(last.take(left).count());
    (same >= 2 && same.saturating_mul(2) >= known.len()).then_some(same)
}

#[cfg(test)]
mod tests {
    use crate::formats::ovni::decode::json::parse;
    use crate::model::limits::Limits;

    fn restored(text: &str) -> Vec<(String, String)> {
        let json = parse(text.as_bytes().into(), &Limits::default()).unwrap();
        let place = |(number, key): &(usize, &str)| {
            let span = json.item(*number).key_span().unwrap();
            (String::from_utf8_lossy(json.slice(&span)).into_owned(), (*key).to_string())
        };
        let mut found: Vec<_> = json.damaged_keys.iter().map(place).collect();
        found.sort();
        found
    }

    fn pair(stored: &str, key: &str) -> (String, String) {
        (format!("\"{stored}\""), key.to_string())
    }

    #[test]
    fn a_key_that_resembles_a_missing_one_is_that_key() {
        let text = r#"{"v&rsion": 3, "o~ni": {"tid": 1, "pjd": 2, "lo1m_cpus": [{"inxdex": 0}]}}"#;
        let want =
            ["inxdex index", "lo1m_cpus loom_cpus", "o~ni ovni", "pjd pid", "v&rsion version"];
        let want: Vec<_> = want
            .map(|pair| pair.split_once(' ').unwrap())
            .map(|(stored, key)| pair(stored, key))
            .to_vec();
        assert_eq!(restored(text), want);
    }

    #[test]
    fn keys_of_the_user_stay() {
        // Another kind of value, a key that exists, and a key that resembles nothing.
        for text in [
            r#"{"ovni": {"tid": 1, "pjd": "2", "tida": 3}}"#,
            r#"{"version": 3, "versions": 4, "mine": {"tod": 1}}"#,
            r#"{"ovni": {"my key": 7, "nranks": 4}}"#,
        ] {
            assert_eq!(restored(text), [], "{text}");
        }
    }
}
