//! The ids of events, in the order of their numbers.

/// Event ids with the indexes of their attrs, as runs in order, each more than twice as long as the
/// next one. Attrs can come between the records of a pipe: sorting all ids again after each of them
/// takes hours, and a tree twice the memory.
#[derive(Clone, Debug)]
pub(super) struct Ids {
    runs: Vec<Vec<(u64, usize)>>,
}

impl Ids {
    pub(super) const fn new() -> Self {
        Self { runs: Vec::new() }
    }

    /// Adds the ids of an attr, whose index is above those of the attrs before it.
    pub(super) fn push(&mut self, ids: impl IntoIterator<Item = u64>, attr: usize) {
        let mut run: Vec<(u64, usize)> = ids.into_iter().map(|id| (id, attr)).collect();
        if run.is_empty() {
            return;
        }
        run.sort_unstable();
        while let Some(mut longer) = self.runs.pop_if(|last| last.len() / 2 <= run.len()) {
            longer.append(&mut run);
            longer.sort_unstable();
            run = longer;
        }
        self.runs.push(run);
    }

    /// Returns the index of the attr with an id. The last of several is the first that perf finds.
    pub(super) fn find(&self, id: u64) -> Option<usize> {
        let in_run = |run: &Vec<(u64, usize)>| {
            let end = run.partition_point(|(other, _)| *other <= id);
            let (found, attr) = run.get(end.checked_sub(1)?)?;
            (*found == id).then_some(*attr)
        };
        self.runs.iter().rev().find_map(in_run)
    }

    /// Returns the least id.
    pub(super) fn least(&self) -> Option<u64> {
        self.runs.iter().filter_map(|run| run.first()).map(|(id, _)| *id).min()
    }

    /// Returns the number of ids, with those that stand twice.
    pub(super) fn len(&self) -> usize {
        self.runs.iter().fold(0, |sum, run| sum.saturating_add(run.len()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::Ids;

    #[test]
    fn the_last_attr_with_an_id_is_found_in_every_order() {
        for step in [1_u64, 7, 996, 0] {
            let (mut ids, mut known) = (Ids::new(), BTreeMap::new());
            for attr in 0..997_usize {
                let number = u64::try_from(attr).unwrap() * step % 997;
                let own = [number, number + 500, number];
                ids.push(own, attr);
                own.into_iter().for_each(|id| _ = known.insert(id, attr));
            }
            assert_eq!(ids.len(), 3 * 997);
            assert!((0..2_000).all(|id| ids.find(id) == known.get(&id).copied()), "{step}");
            assert!(ids.runs.len() <= 12, "{}", ids.runs.len());
        }
    }
}
