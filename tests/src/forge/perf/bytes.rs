//! Numbers and strings written in a chosen byte order.

/// The byte order of the machine that recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// x86-64, aarch64: magic `PERFILE2`.
    Little,
    /// s390x, ppc64: magic `2ELIFREP`.
    Big,
}

/// Bytes under construction.
#[derive(Clone, Debug)]
pub struct Bytes {
    order: Order,
    bytes: Vec<u8>,
}

impl Bytes {
    /// No bytes yet.
    pub fn new(order: Order) -> Self {
        Self { order, bytes: Vec::new() }
    }

    /// The byte order of the numbers.
    pub fn order(&self) -> Order {
        self.order
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes.
    pub fn done(self) -> Vec<u8> {
        self.bytes
    }

    /// One byte.
    pub fn u8(&mut self, value: u8) -> &mut Self {
        self.raw(&[value])
    }

    /// Two bytes.
    pub fn u16(&mut self, value: u16) -> &mut Self {
        match self.order {
            Order::Little => self.raw(&value.to_le_bytes()),
            Order::Big => self.raw(&value.to_be_bytes()),
        }
    }

    /// Four bytes.
    pub fn u32(&mut self, value: u32) -> &mut Self {
        match self.order {
            Order::Little => self.raw(&value.to_le_bytes()),
            Order::Big => self.raw(&value.to_be_bytes()),
        }
    }

    /// Eight bytes.
    pub fn u64(&mut self, value: u64) -> &mut Self {
        self.raw(&u64_bytes(self.order, value))
    }

    /// Several times eight bytes.
    pub fn u64s(&mut self, values: &[u64]) -> &mut Self {
        for value in values {
            self.u64(*value);
        }
        self
    }

    /// Bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// Zero bytes.
    pub fn zeros(&mut self, count: usize) -> &mut Self {
        self.bytes.resize(self.bytes.len() + count, 0);
        self
    }

    /// Zeros up to a multiple of `unit`.
    pub fn pad(&mut self, unit: usize) -> &mut Self {
        self.zeros(self.bytes.len().next_multiple_of(unit) - self.bytes.len())
    }

    /// Text, a NUL, and zeros up to a multiple of `unit`, counted from the text's own start.
    pub fn text(&mut self, text: &str, unit: usize) -> &mut Self {
        let len = (text.len() + 1).next_multiple_of(unit);
        self.fixed(text, len)
    }

    /// Text in a field of exactly `len` bytes, filled with zeros.
    pub fn fixed(&mut self, text: &str, len: usize) -> &mut Self {
        assert!(text.len() < len, "{text:?} and its NUL fit into {len} bytes");
        self.raw(text.as_bytes()).zeros(len - text.len())
    }

    /// `perf_header_string` as `do_write_string` of perf writes it: a u32 length that counts the
    /// padding, then the text, padded with NULs to a multiple of 64.
    pub fn string(&mut self, text: &str) -> &mut Self {
        let len = (text.len() + 1).next_multiple_of(64);
        self.u32(len as u32).fixed(text, len)
    }
}

/// The eight bytes of a number.
pub fn u64_bytes(order: Order, value: u64) -> [u8; 8] {
    match order {
        Order::Little => value.to_le_bytes(),
        Order::Big => value.to_be_bytes(),
    }
}
