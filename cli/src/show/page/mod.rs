//! Pages of HTML that can be opened from a file: the frame of all of them.
//!
//! A page asks for nothing from outside and has no script. Its content security policy allows
//! nothing but its own style sheet, by its hash. It opens and closes its parts by `details`, and
//! leads from one to another by links within the page. Every text is escaped twice: for a terminal,
//! as everywhere, and for HTML.

mod rule;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use sha2::{Digest as _, Sha256};

use crate::show::markup::escape;
use crate::show::picture;

pub(crate) use rule::describe_rules;

/// The style sheet of text; the policy allows it, and that of pictures, by their hash.
const STYLE: &str = include_str!("page.css");

/// The end of a page.
pub(crate) const END: &str = "</main>\n</body>\n</html>\n";

/// The text of a page up to its heading.
pub(crate) fn begin(title: &str) -> String {
    let style = format!("{STYLE}{}", picture::STYLE);
    let hash = BASE64.encode(Sha256::digest(style.as_bytes()));
    let title = escape(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'sha256-{hash}'; base-uri 'none'; form-action 'none'\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width\"/>\n\
         <title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n\
         <svg class=\"definitions\" width=\"0\" height=\"0\" aria-hidden=\"true\">{}</svg>\n\
         <main>\n<h1>{title}</h1>\n",
        picture::DEFINITIONS
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_can_leave_its_element_or_attribute() {
        assert_eq!(
            escape("<script>&\"'</script>"),
            "&lt;script&gt;&amp;&quot;&#39;&lt;/script&gt;"
        );
        assert_eq!(escape("a\u{fffe}\u{ffff}"), "a\u{fffd}\u{fffd}");
        assert!(begin("</title><b>").contains("<title>&lt;/title&gt;&lt;b&gt;</title>"));
    }
}
