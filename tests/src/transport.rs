//! The ways of a recording to its reader, made: what terminals, editors, mails, logs and packers do
//! to a file.

use std::fmt::Write as _;
use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use flate2::Compression;
use flate2::write::GzEncoder;

/// Changes a file as a way does.
pub type Encode = fn(&[u8]) -> Vec<u8>;

/// Every way with an exact way back, by name.
pub static WAYS: &[(&str, Encode)] = &[
    ("LF to CR LF", to_crlf),
    ("Latin-1 to UTF-8", |bytes| to_utf8(bytes, LATIN_1)),
    ("Windows-1252 to UTF-8", |bytes| to_utf8(bytes, WINDOWS_1252)),
    ("code page 437 to UTF-8", |bytes| to_utf8(bytes, CODE_PAGE_437)),
    ("Mac OS Roman to UTF-8", |bytes| to_utf8(bytes, MAC_ROMAN)),
    ("UTF-8 twice", |bytes| to_utf8(&to_utf8(bytes, LATIN_1), WINDOWS_1252)),
    ("base64 in lines", to_base64),
    ("base64 in one line", |bytes| STANDARD.encode(bytes).into_bytes()),
    ("base64 of URLs", |bytes| URL_SAFE_NO_PAD.encode(bytes).into_bytes()),
    ("data: URL", |bytes| {
        [b"data:application/octet-stream;base64,", STANDARD.encode(bytes).as_bytes()].concat()
    }),
    ("uuencode -m", |bytes| {
        [b"begin-base64 644 recording\n", &to_base64(bytes)[..], b"====\n"].concat()
    }),
    ("a part of a mail", |bytes| {
        let head = b"Content-Type: application/octet-stream; name=\"trace\"\r\n\
                     Content-Transfer-Encoding: base64\r\n\r\n";
        [&head[..], &to_crlf(&to_base64(bytes)), b"\r\n--part--\r\n"].concat()
    }),
    ("uuencode", to_uuencode),
    ("xxd", |bytes| {
        to_lines(bytes, &|at, line| format!("{at:08x}: {}  {}", pairs(line), text(line)))
    }),
    ("xxd -p", |bytes| {
        let lines = bytes.chunks(30).map(|line| hex(line, "") + "\n");
        lines.collect::<String>().into_bytes()
    }),
    ("hexdump -C", |bytes| {
        let body = to_lines(bytes, &|at, line| {
            let (first, second) = line.split_at(line.len().min(8));
            format!("{at:08x}  {}  {}  |{}|", hex(first, " "), hex(second, " "), text(line))
        });
        [body, format!("{:08x}\n", bytes.len()).into_bytes()].concat()
    }),
    ("od", |bytes| {
        let body = to_lines(bytes, &|at, line| {
            let word =
                |pair: &[u8]| u16::from_le_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]);
            let words = line.chunks(2).map(|pair| format!(" {:06o}", word(pair)));
            format!("{at:07o}{}", words.collect::<String>())
        });
        [body, format!("{:07o}\n", bytes.len()).into_bytes()].concat()
    }),
    ("od -An -tx1", |bytes| to_lines(bytes, &|_, line| format!(" {}", hex(line, " ")))),
    ("xxd -i", |bytes| {
        let lines = bytes.chunks(12).map(|line| format!("  {}", numbers(line)));
        let lines: Vec<String> = lines.collect();
        let head = "unsigned char trace[] = {\n";
        format!("{head}{}\n}};\nunsigned int trace_len = {};\n", lines.join(",\n"), bytes.len())
            .into_bytes()
    }),
    ("a string of JSON", |bytes| to_json(&latin_1(bytes))),
    ("a string of JSON in ASCII", |bytes| {
        let escaped = |character: char| match u32::from(character) {
            code @ 0x80.. => format!("\\u{code:04X}"),
            _ => character.to_string(),
        };
        let text = String::from_utf8(to_json(&latin_1(bytes))).unwrap();
        text.chars().map(escaped).collect::<String>().into_bytes()
    }),
    ("base64 in JSON", |bytes| to_json(&STANDARD.encode(bytes))),
    ("base64 in XML", |bytes| {
        format!("<trace><data>{}</data></trace>\n", STANDARD.encode(bytes)).into_bytes()
    }),
    ("bytes of Python", |bytes| format!("b'{}'\n", escaped(bytes, "\\x", 16)).into_bytes()),
    ("a string of C", |bytes| {
        let lines = bytes.chunks(20).map(|line| format!("    \"{}\"", escaped(line, "\\", 8)));
        let lines: Vec<String> = lines.collect();
        format!("#include \"trace.h\"\nconst char trace[] =\n{};\n", lines.join("\n")).into_bytes()
    }),
    ("printf", |bytes| {
        let escapes = bytes.iter().map(|byte| format!("\\x{byte:02x}"));
        escapes.collect::<String>().into_bytes()
    }),
    ("gzip", to_gzip),
    ("zstd", |bytes| {
        let mut out = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()));
        zstd_safe::compress(&mut out, bytes, 3).unwrap();
        out
    }),
    ("xz", |bytes| {
        let options = lzma_rust2::XzOptions::with_preset(1);
        let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }),
    ("bzip2", |bytes| {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }),
    ("lz4", |bytes| {
        let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }),
    ("zip", |bytes| to_zip(&[("recording", bytes)])),
    ("tar", |bytes| to_tar(&[("recording", bytes)])),
    ("base64 of gzip", |bytes| to_base64(&to_gzip(bytes))),
    ("gzip of base64", |bytes| to_gzip(&to_base64(bytes))),
    ("gzip of tar", |bytes| to_gzip(&to_tar(&[("recording", bytes)]))),
    ("tar with CR LF", |bytes| to_tar(&[("recording", &to_crlf(bytes))])),
    ("words of 16 bits", |bytes| to_swapped(bytes, 2)),
    ("words of 32 bits", |bytes| to_swapped(bytes, 4)),
    ("a mark of the byte order", |bytes| [b"\xef\xbb\xbf", bytes].concat()),
    ("lines of adb", |bytes| {
        [b"* daemon not running; starting now\n* daemon started\n", bytes].concat()
    }),
    ("a head of HTTP", |bytes| {
        [b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n\r\n", bytes].concat()
    }),
    ("a head of HTTP and gzip", |bytes| {
        [b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", &to_gzip(bytes)[..]].concat()
    }),
    ("the words of a recorder after it", |bytes| [bytes, RECORDER].concat()),
    ("a line of ssh before it and one after it", |bytes| {
        [b"Welcome to the board.\n", bytes, b"Connection to board closed.\r\n"].concat()
    }),
];

fn latin_1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

fn to_json(text: &str) -> Vec<u8> {
    serde_json::to_vec_pretty(&serde_json::json!({ "name": "trace", "size": 7, "z": text }))
        .unwrap()
}

/// Escapes all but letters and signs. An octal number is as short as the next character allows.
fn escaped(bytes: &[u8], sign: &str, base: u32) -> String {
    let plain = |byte: u8| matches!(byte, b' '..=b'~') && !b"\\\"'?".contains(&byte);
    let mut out = String::new();
    for (at, byte) in bytes.iter().enumerate() {
        let is_free = bytes.get(at + 1).is_none_or(|next| !next.is_ascii_digit());
        out += &match byte {
            byte if plain(*byte) => char::from(*byte).to_string(),
            b'\n' => "\\n".to_string(),
            b'\\' => "\\\\".to_string(),
            byte if base == 8 && is_free => format!("{sign}{byte:o}"),
            byte if base == 8 => format!("{sign}{byte:03o}"),
            byte => format!("{sign}{byte:02x}"),
        };
    }
    out
}

/// Lines that a recorder writes to its standard error when it ends.
pub const RECORDER: &[u8] = b"[ perf record: Woken up 1 times to write data ]\n\
    [ perf record: Captured and wrote 0.027 MB - (386 samples) ]\n";

/// Puts a time before each line, as logs of CI do.
pub fn to_stamped(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let (minute, second) = (number / 60 % 60, number % 60);
        write!(out, "2026-11-27T12:{minute:02}:{second:02}.{:07}Z ", number * 7_919).unwrap();
        out.extend_from_slice(line);
    }
    out
}

