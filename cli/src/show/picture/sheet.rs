//! A picture that grows downwards: lines of text, strips, columns and a legend.

use std::collections::BTreeSet;

use super::class::Class;
use super::strip::Strip;
use crate::show::finding::shorten_middle;

/// Heights in pixels.
const LINE: u32 = 17;
pub(super) const FLAG: u32 = 10;
const STRIP: u32 = 24;
const COLUMNS: u32 = 28;
const ROW: u32 = 9;
const GAP: u32 = 8;
/// Characters of a line that fit in 400 pixels.
const LINE_CHARACTERS: usize = 58;
/// The share of the width that the names of rows take, in percent.
pub(super) const NAMES: f64 = 44.0;
/// Kinds in one line of a legend.
const IN_LEGEND: u32 = 3;

/// A laid out picture.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    pub(super) title: String,
    pub(super) description: String,
    pub(super) height: u32,
    pub(super) items: Vec<Item>,
}

/// A part of a picture; `y` is its upper edge in pixels, `x` a share of the width in percent.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Text {
        y: u32,
        x: u32,
        text: String,
        is_heading: bool,
    },
    /// Flags, and below them the blocks, from `left` on.
    Strip {
        y: u32,
        height: u32,
        left: f64,
        strip: Strip,
    },
    /// Columns of a height in percent.
    Columns {
        y: u32,
        height: u32,
        columns: Vec<u64>,
        class: Class,
        title: String,
    },
    /// The name of a row, before its strip.
    Name {
        y: u32,
        text: String,
        class: Class,
        title: String,
    },
    /// One kind of a legend.
    Key {
        y: u32,
        x: u32,
        class: Class,
    },
}

/// A picture under construction.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    y: u32,
    items: Vec<Item>,
    lines: Vec<String>,
    classes: BTreeSet<Class>,
}

impl Sheet {
    fn advance(&mut self, height: u32) -> u32 {
        let y = self.y;
        self.y = y.saturating_add(height);
        y
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    fn text(&mut self, text: &str, is_heading: bool) {
        let y = self.advance(LINE);
        let shown = shorten_middle(text, LINE_CHARACTERS);
        self.items.push(Item::Text { y, x: 0, text: shown, is_heading });
        self.lines.push(text.to_string());
    }

    pub(crate) fn heading(&mut self, text: &str) {
        if self.y > 0 {
            self.advance(GAP);
        }
        self.text(text, true);
    }

    pub(crate) fn line(&mut self, text: &str) {
        self.text(text, false);
    }

    /// A strip over the whole width.
    pub(crate) fn strip(&mut self, strip: Strip) {
        let height = FLAG.saturating_add(STRIP);
        let y = self.advance(height);
        self.classes.extend(&strip.classes);
        self.items.push(Item::Strip { y, height, left: 0.0, strip });
        self.advance(GAP / 2);
    }

    /// A strip with its name before it; `class` is the verdict.
    pub(super) fn row(&mut self, (name, title): (&str, String), class: Class, strip: Strip) {
        let y = self.advance(FLAG.saturating_add(ROW));
        self.classes.extend(&strip.classes);
        self.items.push(Item::Name { y, text: name.to_string(), class, title });
        let height = FLAG.saturating_add(ROW);
        self.items.push(Item::Strip { y, height, left: NAMES + 1.0, strip });
    }

    /// Columns of a height in percent.
    pub(super) fn columns(&mut self, columns: Vec<u64>, class: Class, title: String) {
        let y = self.advance(COLUMNS);
        self.classes.insert(class);
        self.items.push(Item::Columns { y, height: COLUMNS, columns, class, title });
        self.advance(2);
    }

    /// The two ends of what is above.
    pub(crate) fn ends(&mut self, first: String, last: String) {
        let y = self.advance(LINE);
        self.items.push(Item::Text { y, x: 0, text: first, is_heading: false });
        self.items.push(Item::Text { y, x: 100, text: last, is_heading: false });
        self.advance(GAP / 2);
    }

    /// The legend: the meanings of the colours that occur.
    pub(crate) fn legend(&mut self) {
        self.advance(GAP);
        let classes = std::mem::take(&mut self.classes);
        let (mut y, mut at) = (self.y, 0);
        for class in classes {
            if at % IN_LEGEND == 0 {
                y = self.advance(LINE);
            }
            let x = (at % IN_LEGEND) * 33;
            self.items.push(Item::Key { y, x, class });
            at += 1;
        }
    }

    pub(crate) fn finish(mut self, title: &str) -> Picture {
        self.advance(GAP);
        Picture {
            title: title.to_string(),
            description: self.lines.join(". "),
            height: self.y,
            items: self.items,
        }
    }
}
