//! The race of hypotheses: several ways to read the same bytes, of which at most one is right.
//!
//! Damage, or a header that names no version, leaves bytes that can be read in several ways: 15
//! layouts of a QEMU log, seven of revent, an attr with or without one flipped bit. Each reading is
//! a [`Candidate`]. The format runs it over a bounded part of the recording (the same for all) and
//! notes in its [`Evidence`] how much it explains and where it is contradicted. Then [`decide`]
//! compares:
//!
//! 1. A candidate loses if another one is *clearly ahead* of it.
//! 2. Of those that are left, the one with the least cost wins: the reading that changes least.
//! 3. Several of the same least cost are a tie. Nothing more can be learned from the bytes, so the
//!    caller reports all of them and leaves the choice to the user.
//!
//! A format says how far ahead is clear. There are two measures: [`Evidence::explains_more`]
//! counts, and [`Evidence::is_contradicted_later`] compares the first contradictions that two
//! candidates do not share. The second suits streams without framing: a wrong layout loses its way
//! early, and may find back to valid items by chance, so that it collects few contradictions in
//! all.
//!
//! ```text
//! let candidates = [0_u64, 0x10].map(|flipped| {
//!     let mut evidence = Evidence::default();
//!     for record in &records {
//!         match parse(record, attr ^ flipped) {
//!             Ok(_) => evidence.explain(1),
//!             Err(_) => evidence.contradict(record.offset, Reason::Size),
//!         }
//!     }
//!     Candidate { reading: attr ^ flipped, cost: u64::from(flipped.count_ones()), evidence }
//! });
//! match decide(candidates, |a, b| a.explains_more(b, MARGIN)).winner() { ... }
//! ```

/// Contradictions of which place and reason are kept, per candidate.
///
/// Two candidates of a format differ within the first few.
pub const CONTRADICTIONS_KEPT: usize = 64;

/// One place that contradicts a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contradiction<R> {
    /// Offset in the layer that the candidates read.
    pub at: u64,
    /// The reason, in terms of the format.
    pub reason: R,
}

/// The result of reading bounded evidence by one candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence<R> {
    explained: u64,
    contradicted: u64,
    first: Vec<Contradiction<R>>,
    /// Offset from which the candidate explains nothing, if it lost its way.
    lost_at: Option<u64>,
}

impl<R> Default for Evidence<R> {
    fn default() -> Self {
        Self { explained: 0, contradicted: 0, first: Vec::new(), lost_at: None }
    }
}

impl<R> Evidence<R> {
    /// Adds `weight` units (items or bytes) that the candidate explains.
    pub const fn explain(&mut self, weight: u64) {
        self.explained = self.explained.saturating_add(weight);
    }

    /// Adds a contradiction. All are counted, the first [`CONTRADICTIONS_KEPT`] are kept.
    pub fn contradict(&mut self, at: u64, reason: R) {
        self.contradicted = self.contradicted.saturating_add(1);
        if self.first.len() < CONTRADICTIONS_KEPT {
            self.first.push(Contradiction { at, reason });
        }
    }

    /// Adds `weight` contradictions that have no place.
    pub const fn refute(&mut self, weight: u64) {
        self.contradicted = self.contradicted.saturating_add(weight);
    }

    /// Notes that the candidate explains nothing from `at` on.
    pub const fn lose(&mut self, at: u64) {
        self.lost_at = Some(at);
    }

    /// Returns the units that the candidate explains.
    pub const fn explained(&self) -> u64 {
        self.explained
    }

    /// Returns how often the candidate is contradicted.
    pub const fn contradicted(&self) -> u64 {
        self.contradicted
    }

    /// Returns whether the candidate explains at least `margin` units (at least 1) more than
    /// `other`; at equal numbers of explained units, whether it has as many fewer contradictions.
    pub fn explains_more(&self, other: &Self, margin: u64) -> bool {
        let margin = margin.max(1);
        if self.explained == other.explained {
            return other.contradicted.saturating_sub(self.contradicted) >= margin;
        }
        self.explained.saturating_sub(other.explained) >= margin
    }

