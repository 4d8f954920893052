//! Places of a recording with private content, and who takes them.

use super::filler::Filler;
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::Span;
use crate::model::Rule;

/// A field and the noun for what it has, in the singular.
pub type Subject = (&'static str, &'static str);

/// A place of a recording.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The bytes.
    pub span: Span,
    /// For bytes of an expanded layer: the stored bytes.
    pub stored: Option<Span>,
    /// Whether the bytes of the span begin with the text that is judged, byte for byte; not so if
    /// the text was unescaped.
    pub is_verbatim: bool,
}

impl From<Span> for Place {
    fn from(span: Span) -> Self {
        Self { span, stored: None, is_verbatim: true }
    }
}

impl Place {
    /// Returns the same place with the stored bytes that it comes from.
    #[must_use]
    pub fn in_stored(self, stored: Option<Span>) -> Self {
        Self { stored, ..self }
    }

    /// Returns the place of a text that was unescaped.
    #[must_use]
    pub fn unescaped(self) -> Self {
        Self { is_verbatim: false, ..self }
    }

    /// Returns the place of `part` of the text at this place; the whole place if its bytes are not
    /// those of the text.
    pub fn of_part(self, text: &[u8], part: &[u8]) -> Self {
        let at = part.as_ptr().addr().checked_sub(text.as_ptr().addr());
        let at = at.filter(|at| self.is_verbatim && *at <= text.len());
        let Some(start) = at.map(|at| self.span.start.saturating_add(to_u64(at))) else {
            return self;
        };
        Self { span: Span::sized(self.span.layer, start, to_u64(part.len())), ..self }
    }

    /// Returns the bytes at the place, of which `bytes` are the first, as private ones.
    pub const fn private<'t>(self, bytes: &'t [u8], filler: Filler<'t>) -> Private<'t> {
        Private { place: self, bytes, filler, differs_later: false, also: None }
    }
}

/// Private bytes that a filler of the same length can replace.
#[derive(Clone, Copy, Debug)]
pub struct Private<'t> {
    /// Where all of them lie.
    pub place: Place,
    /// The first of them.
    pub bytes: &'t [u8],
    /// How they can be replaced.
    pub filler: Filler<'t>,
    /// Whether bytes after the first ones are known not to be the filler.
    pub differs_later: bool,
    /// Another kind that they are of: whoever selects one of both wants them replaced.
    pub also: Option<&'static Rule>,
}

/// Returns the first byte of a span that is not 0.
pub fn find_byte(source: &Source<'_>, span: Span) -> Option<u64> {
    let mut at = span.start;
    for slice in source.slices(span.start, span.end) {
        match slice.iter().position(|byte| *byte != 0) {
            Some(found) => return Some(at.saturating_add(to_u64(found))),
            None => at = at.saturating_add(to_u64(slice.len())),
        }
    }
    None
}

/// Returns the end of the last byte of a span that is not 0; its start if all are.
pub fn find_end(source: &Source<'_>, span: Span) -> u64 {
    let (mut at, mut end) = (span.start, span.start);
    for slice in source.slices(span.start, span.end) {
        if let Some(last) = slice.iter().rposition(|byte| *byte != 0) {
            end = at.saturating_add(to_u64(last)).saturating_add(1);
        }
        at = at.saturating_add(to_u64(slice.len()));
    }
    end
}

/// Takes the sightings of private content one by one.
pub trait PrivateSink {
    /// Takes bytes that a filler can replace; all of them as far as they are known.
    fn take(&mut self, rule: &'static Rule, subject: Subject, count: u64, private: &Private<'_>);

    /// Takes sightings for which there is no filler.
    fn keep(&mut self, rule: &'static Rule, subject: Subject, count: u64);

    /// Takes a private part of the name of a file: the bytes before it, the part, those after it.
    fn rename(&mut self, rule: &'static Rule, subject: Subject, count: u64, part: NamePart<'_>);
}

/// A private part of the name of a file.
#[derive(Clone, Copy, Debug)]
pub struct NamePart<'n> {
    /// The number of the file.
    pub file: u32,
    /// The part.
    pub part: &'n str,
    /// The rest before it.
    pub before: &'n str,
    /// The rest after it.
    pub after: &'n str,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::span::Layer;
    use crate::model::recording::FileSet;
    use crate::sight::AuditRequest;
    use crate::sight::rules::sender;
    use crate::sight::{Auditor, Excerpt};

    #[test]
    fn zeros_before_other_bytes_are_not_a_filler() {
        let files = FileSet::default();
        let request = AuditRequest::default();
        let mut auditor = Auditor::new(&request, &files);
        let place = Place::from(Span::new(Layer::stored(0).expanded(), 0, 8));
        let hidden = |auditor: &mut Auditor<'_>, differs_later| {
            let private = Private { differs_later, ..place.private(&[0; 4], Filler::Zeros) };
            auditor.hide(&sender::PROCESS, ("argument", "blob"), 1, private, Excerpt::Text(b""));
            auditor.topic_count()
        };
        assert_eq!(hidden(&mut auditor, false), 0);
        assert_eq!(hidden(&mut auditor, true), 1);
    }
}
