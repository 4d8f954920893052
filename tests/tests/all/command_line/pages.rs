//! Pages of `check` and `map --format html`: nothing in them runs, loads or breaks out, by their
//! elements and in a browser.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, TcpListener};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use tracemend_tests::judge::chromium;
use tracemend_tests::sweep::is_left_to_the_gate;

use super::*;

/// Elements of a page; none of them runs or loads anything.
pub(super) const ELEMENTS: [&str; 34] = [
    "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h4", "p", "table", "tr",
    "th", "td", "code", "br", "svg", "a", "rect", "ul", "li", "details", "summary", "div", "span",
    "pre", "mark", "desc", "text", "path", "defs", "pattern", "circle",
];
/// Bytes of a page.
const PAGE_MAX: usize = 5_000_000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Fails if the page is too large, has an element or attribute that acts, or a link that leads
/// out of it or nowhere. Returns the numbers of its elements and links.
pub(super) fn assert_page(text: &str, label: &str) -> (usize, usize) {
    assert!(text.chars().all(|c| c == '\n' || is_safe(c)), "{label}");
    assert!(text.len() < PAGE_MAX, "{label}: {} bytes", text.len());
    let options =
        roxmltree::ParsingOptions { allow_dtd: true, nodes_limit: u32::MAX, ..Default::default() };
    let page = roxmltree::Document::parse_with_options(text, options).unwrap();
    let (mut elements, mut ids, mut links) = (0, BTreeSet::new(), BTreeSet::new());
    for node in page.descendants().filter(roxmltree::Node::is_element) {
        assert!(ELEMENTS.contains(&node.tag_name().name()), "{label}: {node:?}");
        elements += 1;
        for attribute in node.attributes() {
            let (name, value) = (attribute.name(), attribute.value());
            let is_active = name.starts_with("on") || ["src", "style"].contains(&name);
            assert!(!is_active, "{label}: {attribute:?}");
            match name {
                "id" => assert!(ids.insert(value.to_string()), "{label}: {value} twice"),
                "href" => {
                    let target = value.strip_prefix('#').expect("a link within the page");
                    links.insert(target.to_string());
                }
                _ => {}
            }
        }
    }
    let lost: Vec<&String> = links.difference(&ids).collect();
    assert!(lost.is_empty(), "{label}: links that lead nowhere: {lost:?}");
    let style = page.descendants().find(|node| node.has_tag_name("style")).unwrap();
    let policy = page.descendants().find_map(|node| node.attribute("content")).unwrap();
    let hash = digest(style.text().unwrap());
    let expected = format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'"
    );
    assert_eq!(policy, expected, "{label}");
    (elements, links.len())
}

