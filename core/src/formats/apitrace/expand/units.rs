//! Writes a stream in units of the same length.

/// The units that are written so far.
pub(super) struct Units {
    /// Bytes of the stream in a unit.
    len: usize,
    /// Adds a unit that holds such bytes.
    store: fn(&[u8], &mut Vec<u8>),
    pending: Vec<u8>,
    out: Vec<u8>,
}

impl Units {
    /// No unit.
    pub(super) const fn new(len: usize, store: fn(&[u8], &mut Vec<u8>)) -> Self {
        Self { len, store, pending: Vec::new(), out: Vec::new() }
    }

    /// Adds bytes of the stream; returns how many bytes are stored so far.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> usize {
        while !bytes.is_empty() {
            let room = self.len.saturating_sub(self.pending.len());
            let (now, later) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
            self.pending.extend_from_slice(now);
            bytes = later;
            if self.pending.len() == self.len {
                self.flush();
            }
        }
        self.out.len()
    }

    fn flush(&mut self) {
        if !self.pending.is_empty() {
            (self.store)(&self.pending, &mut self.out);
            self.pending.clear();
        }
    }

    /// Returns all units.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.flush();
        self.out
    }
}
