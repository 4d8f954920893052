//! A toy format, as in the tutorial *Adding a format* of ARCHITECTURE.md.
//!
//! ```text
//!  0  magic "TOY1"
//!  4  u32 number of items
//!  8  items: u8 length, that many bytes            all little-endian
//! ```
//!
//! The recorder writes the number when it ends, so a killed one leaves 0 and may truncate the last
//! item.

mod check;
mod decode;
mod layout;
mod repair;
mod rules;

use tracemend::formats::{Confidence, Format};
use tracemend::kit::walk::Item;
use tracemend::{
    FileSet, FormatId, Layer, Options, Outcome, Plan, Report, Rule, Span, Tile, TileKind,
};

/// The format.
#[derive(Debug)]
struct Toy;

static TOY: Toy = Toy;

impl Format for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn summary(&self) -> &'static str {
        "lists of short items; repairs a wrong count and a truncated last item"
    }

    fn nouns(&self) -> [&'static str; 2] {
        ["item", "item"]
    }

    fn rules(&self) -> &'static [&'static Rule] {
        rules::RULES
    }

    fn sniff(&self, files: &FileSet<'_>, _options: &Options) -> Option<Confidence> {
        files.bytes(0).read(0, 4).starts_with(layout::MAGIC).then_some(Confidence::Certain)
    }

    fn check(&self, files: &FileSet<'_>, _options: &Options, report: &mut Report) {
        check::check(&files.bytes(0), report);
    }

    fn tile(&self, files: &FileSet<'_>, _options: &Options, each: &mut dyn FnMut(Tile)) {
        let header = Span::new(Layer::stored(0), 0, files.bytes(0).len().min(layout::HEADER_LEN));
        each(Tile { span: header, kind: TileKind::Structure, name: "header" });
        for item in decode::Walker::new(&files.bytes(0)) {
            each(match item {
                Item::Record(span) => Tile { span, kind: TileKind::Record, name: "item" },
                Item::Damage(span) => Tile { span, kind: TileKind::Damage, name: "damage" },
            });
        }
    }
}

/// Options that read a recording as the toy format, which is not in the registry.
fn options() -> Options {
    Options::default().with_format(FormatId::of(&TOY))
}

fn recording(count: u8, items: &[u8]) -> Vec<u8> {
    [layout::MAGIC, &[count, 0, 0, 0], items].concat()
}

#[test]
fn a_sound_recording_is_clean() {
    let bytes = recording(2, b"\x03one\x03two");
    let files = FileSet::single("sound.toy", &bytes);
    let report = tracemend::check(&files, &options());
    assert_eq!((report.findings(), report.tally.records), (&[][..], 2));
    let mut end = 0;
    TOY.tile(&files, &options(), &mut |tile| {
        assert_eq!(tile.span.start, end);
        end = tile.span.end;
    });
    assert_eq!(end, files.len());
}

#[test]
fn a_killed_recorder_leaves_two_faults_and_both_are_repaired() {
    let bytes = recording(0, b"\x03one\x03two\x05thr");
    let files = FileSet::single("killed.toy", &bytes);
    let report = tracemend::check(&files, &options());
    let codes: Vec<_> = report.findings().iter().map(|finding| finding.rule.code).collect();
    assert_eq!(codes, ["TY0001", "TY1001"]);
    let messages: Vec<_> = report.findings().iter().map(ToString::to_string).collect();
    assert_eq!(messages[0], "count is 0, but 2 complete items follow");
    assert_eq!(messages[1], "truncated item: 4 of 6 bytes");

    let repair = tracemend::repair(&files, &options());
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
    let output = repair.output(&files);
    assert_eq!(output.bytes(0).to_vec(), recording(2, b"\x03one\x03two"));
    let plan = Plan::new(&repair, &files, &options().limits).expect("the plan is small");
    let balance = tracemend::verify(&plan, &files, &output).expect("the repair proves itself");
    assert_eq!((balance.dropped, balance.inserted), (8, 4));
}
