//! The algebra of patches, compared with a model that edits a copy, and plans of them.

use tracemend::kit::source::Source;
use tracemend::kit::span::{Layer, Span};
use tracemend::mend::plan::Plan;
use tracemend::mend::proof;
use tracemend::mend::rounds::{Outcome, Repair};
use tracemend::model::edit::Edit;
use tracemend::model::patch::{Op, Patch};
use tracemend::{FileSet, Limits, Report};

use super::recording::read_back;
use super::{Held, ensure, pieces};

/// Number of bytes kept after the last edit, number of bytes replaced, and their replacement.
pub type Step = (u8, u8, Vec<u8>);

/// Tests two patches in sequence, and their plan.
pub fn holds(source: &[u8], first: &[Step], second: &[Step], name: &str) -> Held {
    let one = edited(source, first)?;
    let between = bytes(&one, source);
    let two = edited(&between, second)?;
    composed(source, &one, &two)?;
    planned(source, &one.then(&two), name)
}

/// Tests that edits are accepted exactly if they are in order, apart and inside the file.
pub fn accepted(source_len: u8, spans: &[(u8, u8)]) -> Held {
    let span =
        |(start, end): &(u8, u8)| Span::new(Layer::stored(0), u64::from(*start), u64::from(*end));
    let edits: Vec<_> = spans.iter().map(|pair| Edit::replace(span(pair), *b"+")).collect();
    let inside = edits.iter().all(|edit| edit.span.end() <= u64::from(source_len));
    let apart = edits.windows(2).all(|pair| {
        pair[0].span.end() <= pair[1].span.start() && pair[0].span.start() < pair[1].span.start()
    });
    let patch = Patch::from_edits(source_len.into(), &edits);
    ensure(
        patch.is_ok() == (inside && apart),
        "edits are accepted if they are in order and apart",
        || format!("{patch:?} of {edits:?}"),
    )
}

/// Tests that the patch of `steps` agrees with the model and is canonical.
fn edited(source: &[u8], steps: &[Step]) -> Result<Patch, super::Broken> {
    let (edits, expected) = model(source, steps);
    let len = source.len() as u64;
    let patch = match Patch::from_edits(len, &edits) {
        Ok(patch) => patch,
        Err(error) => {
            ensure(false, "edits in order form a patch", || format!("{error}: {edits:?}"))?;
            Patch::identity(len)
        }
    };
    let target = bytes(&patch, source);
    ensure(target == expected, "a patch has the effect of its edits", || {
        format!("{target:?}, expected {expected:?}: {patch:?}")
    })?;
    let (kept, target_len) = (patch.kept(), target.len() as u64);
    ensure(
        kept + patch.dropped() == len
            && kept + patch.inserted() == target_len
            && patch.target_len() == target_len,
        "a patch balances",
        || format!("{patch:?}"),
    )?;
    let canonical = patch.edits(0);
    ensure(Patch::from_edits(len, &canonical) == Ok(patch.clone()), "edits read back", || {
        format!("{canonical:?} of {patch:?}")
    })?;
    let sliced = patch.view(&Source::from_pieces(pieces(source)));
    let sliced = sliced.pieces().collect::<Vec<_>>().concat();
    ensure(sliced == target, "a patch of a file in pieces has the same effect", || {
        format!("{patch:?}")
    })?;
    traced(source, &target, &patch)?;
    Ok(patch)
}

/// Tests that the source offset of every kept byte is right, and that offsets never decrease.
fn traced(source: &[u8], target: &[u8], patch: &Patch) -> Held {
    let mut kept = Vec::new();
    for op in patch.ops() {
        kept.resize(kept.len() + op.len() as usize, matches!(op, Op::Keep { .. }));
    }
    let mut last = 0;
    for (at, byte) in target.iter().enumerate() {
        let from = patch.source_offsets().of(at as u64);
        let right = !kept[at] || source.get(from as usize) == Some(byte);
        ensure(
            right && from >= last && from <= source.len() as u64,
            "the source offset of a byte is right",
            || format!("{at} comes from {from} after {last}: {patch:?}"),
        )?;
        last = from;
    }
    Ok(())
}

