//! Findings of each rule, from the smallest recording in the corpus that breaks it.

/// Examples of all rules: a section begins with `== CODE PATH`.
const EXAMPLES: &str = include_str!("examples.txt");

/// The recording and the output of the example of a code.
pub(crate) fn find_example(code: &str) -> Option<(&'static str, &'static str)> {
    let mut sections = EXAMPLES.split("\n== ").map(|section| section.trim_start_matches("== "));
    let section = sections
        .find(|section| section.strip_prefix(code).is_some_and(|rest| rest.starts_with(' ')))?;
    let (head, body) = section.split_once('\n')?;
    let path = head.split_once(' ')?.1;
    Some((path.trim(), body.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_belongs_to_a_rule() {
        let heads = EXAMPLES.lines().filter_map(|line| line.strip_prefix("== "));
        for head in heads {
            let (code, path) = head.split_once(' ').unwrap();
            assert!(tracemend::rule(code).is_some(), "{head}");
            assert_eq!(find_example(code).unwrap().0, path);
        }
    }
}
