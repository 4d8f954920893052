//! Text and numbers of HTML and SVG.

/// Escapes text for HTML and XML, in elements and in quoted attributes.
pub(crate) fn escape(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, letter| {
        match letter {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            // No document may hold these two.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
        out
    })
}

/// A number for a drawing, where the last digits do not matter.
#[allow(clippy::as_conversions, reason = "a place in a drawing of a thousand steps")]
pub(crate) const fn as_float(number: u64) -> f64 {
    number as f64
}
