//! One fault of one recording, at one place.

use std::borrow::Cow;
use std::fmt;

use crate::kit::span::Span;
use crate::mend::edit::Fix;
use crate::report::rule::{Rule, Severity};

/// A fault: what is wrong, where, and what can be done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "testing"), non_exhaustive)]
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
    /// Further lines that a reader needs to judge the fault: counts, ranges, names. Escaped.
    pub notes: Vec<String>,
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
            notes: Vec::new(),
            related: Vec::new(),
            excerpt: None,
            fix: None,
        }
    }

    /// Adds another place that belongs to the fault.
    #[must_use]
    pub fn related(mut self, span: Span, message: impl Into<String>) -> Self {
        self.related.push(Related { span, message: message.into() });
        self
    }

    /// Adds a line that a reader needs to judge the fault.
    #[must_use]
    pub fn note(mut self, line: impl Into<String>) -> Self {
        self.notes.push(line.into());
        self
    }

    /// Sets the fix.
    #[must_use]
    pub fn fix(self, fix: Fix) -> Self {
        self.fix_if(Some(fix))
    }

    /// Sets the fix, or removes it.
    #[must_use]
    pub fn fix_if(mut self, fix: Option<Fix>) -> Self {
        self.fix = fix;
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
