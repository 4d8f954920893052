//! QEMU: an event before the first damage is a record. After it a log has no frames to find.

use std::sync::LazyLock;

use tracemend::{FormatId, Options, TileKind};

use super::{Bound, Bounds, Files, Original, Reach, Record, Subject, corpus, set};
use crate::forge::qemu;

/// The format.
pub static SUBJECT: Subject = Subject {
    format: FormatId::QEMU,
    originals: LazyLock::new(originals),
    records,
    places: |_| Vec::new(),
    flags: |_| Vec::new(),
    // 64 bytes before the first irregular event, and an event of the audio logs that begins there.
    reach: Reach::BeforeDamage(256),
    remains: None,
    judge: None,
    bounds: Bounds {
        false_labels: Bound::NONE,
        losing: Bound::new(
            30,
            "where no clock was read, the page before an irregular event may be a block from \
             another place, and is dropped",
        ),
        given_up: Bound::new(
            110,
            "too few events before the damage decide between releases with one version",
        ),
        unclean: Bound::NONE,
        unstable: Bound::NONE,
    },
};

fn originals() -> Vec<Original> {
    // A log of 14 bytes is nearly all header: there is nothing to recover.
    let forged = qemu::all().into_iter().filter(|(name, _)| !name.ends_with("bare"));
    let mut all: Vec<Original> =
        forged.map(|(name, log)| Original::single(name, log.bytes)).collect();
    for release in ["5.2", "7.2", "10.0", "11.1"] {
        let log = qemu::long(qemu::ids::of(release), 6_000);
        all.push(Original::single(format!("{release} long"), log.bytes));
    }
    all.extend(corpus("qemu"));
    all
}

fn records(_: &Original, files: &Files) -> Vec<Record> {
    let options = Options::default().with_format(FormatId::QEMU);
    let mut found = Vec::new();
    let bytes = &files[0].1;
    tracemend::tile(&set(files), &options, &mut |tile| {
        let stored = tile.span.start() as usize..tile.span.end() as usize;
        if tile.kind == TileKind::Record {
            let identity = bytes[stored.clone()].to_vec();
            found.push(Record { file: 0, stored, needs: Vec::new(), identity });
        }
    });
    found
}