/// The SHA-256 of a text in base64, by another program.
fn digest(text: &str) -> String {
    let mut child =
        Command::new("sha256sum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let hex = String::from_utf8(output.stdout).unwrap();
    let pairs = hex.as_bytes()[..64].chunks(2);
    let bytes: Vec<u8> = pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect();
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// A killed recording in whose records a text stands.
fn with_text(text: &[u8]) -> Vec<u8> {
    let mut bytes = crashed();
    let end = bytes.len() - 40;
    bytes[end - text.len()..end].copy_from_slice(text);
    bytes
}

/// Recordings of all formats, the first one with a hostile name and text.
pub(super) fn recordings(folder: &Path) -> Vec<PathBuf> {
    let name = "<img src=x onerror=alert(1)>&amp;\u{1b}\u{202e}\"'.data";
    fs::write(folder.join(name), with_text(b"</span><script>alert(1)</script>'\"")).unwrap();
    let corpus = ["perf/clean/plain.data", "apitrace/clean/glxdemo.trace", "ovni/clean/looms"]
        .into_iter()
        .chain(["revent/crashed/v3_enter.revent", "qemu/crashed/cut_11.1.log"])
        .chain(["ovni/crashed/killed", "perf/crashed/diskfull.data"]);
    let mut paths = vec![folder.join(name)];
    paths.extend(corpus.map(|path| root().join("corpus").join(path)));
    paths
}

#[test]
fn a_page_holds_no_script_and_nothing_from_outside() {
    if is_left_to_the_gate("a page holds no script and nothing from outside") {
        return;
    }
    let folder = folder(&[]);
    let paths = recordings(folder.path());
    let mut links = 0;
    for path in &paths {
        for command in ["map", "check", "audit"] {
            let ran = run!(command, path, "--format", "html");
            assert!(ran.code <= 1, "{}: {}", path.display(), ran.err);
            let label = format!("{command} {}", path.display());
            let (elements, found) = assert_page(&ran.out, &label);
            assert!(elements > 20, "{label}");
            links += found;
        }
    }
    assert!(links > 30, "{links}");
}

#[test]
fn a_page_about_many_recordings_has_them_all() {
    let folder = folder(&[("walked/clean.data", &sound()), ("walked/note", b"x<y")]);
    let mut args: Vec<OsString> = vec!["check".into()];
    args.extend(recordings(folder.path()).into_iter().map(OsString::from));
    args.extend(["gone<b>".into(), folder.path().join("walked").into()]);
    args.extend(["--format", "html", "--max-findings", "2", "--allow", "OV0117"].map(Into::into));
    let args: Vec<&OsStr> = args.iter().map(OsString::as_os_str).collect();
    let ran = run_with(&args, &mut io::empty(), Look::PLAIN);
    assert_eq!(ran.code, 5, "{}", ran.err);
    assert_page(&ran.out, "many");
    for expected in [
        "<tr><th>recordings</th><td>9</td></tr>",
        "<tr><th>not read</th><td>1</td></tr>",
        "<tr><th>OV0117, suppressed</th><td>1</td></tr>",
        "not read: gone&lt;b&gt;: No such file",
        "skipped 1 file (unknown format)",
        "&lt;img src=x onerror=alert(1)&gt;",
        "data.size is 0, but ",
        "<mark>00 00 00 00 00 00 00 00</mark>",
        "<code>00 00 00 00 00 00 00 00</code></td><td><code>",
        "<h4>Problem</h4>",
    ] {
        assert!(ran.out.contains(expected), "{expected}\n{}", ran.out);
    }
    // A clean recording of a directory is counted only.
    assert!(!ran.out.contains("clean.data"));
    // Merged reports have no bytes.
    let report = folder.path().join("report.json");
    let path = root().join("corpus/perf/crashed/diskfull.data");
    assert_eq!(run!("check", &path, "--format", "json", "-o", &report).code, 1);
    let merged = run!("merge", &report, "--format", "html");
    assert_page(&merged.out, "merged");
    assert!(merged.out.contains("PD0004") && !merged.out.contains("<mark>"), "{}", merged.out);
}

/// A recording with more than a million findings: samples without their fields.
fn million() -> Vec<u8> {
    let mut bytes = crashed();
    let sample = [9, 0, 0, 0, 2, 0, 8, 0];
    bytes.extend(sample.iter().cycle().take(8 * 1_000_000));
    bytes
}

#[test]
fn a_page_about_a_million_findings_is_small() {
    if is_left_to_the_gate("the page about a million findings") {
        return;
    }
    let folder = folder(&[("x.data", &million())]);
    let path = folder.path().join("x.data");
    for option in ["--quiet", "--all"] {
        let human = folder.path().join("human");
        let human = format!("human={}", human.display());
        let ran = run!("check", &path, "--format", "html", "--format", human, option);
        let (elements, _) = assert_page(&ran.out, option);
        assert!(elements > 500, "{elements}");
        assert!(ran.out.contains("9501 further findings not shown"), "{option}");
    }
    // Many recordings: the page counts those that it has no room for.
    let mut folders = Vec::new();
    for number in 0..12 {
        let path = folder.path().join(format!("many/{number}/x.data"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::hard_link(folder.path().join("x.data"), &path).unwrap();
        folders.push(path);
    }
    let ran = run!("check", folder.path().join("many"), "--format", "html");
    assert_page(&ran.out, "many");
    let shown = ran.out.matches("<h2 id=").count();
    assert!((2..12).contains(&shown), "{shown} recordings");
    let left_out = format!("{} further recordings left out", 12 - shown);
    assert!(ran.out.contains(&left_out), "{left_out}");
}

#[test]
fn a_map_of_many_files_or_of_a_large_one_is_a_small_page() {
    if is_left_to_the_gate("the page of a large map") {
        return;
    }
    let folder = folder(&[("x.data", &million())]);
    let ran = run!("map", folder.path().join("x.data"), "--format", "html");
    assert_page(&ran.out, "large");
    assert!(ran.out.contains("16 parts, enlarged") && ran.out.contains("regions not shown"));
    // The first part begins with the magic.
    let (_, part) = ran.out.split_once("16 parts, enlarged").unwrap();
    let (_, bytes) = part.split_once("<pre>").unwrap();
    assert!(bytes.starts_with("       0  50 45 52 46 49 4c 45 32"), "{part}");
    assert_eq!(part.matches("<svg class=\"picture\"").count(), 16);
    let built = perf::clean().swap_remove(0).built;
    let files = perf::directory();
    for (name, bytes) in &files {
        fs::create_dir_all(folder.path().join("rec")).unwrap();
        fs::write(folder.path().join("rec").join(name), bytes).unwrap();
    }
    let bytes: Vec<u8> =
        built.records.iter().flat_map(|one| built.bytes[one.range()].to_vec()).collect();
    let many = bytes.repeat(1 + 40_000 / bytes.len());
    for number in 0..60 {
        fs::write(folder.path().join(format!("rec/data.{number}")), &many).unwrap();
    }
    let ran = run!("map", folder.path().join("rec"), "--format", "html");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_page(&ran.out, "many");
    let (rest, _) = ran.out.rsplit_once(" further files not shown").expect("too few files");
    let count: usize = rest.rsplit_once('>').unwrap().1.parse().unwrap();
    let shown = ran.out.matches(" bytes</h2>").count();
    assert!(shown > 1);
    assert_eq!(shown + count, names(&folder.path().join("rec")).len());
}

/// A server that closes every connection, and how many there were.
fn listen() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            drop(connection);
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    (port, asked)
}

/// Opens a page; `None` if there is no browser.
fn open(folder: &Path, page: &Path, target: &str) -> Option<chromium::Opened> {
    chromium::JUDGE.or_skip((chromium::JUDGE.probe)())?;
    Some(chromium::open(folder, page, target).unwrap())
}

#[test]
fn a_browser_runs_and_loads_nothing_in_a_page_from_a_hostile_recording() {
    if is_left_to_the_gate("hostile pages in a browser") {
        return;
    }
    let (port, asked) = listen();
    let host = Ipv4Addr::LOCALHOST;
    let attacks = [
        "<script>document.body.id='hac'+'ked'<\u{2215}script>".replace('\u{2215}', "/"),
        format!("\"'><img src=http://{host}:{port}/x onerror=document.body.id='hac'+'ked'>"),
        "</details></style><svg onload=document.body.id='hac'+'ked'>".to_string(),
    ];
    let folder = folder(&[]);
    let root = folder.path();
    // The attacks work on a page without the policy, or this test would show nothing.
    let plain = root.join("plain.html");
    fs::write(&plain, format!("<!DOCTYPE html><body>{}", attacks.concat())).unwrap();
    let Some(opened) = open(root, &plain, "") else { return };
    assert!(opened.document.contains("id=\"hacked\""), "{}", opened.document);
    assert!(asked.swap(0, Ordering::SeqCst) > 0, "the image was not asked for");
    // The policy of a page stops them even if they are not escaped, and the console has it.
    fs::write(root.join("one.data"), with_text(attacks[2].as_bytes())).unwrap();
    let page = root.join("page.html");
    run!("check", root.join("one.data"), "--format", "html", "-o", &page);
    let broken = fs::read_to_string(&page).unwrap().replace("<h1>", &(attacks.concat() + "<h1>"));
    fs::write(root.join("broken.html"), broken).unwrap();
    let opened = open(root, &root.join("broken.html"), "").unwrap();
    assert!(!opened.document.contains("id=\"hacked\""), "{}", opened.document);
    let blocked = opened.console.iter().filter(|line| line.contains("Content Security Policy"));
    assert!(blocked.count() >= 2, "{:?}", opened.console);
    assert_eq!(asked.load(Ordering::SeqCst), 0, "the image was asked for");
    // Pages as they are have nothing to stop.
    for (number, attack) in attacks.iter().enumerate() {
        let name = format!("{number}{}\u{1b}[31m\u{202e}.data", attack.replace('/', "\u{2215}"));
        fs::write(root.join(&name), with_text(attack.as_bytes())).unwrap();
        for command in ["check", "map"] {
            run!(command, root.join(&name), "--format", "html", "-o", &page);
            let opened = open(root, &page, "#PD0004").unwrap();
            assert!(!opened.document.contains("id=\"hacked\""), "{command} {name}");
            assert_eq!(opened.console, [""; 0], "{command} {name}");
            assert!(opened.document.contains("data.size is 0, but "), "{}", opened.document);
            assert_eq!(asked.load(Ordering::SeqCst), 0, "{command} {name}");
            // The link to the page of a code opens the part that it is in.
            let part = "<details open=\"\"><summary><code>PD0004</code>";
            assert!(opened.document.contains(part), "{command}: {}", opened.document);
        }
    }
}
