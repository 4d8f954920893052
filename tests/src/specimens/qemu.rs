//! Specimens of the rules of QEMU's logs.

use super::Specimen;
use crate::forge::qemu::{Log, ids};

/// Rules that no log can break.
pub const IMPOSSIBLE: &[(&str, &str)] = &[];
/// Codes whose specimen is still to be made.
pub const MISSING: &[&str] = &[];

/// A log of ten events that is not closed.
pub fn log(release: &str) -> Log {
    let mut log = Log::new(ids::of(release));
    log.start();
    for number in 0..10 {
        log.tick(number);
    }
    log
}

/// A log with something in its middle.
fn with(release: &str, middle: impl FnOnce(&mut Log)) -> Vec<u8> {
    let mut log = log(release);
    middle(&mut log);
    for number in 0..10 {
        log.tick(number);
    }
    log.close();
    log.bytes
}

/// A log with an asynchronous event after a checkpoint in its middle.
fn input(release: &str, middle: impl FnOnce(&mut Log)) -> Vec<u8> {
    with(release, |log| {
        middle(log.checkpoint("CP_CLOCK_HOST"));
        log.sync().host();
    })
}

fn whole() -> Vec<u8> {
    with("11.0", |_| ())
}

/// A sound log with another header.
pub fn header(change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = whole();
    change(&mut bytes);
    bytes
}

/// A log of 300 passes of the main loop, one of them without its second checkpoint.
fn turn_left_out() -> Vec<u8> {
    let mut log = log("11.0");
    for number in (0..1500).filter(|number| *number != 703) {
        log.tick(number);
    }
    log.close();
    log.bytes
}

/// A guest that waits, with one inverted bit in a count.
fn count_changed() -> Vec<u8> {
    let mut log = log("11.0");
    for number in 0..40 {
        log.instruction(if number == 20 { 293 ^ 1 << 9 } else { 293 }).exception();
    }
    log.close();
    log.bytes
}

/// An asynchronous event with the id of a request.
fn request(log: &mut Log, name: &'static str, id: u64) {
    log.asynchronous(name, &id.to_be_bytes());
}

