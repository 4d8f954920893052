//! Rates of words that strangers stumble over, and traps of grammar.

use crate::tidy::exceptions::{Exceptions, count, number};
use crate::tidy::tree::all_passages;

/// Counts of the words that are rationed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// All words.
    pub(super) words: usize,
    /// "behind".
    pub(super) behind: usize,
    /// Sentences that open with "What".
    pub(super) what: usize,
    /// "says", "tells" and "told".
    pub(super) says: usize,
    /// "is no", "is none", "are no", "are none".
    pub(super) is_no: usize,
}

impl Counts {
    /// Adds the words of one passage.
    fn add(&mut self, passage: &str) {
        let words = words(passage);
        self.words += words.len();
        for (at, word) in words.iter().enumerate() {
            self.behind += usize::from(word.text == "behind");
            self.what += usize::from(word.opens_sentence && word.text == "what");
            self.says += usize::from(["says", "tells", "told"].contains(&word.text.as_str()));
            let next = words.get(at + 1).map(|word| word.text.as_str());
            let is_no = ["is", "are"].contains(&word.text.as_str());
            self.is_no += usize::from(is_no && matches!(next, Some("no" | "none")));
        }
    }

    /// Returns each rate per 10,000 words with its name.
    fn rates(&self) -> [(&'static str, f64); 4] {
        let rate = |count: usize| 10_000.0 * count as f64 / self.words.max(1) as f64;
        [
            ("behind", rate(self.behind)),
            ("What ...", rate(self.what)),
            ("says, tells, told", rate(self.says)),
            ("is no, is none", rate(self.is_no)),
        ]
    }
}

struct Word {
    text: String,
    opens_sentence: bool,
}

/// Returns the words of a passage in lower case: runs of letters, digits and apostrophes with at
/// least one letter.
fn words(passage: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut opens_sentence = true;
    let is_inner = |c: char| c.is_alphanumeric() || c == '\'' || c == '_';
    let mut rest = passage;
    while !rest.is_empty() {
        let length = rest.find(|c| !is_inner(c)).unwrap_or(rest.len());
        if length > 0 {
            let text = rest[..length].to_lowercase();
            if text.contains(char::is_alphabetic) {
                words.push(Word { text, opens_sentence });
            }
            opens_sentence = false;
            rest = &rest[length..];
            continue;
        }
        let mark = rest.chars().next().unwrap_or(' ');
        let after = &rest[mark.len_utf8()..];
        let ends = matches!(mark, '.' | '!' | '?') && !after.starts_with(is_inner);
        opens_sentence |= ends || mark == '\n';
        rest = after;
    }
    words
}

#[test]
fn rationed_words_stay_below_their_rates() {
    let mut counts = Counts::default();
    for passage in all_passages() {
        counts.add(&passage.text);
    }
    eprintln!("{} words of comments, strings and documents; per 10,000:", counts.words);
    let mut over = Vec::new();
    for (name, rate) in counts.rates() {
        let limit = number("limit", name);
        eprintln!("  {name}: {rate:.1} (limit {limit:.1})");
        if rate > limit {
            over.push(format!("{name}: {rate:.1} per 10,000 words, limit {limit:.1}"));
        }
    }
    assert!(over.is_empty(), "{over:#?}");
}

#[test]
fn rates_count_a_bad_sample() {
    let mut counts = Counts::default();
    for text in [
        "What follows is told. What is behind it? No: it says what it is.",
        "there is no end",
        "The ids are none; nothing tells `what` it is.",
    ] {
        counts.add(text);
    }
    let found = [counts.behind, counts.what, counts.says, counts.is_no];
    assert_eq!(found, [1, 2, 3, 2]);
    assert_eq!(words("1 0x20 a_b it's").len(), 3);
}

/// A turn of phrase that must not appear.
pub(super) struct Trap {
    name: &'static str,
    /// Returns the place in the text where the trap begins.
    find: fn(&str) -> Option<usize>,
}

static TRAPS: &[Trap] = &[
    Trap { name: "1 with a plural", find: one_with_plural },
    Trap { name: "N are left", find: |text| number_then(text, "are left") },
    Trap { name: "in place of: instead of", find: |text| phrase(text, "in place of") },
    Trap { name: "that there is not: does not exist", find: |text| phrase(text, "there is not") },
    Trap { name: "and line: one per line", find: |text| phrase(text, "a recording and line") },
    Trap { name: "one of which", find: |text| phrase(text, "one of which") },
    Trap { name: "is no multiple: misaligned", find: |text| phrase(text, "no multiple") },
    Trap { name: "to be had", find: |text| phrase(text, "be had") },
    Trap { name: "whole record: complete record", find: whole_record },
    Trap { name: "torn: truncated", find: |text| phrase(text, "torn") },
    Trap { name: "mend: repair", find: mend },
    Trap { name: "stands: is, follows", find: |text| phrase(text, "stands twice") },
    Trap { name: "see another rule's page", find: as_for_rule },
    Trap { name: "a rate: per", find: |text| phrase(text, "bytes a second") },
];

/// Finds a phrase at word boundaries.
fn phrase(text: &str, phrase: &str) -> Option<usize> {
    let is_inner = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let lower = text.to_ascii_lowercase();
    lower.match_indices(phrase).map(|(at, _)| at).find(|&at| {
        let before = lower[..at].chars().next_back().is_some_and(is_inner);
        let after = lower[at + phrase.len()..].chars().next().is_some_and(is_inner);
        !before && !after
    })
}

fn whole_record(text: &str) -> Option<usize> {
    ["whole record", "whole records", "whole event", "whole events"]
        .iter()
        .find_map(|words| phrase(text, words))
}

/// Finds "mend" as a word; the name of the program, of the module and of outputs may stay.
fn mend(text: &str) -> Option<usize> {
    ["mend", "mends", "mended", "mending"].iter().find_map(|word| {
        let at = phrase(text, word)?;
        let before = &text[..at];
        let after = &text[at + word.len()..];
        let is_name = before.ends_with(['.', '/', ':', '`']) || after.starts_with([':', '/', '.']);
        (!is_name).then_some(at)
    })
}

fn as_for_rule(text: &str) -> Option<usize> {
    let at = phrase(text, "as for")?;
    let word = text[at + "as for".len()..].split_whitespace().next()?;
    (word.len() >= 6 && word[2..6].bytes().all(|byte| byte.is_ascii_digit())).then_some(at)
}

/// Finds a number or a placeholder that is followed by `words`.
fn number_then(text: &str, words: &str) -> Option<usize> {
    let at = phrase(text, words)?;
    let before = text[..at].trim_end();
    before.ends_with(|c: char| c.is_ascii_digit() || c == '}').then_some(at)
}

/// Finds "1 events": the number one before a word that ends in a plural's s.
fn one_with_plural(text: &str) -> Option<usize> {
    text.match_indices("1 ").map(|(at, _)| at).find(|&at| {
        let number = text[..at].chars().next_back();
        let is_part = number.is_some_and(|c| c.is_alphanumeric() || ".,_:/#-=".contains(c));
        let word: String = text[at + 2..].chars().take_while(|c| c.is_alphabetic()).collect();
        let after = text[at + 2 + word.len()..].chars().next();
        let is_word = !after.is_some_and(|c| c.is_alphanumeric() || "_-='(".contains(c));
        let singular = ["ss", "us", "is"].iter().any(|end| word.ends_with(end))
            || ["has", "was", "does", "as", "runs", "follows", "exits"].contains(&word.as_str());
        let is_verb = text[..at].trim_end().ends_with(|c: char| c.is_alphabetic())
            && ["means", "asks", "lists"].contains(&word.as_str());
        !is_part && is_word && word.len() > 3 && word.ends_with('s') && !singular && !is_verb
    })
}

#[test]
fn no_passage_has_a_trap() {
    let mut found = Vec::new();
    let mut exceptions = Exceptions::new("trap");
    for passage in all_passages() {
        for trap in TRAPS {
            let Some(at) = (trap.find)(&passage.text) else { continue };
            let fits =
                |values: &[String]| values[0] == passage.path && passage.text.contains(&values[1]);
            if !exceptions.allow(fits) {
                let shown: String = passage.text[at..].chars().take(50).collect();
                let place = format!("{}:{}", passage.path, passage.line);
                found.push(format!("{place}: {} in {shown:?}", trap.name));
            }
        }
    }
    let today = count("today", "traps");
    eprintln!("{} traps, {today} allowed", found.len());
    assert!(found.len() <= today, "{} traps: {found:#?}", found.len());
    exceptions.assert_all_used();
}

#[test]
fn each_trap_finds_a_bad_sample() {
    let samples = [
        "drops 1 events behind",
        "needs 8 bytes, {} are left",
        "a number in place of an object",
        "for a number that there is not",
        "one object a recording and line",
        "two devices, one of which moves",
        "41 is no multiple of 8",
        "what is missing cannot be had from it",
        "the last whole record",
        "a torn tail",
        "a mended recording",
        "key \"tid\" stands twice",
        "as for QR1001",
        "810 bytes a second",
    ];
    for (trap, sample) in TRAPS.iter().zip(samples) {
        assert!((trap.find)(sample).is_some(), "{} in {sample:?}", trap.name);
    }
    assert_eq!(TRAPS.len(), samples.len());
    for sound in ["1 event", "11 events", "1 class", "0x1 is", "NAME.mended", "`mend::plan`"] {
        let trap = TRAPS.iter().find(|trap| (trap.find)(sound).is_some());
        assert!(trap.is_none(), "{sound:?}: {}", trap.map_or("", |trap| trap.name));
    }
}

/// Nouns that are counted in messages.
const COUNTED: [&str; 24] = [
    "bits",
    "bytes",
    "calls",
    "devices",
    "entries",
    "errors",
    "events",
    "features",
    "files",
    "findings",
    "fixes",
    "ids",
    "items",
    "places",
    "records",
    "recordings",
    "rounds",
    "samples",
    "steps",
    "streams",
    "tasks",
    "threads",
    "times",
    "warnings",
];

/// Finds a placeholder before a plural, `{count} bytes`, which prints "1 bytes" for one byte.
fn placeholder_with_plural(text: &str) -> Option<usize> {
    text.match_indices("} ").map(|(at, _)| at).find(|&at| {
        let word = text[at + 2..].split(|c: char| !c.is_alphabetic()).next();
        let opening = text[..at].rfind('{');
        let inside = opening.map_or("", |opening| &text[opening + 1..at]);
        let is_number = inside.chars().all(|c| c.is_alphanumeric() || "_.:#".contains(c));
        is_number && opening.is_some() && COUNTED.contains(&word.unwrap_or_default())
    })
}

#[test]
fn counts_agree_with_their_nouns() {
    let mut found = Vec::new();
    let mut exceptions = Exceptions::new("plural");
    let is_product = |path: &str| path.starts_with("core/src/") || path.starts_with("cli/src/");
    for passage in all_passages().filter(|passage| is_product(&passage.path)) {
        let at = placeholder_with_plural(&passage.text).filter(|_| passage.is_string);
        let Some(at) = at else { continue };
        let fits =
            |values: &[String]| passage.path == values[0] && passage.text.contains(&values[1]);
        if !exceptions.allow(fits) {
            let shown: String = passage.text[at..].chars().take(40).collect();
            found.push(format!("{}:{}: {shown:?}", passage.path, passage.line));
        }
    }
    let today = count("today", "plurals");
    eprintln!("{} placeholders with a fixed plural, {today} allowed", found.len());
    assert!(found.len() <= today, "use `kit::words::plural`: {found:#?}");
    exceptions.assert_all_used();
    assert_eq!(placeholder_with_plural("drops {} bytes"), Some(7));
    assert_eq!(placeholder_with_plural("drops {count:02} events"), Some(15));
    assert_eq!(placeholder_with_plural("drops {bytes} here"), None);
}
