//! Renders findings as diagnostics of miette.

use std::fmt;

use miette::Diagnostic;

use crate::kit::span::Span;
use crate::model::finding::Finding;
use crate::model::rule::Severity;

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

    /// Returns labels in bytes of the file; [`hexdump::Shown`](crate::present::hexdump::Shown) has
    /// the text that they refer to.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::span::Layer;
    use crate::model::rule::common;

    #[test]
    fn the_first_label_is_the_path_at_the_stored_bytes() {
        let stored = Span::sized(Layer::stored(0), 0x40, 24);
        let expanded = Span::sized(Layer::stored(0).expanded(), 4, 8);
        let mut finding =
            Finding::new(&common::LIMIT_REACHED, expanded, "data.window", "too large");
        let labels = |finding: &Finding| -> Vec<(Option<String>, usize, usize, bool)> {
            let labels = finding.labels().into_iter().flatten();
            labels
                .map(|label| {
                    let text = label.label().map(String::from);
                    (text, label.offset(), label.len(), label.primary())
                })
                .collect()
        };
        assert_eq!(labels(&finding), [(Some("data.window".to_owned()), 4, 8, true)]);
        finding.stored = Some(stored);
        assert_eq!(labels(&finding), [(Some("data.window".to_owned()), 0x40, 24, true)]);
    }
}