    /// Returns whether the first contradiction that `other` does not share comes later than the
    /// first of `other` that is not shared. Contradictions at the same offset are shared.
    pub fn is_contradicted_later(&self, other: &Self) -> bool {
        let shared = self.shared_contradictions(other);
        self.offset_after(shared) > other.offset_after(shared)
    }

    /// Returns the first contradiction that `other` does not share, or the last one if all are
    /// shared. It is the reason to name if this candidate loses against `other`.
    pub fn reason_against(&self, other: &Self) -> Option<&Contradiction<R>> {
        self.first.get(self.shared_contradictions(other)).or(self.first.last())
    }

    /// Returns how many of the first contradictions are at the same offsets in both.
    fn shared_contradictions(&self, other: &Self) -> usize {
        self.first.iter().zip(&other.first).take_while(|(a, b)| a.at == b.at).count()
    }

    /// Returns the offset of the contradiction after the first `shared` ones; a candidate that lost
    /// its way is contradicted from there on.
    fn offset_after(&self, shared: usize) -> u64 {
        self.first.get(shared).map(|one| one.at).or(self.lost_at).unwrap_or(u64::MAX)
    }
}

/// One way to read the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate<T, R> {
    /// The reading.
    pub reading: T,
    /// How much it changes, or how unusual it is: 0 for the bytes as they are stored.
    pub cost: u64,
    /// The result of reading the evidence by it.
    pub evidence: Evidence<R>,
}

/// The result of a race. Both lists keep the order in which the candidates were given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision<T, R> {
    /// The candidates that share the lead: one if the race is decided, several for a tie.
    pub leaders: Vec<Candidate<T, R>>,
    /// The others.
    pub beaten: Vec<Candidate<T, R>>,
}

impl<T, R> Decision<T, R> {
    /// Returns the winner; `None` for a tie and for a race without candidates.
    pub fn winner(&self) -> Option<&Candidate<T, R>> {
        match self.leaders.as_slice() {
            [winner] => Some(winner),
            _ => None,
        }
    }
}

/// Compares candidates that read the same evidence.
///
/// `is_clearly_ahead` gets two of them and returns whether the first is clearly ahead of the
/// second. Every pair is compared, so candidates must be few: some tens.
pub fn decide<T, R>(
    candidates: impl IntoIterator<Item = Candidate<T, R>>,
    is_clearly_ahead: impl Fn(&Evidence<R>, &Evidence<R>) -> bool,
) -> Decision<T, R> {
    let candidates: Vec<Candidate<T, R>> = candidates.into_iter().collect();
    let is_beaten = |one: &Candidate<T, R>| {
        candidates.iter().any(|other| is_clearly_ahead(&other.evidence, &one.evidence))
    };
    let in_front: Vec<bool> = candidates.iter().map(|one| !is_beaten(one)).collect();
    let costs = candidates.iter().zip(&in_front).filter(|(_, in_front)| **in_front);
    let least = costs.map(|(one, _)| one.cost).min();
    let mut decision = Decision { leaders: Vec::new(), beaten: Vec::new() };
    for (one, in_front) in candidates.into_iter().zip(in_front) {
        if in_front && Some(one.cost) == least {
            decision.leaders.push(one);
        } else {
            decision.beaten.push(one);
        }
    }
    decision
}

