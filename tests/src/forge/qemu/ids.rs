//! The ids of the events in each layout: a table by hand, independent of the core.

/// How sound is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sound {
    /// u32 numbers.
    Narrow,
    /// u64 numbers.
    Wide,
    /// u64 numbers, no write position.
    Unplaced,
}

/// One layout.
#[derive(Clone, Copy, Debug)]
pub struct Ids {
    /// A release that writes it, as `--qemu-version` takes it.
    pub release: &'static str,
    /// The version word.
    pub version: u32,
    /// Names of the shutdown events, from `shutdown` on.
    pub causes: &'static [&'static str],
    /// Id of the first shutdown event.
    pub shutdown: u8,
    /// Id of CHAR_WRITE; CHAR_READ_ALL and CHAR_READ_ALL_ERROR follow.
    pub chars: Option<u8>,
    /// Id of AUDIO_OUT; AUDIO_IN follows.
    pub audio: Option<u8>,
    /// Id of RANDOM.
    pub random: Option<u8>,
    /// Id of CLOCK_HOST; CLOCK_VIRTUAL_RT follows.
    pub clocks: u8,
    /// Id of the first checkpoint.
    pub checkpoint: u8,
    /// Id of END.
    pub end: u8,
    /// Id of SHUTDOWN+HOST_SIGNAL, if the writer puts one before END.
    pub signal: Option<u8>,
    /// Names of the asynchronous events.
    pub asynchronous: &'static [&'static str],
    /// They have the ids from 3 on; else id 3 and a number.
    pub own_ids: bool,
    /// How sound is written.
    pub sound: Sound,
    /// Qcodes; 0 where keys are keycodes of Linux.
    pub qcodes: u32,
    /// Kinds of input.
    pub inputs: u32,
    /// Buttons.
    pub buttons: u32,
}

impl Ids {
    /// Names of the checkpoints.
    pub fn checkpoints(&self) -> &'static [&'static str] {
        if self.release == "2.5" { &CHECKPOINTS_2_5 } else { &CHECKPOINTS }
    }

    /// Number of a checkpoint.
    pub fn checkpoint_number(&self, name: &str) -> u8 {
        let place = self.checkpoints().iter().position(|one| *one == name);
        place.expect("the layout has the checkpoint") as u8
    }
}

const CHECKPOINTS_2_5: [&str; 8] = [
    "CP_CLOCK_WARP",
    "CP_RESET_REQUESTED",
    "CP_SUSPEND_REQUESTED",
    "CP_CLOCK_VIRTUAL",
    "CP_CLOCK_HOST",
    "CP_CLOCK_VIRTUAL_RT",
    "CP_INIT",
    "CP_RESET",
];
const CHECKPOINTS: [&str; 9] = [
    "CP_CLOCK_WARP_START",
    "CP_CLOCK_WARP_ACCOUNT",
    "CP_RESET_REQUESTED",
    "CP_SUSPEND_REQUESTED",
    "CP_CLOCK_VIRTUAL",
    "CP_CLOCK_HOST",
    "CP_CLOCK_VIRTUAL_RT",
    "CP_INIT",
    "CP_RESET",
];
const ANY: [&str; 1] = ["SHUTDOWN"];
const CAUSES: [&str; 11] = [
    "SHUTDOWN+NONE",
    "SHUTDOWN+HOST_ERROR",
    "SHUTDOWN+HOST_QMP_QUIT",
    "SHUTDOWN+HOST_QMP_SYSTEM_RESET",
    "SHUTDOWN+HOST_SIGNAL",
    "SHUTDOWN+HOST_UI",
    "SHUTDOWN+GUEST_SHUTDOWN",
    "SHUTDOWN+GUEST_RESET",
    "SHUTDOWN+GUEST_PANIC",
    "SHUTDOWN+SUBSYSTEM_RESET",
    "SHUTDOWN+SNAPSHOT_LOAD",
];
const CAUSES_3_0: [&str; 9] = [
    "SHUTDOWN+NONE",
    "SHUTDOWN+HOST_ERROR",
    "SHUTDOWN+HOST_QMP",
    "SHUTDOWN+HOST_SIGNAL",
    "SHUTDOWN+HOST_UI",
    "SHUTDOWN+GUEST_SHUTDOWN",
    "SHUTDOWN+GUEST_RESET",
    "SHUTDOWN+GUEST_PANIC",
    "SHUTDOWN+SUBSYSTEM_RESET",
];
const ASYNC_OLD: [&str; 6] =
    ["ASYNC_BH", "ASYNC_INPUT", "ASYNC_INPUT_SYNC", "ASYNC_CHAR_READ", "ASYNC_BLOCK", "ASYNC_NET"];
