//! Pictures of recordings (`--format svg`, and inside pages): damage is where it lies, in its size,
//! and inside of its box, by the elements and in a browser.

use std::time::Instant;

use tracemend_tests::judge::chromium;
use tracemend_tests::judge::screenshot::Screenshot;
use tracemend_tests::judge::xml;

use super::*;
use tracemend_tests::sweep::is_left_to_the_gate;

/// Colours of `picture.css`: damage, and the frame of a strip.
const DAMAGE: [u8; 3] = [0xd5, 0x5e, 0x00];
const FRAME: [u8; 3] = [0x77, 0x77, 0x77];
/// Bytes of the picture of one recording.
const PICTURE_MAX: usize = 3_000_000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A length such as `12.5%` as a number.
fn percent(node: roxmltree::Node<'_, '_>, name: &str) -> Option<f64> {
    node.attribute(name)?.strip_suffix('%')?.parse().ok()
}

/// Fails if a picture is too large, has no text of its own, holds something that acts or refers to
/// another file, or has a part outside of its box. Returns the number of its parts.
pub(super) fn assert_picture(text: &str, label: &str) -> usize {
    assert!(text.chars().all(|c| c == '\n' || is_safe(c)), "{label}");
    assert!(text.len() < PICTURE_MAX, "{label}: {} bytes", text.len());
    let options = roxmltree::ParsingOptions { nodes_limit: u32::MAX, ..Default::default() };
    let picture = roxmltree::Document::parse_with_options(text, options).unwrap();
    let root = picture.root_element();
    let child = |name: &str| {
        let found =
            root.children().find(|node| node.has_tag_name(("http://www.w3.org/2000/svg", name)));
        found.and_then(|node| node.text()).unwrap_or_default().to_string()
    };
    assert!(!child("title").is_empty() && !child("desc").is_empty(), "{label}");
    assert_eq!(root.attribute("role"), Some("img"), "{label}");
    let height: f64 = root.attribute("height").unwrap().parse().unwrap();
    let mut parts = 0;
    for node in root.descendants().filter(roxmltree::Node::is_element) {
        assert!(pages::ELEMENTS.contains(&node.tag_name().name()), "{label}: {node:?}");
        for attribute in node.attributes() {
            let (name, value) = (attribute.name(), attribute.value());
            let is_active = name.starts_with("on") || ["src", "style", "href"].contains(&name);
            assert!(!is_active, "{label}: {attribute:?}");
            assert!(!value.contains("//"), "{label}: {attribute:?}");
        }
        parts += 1;
        if let (Some(x), Some(width)) = (percent(node, "x"), percent(node, "width")) {
            assert!(x >= 0.0 && x + width < 100.01, "{label}: {node:?}");
        }
        let number = |name: &str| node.attribute(name).and_then(|value| value.parse::<f64>().ok());
        if let (Some(y), Some(high)) = (number("y"), number("height")) {
            assert!(y >= 0.0 && y + high <= height, "{label}: {node:?}");
        }
        assert!(percent(node, "x").is_none_or(|x| (0.0..=100.0).contains(&x)), "{label}: {node:?}");
    }
    parts
}

/// The places of the flags of a kind, in percent of the width.
fn flags(text: &str, class: &str) -> Vec<f64> {
    let picture = roxmltree::Document::parse(text).unwrap();
    let paths = picture.descendants().filter(|node| node.tag_name().name() == "path");
    let own = paths.filter(|node| node.attribute("class") == Some(class));
    own.filter_map(|node| percent(node.ancestors().find(|one| one.attribute("x").is_some())?, "x"))
        .filter(|x| ![0.0, 33.0, 66.0].contains(x))
        .collect()
}

#[test]
fn pictures_of_all_formats_are_whole_and_say_what_they_show() {
    let folder = folder(&[]);
    for path in pages::recordings(folder.path()) {
        for command in ["map", "check", "audit"] {
            let ran = run!(command, &path, "--format", "svg");
            assert!(ran.code <= 1, "{}: {}", path.display(), ran.err);
            let label = format!("{command} {}", path.display());
            assert!(assert_picture(&ran.out, &label) > 10, "{label}");
            let Some(_version) = xml::JUDGE.or_skip((xml::JUDGE.probe)()) else { continue };
            let file = folder.path().join("picture.svg");
            fs::write(&file, &ran.out).unwrap();
            let judged = Command::new("xmllint").arg("--noout").arg(&file).output().unwrap();
            assert!(judged.status.success() && judged.stderr.is_empty(), "{label}");
        }
    }
}