/// Tests that two patches compose, and that the identity is neutral on either side.
fn composed(source: &[u8], one: &Patch, two: &Patch) -> Held {
    let both = one.then(two);
    let (expected, found) = (bytes(two, &bytes(one, source)), bytes(&both, source));
    ensure(found == expected, "two patches compose", || {
        format!("{found:?}, expected {expected:?}: {one:?} then {two:?}")
    })?;
    let before = Patch::identity(one.source_len()).then(one);
    let after = one.then(&Patch::identity(one.target_len()));
    ensure(before == *one && after == *one, "the identity is neutral", || {
        format!("{before:?} {one:?} {after:?}")
    })?;
    ensure(
        one.is_identity() == (bytes(one, source) == source && one.inserted() == 0),
        "the identity is recognised",
        || format!("{one:?}"),
    )
}

/// Tests that the plan of a patch reads back, proves the target, can be reversed, and is refused
/// with any byte changed.
fn planned(source: &[u8], patch: &Patch, name: &str) -> Held {
    let target = bytes(patch, source);
    let sources = FileSet::single(name, source);
    let targets = FileSet::single(name, &target);
    let repair = Repair {
        outcome: Outcome::Repaired,
        patches: vec![patch.clone()],
        applied: Vec::new(),
        before: Report::default(),
        after: Report::default(),
        refused: None,
    };
    let plan = Plan::new(&repair, &sources, &Limits::default()).unwrap();
    read_back(&plan)?;
    let balance = proof::prove(&plan, &sources, &targets);
    ensure(balance.is_ok(), "a plan proves its target", || format!("{balance:?}"))?;
    let mut undone = plan.clone();
    undone.files[0] = plan.files[0].reversed().unwrap();
    let proved = proof::prove(&undone, &targets, &sources);
    ensure(proved.is_ok(), "a plan can be reversed", || format!("{proved:?}"))?;
    let twice = undone.files[0].reversed();
    ensure(twice.as_ref() == Ok(&plan.files[0]), "a plan reversed twice is the same", || {
        format!("{twice:?}, expected {:?}", plan.files[0])
    })?;

    let text = plan.to_json().unwrap();
    let at = super::seed(source) as usize % text.len();
    let mut changed = text.into_bytes();
    changed[at] ^= 1;
    let read = Plan::from_json(&changed);
    ensure(read.is_err(), "a changed plan is refused", || format!("byte {at} of {plan:?}"))?;
    for at in 0..target.len().min(8) {
        let mut changed = target.clone();
        changed[at] ^= 1;
        let proved = proof::prove(&plan, &sources, &FileSet::single(name, &changed));
        ensure(proved.is_err(), "a changed target is refused", || format!("byte {at}"))?;
    }
    Ok(())
}

/// Returns the edits of the steps, and the source after them.
fn model(source: &[u8], steps: &[Step]) -> (Vec<Edit>, Vec<u8>) {
    let (mut edits, mut target, mut at) = (Vec::new(), Vec::new(), 0);
    for (keep, replace, insert) in steps {
        // Two edits may not begin at the same offset.
        let follows_insert = edits.last().is_some_and(|edit: &Edit| edit.span.is_empty());
        let start = at + usize::from(*keep).max(follows_insert.into());
        if start > source.len() {
            break;
        }
        let end = (start + usize::from(*replace)).min(source.len());
        target.extend_from_slice(&source[at..start]);
        target.extend_from_slice(insert);
        let span = Span::new(Layer::stored(0), start as u64, end as u64);
        edits.push(Edit::replace(span, insert.clone()));
        at = end;
    }
    target.extend_from_slice(&source[at..]);
    (edits, target)
}

fn bytes(patch: &Patch, source: &[u8]) -> Vec<u8> {
    patch.view(&Source::new(source)).pieces().collect::<Vec<_>>().concat()
}
