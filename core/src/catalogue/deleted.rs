//! Rules of earlier versions. Their codes are known for good: none gets another meaning.

/// A rule that does not exist any more.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeletedRule {
    /// The code.
    pub code: &'static str,
    /// The name.
    pub name: &'static str,
    /// The first version without it.
    pub since: &'static str,
    /// The reason, as the end of a sentence.
    pub reason: &'static str,
}

/// Every deleted rule, in the order of the codes.
static DELETED: &[DeletedRule] = &[
    DeletedRule {
        code: "AT2019",
        name: "primitive-broken",
        since: "0.1.0",
        reason: "it found none of 10,000 flipped bits",
    },
    DeletedRule {
        code: "AT2020",
        name: "blob-size",
        since: "0.1.0",
        reason: "it found none of 10,000 flipped bits",
    },
];

/// Returns every deleted rule, in the order of the codes.
pub fn deleted_rules() -> impl Iterator<Item = &'static DeletedRule> {
    DELETED.iter()
}

/// Returns the deleted rule with this code, or with this name.
pub fn deleted_rule(code: &str) -> Option<&'static DeletedRule> {
    DELETED.iter().find(|rule| rule.code.eq_ignore_ascii_case(code) || rule.name == code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::rules;

    #[test]
    fn no_rule_has_the_code_or_the_name_of_a_deleted_one() {
        assert!(DELETED.is_sorted_by_key(|rule| rule.code));
        for rule in rules() {
            assert_eq!((deleted_rule(rule.code), deleted_rule(rule.name)), (None, None));
        }
        for rule in DELETED {
            assert!(!rule.reason.is_empty() && !rule.since.is_empty(), "{rule:?}");
        }
    }
}
