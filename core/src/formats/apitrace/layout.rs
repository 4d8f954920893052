//! Facts of the format: numbers and names, no code.

/// First bytes of a file of snappy chunks.
pub const SNAPPY_MAGIC: [u8; 2] = *b"at";
/// First bytes of a gzip member.
pub const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// The header of a gzip member without a name and a time.
pub const GZIP_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
/// First bytes of a zstd frame.
pub const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Last bytes of a file of zstd frames with a seek table.
pub const ZSTD_SEEKABLE_MAGIC: [u8; 4] = [0xb1, 0xea, 0x92, 0x8f];

/// Length of the magic of a file of chunks.
pub const MAGIC_LEN: u64 = 2;
/// The length before a chunk's block.
pub const CHUNK_HEADER_LEN: u64 = 4;
/// Expanded bytes of a full chunk, which fill the buffers of readers.
pub const CHUNK_EXPANDED: u64 = 1 << 20;
/// Size of apitrace's buffer for compressed bytes: `snappy::MaxCompressedLength(1 MiB)`.
pub const CHUNK_STORED_MAX: u64 = 1_223_370;
/// The expanded length that begins every full chunk's block.
pub const FULL_CHUNK: [u8; 3] = [0x80, 0x80, 0x40];
/// The longest chunk that is looked at. The first letters of a text, taken for a length, give more
/// than 512 MiB.
pub const CHUNK_PLAUSIBLE: u64 = 64 << 20;

/// The newest version of the stream.
pub const VERSION_MAX: u64 = 6;
/// Versions whose events differ in their form, the commonest first: one of each form.
pub const VERSIONS: [u64; 3] = [VERSION_MAX, VERSION_THREADS - 1, VERSION_ENUM_SETS - 1];
/// A version above this is damaged, if anything is: one release after another adds one.
pub const VERSION_PLAUSIBLE: u64 = 8;
/// The first version with a semantic version and properties.
pub const VERSION_PROPERTIES: u64 = 6;
/// The first version whose enters carry the number of the thread.
pub const VERSION_THREADS: u64 = 4;
/// The first version whose enum signatures hold all values.
pub const VERSION_ENUM_SETS: u64 = 3;

/// Events.
pub mod event {
    /// A call begins.
    pub const ENTER: u8 = 0;
    /// A call is over.
    pub const LEAVE: u8 = 1;
}

/// Details of a call.
pub mod detail {
    /// The end of the details.
    pub const END: u8 = 0;
    /// An argument: its index and its value.
    pub const ARG: u8 = 1;
    /// The value that the call returned.
    pub const RET: u8 = 2;
    /// The thread, before version 4.
    pub const THREAD: u8 = 3;
    /// Frames of the stack.
    pub const BACKTRACE: u8 = 4;
    /// Flags.
    pub const FLAGS: u8 = 5;
}

/// Flag of a call that the tracer made up.
pub const FLAG_FAKE: u64 = 1;

/// Types of values.
pub mod kind {
    /// Null pointer.
    pub const NULL: u8 = 0;
    /// False.
    pub const FALSE: u8 = 1;
    /// True.
    pub const TRUE: u8 = 2;
    /// A negative integer, its magnitude following.
    pub const SINT: u8 = 3;
    /// An integer.
    pub const UINT: u8 = 4;
    /// 32 bits.
    pub const FLOAT: u8 = 5;
    /// 64 bits.
    pub const DOUBLE: u8 = 6;
    /// Text.
    pub const STRING: u8 = 7;
    /// Bytes.
    pub const BLOB: u8 = 8;
    /// Signature and typed integer.
    pub const ENUM: u8 = 9;
    /// Signature and plain integer.
    pub const BITMASK: u8 = 10;
    /// Count and values.
    pub const ARRAY: u8 = 11;
    /// Signature and as many values as it has members.
    pub const STRUCT: u8 = 12;
    /// An address.
    pub const OPAQUE: u8 = 13;
    /// Two values: for people and for machines.
    pub const REPR: u8 = 14;
    /// Count and code points.
    pub const WSTRING: u8 = 15;
}

/// Details of a stack frame.
pub mod frame {
    /// The end of the details.
    pub const END: u8 = 0;
    /// Text: module, function, file.
    pub const TEXTS: std::ops::RangeInclusive<u8> = 1..=3;
    /// Integers: line, offset.
    pub const NUMBERS: std::ops::RangeInclusive<u8> = 4..=5;
}

/// Longest name of a function, argument, member, flag, frame or property.
///
/// Real ones stay below 300 bytes, but a module's path may have 4096 and a property may hold a
/// command line.
pub const NAME_MAX: u64 = 64 << 10;
/// Longest name of a property that is believed; real ones have up to 30 bytes.
pub const PROPERTY_NAME_MAX: u64 = 1 << 10;
/// The most properties that are believed; tracers write some tens.
pub const PROPERTIES_MAX: u64 = 4 << 10;
/// Items that one signature may have: arguments, members, values, flags.
pub const ITEMS_MAX: u64 = 64 << 10;
/// Ids from this one on are not those of functions, but for placeholders: the highest id in any
/// tracer up to 13.0 is 3427. Numbers of calls are taken for ids where damage is.
pub const FUNCTION_IDS: u64 = 1 << 12;
/// Highest id: readers hold a table of all ids up to it, 8 bytes each. The highest id of a function
/// in any tracer is 3427; frames are numbered densely.
pub const ID_MAX: u64 = 1 << 24;
/// Values of one array, frames of one backtrace, code points of one wide string: readers reserve
/// room for all of them before they read the first.
pub const COUNT_MAX: u64 = 1 << 24;
/// Highest index of an argument of a function whose definition was lost.
pub const LOST_ARGUMENT_MAX: u64 = 255;
/// Longest string or blob: 4 GiB, more than any API takes at once.
pub const BYTES_MAX: u64 = 1 << 32;
/// Highest plausible number of a thread.
pub const THREAD_MAX: u64 = 1 << 20;
/// Texts up to this length are checked: a list of all extensions has 10 KB.
pub const TEXT_LOOKED_AT: u64 = 64 << 10;
/// Bytes of an integer: 64 bits are ten groups of seven.
pub const UINT_LEN: usize = 10;
/// The longest encoding of an integer that is read; other readers have no bound.
pub const UINT_LEN_MAX: usize = 64;

/// Id of the placeholder function for lost calls, far above those of all tracers.
pub const PLACEHOLDER_ID: u64 = 65_520;
/// The same and others, for a trace that has placeholders already.
pub const PLACEHOLDER_IDS: std::ops::Range<u64> = PLACEHOLDER_ID..PLACEHOLDER_ID + 64;
/// Name of that function: a query without an effect, which a replay passes over.
pub const PLACEHOLDER_NAME: &[u8] = b"glXGetCurrentContext";
/// Name of its only argument.
pub const PLACEHOLDER_ARG: &[u8] = b"lost_call";
