//! Limits of values, by the widest value that was ever written or by what QEMU survives.

/// Largest count of instructions between two events: the reader counts down in an `int`.
pub const INSTRUCTIONS: u64 = (1 << 31) - 1;
/// Counts below this are so common that their rate is not looked at: one in 7,000 is larger.
pub const INSTRUCTIONS_USUAL: u64 = 1 << 20;
/// Most instructions per nanosecond of the host's clock. QEMU translates each of them to several
/// of the host; the fastest recording measured has 2.7.
pub const INSTRUCTION_RATE: u64 = 16;
/// Block requests that may be under way at a time: the ids of finished ones are that close.
pub const BLOCK_REQUESTS: u64 = 64;
/// Block requests done after one that is still under way, in a log whose requests are done in their
/// order: more show that the request is lost.
pub const BLOCK_LATER: u64 = 8;
/// Number of character devices, and of network filters, on one command line. Replay uses the index
/// unchecked. QEMU has at most 4 serial ports; users add further devices one by one.
pub const DEVICES: u64 = 64;
/// Bytes of an array: a packet has at most 69,632, a read of a character device 4,096.
pub const ARRAY: u64 = 1 << 20;
/// Samples of one audio event: the ring holds a second or two at 192 kHz.
pub const SAMPLES: u64 = 1 << 20;
/// The known flags of a packet: `QEMU_NET_PACKET_FLAG_RAW`.
pub const NET_FLAGS: u64 = 1;
/// Number of Linux keycodes: `KEY_CNT`.
pub const LINUX_KEYS: u32 = 0x300;
/// Number of key numbers: scancodes with their prefix.
pub const KEY_NUMBERS: u64 = 0x1_0000;
/// Number of pointer axes.
pub const AXES: u32 = 2;
/// Number of touch kinds.
pub const TOUCHES: u32 = 5;