/// A log for every rule.
pub fn specimens() -> Vec<Specimen> {
    let closing = log("11.0").closing();
    let behind = |more: &[u8]| [&whole()[..], more].concat();
    let unfinished = log("11.0");
    let specimens = vec![
        Specimen::new("QR0001", vec![0, 0xe0, 0x20, 0x0d, 0, 0, 0]),
        Specimen::new("QR0002", unfinished.killed(unfinished.bytes.len() - 3)),
        Specimen::new("QR0003", header(|bytes| bytes[1] = 0xe1)),
        Specimen::new("QR0004", header(|bytes| bytes[3] = 0x0f)),
        Specimen::new("QR0005", header(|bytes| bytes[7] = 1)),
        Specimen::new("QR0006", whole()).with("qemu-version", "5.2"),
        Specimen::new("QR1001", with("11.0", |log| _ = log.event("damage", &[99]))),
        Specimen::new("QR1002", whole()[..whole().len() - 2].to_vec()),
        Specimen::new(
            "QR1003",
            with("11.0", |log| {
                let past = [9, 0, 0, 0, 0, 0, 0x00, 0xff, 0xff, 0xff];
                log.event("damage", &past);
            }),
        ),
        Specimen::new("QR1004", behind(b"left over")),
        Specimen::new("QR1005", behind(&closing[1..])),
        Specimen::new("QR1006", {
            let mut bytes = whole();
            // The same log once more would be a doubled block.
            let rest = with("11.0", |log| _ = log.tick(20))[12..].to_vec();
            bytes.extend(rest);
            bytes
        }),
        Specimen::new(
            "QR2001",
            input("11.0", |log| {
                log.asynchronous("ASYNC_INPUT", &[0, 0, 0, 200, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
            }),
        ),
        Specimen::new(
            "QR2002",
            input("11.0", |log| {
                log.asynchronous("ASYNC_INPUT", &[0, 0, 0, 0, 0, 0, 0, 2, 5, 6, 7, 8, 9]);
            }),
        ),
        Specimen::new("QR2003", input("11.0", |log| _ = log.key(200, 1))),
        Specimen::new("QR2004", input("11.0", |log| _ = log.button(10, 1))),
        Specimen::new("QR2005", input("11.0", |log| _ = log.key(20, 2))),
        Specimen::new("QR2006", with("11.0", |log| _ = log.char_read(200, b"x"))),
        Specimen::new("QR2007", with("11.0", |log| _ = log.net(64, 0, b"x"))),
        Specimen::new("QR2008", with("11.0", |log| _ = log.net(0, 2, b"x"))),
        Specimen::new("QR2009", with("11.0", |log| _ = log.instruction(0).host())),
        Specimen::new("QR2010", with("11.0", |log| _ = log.instruction(1 << 31).host())),
        Specimen::new("QR2011", with("11.0", |log| _ = log.audio_out(1 << 40))),
        Specimen::new("QR2012", with("5.0", |log| _ = log.audio_in(64, 1, 0))),
        Specimen::new(
            "QR2013",
            with("5.0", |log| {
                log.checkpoint("CP_CLOCK_HOST").asynchronous_at("ASYNC_BH", 9, &[0; 8]);
            }),
        ),
        Specimen::new(
            "QR2014",
            with("11.0", |log| {
                log.instruction(1).char_write(1, 1 << 30).instruction(1).host();
            }),
        ),
        Specimen::new("QR2015", with("11.0", |log| _ = log.read_error(3))),
        Specimen::new("QR2016", with("11.0", |log| _ = log.random(7, b"x"))),
        Specimen::new(
            "QR2017",
            with("11.0", |log| _ = log.instruction(1).char_write(1, 9).instruction(1).host()),
        ),
        Specimen::new("QR3001", {
            let mut log = log("11.0");
            log.end();
            log.bytes
        }),
        Specimen::new("QR3002", with("11.0", |log| _ = log.host_at(5))),
        Specimen::new("QR3003", with("11.0", |log| _ = log.instruction(1).instruction(2).host())),
        Specimen::new(
            "QR3004",
            with("11.0", |log| _ = log.checkpoint("CP_CLOCK_VIRTUAL_RT").host()),
        ),
        Specimen::new("QR3005", {
            let mut log = Log::new(ids::of("11.0"));
            log.host().host().host().checkpoint("CP_INIT").instruction(5).host().close();
            log.bytes
        }),
        Specimen::new("QR3006", with("11.0", |log| _ = log.interrupt().host())),
        Specimen::new("QR3007", with("11.0", |log| _ = log.button(1, 1).host())),
        Specimen::new(
            "QR3008",
            with("5.0", |log| {
                log.checkpoint("CP_CLOCK_HOST").asynchronous_at("ASYNC_BH", 4, &[0; 8]);
            }),
        ),
        Specimen::new("QR3009", with("11.0", |log| _ = log.checkpoint("CP_INIT").host())),
        Specimen::new("QR3010", with("11.0", |log| request(log, "ASYNC_BH_ONESHOT", 1 << 40))),
        Specimen::new("QR3011", with("11.0", |log| request(log, "ASYNC_BLOCK", 1000))),
        Specimen::new("QR3012", with("11.0", |log| _ = log.net(3, 0, b"x"))),
        Specimen::new(
            "QR3013",
            with("11.0", |log| {
                log.instruction(1 << 30).checkpoint("CP_CLOCK_VIRTUAL_RT").virtual_rt();
            }),
        ),
        Specimen::new("QR3014", {
            let mut log = Log::new(ids::of("11.0"));
            log.start().close();
            log.bytes
        }),
        Specimen::new(
            "QR3015",
            with("11.0", |log| {
                for id in [0, 1, 3, 4, 5, 6, 7, 8, 9, 10] {
                    request(log, "ASYNC_BLOCK", id);
                    log.checkpoint("CP_CLOCK_WARP_ACCOUNT").instruction(9);
                    log.checkpoint("CP_CLOCK_WARP_ACCOUNT");
                }
            }),
        ),
        Specimen::new("QR3016", turn_left_out()),
        Specimen::new("QR3017", count_changed()),
    ];
    // A damaged header does not show the format.
    specimens.into_iter().map(Specimen::named_format).collect()
}