#[test]
fn each_format_has_the_axis_that_its_records_have() {
    let axis = |path: &str| {
        let ran = run!("map", root().join("corpus").join(path), "--format", "svg");
        let (_, rest) = ran.out.split_once(" by ").unwrap();
        rest.split(['.', '<']).next().unwrap().to_string()
    };
    assert_eq!(axis("perf/clean/plain.data"), "time");
    assert_eq!(axis("ovni/clean/looms"), "time");
    assert_eq!(axis("revent/crashed/v3_enter.revent"), "time");
    assert_eq!(axis("apitrace/clean/glxdemo.trace"), "call numbers");
    assert_eq!(axis("qemu/crashed/cut_11.1.log"), "instructions of the guest");
}

/// A recording of some length with damage in `start..end`: a list of samples, some overwritten.
fn damaged(count: usize, damage: std::ops::Range<usize>) -> (Vec<u8>, usize) {
    let mut bytes = sound();
    let built = perf::clean().swap_remove(0).built;
    let sample = built.records.iter().find(|one| one.kind == 9).unwrap();
    let sample = built.bytes[sample.range()].to_vec();
    let len = sample.len();
    // A recorder that was killed left no size, so that records follow up to the end.
    bytes = bytes[..built.records.last().unwrap().range().end].to_vec();
    bytes[0x30..0x38].fill(0);
    let before = bytes.len();
    bytes.extend(sample.repeat(count));
    for at in damage {
        let at = before + at * len;
        bytes[at..at + len].fill(0xff);
    }
    (bytes, len)
}

#[test]
fn damage_has_its_size_and_place_wherever_it_lies() {
    let (bytes, _) = damaged(20_000, 19_999..20_000);
    let folder = folder(&[("x.data", &bytes)]);
    let ran = run!("map", folder.path().join("x.data"), "--format", "svg");
    assert_picture(&ran.out, "last");
    let found = flags(&ran.out, "damage");
    assert!(found.iter().any(|x| *x > 99.99), "{found:?}");
    // What a repair drops of it is flagged below it, at the same place.
    assert!(flags(&ran.out, "dropped").iter().any(|x| *x > 99.99), "{}", ran.out);
    assert!(ran.out.contains(">before: ") && ran.out.contains(">after: "));
}

#[test]
fn a_repair_is_below_what_it_repairs_and_a_sound_recording_has_one_strip() {
    let folder = folder(&[("cut.data", &truncated()), ("sound.data", &sound())]);
    let cut = run!("map", folder.path().join("cut.data"), "--format", "svg").out;
    let at = |text: &str| cut.find(text).unwrap_or_else(|| panic!("{text} in {cut}"));
    assert!(at(">before: ") < at(">a repair keeps and drops<"));
    assert!(at(">a repair keeps and drops<") < at(">after: "));
    assert!(cut.contains("class=\"kept\"") && cut.contains("class=\"dropped\""));
    assert!(cut.contains(", after the repair "), "{cut}");
    let sound = run!("map", folder.path().join("sound.data"), "--format", "svg").out;
    assert!(sound.contains("nothing to repair") && !sound.contains("after: "));
}

#[test]
fn the_walk_of_the_records_ends_at_its_limit_and_the_picture_says_so() {
    let folder = folder(&[("x.data", &sound())]);
    let path = folder.path().join("x.data");
    let all = run!("map", &path, "--format", "svg").out;
    assert!(!all.contains("only the first"));
    let few = run!("map", &path, "--format", "svg", "--limit", "timeline=2").out;
    assert!(few.contains("only the first 2 records (--limit timeline=N)"), "{few}");
}

