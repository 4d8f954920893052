//! The lines of a dump in JSON.

/// Pieces of a dump, joined to lines.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    rest: String,
}

impl Lines {
    /// Adds a piece, and calls `each` with every line that it ends.
    pub(crate) fn add<E>(
        &mut self,
        piece: &str,
        mut each: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        self.rest += piece;
        let whole = self.rest.rfind('\n').map_or(0, |at| at + 1);
        let rest = self.rest.split_off(whole);
        let lines = std::mem::replace(&mut self.rest, rest);
        lines.lines().try_for_each(&mut each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_joined_to_lines() {
        let (mut lines, mut seen) = (Lines::default(), Vec::new());
        for piece in ["a", "b\nc\n", "", "d\n", "e"] {
            let each = |line: &str| {
                seen.push(line.to_string());
                Ok::<(), ()>(())
            };
            lines.add(piece, each).unwrap();
        }
        assert_eq!(seen, ["ab", "c", "d"]);
    }
}
