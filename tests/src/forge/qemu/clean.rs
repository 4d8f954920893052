//! Sound logs: every event of every layout.

use super::ids::{self, Ids, Sound};
use super::log::Log;

/// Every sound log, with a name.
pub fn all() -> Vec<(String, Log)> {
    let mut logs = Vec::new();
    for ids in ids::all() {
        let release = ids.release;
        logs.push((format!("{release} every event"), every(ids)));
        logs.push((format!("{release} bare"), bare(ids)));
        logs.push((format!("{release} keys"), keys(ids)));
        if ids.audio.is_some() {
            logs.push((format!("{release} sound"), sound(ids)));
        }
    }
    logs
}

/// Header and closing.
pub fn bare(ids: Ids) -> Log {
    let mut log = Log::new(ids);
    log.close();
    log
}

/// Every event that the layout has.
pub fn every(ids: Ids) -> Log {
    let mut log = Log::new(ids);
    log.start();
    for number in 0..10 {
        log.tick(number);
    }
    // CP_INIT was passed at the start.
    for name in ids.checkpoints().iter().filter(|name| **name != "CP_INIT") {
        log.checkpoint(name);
        match *name {
            "CP_CLOCK_HOST" => _ = log.host(),
            "CP_CLOCK_VIRTUAL_RT" | "CP_CLOCK_WARP_START" => _ = log.virtual_rt(),
            _ => {}
        }
    }
    for cause in 0..ids.causes.len() {
        log.shutdown(cause).instruction(1).exception();
    }
    asynchronous(&mut log);
    if ids.chars.is_some() {
        log.instruction(3).char_write(1, 1).instruction(4).char_write(u32::MAX, 0);
        log.instruction(2).read_all(b"all of it").instruction(2).read_all(b"").read_error(-11);
    }
    if ids.random.is_some() {
        log.instruction(8).random(0, b"\x17\x2a\x99").instruction(8).random(-1, b"");
    }
    if ids.audio.is_some() {
        log.checkpoint("CP_CLOCK_VIRTUAL").audio_out(441).audio_in(3, 70, 3).host();
    }
    log.tick(1).close();
    log
}

/// Every asynchronous event and every input, after the checkpoint that it belongs to.
fn asynchronous(log: &mut Log) {
    let ids = log.ids;
    for name in ids.asynchronous {
        log.checkpoint("CP_CLOCK_HOST");
        match *name {
            "ASYNC_INPUT" | "ASYNC_INPUT_SYNC" => {
                log.key(if ids.qcodes > 0 { ids.qcodes - 1 } else { 0x2ff }, 1).key(30, 0);
                if ids.qcodes > 0 {
                    log.key_number(0x1c, 1);
                }
                log.button(0, 1).button(ids.buttons - 1, 0);
                log.pointer(2, 0, -3).pointer(3, 1, 0x7fff).sync();
                if ids.inputs > 4 {
                    log.touch(0, 0).touch(4, 1).sync();
                }
            }
            "ASYNC_CHAR_READ" => _ = log.char_read(0, b"typed").char_read(3, b""),
            "ASYNC_NET" => _ = log.net(0, 0, &[0x52; 60]).net(1, 1, b"raw"),
            // The first request.
            "ASYNC_BLOCK" => _ = log.asynchronous(name, &0_u64.to_be_bytes()),
            _ => _ = log.asynchronous(name, &7_u64.to_be_bytes()),
        }
        log.host();
    }
}

/// Many keys: read by the layout of another release the log loses its way and finds it again.
pub fn keys(ids: Ids) -> Log {
    let mut log = Log::new(ids);
    log.start();
    for number in 0..6 {
        log.tick(number).checkpoint("CP_CLOCK_HOST");
        log.key(30 + number as u32, 1).sync().key(30 + number as u32, 0).sync().host();
    }
    log.close();
    log
}

/// Sound both ways; where the layout has the trap, with a ring that was filled.
pub fn sound(ids: Ids) -> Log {
    let mut log = Log::new(ids);
    log.start();
    for number in 0..4 {
        log.checkpoint("CP_CLOCK_VIRTUAL").audio_out(100).audio_in(4, 4 * (number + 1), 4);
        log.host().tick(0).tick(1);
    }
    if ids.sound != Sound::Unplaced {
        log.checkpoint("CP_CLOCK_VIRTUAL").audio_out(100).audio_in(32, 16, 0);
    }
    for number in 0..20 {
        log.tick(number);
    }
    log.close();
    log
}

/// A log of at least `len` bytes, three bytes an event.
pub fn long(ids: Ids, len: usize) -> Log {
    let mut log = Log::new(ids);
    log.start();
    let mut number = 0;
    while log.bytes.len() < len {
        log.tick(number);
        number += 1;
    }
    log.close();
    log
}