const LATIN_1: &str = "";
const WINDOWS_1252: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";
const CODE_PAGE_437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐\
                             └┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";
const MAC_ROMAN: &str = "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»\
                         …\u{a0}ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{f8ff}ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ";

/// Takes bytes for characters of Latin-1, of which those from 80 on are others, and writes UTF-8.
pub fn to_utf8(bytes: &[u8], high: &str) -> Vec<u8> {
    let high: Vec<char> = high.chars().collect();
    let character = |byte: &u8| {
        let at = usize::from(*byte).checked_sub(0x80);
        at.and_then(|at| high.get(at)).copied().unwrap_or(char::from(*byte))
    };
    bytes.iter().map(character).collect::<String>().into_bytes()
}

/// Makes CR LF of each LF.
pub fn to_crlf(bytes: &[u8]) -> Vec<u8> {
    let line_end = |byte: &u8| if *byte == b'\n' { vec![b'\r', b'\n'] } else { vec![*byte] };
    bytes.iter().flat_map(line_end).collect()
}

/// Encodes in lines of 76 characters.
pub fn to_base64(bytes: &[u8]) -> Vec<u8> {
    let text = STANDARD.encode(bytes);
    let lines = text.as_bytes().chunks(76).map(|line| [line, b"\n"].concat());
    lines.collect::<Vec<_>>().concat()
}

