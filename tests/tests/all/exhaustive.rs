//! Every case up to a bound of the arithmetic that decoders and repairs stand on: reads of a
//! cursor, spans, sources in pieces, and patches. A model in a few lines tells what is right.

use tracemend::kit::cursor::{Cursor, Order};
use tracemend::kit::row::{Form, Row, row_size};
use tracemend::kit::source::Source;
use tracemend::kit::span::{Layer, Span};
use tracemend::model::edit::Edit;
use tracemend::model::patch::{Op, Patch};
use tracemend_tests::sweep::is_left_to_the_gate;

/// Bytes of the longest window of a cursor.
const WINDOW: u64 = 24;
/// Bytes of the longest source in pieces.
const PIECES: usize = 10;
/// Bytes of the longest source of a patch, and of one that is followed by another.
const PATCHED: u64 = 10;
const COMPOSED: u64 = 7;

/// Numbers around those at which an addition or a subtraction goes wrong.
fn edges() -> Vec<u64> {
    let middles = [1_u64 << 32, 1 << 63].into_iter();
    let near = |number: u64| (0..5).map(move |off| number.saturating_sub(2).saturating_add(off));
    let ends = (0..7).chain(u64::MAX - 6..=u64::MAX);
    ends.chain(middles.flat_map(near)).collect()
}

fn bytes(len: u64) -> Vec<u8> {
    (1..=u8::try_from(len).unwrap()).collect()
}

