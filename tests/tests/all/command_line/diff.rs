//! `diff`: two recordings of any format, as text and as JSON.

use super::*;

fn log(count: u32) -> Vec<u8> {
    let mut log = qemu::Log::new(qemu::ids::of("11.0"));
    log.start().instruction(count).exception().close();
    log.bytes
}

fn tapped() -> Vec<u8> {
    revent::Recording::new(revent::Layout::V3).tap(1334).build().bytes
}

#[test]
fn two_logs_are_compared_and_those_of_two_formats_are_refused() {
    let files = [("a.log", &log(5)[..]), ("b.log", &log(6)), ("a.run.revent", &tapped())];
    let folder = folder(&files);
    let [one, two, other] = files.map(|(name, _)| folder.path().join(name));
    let ran = run!("diff", one, one);
    assert_eq!((ran.code, ran.out.as_str()), (0, "equal: 10 events\n"));
    let ran = run!("diff", one, two);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(lines[0].starts_with("--- ") && lines[0].ends_with("a.log"), "{}", ran.out);
    assert!(lines[1].starts_with("+++ ") && lines[1].ends_with("b.log"), "{}", ran.out);
    assert_eq!(lines[2], "first other event that differs:");
    assert!(lines[3].starts_with("- ") && lines[3].ends_with("INSTRUCTION count=5"));
    assert!(lines[4].starts_with("+ ") && lines[4].ends_with("INSTRUCTION count=6"));
    assert_eq!((run!("diff", one, other).code, run!("diff", other, other).code), (2, 0));
    assert_eq!(run!("diff", one, two, "--qemu-version", "1.0").code, 2);
    assert_eq!(run!("diff", one, folder.path().join("missing")).code, 5);
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

#[test]
fn a_lost_event_is_counted_and_damage_is_told() {
    let whole = tapped();
    let (at, len) = (whole.len() - 5 * 26, 26);
    let lost = [&whole[..at], &whole[at + len..]].concat();
    let folder = folder(&[
        ("a.run.revent", &whole),
        ("b.run.revent", &lost),
        ("c.run.revent", &whole[..whole.len() - 1]),
        ("d.log.gz", &gzipped(&log(5))),
        ("d.log", &log(5)),
    ]);
    let path = |name: &str| folder.path().join(name);
    let ran = run!("diff", path("a.run.revent"), path("b.run.revent"));
    assert_eq!(ran.code, 1, "{}", ran.err);
    let wanted = "from here on 1 event is only in the first; then both agree again\n";
    assert!(ran.out.ends_with(wanted), "{}", ran.out);
    let ran = run!("diff", path("a.run.revent"), path("c.run.revent"));
    assert!(ran.out.ends_with("+ ends here\n") && ran.code == 1, "{}", ran.out);
    assert!(ran.err.contains("c.run.revent: 25 bytes up to here cannot be read"), "{}", ran.err);
    // A wrapped recording is that in it.
    assert_eq!(run!("diff", path("d.log.gz"), path("d.log")).code, 0);
}

#[test]
fn a_comparison_as_json_follows_the_schema() {
    let schema = schema("diff.schema.json");
    let mut header = perf::by_name("plain").built.bytes;
    let plain = header.clone();
    // The id of a feature in the header that no record shows.
    header[0x48] ^= 0x80;
    let folder =
        folder(&[("a.log", &log(5)), ("b.log", &log(6)), ("a.data", &plain), ("b.data", &header)]);
    let path = |name: &str| folder.path().join(name);
    for (one, two, code) in [("a.log", "b.log", 1), ("a.log", "a.log", 0), ("a.data", "b.data", 1)]
    {
        let ran = run!("diff", path(one), path(two), "--format", "json");
        assert_eq!(ran.code, code, "{}", ran.err);
        let document = parse(&ran.out);
        assert_valid(&schema, &document);
        assert_eq!(document["is_different"], code == 1);
        if one == "a.log" && code == 1 {
            let field = &document["differences"][0]["fields"][0];
            assert_eq!((&field["name"], &field["first"]), (&"count".into(), &"5".into()));
            assert_eq!(document["differences"][0]["second"]["count"], 6);
        }
    }
}