/// Compresses.
///
/// # Panics
///
/// Never: memory is written to.
pub fn to_gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Packs files.
///
/// # Panics
///
/// If a name is too long for a header.
pub fn to_tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_ustar();
        header.set_size(u64::try_from(bytes.len()).unwrap());
        archive.append_data(&mut header, name, *bytes).unwrap();
    }
    archive.into_inner().unwrap()
}

/// Packs files, compressed.
///
/// # Panics
///
/// Never: memory is written to.
pub fn to_zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut archive = rawzip::ZipArchiveWriter::new(&mut out);
    for (name, bytes) in files {
        let method = rawzip::CompressionMethod::DEFLATE;
        let file = archive.new_file(name).compression_method(method);
        let (mut entry, config) = file.start().unwrap();
        let encoder = flate2::write::DeflateEncoder::new(&mut entry, Compression::default());
        let mut writer = config.wrap(encoder);
        writer.write_all(bytes).unwrap();
        let (encoder, descriptor) = writer.finish().unwrap();
        encoder.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
    out
}

fn to_uuencode(bytes: &[u8]) -> Vec<u8> {
    let letter =
        |value: usize| if value == 0 { '`' } else { char::from(b' ' + (value & 63) as u8) };
    let mut out = String::from("begin 644 recording\n");
    for line in bytes.chunks(45) {
        out.push(letter(line.len()));
        for group in line.chunks(3) {
            let byte = |at: usize| usize::from(group.get(at).copied().unwrap_or(0));
            let word = byte(0) << 16 | byte(1) << 8 | byte(2);
            out.extend([18, 12, 6, 0].map(|shift| letter(word >> shift & 63)));
        }
        out.push('\n');
    }
    (out + "`\nend\n").into_bytes()
}

fn to_swapped(bytes: &[u8], width: usize) -> Vec<u8> {
    let words = bytes.chunks_exact(width);
    let rest = words.remainder();
    words.flat_map(|word| word.iter().rev()).chain(rest).copied().collect()
}

fn to_lines(bytes: &[u8], line: &dyn Fn(usize, &[u8]) -> String) -> Vec<u8> {
    let lines = bytes.chunks(16).enumerate();
    lines.map(|(number, bytes)| line(number * 16, bytes) + "\n").collect::<String>().into_bytes()
}

fn hex(bytes: &[u8], between: &str) -> String {
    let mut text = String::new();
    for (at, byte) in bytes.iter().enumerate() {
        let between = if at == 0 { "" } else { between };
        write!(text, "{between}{byte:02x}").unwrap();
    }
    text
}

fn pairs(line: &[u8]) -> String {
    line.chunks(2).map(|pair| hex(pair, "")).collect::<Vec<_>>().join(" ")
}

fn numbers(line: &[u8]) -> String {
    line.iter().map(|byte| format!("0x{byte:02x}")).collect::<Vec<_>>().join(", ")
}

fn text(line: &[u8]) -> String {
    let shown = |byte: &u8| if (0x20..0x7f).contains(byte) { char::from(*byte) } else { '.' };
    line.iter().map(shown).collect()
}
