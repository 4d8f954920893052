//! Pictures as SVG: alone in a file, or inside a page.

use std::fmt::Write as _;

use super::class::Class;
use super::sheet::{FLAG, Item, NAMES, Picture};
use super::strip::{Block, Flag, Strip};
use crate::show::markup::{as_float, escape};

/// The styles of all pictures.
pub(crate) const STYLE: &str = include_str!("picture.css");
/// The patterns that the styles refer to; a page has them once.
pub(crate) const DEFINITIONS: &str = include_str!("patterns.svg");
/// Width in pixels, unless the window is narrower.
const WIDTH: u32 = 1_000;
/// Ground above a picture.
const MARGIN: u32 = 8;
/// Distance from the upper edge of a line to the base of its letters.
const BASE: u32 = 13;
/// Side of a flag, and of a key in a legend.
const SIDE: u32 = 8;
const KEY: u32 = 14;
/// Blocks of a strip that the tab key reaches.
const FOCUSED: usize = 20;

/// A picture as a file.
pub(crate) fn alone(picture: &Picture) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" width=\"{WIDTH}\" \
         height=\"{}\" role=\"img\">\n{}<style>{STYLE}</style>\n{DEFINITIONS}\
         <rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n\
         <svg x=\"1%\" y=\"{MARGIN}\" width=\"98%\" class=\"flag\">\n{}</svg></svg>\n",
        picture.height.saturating_add(MARGIN),
        head(picture),
        body(picture)
    )
}

/// A picture inside a page, whose parts may be links.
pub(crate) fn embedded(picture: &Picture) -> String {
    format!(
        "<svg class=\"picture\" width=\"100%\" height=\"{}\" role=\"group\">\n{}{}</svg>\n",
        picture.height,
        head(picture),
        body(picture)
    )
}

fn head(picture: &Picture) -> String {
    let (title, description) = (escape(&picture.title), escape(&picture.description));
    format!("<title>{title}</title>\n<desc>{description}</desc>\n")
}

fn body(picture: &Picture) -> String {
    let mut text = String::new();
    for item in &picture.items {
        match item {
            Item::Text { y, x, text: words, is_heading } => {
                let y = y.saturating_add(BASE);
                let class = if *is_heading { " class=\"heading\"" } else { "" };
                let anchor = if *x == 0 { "" } else { " text-anchor=\"end\"" };
                let words = escape(words);
                let _infallible =
                    writeln!(text, "<text{class} x=\"{x}%\" y=\"{y}\"{anchor}>{words}</text>");
            }
            Item::Strip { y, height, left, strip } => {
                write_strip(&mut text, (*y, *height), *left, strip)
            }
            Item::Columns { y, height, columns, class, title } => {
                write_columns(&mut text, (*y, *height), columns, (*class, title));
            }
            Item::Name { y, text: name, class, title } => {
                write_name(&mut text, *y, (name, title), *class);
            }
            Item::Key { y, x, class } => write_key(&mut text, (*x, *y), *class),
        }
    }
    text
}

fn write_strip(text: &mut String, (y, height): (u32, u32), left: f64, strip: &Strip) {
    let place = |share: f64| left + share * (100.0 - left);
    let top = y.saturating_add(FLAG);
    let inner = height.saturating_sub(FLAG);
    for (index, block) in strip.blocks.iter().enumerate() {
        let Block { x, width, top: share, height, class, title, link } = block;
        let (x, width) = (place(*x), width * (100.0 - left));
        let (high, y) = (f64::from(inner), f64::from(top));
        let (y, height) = (y + share * high, height * high);
        let (open, close) = link_to(link.as_deref(), index < FOCUSED);
        let (class, title) = (class.name(), escape(title));
        let _infallible = writeln!(
            text,
            "{open}<rect class=\"{class}\" x=\"{x:.3}%\" y=\"{y:.2}\" width=\"{width:.3}%\" \
             height=\"{height:.2}\"><title>{title}</title></rect>{close}"
        );
    }
    for flag in &strip.flags {
        let Flag { x, class, title, link } = flag;
        write_flag(text, (place(*x), y), *class, (title, link.as_deref()), *x > 0.5);
    }
    let width = 100.0 - left;
    let _infallible = writeln!(
        text,
        "<rect class=\"frame\" x=\"{left}%\" y=\"{top}\" width=\"{width}%\" height=\"{inner}\"/>"
    );
}

