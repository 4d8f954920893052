//! Texts of a recording: characters that deceive, paths that leave it, and secrets.

use crate::kit::text::is_safe;

/// Bytes of a text that are looked at: the longest path of Linux.
pub const TEXT_LOOKED_AT: usize = 4096;

/// Returns whether a text has a character that a terminal acts on, such as an escape sequence.
pub fn has_control(text: &[u8]) -> bool {
    characters(text).any(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r'))
}

/// Returns whether a text has a character that changes how the text around it is shown.
pub fn has_hidden(text: &[u8]) -> bool {
    characters(text).any(|c| !c.is_control() && !is_safe(c))
}

fn characters(text: &[u8]) -> impl Iterator<Item = char> + '_ {
    let text = text.get(..TEXT_LOOKED_AT).unwrap_or(text);
    text.utf8_chunks().flat_map(|chunk| chunk.valid().chars())
}

/// Returns whether a path has a name `..`, so that a tool that joins it to a folder leaves it.
pub fn climbs(path: &[u8]) -> bool {
    path.split(|byte| matches!(byte, b'/' | b'\\')).any(|name| name == b"..")
}

/// Devices and files of the kernel that block, never end, or hold memory or disks, by the beginning
/// of their path. Programs map `/dev/dri`, `/dev/shm`, `/dev/zero` and the like, which do not.
const DEVICES: &[&[u8]] = &[
    b"/dev/block",
    b"/dev/console",
    b"/dev/disk",
    b"/dev/fd/",
    b"/dev/full",
    b"/dev/kmem",
    b"/dev/kmsg",
    b"/dev/loop",
    b"/dev/mapper",
    b"/dev/mem",
    b"/dev/mmcblk",
    b"/dev/null",
    b"/dev/nvme",
    b"/dev/port",
    b"/dev/pts/",
    b"/dev/random",
    b"/dev/sd",
    b"/dev/stderr",
    b"/dev/stdin",
    b"/dev/stdout",
    b"/dev/tty",
    b"/dev/urandom",
    b"/dev/vd",
    b"/dev/watchdog",
    b"/proc/",
    b"/sys/",
];

/// Returns whether a path is that of a device or of a file of the kernel.
pub fn is_device(path: &[u8]) -> bool {
    DEVICES.iter().any(|device| path.starts_with(device))
}

/// Names of the kernel that have the form of a path and mean memory without a file.
const MEMORY_NAMES: &[&[u8]] = &[b"//anon", b"//toolong"];

/// Returns whether a text is the path of a file.
pub fn is_file_path(text: &[u8]) -> bool {
    (text.starts_with(b"/") || text.contains(&b'\\')) && !MEMORY_NAMES.contains(&text)
}

/// Folders of the homes of users.
const HOMES: &[&[u8]] = &[b"/home/", b"/Users/", b"\\Users\\"];

/// Returns the name of a user in a text with paths.
pub fn find_user(text: &[u8]) -> Option<&[u8]> {
    HOMES.iter().find_map(|home| {
        let at = find(text, home)?.saturating_add(home.len());
        let rest = text.get(at..)?;
        let ends = |byte: &u8| matches!(byte, b'/' | b'\\' | b':' | b'"' | b'\'' | 0..=b' ');
        let len = rest.iter().position(ends).unwrap_or(rest.len());
        rest.get(..len).filter(|name| !name.is_empty())
    })
}

/// Words before the value of a secret, in lower case.
const SECRET_WORDS: &[&[u8]] = &[
    b"password=",
    b"passwd=",
    b"passphrase=",
    b"secret=",
    b"token=",
    b"apikey=",
    b"api_key=",
    b"api-key=",
    b"access_key=",
    b"access-key=",
    b"private_key=",
    b"private-key=",
    b"credentials=",
    b"authorization:",
    b"bearer ",
];

/// Options whose next argument is a secret.
const SECRET_OPTIONS: &[&[u8]] =
    &[b"--password", b"--passwd", b"--passphrase", b"--token", b"--secret", b"--api-key"];

/// First bytes of keys that services give out, and the number of letters and digits after them.
const SECRET_KEYS: &[(&[u8], usize)] = &[
    (b"AKIA", 16),
    (b"ASIA", 16),
    (b"ghp_", 30),
    (b"gho_", 30),
    (b"ghs_", 30),
    (b"github_pat_", 20),
    (b"glpat-", 20),
    (b"xoxb-", 10),
    (b"xoxp-", 10),
    (b"sk_live_", 16),
    (b"-----BEGIN ", 0),
];

/// Returns whether the next argument after this one is a secret.
pub fn announces_secret(argument: &[u8]) -> bool {
    SECRET_OPTIONS.iter().any(|option| argument.eq_ignore_ascii_case(option))
}

/// Returns the value of a text that looks like a secret.
pub fn find_secret(text: &[u8]) -> Option<&[u8]> {
    let text = text.get(..TEXT_LOOKED_AT).unwrap_or(text);
    find_value(text).or_else(|| find_key(text)).or_else(|| find_login(text))
}

