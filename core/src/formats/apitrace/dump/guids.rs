//! Names of interfaces, as apitrace prints them instead of their GUID.

use std::cmp::Ordering;

/// A line per name, in the order of the GUIDs, each in its form as text.
static TABLE: &str = include_str!("guids.txt");

/// Members of the struct `GUID`.
pub(super) const MEMBERS: usize = 4;
/// Numbers in it: three members, and an array of eight bytes.
const NUMBERS: usize = 11;

/// A value of the struct `GUID` that is being read.
#[derive(Debug)]
pub(super) struct Guid {
    /// Where its text begins.
    pub(super) start: usize,
    /// The levels around it.
    pub(super) depth: usize,
    /// Its numbers so far.
    numbers: Vec<u64>,
}

impl Guid {
    /// A value whose text begins at `start`.
    pub(super) const fn new(start: usize, depth: usize) -> Self {
        Self { start, depth, numbers: Vec::new() }
    }

    /// Adds a number; those after the last one are not kept.
    pub(super) fn push(&mut self, number: u64) {
        if self.numbers.len() <= NUMBERS {
            self.numbers.push(number);
        }
    }

    /// Returns its name, or its form as text; `None` if it has other members than a GUID.
    pub(super) fn text(&self) -> Option<String> {
        let [first, second, third, bytes @ ..] = self.numbers.as_slice() else { return None };
        let [a, b, rest @ ..] = bytes else { return None };
        if self.numbers.len() != NUMBERS {
            return None;
        }
        // apitrace stores each number in a member of its size.
        let [second, third] = [second, third].map(|number| number & 0xffff);
        let [a, b] = [a, b].map(|byte| byte & 0xff);
        let rest: String = rest.iter().map(|byte| format!("{:02x}", byte & 0xff)).collect();
        let first = first & 0xffff_ffff;
        let form = format!("{first:08x}-{second:04x}-{third:04x}-{a:02x}{b:02x}-{rest}");
        Some(find(&form).map_or_else(|| format!("uuid({form})"), str::to_string))
    }
}

/// Returns the name of a GUID.
fn find(form: &str) -> Option<&'static str> {
    let mut rest = TABLE;
    while !rest.is_empty() {
        // The line at the middle of the rest, and what comes before and after it.
        let half = rest.len() >> 1;
        let start = rest.get(..half)?.rfind('\n').map_or(0, |end| end.saturating_add(1));
        let end = rest.get(start..)?.find('\n').map_or(rest.len(), |len| start.saturating_add(len));
        let (guid, name) = rest.get(start..end)?.split_once(' ')?;
        rest = match form.cmp(guid) {
            Ordering::Equal => return Some(name),
            Ordering::Less => rest.get(..start)?,
            Ordering::Greater => rest.get(end.saturating_add(1)..)?,
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_the_table_is_found_and_no_other() {
        for line in TABLE.lines() {
            let (form, name) = line.split_once(' ').expect("a GUID and its name");
            assert_eq!(find(form), Some(name));
            assert_eq!(find(&form.replace('-', "g")), None, "{form}");
        }
        assert!(TABLE.lines().is_sorted());
        assert_eq!(find(""), None);
        assert_eq!(find("g"), None);
    }
}
