//! One fault of one recording, at one position.

use std::borrow::Cow;
use std::fmt;

use crate::kit::span::Span;
use crate::model::edit::{Edit, Fix};
use crate::model::rule::{Rule, Severity};

/// A fault with its position and, if there is one, its fix.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "testing"), non_exhaustive)]
pub struct Finding {
    /// The kind of fault.
    pub rule: &'static Rule,
    /// The severity of the rule, or the one that the user set.
    pub severity: Severity,
    /// The faulty bytes.
    pub span: Span,
    /// For a span of an expanded layer: the bytes of the file that it was expanded from.
    pub stored: Option<Span>,
    /// The field, named as in the source of the format: `data.record[17].header.size`.
    pub path: Cow<'static, str>,
    /// The defect in numbers. Text from a file is escaped.
    pub message: String,
    /// Further lines that help to judge the fault: counts, ranges, names. Escaped.
    pub notes: Vec<String>,
    /// Other positions that belong to the fault.
    pub related: Vec<Related>,
    /// Bytes around `span`, for expanded layers.
    pub excerpt: Option<Excerpt>,
    /// The fix.
    pub fix: Option<Fix>,
    /// Identifies the finding wherever its bytes move; see `Report::identify`.
    pub fingerprint: Option<String>,
}

/// Another position that belongs to a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// The bytes.
    pub span: Span,
    /// The relation to the fault.
    pub message: String,
}

/// A few bytes of an expanded layer, which is not kept as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Offset of the first byte in the finding's layer.
    pub start: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Finding {
    /// Creates a finding without notes, relations or a fix.
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
            fingerprint: None,
        }
    }

    /// Returns the edits of its fix.
    pub(crate) fn edits(&self) -> impl Iterator<Item = &Edit> {
        self.fix.iter().flat_map(|fix| &fix.edits)
    }

    /// Merges the fix of a further finding of the same rule into that of this one, or returns the
    /// finding if the fixes are not alike.
    pub(crate) fn absorb(&mut self, further: Self) -> Option<Self> {
        let is_merged = match (&mut self.fix, &further.fix) {
            (Some(fix), Some(more)) => further.severity == self.severity && fix.absorb(more),
            _ => false,
        };
        (!is_merged).then_some(further)
    }

    /// Moves its stored spans to where `place` finds them. Its fix keeps no edits: it is of bytes
    /// that another fix has yet to move.
    pub(crate) fn move_spans(&mut self, place: &impl Fn(Span) -> Span) {
        let related = self.related.iter_mut().map(|related| &mut related.span);
        let spans = std::iter::once(&mut self.span).chain(&mut self.stored).chain(related);
        spans.filter(|span| span.layer.is_stored()).for_each(|span| *span = place(*span));
        if let Some(fix) = &mut self.fix {
            (fix.edits, fix.witnesses) = Default::default();
        }
    }

    /// Adds another position that belongs to the fault.
    #[must_use]
    pub fn related(mut self, span: Span, message: impl Into<String>) -> Self {
        self.related.push(Related { span, message: message.into() });
        self
    }

    /// Adds a line that helps to judge the fault.
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

    /// Returns the key that orders a report: causes first, then position, then code.
    pub(crate) fn key(&self) -> (bool, u32, u64, u32, u64, &'static str) {
        // A finding in an expanded layer is sorted by its stored position.
        let place = self.stored.unwrap_or(self.span);
        let (depth, start) = (self.span.layer.depth, self.span.start);
        (!self.rule.is_cause(), place.layer.file, place.start, depth, start, self.rule.code)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Finding {}