/// Returns the reading with the most weight and its weight, if it leads all others by `margin`: for
/// readings of which nothing but a weight is known, such as votes.
pub fn leader<T>(weighed: impl IntoIterator<Item = (T, u64)>, margin: u64) -> Option<(T, u64)> {
    let candidates = weighed.into_iter().map(|(reading, weight)| {
        let mut evidence = Evidence::<()>::default();
        evidence.explain(weight);
        Candidate { reading, cost: 0, evidence }
    });
    let mut leaders = decide(candidates, |a, b| a.explains_more(b, margin)).leaders;
    let leader = leaders.pop().filter(|_| leaders.is_empty())?;
    Some((leader.reading, leader.evidence.explained))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(
        reading: &'static str,
        cost: u64,
        explained: u64,
        contradictions: &[u64],
    ) -> Candidate<&'static str, ()> {
        let mut evidence = Evidence::default();
        evidence.explain(explained);
        contradictions.iter().for_each(|at| evidence.contradict(*at, ()));
        Candidate { reading, cost, evidence }
    }

    fn names(candidates: &[Candidate<&'static str, ()>]) -> Vec<&'static str> {
        candidates.iter().map(|one| one.reading).collect()
    }

    #[test]
    fn one_flipped_bit_that_explains_hundreds_of_faults_wins_over_the_stored_value() {
        let stored = candidate("stored", 0, 259, &[8, 16, 24]);
        let flipped = candidate("bit 4", 1, 1_000, &[]);
        let other = candidate("bit 5", 1, 300, &[8]);
        let decision = decide([stored, flipped, other], |a, b| a.explains_more(b, 10));
        assert_eq!(decision.winner().map(|one| one.reading), Some("bit 4"));
        assert_eq!(names(&decision.beaten), ["stored", "bit 5"]);
    }

    #[test]
    fn a_lead_that_is_not_clear_leaves_the_cheapest() {
        let stored = candidate("stored", 0, 995, &[8]);
        let flipped = candidate("bit 4", 1, 1_000, &[]);
        let decision = decide([flipped, stored], |a, b| a.explains_more(b, 10));
        assert_eq!(decision.winner().map(|one| one.reading), Some("stored"));
    }

    #[test]
    fn equal_candidates_of_equal_cost_are_a_tie_with_all_of_them() {
        let all = ["7.2", "10.0", "11.1"].map(|name| candidate(name, 0, 9, &[]));
        let decision = decide(all, Evidence::is_contradicted_later);
        assert!(decision.winner().is_none());
        assert_eq!(names(&decision.leaders), ["7.2", "10.0", "11.1"]);
        let nobody: [Candidate<(), ()>; 0] = [];
        assert!(decide(nobody, |a, b| a.explains_more(b, 1)).leaders.is_empty());
    }

    #[test]
    fn a_leader_leads_all_others_by_the_margin() {
        assert_eq!(leader([("a", 4), ("b", 9), ("c", 5)], 4), Some(("b", 9)));
        assert_eq!(leader([("a", 4), ("b", 9), ("c", 6)], 4), None);
        assert_eq!(leader([("a", 4), ("b", 4)], 0), None, "equals are a tie");
        assert_eq!(leader([("a", 0)], 1), Some(("a", 0)));
        assert_eq!(leader::<()>([], 1), None);
    }

    #[test]
    fn shared_contradictions_do_not_count_and_the_later_first_one_leads() {
        // The damage at 40 contradicts both; the wrong layout finds back and is contradicted once.
        let right = candidate("right", 0, 90, &[40, 700, 710, 720]);
        let wrong = candidate("wrong", 0, 95, &[40, 60]);
        let decision = decide([wrong, right], Evidence::is_contradicted_later);
        assert_eq!(names(&decision.leaders), ["right"]);
        let [beaten] = decision.beaten.as_slice() else { panic!("{decision:?}") };
        let reason = beaten.evidence.reason_against(&decision.leaders[0].evidence);
        assert_eq!(reason.map(|one| one.at), Some(60));
    }

    #[test]
    fn a_candidate_that_lost_its_way_is_contradicted_from_there_on() {
        let lost = |at| {
            let mut one = candidate("lost", 0, 9, &[40]);
            one.evidence.lose(at);
            one
        };
        let sound = candidate("sound", 0, 9, &[40]);
        let decision = decide([lost(90), sound, lost(80)], Evidence::is_contradicted_later);
        assert_eq!(names(&decision.leaders), ["sound"]);
        assert!(lost(90).evidence.is_contradicted_later(&lost(80).evidence));
    }

    #[test]
    fn all_contradictions_are_counted_and_the_first_are_kept() {
        let one = candidate("many", 0, 0, &[7; 100]);
        assert_eq!(one.evidence.contradicted(), 100);
        assert_eq!(one.evidence.first.len(), CONTRADICTIONS_KEPT);
    }
}