/// Checks that a cursor reads the wanted bytes, or nothing.
fn check_read(
    (mut cursor, before): (Cursor<'_>, &Cursor<'_>),
    wanted: Option<u64>,
    read: impl FnOnce(&mut Cursor<'_>) -> Option<Vec<u8>>,
) {
    let left = before.rest();
    let found = read(&mut cursor);
    match wanted.filter(|wanted| *wanted <= before.left()) {
        Some(len) => {
            let len = usize::try_from(len).unwrap();
            assert_eq!(found.as_deref(), Some(&left[..len]));
            assert_eq!(cursor.position(), before.position() + len as u64);
            assert_eq!(cursor.rest(), &left[len..]);
        }
        None => {
            assert_eq!(found, None);
            assert_eq!((cursor.position(), cursor.left()), (before.position(), before.left()));
        }
    }
}

/// Reads numbers and arrays from a place.
fn check_numbers(at: &Cursor<'_>) {
    let pair = || (at.clone(), at);
    check_read(pair(), Some(1), |one| one.u8("x").ok().map(|n| n.to_be_bytes().into()));
    check_read(pair(), Some(2), |one| one.u16("x").ok().map(|n| n.to_be_bytes().into()));
    check_read(pair(), Some(4), |one| one.u32("x").ok().map(|n| n.to_be_bytes().into()));
    check_read(pair(), Some(4), |one| one.hex32("x").ok().map(|n| n.to_be_bytes().into()));
    check_read(pair(), Some(8), |one| one.u64("x").ok().map(|n| n.to_be_bytes().into()));
    check_read(pair(), Some(8), |one| one.hex64("x").ok().map(|n| n.to_be_bytes().into()));
    check_read(pair(), Some(3), |one| one.array::<3>("x").ok().map(Vec::from));
}

/// Reads so many bytes, entries and rows from a place.
fn check_lengths(at: &Cursor<'_>, wanted: u64) {
    const ROW: &Row = &[("a", Form::U8), ("b", Form::U16), ("c", Form::Hex32), ("d", Form::U64)];
    let pair = || (at.clone(), at);
    let window = |one: Cursor<'_>| one.rest().to_vec();
    check_read(pair(), Some(wanted), |one| one.bytes(wanted, "x").ok().map(Vec::from));
    check_read(pair(), Some(wanted), |one| one.window(wanted, "x").ok().map(window));
    check_read(pair(), Some(wanted), |one| one.part(wanted, "x").ok().map(window));
    let passed = |one: &Cursor<'_>| at.rest()[..at.rest().len() - one.rest().len()].to_vec();
    for size in [1, 2, 8, u64::MAX] {
        // Nothing is skipped if the product is too large for a number.
        let skip = |one: &mut Cursor<'_>| one.skip(wanted, size, "x").ok().map(|()| passed(one));
        check_read(pair(), wanted.checked_mul(size), skip);
    }
    let rows = |one: &mut Cursor<'_>| one.rows(wanted, ROW).ok().map(|()| passed(one));
    check_read(pair(), wanted.checked_mul(row_size(ROW)), rows);
}

#[test]
fn a_cursor_reads_what_is_there_or_nothing() {
    for len in 0..=WINDOW {
        let bytes = bytes(len);
        for start in edges().into_iter().filter(|start| start.checked_add(len).is_some()) {
            for offset in 0..=len {
                let mut at = Cursor::new(&bytes, Layer::stored(0), start, Order::Big);
                at.skip(offset, 1, "before").unwrap();
                assert_eq!((at.position(), at.left()), (start + offset, len - offset));
                check_numbers(&at);
                edges().into_iter().chain(0..=WINDOW + 1).for_each(|len| check_lengths(&at, len));
            }
        }
    }
}

#[test]
fn a_span_never_ends_before_it_begins() {
    let layer = Layer::stored(0);
    for start in edges() {
        for other in edges() {
            let (new, sized) = (Span::new(layer, start, other), Span::sized(layer, start, other));
            assert_eq!((new.start(), new.end()), (start, other.max(start)));
            assert_eq!((sized.start(), sized.end()), (start, start.saturating_add(other)));
            assert_eq!(new.len(), other.saturating_sub(start));
            assert_eq!(new.is_empty(), other <= start);
            for third in edges() {
                let next = Span::sized(layer, other, third);
                let shares = new.start().max(next.start()) < new.end().min(next.end());
                let inside = |one: &Span, two: &Span| {
                    one.is_empty() && two.start() < one.start() && one.end() < two.end()
                };
                let shares = shares || inside(&new, &next) || inside(&next, &new);
                assert_eq!((new.overlaps(&next), next.overlaps(&new)), (shares, shares));
            }
        }
    }
}

/// Every way to cut `len` bytes into four pieces, empty ones among them.
fn pieces(len: usize) -> impl Iterator<Item = [usize; 3]> {
    let from = move |low: usize| low..=len;
    from(0).flat_map(move |a| from(a).flat_map(move |b| from(b).map(move |c| [a, b, c])))
}

#[test]
fn a_source_in_pieces_reads_as_its_bytes() {
    for len in 0..=PIECES {
        let all = bytes(len as u64);
        for [a, b, c] in pieces(len) {
            let source = Source::from_pieces([&all[..a], &all[a..b], &all[b..c], &all[c..]]);
            assert_eq!((source.len(), source.to_vec()), (len as u64, all.clone()));
            for start in edges() {
                let run = source.run(start);
                let from = usize::try_from(start).unwrap().min(len);
                assert!(all[from..].starts_with(run) && (run.is_empty() == (from == len)));
                for end in edges() {
                    let until = usize::try_from(end).unwrap().min(len).max(from);
                    let read = source.read(start, end);
                    let slices: Vec<&[u8]> = source.slices(start, end).collect();
                    assert_eq!(&*read, &all[from..until], "{start}..{end}");
                    assert_eq!(slices.concat(), &all[from..until], "{start}..{end}");
                }
            }
        }
    }
}

/// An edit of a source: its range, and how many bytes take its place.
type Change = (u64, u64, usize);

fn changes(len: u64) -> Vec<Change> {
    let ranges = (0..=len + 1).flat_map(|start| (start..=len + 1).map(move |end| (start, end)));
    ranges.flat_map(|(start, end)| (0..3).map(move |insert| (start, end, insert))).collect()
}

/// The patch of some changes, and what it makes of the bytes from 1 on; inserted ones are 100.
fn patch(len: u64, changes: &[Change]) -> (Option<Patch>, Vec<u8>) {
    let layer = Layer::stored(0);
    let edit = |(start, end, insert): &Change| {
        Edit::replace(Span::new(layer, *start, *end), vec![100; *insert])
    };
    let edits: Vec<Edit> = changes.iter().map(edit).collect();
    let (mut target, mut at) = (Vec::new(), 0);
    let source = bytes(len);
    for (start, end, insert) in changes {
        let kept = source.get(at..usize::try_from(*start).unwrap());
        target.extend_from_slice(kept.unwrap_or_default());
        target.extend(vec![100; *insert]);
        at = usize::try_from(*end).unwrap();
    }
    target.extend_from_slice(source.get(at..).unwrap_or_default());
    (Patch::from_edits(len, &edits).ok(), target)
}

/// Whether changes lie in the source, in order, and no two of them meet at one place.
fn are_valid(len: u64, changes: &[Change]) -> bool {
    let is_inside = changes.iter().all(|(_, end, _)| *end <= len);
    let mut pairs = changes.iter().zip(changes.iter().skip(1));
    is_inside && pairs.all(|(one, two)| one.1 <= two.0 && one.0 != two.0)
}

/// Every list of at most two changes, with its patch if it has one.
fn patches(len: u64) -> Vec<(Vec<Change>, Option<Patch>, Vec<u8>)> {
    let all = changes(len);
    let ones = all.iter().map(|one| vec![*one]);
    let twos = all.iter().flat_map(|one| all.iter().map(move |two| vec![*one, *two]));
    let lists = std::iter::once(Vec::new()).chain(ones).chain(twos);
    lists
        .map(|list| {
            let (patch, target) = patch(len, &list);
            (list, patch, target)
        })
        .collect()
}

#[test]
fn a_patch_makes_what_its_edits_say() {
    let mut count = 0;
    for len in 0..=PATCHED {
        let source = bytes(len);
        for (list, patch, target) in patches(len) {
            assert_eq!(patch.is_some(), are_valid(len, &list), "{len} bytes, {list:?}");
            let Some(patch) = patch else { continue };
            count += 1;
            let view = patch.view(&Source::new(&source)).to_vec();
            assert_eq!(view, target, "{len} bytes, {list:?}");
            let kept = target.iter().filter(|byte| **byte < 100).count() as u64;
            let inserted = target.len() as u64 - kept;
            assert_eq!((patch.kept(), patch.inserted()), (kept, inserted), "{list:?}");
            assert_eq!((patch.dropped(), patch.target_len()), (len - kept, target.len() as u64));
            assert_eq!(patch.is_identity(), target == source && inserted == 0, "{list:?}");
            assert!(patch.ops().iter().all(|op| !op.is_empty()), "{list:?}");
            let adjoin = patch.ops().windows(2).all(|pair| match pair {
                [Op::Keep { end, .. }, Op::Keep { start, .. }] => end < start,
                [Op::Insert(_), Op::Insert(_)] => false,
                _ => true,
            });
            assert!(adjoin, "{list:?}: {:?}", patch.ops());
            // The edits of a patch make it again.
            assert_eq!(Patch::from_edits(len, &patch.edits(0)), Ok(patch.clone()), "{list:?}");
            let offsets = patch.source_offsets();
            let places: Vec<u64> = (0..=target.len() as u64).map(|at| offsets.of(at)).collect();
            assert!(places.is_sorted() && places.iter().all(|at| *at <= len), "{list:?}");
            for (at, byte) in target.iter().enumerate().filter(|(_, byte)| **byte < 100) {
                assert_eq!(places[at] + 1, u64::from(*byte), "{list:?}");
            }
        }
    }
    assert!(count > 1_000, "{count} patches");
}

#[test]
fn two_patches_are_one() {
    if is_left_to_the_gate("all pairs of short patches") {
        return;
    }
    let mut count = 0_u64;
    for len in 0..=COMPOSED {
        let source = bytes(len);
        for (list, first, middle) in patches(len) {
            let Some(first) = first else { continue };
            for next in changes(middle.len() as u64) {
                let layer = Layer::stored(0);
                let edit = Edit::replace(Span::new(layer, next.0, next.1), vec![101; next.2]);
                let Ok(second) = Patch::from_edits(middle.len() as u64, &[edit]) else { continue };
                let both = first.then(&second);
                let expected = second.view(&Source::new(&middle)).to_vec();
                let found = both.view(&Source::new(&source)).to_vec();
                assert_eq!(found, expected, "{list:?}, then {next:?}");
                let again = Patch::from_edits(len, &both.edits(0));
                assert_eq!(again.map(|one| one.ops().to_vec()), Ok(both.ops().to_vec()));
                count += 1;
            }
        }
    }
    assert!(count > 10_000, "{count} pairs");
}