#[test]
fn options_that_a_picture_does_not_take_are_refused() {
    let folder = folder(&[("x.data", &sound())]);
    let path = folder.path().join("x.data");
    for option in [["--depth", "2"], ["--at", "0"]] {
        let ran = run!("map", &path, "--format", "svg", option[0], option[1]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    }
}

#[test]
fn a_thousand_recordings_are_a_thousand_rows() {
    if is_left_to_the_gate("a thousand recordings are a thousand rows") {
        return;
    }
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for number in 0..1_000 {
        let bytes = if number % 10 == 0 { truncated() } else { sound() };
        files.push((format!("night/{number:04}/perf.data"), bytes));
    }
    let all: Vec<(&str, &[u8])> =
        files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    let folder = folder(&all);
    let start = Instant::now();
    let ran = run!("check", folder.path().join("night"), "--format", "svg");
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    assert_picture(&ran.out, "thousand");
    assert_eq!(ran.out.matches("/perf.data</text>").count(), 1_000);
    assert!(ran.out.contains("1000 recordings, 900 clean. 100 with errors"));
    // In the order of the input, and the same at any number of threads.
    let names: Vec<usize> =
        files.iter().map(|(name, _)| ran.out.find(&format!("/{name}</text>")).unwrap()).collect();
    assert!(names.is_sorted());
}

/// A screenshot of a file at a width; `None` if there is no browser.
fn shoot(
    folder: &Path,
    file: &Path,
    (width, height): (u32, u32),
    is_dark: bool,
) -> Option<Screenshot> {
    chromium::JUDGE.or_skip((chromium::JUDGE.probe)())?;
    let picture = folder.join("shot.png");
    let _absent = fs::remove_file(&picture);
    chromium::draw(folder, file, &picture, (width, height), is_dark).unwrap();
    let shot = Screenshot::read(&picture);
    assert_eq!(shot.width, usize::try_from(width).unwrap());
    Some(shot)
}

#[test]
fn in_a_browser_damage_is_seen_inside_of_its_box_at_any_width() {
    if is_left_to_the_gate("in a browser damage is seen inside of its box at any width") {
        return;
    }
    let (bytes, _) = damaged(20_000, 19_999..20_000);
    let folder = folder(&[("x.data", &bytes)]);
    let source = folder.path().join("x.data");
    for (name, form) in [("x.svg", "svg"), ("x.html", "html")] {
        let file = folder.path().join(name);
        assert_eq!(run!("map", &source, "--format", form, "-o", &file).code, 0);
        for (width, is_dark) in [(400, false), (1_400, true), (1_400, false)] {
            let Some(shot) = shoot(folder.path(), &file, (width, 700), is_dark) else { return };
            let label = format!("{name}, {width} pixels");
            let [damage, frame] = [DAMAGE, FRAME].map(|colour| shot.places(colour));
            assert!(!damage.is_empty() && !frame.is_empty(), "{label}");
            let ends = |places: &[(usize, usize)]| {
                let all = places.iter().map(|(x, _)| *x);
                (all.clone().min().unwrap(), all.max().unwrap())
            };
            let (left, right) = ends(&frame);
            // The flag of the last byte stands at the right end, and nothing of it is outside.
            let (first, last) = ends(&damage);
            assert!(left <= first && last <= right, "{label}: {first}..{last} in {left}..{right}");
            assert!(right - last < 3, "{label}: {last} of {right}");
            // All of it is a flag: one damaged record of 20,000 fills no column.
            let seen = damage.iter().filter(|(x, _)| *x + 12 > right).count();
            assert!(seen >= 15, "{label}: {seen} pixels");
        }
    }
}

#[test]
fn in_a_browser_half_a_damaged_file_is_half_a_damaged_strip() {
    if is_left_to_the_gate("in a browser half a damaged file is half a damaged strip") {
        return;
    }
    let (bytes, _) = damaged(20_000, 0..10_000);
    let folder = folder(&[("x.data", &bytes)]);
    let file = folder.path().join("x.svg");
    run!("map", folder.path().join("x.data"), "--format", "svg", "-o", &file);
    for width in [400, 900] {
        let Some(shot) = shoot(folder.path(), &file, (width, 300), false) else { return };
        // The row of pixels that has most of the colour; a third of a pattern may be ink.
        let mut rows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (x, y) in shot.places(DAMAGE) {
            rows.entry(y).or_default().push(x);
        }
        let fullest = rows.values().max_by_key(|row| row.len()).unwrap();
        let half = usize::try_from(width).unwrap() / 2;
        let (first, last) = (fullest[0], *fullest.last().unwrap());
        assert!(first < half / 10 && last.abs_diff(half) < half / 10, "{first}..{last} of {width}");
        assert!(fullest.len() > half / 2, "{} of {half}", fullest.len());
    }
}

#[test]
fn in_a_browser_no_page_is_wider_than_its_window() {
    if is_left_to_the_gate("in a browser no page is wider than its window") {
        return;
    }
    let folder = folder(&[("cut.data", &truncated())]);
    let long = format!("{}.data", "long-name-".repeat(20));
    fs::write(folder.path().join(&long), crashed()).unwrap();
    let page = folder.path().join("page.html");
    let probe = folder.path().join("probe.html");
    for (command, path) in [("map", "cut.data"), ("check", &long), ("map", &long)] {
        run!(command, folder.path().join(path), "--format", "html", "-o", &page);
        let text = fs::read_to_string(&page).unwrap();
        for width in [400, 1_400] {
            // A frame of this width; the browser itself may refuse to be so narrow.
            let escaped = text.replace('&', "&amp;").replace('"', "&quot;");
            let script = "const f=document.querySelector('iframe').contentDocument.documentElement;\
                          document.body.id='over'+(f.scrollWidth-f.clientWidth)";
            let framed = format!(
                "<!DOCTYPE html><body><iframe width=\"{width}\" height=\"600\" \
                 srcdoc=\"{escaped}\"></iframe><script>onload=()=>{{{script}}}</script>"
            );
            fs::write(&probe, framed).unwrap();
            if chromium::JUDGE.or_skip((chromium::JUDGE.probe)()).is_none() {
                return;
            }
            let opened = chromium::open(folder.path(), &probe, "").unwrap();
            assert!(opened.document.contains("id=\"over0\""), "{command} {path} at {width}");
        }
    }
}
