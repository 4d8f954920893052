//! How text for people looks: columns, colour and characters.
//!
//! ```text
//!  colour      --color, then NO_COLOR, CLICOLOR_FORCE and FORCE_COLOR, TERM=dumb, CLICOLOR=0,
//!              then whether standard output is a terminal
//!  characters  Unicode boxes in a UTF-8 locale (LC_ALL, LC_CTYPE, LANG), unless TERM is dumb
//!  columns     of the terminal; else COLUMNS, else 100
//! ```

use std::io::{self, IsTerminal};

use clap::ValueEnum;

/// Columns if standard output is not a terminal and `COLUMNS` is not set.
const WIDTH: usize = 100;
/// The narrowest and the widest text.
const WIDTHS: (usize, usize) = (20, 200);

/// How text for people is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Columns.
    pub width: usize,
    /// Whether escape sequences for colours may be written.
    pub color: bool,
    /// Whether boxes are drawn with Unicode characters.
    pub unicode: bool,
    /// How progress of long work is shown on standard error.
    pub progress: Showing,
}

/// How progress of long work is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Showing {
    /// Not at all.
    #[default]
    Nothing,
    /// As a line a minute, for the log of a run.
    Lines,
    /// As a bar on a terminal.
    Bar,
}

/// Value of `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    #[default]
    Auto,
    Always,
    Never,
}

/// Meaning of a coloured word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    Error,
    Warning,
    Note,
    Good,
    /// Frames and offsets.
    Faint,
    /// Headings and labels.
    Strong,
    /// Bytes of a finding.
    Bytes,
}

impl Ink {
    /// Parameters of the escape sequence. They are readable on light and on dark ground.
    const fn parameters(self) -> &'static str {
        match self {
            Self::Error | Self::Bytes => "1;31",
            Self::Warning => "1;33",
            Self::Note => "1;36",
            Self::Good => "1;32",
            Self::Faint => "2",
            Self::Strong => "1",
        }
    }
}

impl Look {
    /// Plain ASCII text of a fixed width.
    pub const PLAIN: Self =
        Self { width: WIDTH, color: false, unicode: false, progress: Showing::Nothing };

    /// Returns what suits the standard output of this process.
    pub(crate) fn of_process() -> Self {
        let stdout = io::stdout();
        let is_terminal = stdout.is_terminal();
        let size = if is_terminal { terminal_size::terminal_size_of(&stdout) } else { None };
        let columns = size.map(|(width, _)| usize::from(width.0));
        let variable = |name: &str| std::env::var_os(name)?.into_string().ok();
        let look = Self::of_environment(&variable, is_terminal, columns);
        let progress = if io::stderr().is_terminal() { look.progress } else { Showing::Lines };
        Self { progress, ..look }
    }

    fn of_environment(
        variable: &dyn Fn(&str) -> Option<String>,
        is_terminal: bool,
        columns: Option<usize>,
    ) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let forced = |name: &str| set(name).is_some_and(|value| value != "0");
        let is_dumb = set("TERM").is_some_and(|term| term == "dumb");
        let color = if set("NO_COLOR").is_some() {
            false
        } else if forced("CLICOLOR_FORCE") || forced("FORCE_COLOR") {
            true
        } else {
            is_terminal && !is_dumb && set("CLICOLOR").is_none_or(|value| value != "0")
        };
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default();
        let locale = locale.to_ascii_lowercase().replace('-', "");
        let asked = set("COLUMNS").and_then(|columns| columns.parse().ok());
        let width = columns.or(asked).unwrap_or(WIDTH).clamp(WIDTHS.0, WIDTHS.1);
        let unicode = locale.ends_with("utf8") && !is_dumb;
        let progress = if is_dumb { Showing::Lines } else { Showing::Bar };
        Self { width, color, unicode, progress }
    }

    /// Returns the look with the colour that the user asked for.
    pub(crate) const fn with_color(self, choice: ColorChoice) -> Self {
        match choice {
            ColorChoice::Auto => self,
            ColorChoice::Always => Self { color: true, ..self },
            ColorChoice::Never => Self { color: false, ..self },
        }
    }

    /// Returns the look of a report in a file, which does not depend on the terminal.
    pub(crate) const fn of_file(self, choice: ColorChoice) -> Self {
        Self { width: WIDTH, color: matches!(choice, ColorChoice::Always), ..self }
    }

    /// Returns `text` in a colour.
    pub(crate) fn paint(self, ink: Ink, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_string();
        }
        format!("\u{1b}[{}m{text}\u{1b}[0m", ink.parameters())
    }
}