const ASYNC: [&str; 7] = [
    "ASYNC_BH",
    "ASYNC_BH_ONESHOT",
    "ASYNC_INPUT",
    "ASYNC_INPUT_SYNC",
    "ASYNC_CHAR_READ",
    "ASYNC_BLOCK",
    "ASYNC_NET",
];

/// One row: numbers in the order of the fields, 0 for what the layout does not have.
struct Row(&'static str, u32, usize, [u8; 7], bool, u32, [u32; 2]);

/// release, version, causes, [shutdown, chars, audio, random, clocks, checkpoint, end], pair,
/// qcodes, [inputs, buttons].
const ROWS: [Row; 15] = [
    Row("2.5", 0xe02002, 1, [4, 0, 0, 0, 5, 7, 15], false, 123, [4, 5]),
    Row("2.6", 0xe02004, 1, [4, 5, 0, 0, 8, 10, 19], false, 125, [4, 5]),
    Row("2.9", 0xe02006, 1, [4, 5, 8, 0, 10, 12, 21], false, 128, [4, 7]),
    Row("2.10", 0xe02006, 8, [4, 13, 16, 0, 18, 20, 29], false, 146, [4, 7]),
    Row("2.12", 0xe02007, 8, [4, 13, 16, 0, 18, 20, 29], false, 148, [4, 7]),
    Row("3.0", 0xe02007, 9, [4, 14, 17, 0, 19, 21, 30], false, 148, [4, 7]),
    Row("4.0", 0xe02007, 10, [4, 15, 18, 0, 20, 22, 31], false, 148, [4, 7]),
    Row("4.2", 0xe02008, 10, [4, 15, 18, 0, 20, 22, 31], false, 148, [4, 7]),
    Row("5.0", 0xe02009, 10, [4, 15, 18, 20, 21, 23, 32], false, 148, [4, 7]),
    Row("5.2", 0xe0200a, 10, [4, 15, 18, 20, 21, 23, 32], true, 150, [4, 9]),
    Row("7.1", 0xe0200c, 10, [10, 21, 24, 26, 27, 29, 38], true, 150, [4, 9]),
    Row("7.2", 0xe0200c, 11, [10, 22, 25, 27, 28, 30, 39], true, 162, [4, 9]),
    Row("10.0", 0xe0200c, 11, [10, 22, 25, 27, 28, 30, 39], true, 162, [5, 10]),
    Row("11.0", 0xe0200d, 11, [10, 22, 25, 27, 28, 30, 39], true, 162, [5, 10]),
    Row("11.1", 0xe0200e, 11, [10, 22, 25, 27, 28, 30, 39], true, 0, [5, 10]),
];

/// Every layout, oldest first.
pub fn all() -> Vec<Ids> {
    let ids = |(number, row): (usize, &Row)| {
        let Row(release, version, causes, ids, pair, qcodes, [inputs, buttons]) = *row;
        let [shutdown, chars, audio, random, clocks, checkpoint, end] = ids;
        let some = |id: u8| (id > 0).then_some(id);
        let causes: &'static [&'static str] = match causes {
            1 => &ANY,
            8 | 9 => &CAUSES_3_0[..causes],
            _ => &CAUSES[..causes],
        };
        let asynchronous: &'static [&'static str] = match number {
            0 => &ASYNC_OLD[..3],
            1 => &ASYNC_OLD[..5],
            2..=6 => &ASYNC_OLD,
            _ => &ASYNC,
        };
        let signal = causes.iter().position(|cause| *cause == "SHUTDOWN+HOST_SIGNAL");
        Ids {
            release,
            version,
            causes,
            shutdown,
            chars: some(chars),
            audio: some(audio),
            random: some(random),
            clocks,
            checkpoint,
            end,
            signal: signal.filter(|_| pair).map(|place| shutdown + place as u8),
            asynchronous,
            own_ids: shutdown == 10,
            sound: match number {
                ..=6 => Sound::Narrow,
                7..=12 => Sound::Wide,
                _ => Sound::Unplaced,
            },
            qcodes,
            inputs,
            buttons,
        }
    };
    ROWS.iter().enumerate().map(ids).collect()
}

/// The layout that a release writes, by the release that stands for it here.
pub fn of(release: &str) -> Ids {
    all().into_iter().find(|ids| ids.release == release).expect("a release of the table")
}
