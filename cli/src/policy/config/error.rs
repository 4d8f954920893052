//! An error in `tracemend.toml`, with the line that it is in.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource};

use crate::files::paths::shown;
use crate::kit::exit::Failure;
use crate::kit::look::Look;

/// A defect at some bytes of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConfigError {
    pub(super) message: String,
    pub(super) span: Range<usize>,
}

/// The error with the text around it.
#[derive(Debug)]
struct Shown {
    error: ConfigError,
    source: NamedSource<String>,
}

impl ConfigError {
    pub(super) fn new(message: impl Into<String>, span: Range<usize>) -> Self {
        Self { message: message.into(), span }
    }

    /// Returns the failure with the line of the file.
    pub(super) fn describe(self, path: &Path, text: &str, look: Look) -> Failure {
        // A repository may come from a stranger: nothing in it acts on the terminal. The text keeps
        // its length, because the span counts its bytes.
        let safe = |c: char| match c {
            '\n' => c.to_string(),
            c if tracemend::is_safe(c) => c.to_string(),
            c => "?".repeat(c.len_utf8()),
        };
        let source: String = text.chars().map(safe).collect();
        let message = self.message.chars().map(|c| if c == '\n' { ' ' } else { c });
        let message: String =
            message.map(|c| if tracemend::is_safe(c) { c } else { '?' }).collect();
        let error = Self { message, ..self };
        let shown = Shown { error, source: NamedSource::new(shown(path), source) };
        let theme = match look.unicode {
            true => GraphicalTheme::unicode_nocolor(),
            false => GraphicalTheme::none(),
        };
        let handler = GraphicalReportHandler::new_themed(theme)
            .with_width(look.width)
            .with_links(false)
            .without_cause_chain();
        let mut drawn = String::new();
        if handler.render_report(&mut drawn, &shown).is_err() {
            drawn = shown.error.message.clone();
        }
        Failure::usage(drawn.trim().to_string())
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.error.message)
    }
}

impl std::error::Error for Shown {}

impl Diagnostic for Shown {
    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = self.error.span.clone();
        Some(Box::new(std::iter::once(LabeledSpan::underline(span))))
    }
}