/// Returns `text` in lines of at most `width` columns; a word that is longer has a line of its own.
///
/// The first line begins with `first`, the others with as many spaces as `indent`. A no-break space
/// becomes a space where no line ends.
pub(crate) fn wrap(text: &str, width: usize, first: &str, indent: usize) -> String {
    if first.chars().count() + text.chars().count() <= width {
        // Columns inside the text stay.
        return format!("{}\n", format!("{first}{text}").trim_end().replace('\u{a0}', " "));
    }
    let mut lines = String::new();
    let mut line = first.to_string();
    let mut columns = first.chars().count();
    let mut is_empty = true;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let len = word.chars().count();
        // GitHub reads a line that begins so as a command.
        let is_command = word.starts_with("::");
        if !is_empty && columns + 1 + len > width && !is_command {
            lines += line.trim_end();
            lines.push('\n');
            line = " ".repeat(indent);
            columns = indent;
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
            columns += 1;
        }
        line += word;
        columns += len;
        is_empty = false;
    }
    lines += line.trim_end();
    lines.push('\n');
    lines.replace('\u{a0}', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(variables: &[(&str, &str)], is_terminal: bool) -> Look {
        let variable = |name: &str| {
            let found = variables.iter().find(|(one, _)| *one == name);
            found.map(|(_, value)| (*value).to_string())
        };
        Look::of_environment(&variable, is_terminal, None)
    }

    #[test]
    fn no_line_begins_with_a_command_of_a_log() {
        let text = wrap("written to ./out/ ::error::x and more", 16, "  ", 2);
        assert_eq!(text, "  written to\n  ./out/ ::error::x\n  and more\n");
    }

    #[test]
    fn colour_follows_the_first_variable_that_decides() {
        assert!(look(&[], true).color && !look(&[], false).color);
        assert!(!look(&[("NO_COLOR", "1"), ("FORCE_COLOR", "1")], true).color);
        assert!(look(&[("NO_COLOR", "")], true).color);
        assert!(look(&[("CLICOLOR_FORCE", "1"), ("TERM", "dumb")], false).color);
        assert!(look(&[("FORCE_COLOR", "3")], false).color);
        assert!(!look(&[("FORCE_COLOR", "0"), ("CLICOLOR_FORCE", "0")], false).color);
        assert!(!look(&[("TERM", "dumb")], true).color);
        assert!(!look(&[("CLICOLOR", "0")], true).color);
        assert!(look(&[("NO_COLOR", "1")], true).with_color(ColorChoice::Always).color);
        assert!(!look(&[], true).with_color(ColorChoice::Never).color);
    }

    #[test]
    fn boxes_are_ascii_outside_utf_8_locales_and_on_dumb_terminals() {
        assert!(look(&[("LANG", "C.UTF-8")], false).unicode);
        assert!(look(&[("LC_ALL", "en_GB.utf8"), ("LANG", "C")], false).unicode);
        assert!(!look(&[("LC_ALL", "C"), ("LANG", "en_GB.UTF-8")], false).unicode);
        assert!(!look(&[], true).unicode);
        assert!(!look(&[("LANG", "C.UTF-8"), ("TERM", "dumb")], true).unicode);
    }

    #[test]
    fn columns_are_those_of_the_terminal_or_asked_for() {
        assert_eq!(look(&[], false).width, 100);
        assert_eq!(look(&[("COLUMNS", "80")], false).width, 80);
        assert_eq!(look(&[("COLUMNS", "many")], false).width, 100);
        let wide = Look::of_environment(&|_| None, true, Some(1000));
        assert_eq!(wide.width, 200);
    }

    #[test]
    fn lines_are_wrapped_with_a_hanging_indent() {
        assert_eq!(wrap("a bb ccc dddd", 8, "x: ", 3), "x: a bb\n   ccc\n   dddd\n");
        assert_eq!(wrap("", 8, "x:", 2), "x:\n");
        assert_eq!(wrap("aaaa 5\u{a0}s", 6, "", 0), "aaaa\n5 s\n");
        assert_eq!(wrap("longer-than-that b", 8, "", 2), "longer-than-that\n  b\n");
    }
}
