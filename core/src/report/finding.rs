//! One fault of one recording, at one place.

use std::borrow::Cow;
use std::fmt;

use miette::Diagnostic;

use crate::kit::span::Span;
use crate::mend::edit::Fix;
use crate::report::rule::{Rule, Severity};

/// A fault: what, where, and what can be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kind of fault.
    pub rule: &'static Rule,
    /// The rule's severity, or what the user set it to.
    pub severity: Severity,
    /// The bytes at fault.
    pub span: Span,
    /// For a span of an expanded layer: the bytes of the file that it was expanded from.
    pub stored: Option<Span>,
    /// The field by its names in the format's own source, for example `data.record[17].header.size`.
    pub path: Cow<'static, str>,
    /// What is wrong, in numbers. Holds no unescaped text from a file.
    pub message: String,
    /// Other places that belong to the fault.
    pub related: Vec<Related>,
    /// Bytes around `span`, for layers that are not on disk.
    pub excerpt: Option<Excerpt>,
    /// What a repair would do.
    pub fix: Option<Fix>,
}

/// Another place that belongs to a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// Where.
    pub span: Span,
    /// What it has to do with the fault.
    pub message: String,
}

/// A few bytes of a layer, kept because the layer is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Offset of the first byte in the finding's layer.
    pub start: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Finding {
    /// A finding without relations and without a fix.
    pub fn new(
        rule: &'static Rule,
        span: Span,
        path: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            rule,
            severity: rule.severity,
            span,
            stored: None,
            path: path.into(),
            message: message.into(),
            related: Vec::new(),
            excerpt: None,
            fix: None,
        }
    }

    /// With another place that belongs to the fault.
    #[must_use]
    pub fn related(mut self, span: Span, message: impl Into<String>) -> Self {
        self.related.push(Related { span, message: message.into() });
        self
    }

    /// With what a repair would do.
    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Self {
        self.fix = Some(fix);
        self
    }

    /// The order of a report: by place, then by code.
    pub(crate) fn key(&self) -> (u32, u64, u32, u64, &'static str) {
        // A finding in an expanded layer stands where its stored bytes lie.
        let place = self.stored.unwrap_or(self.span);
        (place.layer.file, place.start, self.span.layer.depth, self.span.start, self.rule.code)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Finding {}

impl Diagnostic for Finding {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(format!("{} {}", self.rule.code, self.rule.name)))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Info => miette::Severity::Advice,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let fix = self.fix.as_ref()?;
        Some(Box::new(format!("{} ({} fix)", fix.summary, fix.safety)))
    }

    /// Labels in bytes of the file; [`hexdump::Shown`](crate::report::hexdump::Shown) brings the
    /// text they point into.
    fn labels(&self) -> Option<Box<dyn Iterator<Item = miette::LabeledSpan> + '_>> {
        let place = |span: Span| -> Option<miette::SourceSpan> {
            let start = usize::try_from(span.start).ok()?;
            Some((start, usize::try_from(span.len()).ok()?).into())
        };
        let main = place(self.stored.unwrap_or(self.span)).map(|span| {
            miette::LabeledSpan::new_primary_with_span(Some(self.path.to_string()), span)
        });
        let others = self.related.iter().filter_map(move |related| {
            let span = place(related.span)?;
            Some(miette::LabeledSpan::new_with_span(Some(related.message.clone()), span))
        });
        Some(Box::new(main.into_iter().chain(others)))
    }
}
