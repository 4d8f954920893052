//! Specimens of the rules of apitrace.

use super::Specimen;
use crate::forge::apitrace::container::chunk;
use crate::forge::apitrace::{
    Container, Detail, Stream, Value, call_heavy, chunks, snappy, snappy_of, uint,
};
use crate::mended::mended;

/// Rules that no trace can break.
pub const IMPOSSIBLE: &[(&str, &str)] = &[];
/// Why AT3003 remains.
const UNFINISHED: &str =
    "the last call has lost its leave; a repair adds one only with --close-calls";
/// Why AT3004 remains.
const PLACEHOLDERS: &str = "a note counts the placeholder calls that the repair added";
/// Codes whose specimen is still to be made.
pub const MISSING: &[&str] = &[];

/// Stores a stream in chunks.
pub fn stored(stream: &Stream) -> Vec<u8> {
    Container::Snappy.file(&stream.bytes)
}

/// A stream of calls with something in its middle.
pub fn around(middle: impl FnOnce(&mut Stream)) -> Stream {
    let mut stream = call_heavy(20);
    middle(&mut stream);
    for number in 0..100 {
        stream.call(0, 21, &[]);
        stream.call(0, 23, &[Value::Enum(1, 4), Value::Uint(number), Value::Uint(3)]);
    }
    stream
}

/// A call whose argument is written by `argument`.
fn with_argument(argument: impl FnOnce(&mut Stream)) -> Vec<u8> {
    stored(&around(|stream| {
        let call = stream.enter(0, 30, 1, &[]);
        // Instead of the end.
        stream.bytes.pop();
        stream.raw(&[1, 0]);
        argument(stream);
        stream.raw(&[0]);
        stream.leave(call, &[]);
    }))
}

/// Chunks of 512 bytes of a stream of calls, and where they lie.
fn chunked() -> (Vec<u8>, Vec<(usize, usize)>) {
    let file = snappy(&around(|_| {}).bytes, 512);
    let places = chunks(&file);
    (file, places)
}

/// Returns the stream without the events `from..to`, stored.
pub fn without(stream: &Stream, from: usize, to: usize) -> Vec<u8> {
    let mut bytes = stream.bytes.clone();
    bytes.drain(stream.events[from]..stream.events[to]);
    Container::Snappy.file(&bytes)
}

fn gzip_with_wrong_sum() -> Vec<u8> {
    let mut file = Container::Gzip.file(&call_heavy(5).bytes);
    let len = file.len();
    file[len - 6] ^= 1;
    file
}

fn wrong_table() -> Vec<u8> {
    let mut file = Container::Seekable.file(&call_heavy(5).bytes);
    // The number of frames, and an entry without a frame.
    let len = file.len();
    file[len - 9] = 2;
    let size = len - 17 - 4;
    file.splice(len - 9..len - 9, [0; 8]);
    file[size] += 8;
    file
}

/// Calls of functions as glxtrace of apitrace 11.1 defines them, the last one with another name.
fn of_build() -> Vec<u8> {
    let functions: [(&[u8], &[&[u8]]); 5] = [
        (b"memcpy", &[b"dest", b"src", b"n"]),
        (b"malloc", &[b"size"]),
        (b"free", &[b"ptr"]),
        (b"realloc", &[b"ptr", b"size"]),
        (b"glXChooseVisuam", &[b"dpy", b"screen", b"attribList"]),
    ];
    let mut stream = Stream::new(6);
    for (id, (name, arguments)) in functions.iter().enumerate() {
        stream.raw(&[0, 0, id as u8, name.len() as u8]).raw(name).raw(&[arguments.len() as u8]);
        for argument in *arguments {
            stream.raw(&[argument.len() as u8]).raw(argument);
        }
        stream.raw(&[0, 1, id as u8, 0]);
    }
    stored(&stream)
}