/// The value after a word.
fn find_value(text: &[u8]) -> Option<&[u8]> {
    // Every word ends with one of these characters.
    let ends = (0_usize..).zip(text).filter(|(_, byte)| matches!(byte, b'=' | b':' | b' '));
    let mut places = ends.map(|(at, _)| at.saturating_add(1));
    places.find_map(|at| {
        let before = text.get(..at)?;
        let is_word = |word: &&[u8]| {
            let start = before.len().checked_sub(word.len());
            start
                .and_then(|start| before.get(start..))
                .is_some_and(|b| b.eq_ignore_ascii_case(word))
        };
        if SECRET_WORDS.iter().any(is_word) { value_at(text, at) } else { None }
    })
}

/// A key of a service.
fn find_key(text: &[u8]) -> Option<&[u8]> {
    SECRET_KEYS.iter().find_map(|(start, least)| {
        let at = find(text, start)?;
        let rest = text.get(at.saturating_add(start.len())..)?;
        let is_key = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let len = rest.iter().take_while(is_key).count();
        if len < *least { None } else { value_at(text, at) }
    })
}

/// The password before the `@` of a URL.
fn find_login(text: &[u8]) -> Option<&[u8]> {
    let at = find(text, b"://")?.saturating_add(3);
    let rest = text.get(at..)?;
    let end = rest.iter().position(|byte| matches!(byte, b'/' | b' ')).unwrap_or(rest.len());
    let authority = rest.get(..end)?;
    let login = authority.get(..authority.iter().rposition(|byte| *byte == b'@')?)?;
    let colon = login.iter().position(|byte| *byte == b':')?;
    login.get(colon.saturating_add(1)..).filter(|password| !password.is_empty())
}

/// The word at a place of a text.
fn value_at(text: &[u8], at: usize) -> Option<&[u8]> {
    let rest = text.get(at..)?.trim_ascii_start();
    let ends = |byte: &u8| matches!(byte, 0..=b' ' | b'"' | b'\'' | b'&' | b';');
    let len = rest.iter().position(ends).unwrap_or(rest.len());
    rest.get(..len).filter(|value| !value.is_empty())
}

/// Returns the place of `wanted` in the first bytes of a text.
fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    let text = text.get(..TEXT_LOOKED_AT).unwrap_or(text);
    let first = wanted.first()?;
    let mut places = (0_usize..).zip(text).filter(|(_, byte)| *byte == first).map(|(at, _)| at);
    places.find(|at| text.get(*at..).is_some_and(|rest| rest.starts_with(wanted)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_deceive_are_found() {
        assert!(has_control(b"a\x1b[2J") && has_control("a\u{9b}2J".as_bytes()));
        assert!(has_hidden("a\u{202e}b".as_bytes()) && has_hidden("\u{200b}".as_bytes()));
        let plain = "a\tb\n ä\u{301} \\x1b".as_bytes();
        assert!(!has_control(plain) && !has_hidden(plain));
        assert!(!has_hidden(b"\x1b") && !has_control("\u{202e}".as_bytes()));
    }

    #[test]
    fn paths_are_classified() {
        assert!(climbs(b"../a") && climbs(b"a/../b") && climbs(b"a\\..\\b"));
        assert!(!climbs(b"a..b/...") && !climbs(b""));
        assert!(is_device(b"/dev/mem") && is_device(b"/proc/self/mem"));
        assert!(!is_device(b"/dev/zero") && !is_device(b"/dev/dri/card0"));
        let path = |names: &[&str]| names.join("/").into_bytes();
        assert_eq!(find_user(&path(&["", "home", "ada", "x"])), Some(&b"ada"[..]));
        assert_eq!(find_user(&path(&["-I", "Users", "ada"])), Some(&b"ada"[..]));
        assert_eq!(find_user(b"C:\\Users\\ada\\x"), Some(&b"ada"[..]));
        assert_eq!(find_user(b"/home/"), None);
        assert_eq!(find_user(b"/usr/bin/home"), None);
    }

    #[test]
    fn secrets_are_found_with_their_value() {
        let key = format!("AKIA{}", "ABCDEFGH12345678");
        let url = |rest: &str| ["db:/", rest].join("/");
        let login = url("ada:pass@host/x");
        for (text, secret) in [
            ("-password=hunter2", "hunter2"),
            ("curl -H 'Authorization: Basic eHg6eQ=='", "Basic"),
            ("DB_PASSWORD=abc def", "abc"),
            (&key, key.as_str()),
            (&login, "pass"),
            ("a?access_token=77&b=1", "77"),
        ] {
            assert_eq!(find_secret(text.as_bytes()), Some(secret.as_bytes()), "{text}");
        }
        for text in ["perf record -a", "token", "AKIA", "passwd="] {
            assert_eq!(find_secret(text.as_bytes()), None, "{text}");
        }
        assert_eq!(find_secret(url("host/a@b").as_bytes()), None);
        assert!(announces_secret(b"--Password") && !announces_secret(b"--pass"));
    }
}
