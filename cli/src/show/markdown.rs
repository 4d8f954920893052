//! Texts of rules as Markdown, for reports and for the book.

/// Returns the text of a rule: lines that begin with two spaces are commands, and a character that
/// Markdown could take for a mark is escaped elsewhere.
pub fn format_rule_text(text: &str) -> String {
    let mut out = String::new();
    let mut in_code = false;
    for line in text.lines() {
        let is_code = line.starts_with("  ");
        if is_code != in_code {
            out += if is_code { "\n```console\n" } else { "```\n\n" };
            in_code = is_code;
        }
        out += &if is_code { line.trim_start().to_string() } else { escape(line) };
        out.push('\n');
    }
    if in_code {
        out += "```\n";
    }
    out
}

/// Returns the text with a backslash before each character that Markdown could take for a mark.
pub fn escape(text: &str) -> String {
    text.chars().fold(String::new(), |mut out, letter| {
        if "\\`*_{}[]<>#|~$".contains(letter) {
            out.push('\\');
        }
        out.push(letter);
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_blocks_and_marks_are_escaped_elsewhere() {
        assert_eq!(
            format_rule_text("Reads a_b.\nRun:\n  tracemend repair a_b\nThen look."),
            "Reads a\\_b.\nRun:\n\n```console\ntracemend repair a_b\n```\n\nThen look.\n"
        );
        assert_eq!(escape("<b> | $x$"), "\\<b\\> \\| \\$x\\$");
    }
}
