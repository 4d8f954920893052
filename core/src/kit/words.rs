//! Words that every message is made of: counts, lists, sizes and times. One place, so that they
//! agree.

/// Returns a count with its noun: `1 event`, `2 events`, `3 entries`.
///
/// `noun` is the singular; its last word gets the plural (`complete record`, `entry`, `axis`).
pub fn plural(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {}", plural_noun(noun)) }
}

/// Returns the plural of a noun.
pub fn plural_noun(noun: &str) -> String {
    /// Nouns of the formats whose plural does not follow the rule below.
    const IRREGULAR: [(&str, &str); 5] = [
        ("axis", "axes"),
        ("index", "indexes"),
        ("leaf", "leaves"),
        ("child", "children"),
        ("bitmask", "bitmasks"),
    ];
    if let Some((one, many)) = IRREGULAR.iter().find(|(one, _)| noun.ends_with(one)) {
        return noun.strip_suffix(one).map(|head| format!("{head}{many}")).unwrap_or_default();
    }
    let vowel_before_y = ["ay", "ey", "oy", "uy"].iter().any(|end| noun.ends_with(end));
    match noun.strip_suffix('y') {
        Some(head) if !vowel_before_y => format!("{head}ies"),
        _ if ["s", "x", "ch", "sh"].iter().any(|end| noun.ends_with(end)) => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}

/// Returns `word` for one thing and `words` for any other number: `is` or `are`, `its` or `their`.
pub const fn agree(count: u64, word: &'static str, words: &'static str) -> &'static str {
    if count == 1 { word } else { words }
}

/// Returns `1 byte`, `2 bytes`.
pub fn byte_count(count: u64) -> String {
    plural(count, "byte")
}

/// Returns the items as a list for a sentence: `a`, `a and b`, `a, b and c`.
pub fn join_and<T: AsRef<str>>(items: &[T]) -> String {
    join_with(items, "and")
}

/// Returns the items as alternatives for a sentence: `a`, `a or b`, `a, b or c`.
pub fn join_or<T: AsRef<str>>(items: &[T]) -> String {
    join_with(items, "or")
}

fn join_with<T: AsRef<str>>(items: &[T], last_word: &str) -> String {
    let names: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match names.split_last() {
        None => String::new(),
        Some((last, [])) => (*last).to_string(),
        Some((last, head)) => format!("{} {last_word} {last}", head.join(", ")),
    }
}

/// Returns at most `max` of the items for a sentence, and how many more there are out of `total`:
/// `a, b and 3 more`.
pub fn list<T: AsRef<str>>(items: &[T], max: usize, total: u64) -> String {
    let shown = items.get(..max.min(items.len())).unwrap_or_default();
    let more = total.saturating_sub(crate::kit::num::to_u64(shown.len()));
    let mut words: Vec<String> = shown.iter().map(|item| item.as_ref().to_string()).collect();
    if more > 0 {
        words.push(format!("{more} more"));
    }
    join_and(&words)
}

/// Returns a range of numbers that holds its ends: `5`, `5 to 8`.
pub fn range(first: u64, last: u64) -> String {
    if first == last { first.to_string() } else { format!("{first} to {last}") }
}

/// Returns nanoseconds as seconds with all nine digits: `12.000000001 s`.
pub fn seconds(nanoseconds: u64) -> String {
    const BILLION: u64 = 1_000_000_000;
    let whole = nanoseconds.checked_div(BILLION).unwrap_or(0);
    let rest = nanoseconds.checked_rem(BILLION).unwrap_or(0);
    format!("{whole}.{rest:09} s")
}

/// Returns nanoseconds as seconds with three digits, for summaries: `12.000 s`.
pub fn seconds_short(nanoseconds: u64) -> String {
    const MILLION: u64 = 1_000_000;
    let milliseconds = nanoseconds.checked_div(MILLION).unwrap_or(0);
    let whole = milliseconds.checked_div(1_000).unwrap_or(0);
    let rest = milliseconds.checked_rem(1_000).unwrap_or(0);
    format!("{whole}.{rest:03} s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_agree_with_their_nouns() {
        let counted = [plural(1, "event"), plural(0, "event"), plural(2, "entry")];
        assert_eq!(counted, ["1 event", "0 events", "2 entries"]);
        assert_eq!(plural(3, "described axis"), "3 described axes");
        assert_eq!(plural(3, "complete record"), "3 complete records");
        assert_eq!([plural_noun("key"), plural_noun("index")], ["keys", "indexes"]);
        assert_eq!([plural_noun("switch"), plural_noun("bitmask")], ["switches", "bitmasks"]);
        assert_eq!(byte_count(1), "1 byte");
        assert_eq!([agree(1, "is", "are"), agree(2, "is", "are")], ["is", "are"]);
    }

    #[test]
    fn lists_read_as_sentences() {
        assert_eq!(join_and::<&str>(&[]), "");
        assert_eq!(join_and(&["a"]), "a");
        assert_eq!(join_or(&["a", "b"]), "a or b");
        assert_eq!(join_and(&["a", "b", "c"]), "a, b and c");
        assert_eq!(list(&["a", "b", "c"], 2, 5), "a, b and 3 more");
        assert_eq!(list(&["a", "b"], 2, 2), "a and b");
        assert_eq!(list::<&str>(&[], 2, 7), "7 more");
        assert_eq!([range(5, 5), range(5, 8)], ["5", "5 to 8"]);
    }

    #[test]
    fn times_have_the_digits_that_their_reader_needs() {
        assert_eq!(seconds(1_000_000_001), "1.000000001 s");
        assert_eq!(seconds_short(12_345_678_901), "12.345 s");
    }
}