/// A flag whose pole stands at the place, and which points to the middle of the strip.
fn write_flag(
    text: &mut String,
    (x, y): (f64, u32),
    class: Class,
    (title, link): (&str, Option<&str>),
    is_mirrored: bool,
) {
    let (open, close) = link_to(link, true);
    let mirrored = if is_mirrored { " transform=\"scale(-1 1)\"" } else { "" };
    let (shape, name, title) = (shape_of(class), class.name(), escape(title));
    let _infallible = writeln!(
        text,
        "<svg x=\"{x:.4}%\" y=\"{y}\" class=\"flag\">{open}<path class=\"{name}\"{mirrored} \
         d=\"M0 0H1V{FLAG}H0Z{shape}\"><title>{title}</title></path>{close}</svg>"
    );
}

/// The shape of a flag: one for each kind that one strip may have.
const fn shape_of(class: Class) -> &'static str {
    match class {
        Class::Damage | Class::Error => "M0 0H8L0 8Z",
        Class::Dropped | Class::Lost | Class::Warning => "M0 0H7V6H0Z",
        Class::Added => "M3 2H5V0H7V2H9V4H7V6H5V4H3Z",
        _ => "M0 3L4 0L8 3L4 6Z",
    }
}

/// The tab key goes through the first blocks only, not through a thousand before the text.
fn link_to(link: Option<&str>, is_focused: bool) -> (String, &'static str) {
    let focus = if is_focused { "" } else { " tabindex=\"-1\"" };
    match link {
        Some(link) => (format!("<a href=\"#{}\"{focus}>", escape(link)), "</a>"),
        None => (String::new(), ""),
    }
}

/// Columns on one base, stretched to the width.
fn write_columns(
    text: &mut String,
    (y, height): (u32, u32),
    columns: &[u64],
    (class, title): (Class, &str),
) {
    let count = columns.len();
    let mut path = String::new();
    for (at, high) in columns.iter().enumerate().filter(|(_, high)| **high > 0) {
        let top = 100_u64.saturating_sub(*high);
        let _infallible = write!(path, "M{at} 100V{top}h1V100z");
    }
    let (name, title) = (class.name(), escape(title));
    let _infallible = writeln!(
        text,
        "<svg y=\"{y}\" width=\"100%\" height=\"{height}\" viewBox=\"0 0 {count} 100\" \
         preserveAspectRatio=\"none\"><path class=\"{name}\" d=\"{path}\"><title>{title}</title>\
         </path></svg>\n<rect class=\"base\" y=\"{}\" width=\"100%\" height=\"1\"/>",
        y.saturating_add(height)
    );
}

/// The name of a row, of which the end is seen, and its verdict.
fn write_name(text: &mut String, y: u32, (name, title): (&str, &str), class: Class) {
    let (kind, name, title) = (class.name(), escape(name), escape(title));
    let shape =
        if class == Class::Plain { "M1 5A3 3 0 0 0 7 5A3 3 0 0 0 1 5Z" } else { shape_of(class) };
    let _infallible = writeln!(
        text,
        "<svg x=\"0\" y=\"{y}\" width=\"{NAMES}%\" height=\"22\"><text x=\"100%\" y=\"{}\" \
         dx=\"-14\" text-anchor=\"end\"><title>{title}</title>{name}</text><svg x=\"100%\" \
         y=\"{FLAG}\" class=\"flag\"><path class=\"{kind}\" transform=\"translate(-10 0)\" \
         d=\"{shape}\"/></svg></svg>",
        BASE + 4
    );
}

/// A kind in a legend: its pattern unless it has no length, its flag if it has one, its meaning.
fn write_key(text: &mut String, (x, y): (u32, u32), class: Class) {
    let (name, words, y) = (class.name(), class.meaning(), y.saturating_add(2));
    let (mut at, mut shapes) = (0, String::new());
    if class != Class::Added {
        shapes += &format!("<rect class=\"{name}\" width=\"{KEY}\" height=\"{KEY}\"/>");
        at = KEY + 3;
    }
    if class.is_flagged() {
        let shape = shape_of(class);
        shapes +=
            &format!("<path class=\"{name}\" transform=\"translate({at} 3)\" d=\"{shape}\"/>");
        at += SIDE + 4;
    }
    let base = BASE.saturating_sub(2);
    let _infallible = writeln!(
        text,
        "<svg x=\"{x}%\" y=\"{y}\" class=\"flag\">{shapes}<text x=\"{at}\" y=\"{base}\">\
         {words}</text></svg>"
    );
}

/// A share of a whole in percent, rounded up, so that nothing that exists has the height 0.
pub(super) fn percent_up(part: u64, whole: u64) -> u64 {
    let share = (as_float(part) / as_float(whole.max(1)) * 100.0).ceil();
    (1..=100).rev().find(|percent| as_float(*percent) <= share).unwrap_or(0)
}
