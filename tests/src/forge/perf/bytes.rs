//! Numbers and strings written in a chosen byte order.

/// Byte order of the recording machine.
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
    /// Creates an empty buffer.
    pub fn new(order: Order) -> Self {
        Self { order, bytes: Vec::new() }
    }

    /// The byte order of the numbers.
    pub fn order(&self) -> Order {
        self.order
    }

    /// Returns the number of bytes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether the buffer is empty.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes.
    pub fn done(self) -> Vec<u8> {
        self.bytes
    }

    /// Appends a byte.
    pub fn u8(&mut self, value: u8) -> &mut Self {
        self.raw(&[value])
    }

    /// Appends a u16.
    pub fn u16(&mut self, value: u16) -> &mut Self {
        match self.order {
            Order::Little => self.raw(&value.to_le_bytes()),
            Order::Big => self.raw(&value.to_be_bytes()),
        }
    }

    /// Appends a u32.
    pub fn u32(&mut self, value: u32) -> &mut Self {
        match self.order {
            Order::Little => self.raw(&value.to_le_bytes()),
            Order::Big => self.raw(&value.to_be_bytes()),
        }
    }

    /// Appends a u64.
    pub fn u64(&mut self, value: u64) -> &mut Self {
        self.raw(&u64_bytes(self.order, value))
    }

    /// Appends several u64.
    pub fn u64s(&mut self, values: &[u64]) -> &mut Self {
        for value in values {
            self.u64(*value);
        }
        self
    }

    /// Appends bytes.
    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// Appends zeros.
    pub fn zeros(&mut self, count: usize) -> &mut Self {
        self.bytes.resize(self.bytes.len() + count, 0);
        self
    }

    /// Appends zeros up to a multiple of `unit`.
    pub fn pad(&mut self, unit: usize) -> &mut Self {
        self.zeros(self.bytes.len().next_multiple_of(unit) - self.bytes.len())
    }

    /// Appends text, a NUL, and zeros up to a multiple of `unit`, counted from the start of the
    /// text.
    pub fn text(&mut self, text: &str, unit: usize) -> &mut Self {
        let len = (text.len() + 1).next_multiple_of(unit);
        self.fixed(text, len)
    }

    /// Appends text in a field of `len` bytes, filled with zeros.
    pub fn fixed(&mut self, text: &str, len: usize) -> &mut Self {
        assert!(text.len() < len, "{text:?} and its NUL fit into {len} bytes");
        self.raw(text.as_bytes()).zeros(len - text.len())
    }

    /// Appends a `perf_header_string` as `do_write_string` of perf writes it: a u32 length that
    /// counts the padding, then the text, padded with NULs to a multiple of 64.
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