/// A trace for every rule.
pub fn specimens() -> Vec<Specimen> {
    let calls = call_heavy(20);
    let (file, places) = chunked();
    let whole = around(|_| {}).bytes;
    let pieces: Vec<&[u8]> = whole.chunks(512).collect();
    let mut empty_chunk = file.clone();
    empty_chunk.splice(places[1].1..places[1].1, [0; 4]);
    let mut length = file.clone();
    length[places[1].0] ^= 0x40;
    let mut corrupt = file.clone();
    // The first element of the block, after its length of two bytes, is a copy of nothing.
    corrupt[places[1].0 + 6] = 2;
    let first = stored(&call_heavy(5));
    // Its functions have the ids of those in `first`, and no arguments.
    let other_build = {
        let mut other = Stream::new(6);
        (20..26).for_each(|id| _ = other.call(0, id, &[]));
        stored(&other)
    };
    let ids = {
        // The definition of a struct that comes late is in no leave, and the call itself stays.
        let mut late = around(|_| {});
        let name = late.bytes.windows(13).position(|w| w == b"ForgedStruct1").unwrap();
        let end = name + 13 + 1 + 2 * 8;
        late.bytes.drain(name - 1..end);
        stored(&late)
    };
    vec![
        Specimen::new("AT0001", b"at".to_vec()),
        Specimen::new("AT0002", snappy_of(&[&[7, 7, 0]])),
        Specimen::new("AT0003", {
            let mut newer = calls.bytes.clone();
            newer[1] = 7;
            Container::Snappy.file(&newer)
        }),
        Specimen::new("AT0004", snappy_of(&[&[6, 6, 4, b'n', b'a']])),
        Specimen::new("AT0005", stored(&Stream::with_properties(&[("process.name", "a\0b")]))),
        Specimen::new("AT0006", {
            let mut file = first.clone();
            file[..2].copy_from_slice(&[0, 0]);
            file
        }),
        Specimen::new("AT0007", calls.bytes.clone()),
        Specimen::new("AT1001", Container::Snappy.file(&calls.bytes[..calls.bytes.len() - 2]))
            .also(&["AT3003"], UNFINISHED)
            .leaves(&["AT3003"], UNFINISHED),
        Specimen::new("AT1002", stored(&around(|stream| _ = stream.raw(&[0xee; 40])))),
        Specimen::new("AT1003", without(&around(|_| {}), 240, 260))
            .leaves(&["AT3004"], PLACEHOLDERS),
        Specimen::new("AT1004", ids),
        Specimen::new("AT1005", [first.clone(), stored(&call_heavy(6))].concat()).with("part", "1"),
        Specimen::new(
            "AT2001",
            stored(&around(|stream| {
                let call = stream.enter(0, 30, 1, &[Detail::Arg(7, Value::Uint(1))]);
                stream.leave(call, &[]);
            })),
        ),
        Specimen::new("AT2002", with_argument(|stream| _ = stream.raw(&[9, 1, 7, 1, b'x']))),
        Specimen::new(
            "AT2003",
            with_argument(|stream| {
                stream.raw(&[4]).raw(&[0xff; 10]).raw(&[1]);
            }),
        ),
        Specimen::new("AT2004", with_argument(|stream| _ = stream.raw(&[4, 0x85, 0x80, 0]))),
        Specimen::new(
            "AT2005",
            with_argument(|stream| {
                stream.raw(&[9, 77, 1, 2, 0xff, 0xfe, 4, 1, 4, 1]);
            }),
        ),
        Specimen::new(
            "AT2006",
            with_argument(|stream| {
                stream.raw(&[10, 77, 2, 1, b'A', 1, 1, b'B', 0, 1]);
            }),
        ),
        Specimen::new("AT2007", {
            let mut old = Stream::new(3);
            let call = old.enter(0, 1, 0, &[]);
            old.bytes.pop();
            old.raw(&[3, 2, 0]).leave(call, &[]);
            stored(&old)
        }),
        Specimen::new(
            "AT2008",
            stored(&around(|stream| {
                let call = stream.enter(0, 21, 0, &[Detail::Flags(6)]);
                stream.leave(call, &[]);
            })),
        ),
        Specimen::new(
            "AT2009",
            with_argument(|stream| {
                stream.value(&Value::String(b"blob(4096)".to_vec()));
            }),
        ),
        Specimen::new(
            "AT2010",
            with_argument(|stream| stream.value(&Value::String(vec![0xff, 0xfe]))),
        ),
        Specimen::new(
            "AT2011",
            with_argument(|stream| _ = stream.raw(&[11, 0xff, 0xff, 0xff, 0xff, 0x7f])),
        )
        .leaves(&["AT3004"], PLACEHOLDERS),
        Specimen::new(
            "AT2012",
            with_argument(|stream| _ = stream.raw(&[9, 0xff, 0xff, 0xff, 0xff, 0x7f])),
        )
        .leaves(&["AT3004"], PLACEHOLDERS),
        Specimen::new(
            "AT2013",
            with_argument(|stream| {
                stream.raw(&[9, 77, 0x80, 2]);
                for value in 0..=255_u8 {
                    let name = format!("V{value}");
                    stream.raw(&[name.len() as u8]).raw(name.as_bytes()).raw(&[4]);
                    stream.raw(&uint(u64::from(value)));
                }
                stream.raw(&[4, 0x80, 3]);
            }),
        ),
        Specimen::new(
            "AT2014",
            with_argument(|stream| {
                stream.raw(&[9, 77, 2, 1, b'T', 4, 1, 1, b'F', 4, 0, 4, 2]);
            }),
        ),
        Specimen::new("AT2015", of_build()),
        Specimen::new(
            "AT2016",
            with_argument(|stream| {
                stream.value(&Value::String(b"GL_ARB_sync GL_ARB_shad%r_clock".to_vec()));
            }),
        ),
        Specimen::new(
            "AT2017",
            stored(&around(|stream| {
                let details = [1, 0].map(|index| Detail::Arg(index, Value::Uint(7)));
                let call = stream.enter(0, 30, 2, &details);
                stream.leave(call, &[]);
            })),
        ),
        Specimen::new(
            "AT2018",
            stored(&around(|stream| {
                let details = [0, 1].map(|index| Detail::Arg(index, Value::Uint(7)));
                for _ in 0..8 {
                    let call = stream.enter(0, 30, 2, &details);
                    stream.leave(call, &[]);
                }
                let call = stream.enter(0, 30, 2, &details[1..]);
                stream.leave(call, &[]);
            })),
        ),
        Specimen::new(
            "AT2021",
            stored(&around(|stream| {
                let call = stream.name(30, "glGetError", &[]).enter(0, 30, 0, &[]);
                stream.leave(call, &[Detail::Ret(Value::String(b"GL_NO_ERROR".to_vec()))]);
            })),
        ),
        Specimen::new("AT3001", stored(&around(|stream| _ = stream.leave(5_000, &[])))),
        Specimen::new("AT3002", stored(&around(|stream| _ = stream.leave(3, &[])))),
        Specimen::new("AT3003", stored(&around(|stream| _ = stream.enter(0, 21, 0, &[]))))
            .with("close-calls", ""),
        Specimen::new("AT3004", mended(&without(&around(|_| {}), 240, 260)).1),
        Specimen::new("AT3005", first.clone()).donor(other_build),
        Specimen::new(
            "AT3006",
            stored(&around(|stream| {
                let call = stream.enter(0, 21, 0, &[]);
                stream.leave(call + 4096, &[]);
            })),
        ),
        Specimen::new("AT8001", file[..file.len() - 20].to_vec()),
        Specimen::new("AT8002", corrupt).leaves(&["AT3004"], PLACEHOLDERS),
        Specimen::new("AT8003", length),
        Specimen::new("AT8004", {
            let mut long = Stream::new(6);
            long.call(0, 1, &[Value::Blob(vec![7; (1 << 20) + 1])]);
            [b"at".to_vec(), chunk(&long.bytes)].concat()
        }),
        Specimen::new("AT8005", empty_chunk),
        Specimen::new("AT8006", [file.as_slice(), &[1, 2]].concat()),
        Specimen::new("AT8007", gzip_with_wrong_sum()),
        Specimen::new("AT8008", wrong_table()),
        Specimen::new("AT8009", {
            let mut order: Vec<&[u8]> = pieces.clone();
            order.swap(1, 2);
            snappy_of(&order)
        }),
        Specimen::new("AT8010", {
            let mut copied = pieces.clone();
            copied.insert(1, &pieces[1][..200]);
            snappy_of(&copied)
        }),
        Specimen::new("AT9001", with_argument(|stream| _ = stream.raw(&[14; 3000])))
            .leaves(&["AT3004"], PLACEHOLDERS),
    ]
}
