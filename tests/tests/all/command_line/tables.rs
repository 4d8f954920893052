//! Records for tables: CSV and JSON without numbers, as other programs read them.

use super::*;

/// The cells of a table, as the library of a reader splits them.
fn read_table(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(Result::unwrap).collect()
}

/// The records as lines of JSON.
fn records(path: &Path) -> Vec<Value> {
    let ran = run!("dump", path, "--format", "jsonl");
    ran.out.lines().map(parse).collect()
}

/// A value as a cell has it.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[test]
fn every_record_of_every_format_is_a_row_with_all_its_digits() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    let out = TempDir::new().unwrap();
    let (mut rows, mut large) = (0, 0);
    for (number, name) in [
        "perf/crashed/killed_callgraph.data",
        "apitrace/clean/glxdemo.trace",
        "ovni/crashed/killed",
        "qemu/crashed/cut_11.1.log",
        "revent/crashed/gamepad.revent",
    ]
    .iter()
    .enumerate()
    {
        let path = corpus.join(name);
        let folder = out.path().join(format!("{number}/"));
        let ran = run!("dump", &path, "--format", "csv", "-o", &folder);
        assert!(ran.code <= 1 && ran.out.is_empty(), "{}", ran.err);
        let mut tables: BTreeMap<String, std::vec::IntoIter<BTreeMap<String, String>>> =
            BTreeMap::new();
        for file in names(&folder) {
            let table = read_table(&fs::read_to_string(folder.join(&file)).unwrap());
            let kind = table[0]["kind"].clone();
            assert!(table.iter().all(|row| row["kind"] == kind), "{file}");
            tables.insert(kind, table.into_iter());
        }
        for record in records(&path) {
            let members = record.as_object().unwrap();
            let row = tables.get_mut(&cell(&record["kind"])).unwrap().next().unwrap();
            for (name, text) in &row {
                let value = members.get(name).map_or_else(String::new, cell);
                let is_list =
                    members.get(name).is_some_and(|one| one.is_array() || one.is_object());
                let is_same = if is_list { parse(text) == parse(&value) } else { *text == value };
                assert!(is_same, "{name}: {text}, but {value}");
                large += usize::from(text.parse::<u64>().is_ok_and(|one| one > 1 << 53));
            }
            assert!(members.keys().all(|name| row.contains_key(name)), "{record}");
            rows += 1;
        }
        assert!(tables.into_values().all(|mut rest| rest.next().is_none()), "{name}");
    }
    assert!(rows > 4_000 && large > 100, "{rows} rows, {large} large numbers");
}

#[test]
fn one_table_holds_one_kind_and_numbers_can_be_strings() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/crashed/diskfull.data");
    let ran = run!("dump", &path, "--format", "csv");
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    assert!(ran.err.contains("--kind NAME, or -o DIR/"), "{}", ran.err);
    let ran = run!("dump", &path, "--format", "csv", "--kind", "SAMPLE");
    assert_eq!(read_table(&ran.out).len(), 711, "{}", ran.err);
    let strings = run!("dump", &path, "--format", "jsonl", "--numbers", "string");
    fn plain(value: &Value) -> Value {
        match value {
            Value::Number(number) => Value::String(number.to_string()),
            Value::Array(items) => items.iter().map(plain).collect(),
            Value::Object(members) => {
                members.iter().map(|(name, value)| (name.clone(), plain(value))).collect()
            }
            other => other.clone(),
        }
    }
    let wanted: Vec<Value> = records(&path).iter().map(plain).collect();
    let found: Vec<Value> = strings.out.lines().map(parse).collect();
    assert_eq!(found.len(), wanted.len());
    assert!(found == wanted, "the same records, but for the quotes");
    assert_eq!(run!("dump", &path, "--numbers", "string").code, 2);
    assert_eq!(run!("dump", &path, "--format", "csv", "--style", "x").code, 2);
}

/// Whether a program of a recipe is there, with the module that it imports.
fn is_there(recipe: &str) -> bool {
    let needs = [("jq ", "jq --version"), ("awk ", "awk 1 /dev/null")];
    let modules = ["pandas", "duckdb"];
    let modules = modules.map(|name| (name, format!("python3 -c 'import {name}'")));
    let programs = needs.map(|(name, test)| (name, test.to_string()));
    programs.iter().chain(&modules).filter(|(name, _)| recipe.contains(name)).all(|(name, test)| {
        let ran = Command::new("sh").args(["-c", test]).output().unwrap();
        if !ran.status.success() {
            tracemend_tests::notice::skip("a recipe of docs/tables.md", name);
        }
        ran.status.success()
    })
}

#[test]
fn the_recipes_of_the_page_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = fs::read_to_string(root.join("docs/tables.md")).unwrap();
    let night = fs::read(root.join("corpus/perf/crashed/killed_callgraph.data")).unwrap();
    let bin = TempDir::new().unwrap();
    let program = env!("CARGO_BIN_EXE_tracemend-under-test");
    symlink(program, bin.path().join("tracemend")).unwrap();
    let path = format!("{}:{}", bin.path().display(), std::env::var("PATH").unwrap());
    let recipes: Vec<&str> =
        page.split("```sh\n").skip(1).map(|part| part.split("```").next().unwrap()).collect();
    assert_eq!(recipes.len(), 9);
    for recipe in recipes.into_iter().filter(|recipe| is_there(recipe)) {
        let folder = folder(&[("night.data", &night)]);
        let mut shell = Command::new("bash");
        let script = format!("set -o pipefail\n{recipe}");
        let shell = shell.args(["-c", &script]).current_dir(&folder).env("PATH", &path);
        let ran = shell.output().unwrap();
        let (out, err) =
            (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        // A killed recording has an end that is left out, which is 1.
        assert!(matches!(ran.status.code(), Some(0 | 1)), "{recipe}: {out}{err}");
        assert!(out.lines().count() >= 3, "{recipe}: {out}{err}");
        assert!(!err.contains("rror:"), "{recipe}: {err}");
    }
}

/// Nanoseconds as a timeline shows them, in microseconds.
fn microseconds(time: u64) -> String {
    format!("{}.{:03}", time / 1_000, time % 1_000)
}

#[test]
fn every_record_with_a_time_is_an_event_of_a_timeline() {
    type TimeOf = fn(&Value) -> Option<String>;
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    let cases: [(&str, TimeOf, &str); 5] = [
        (
            "perf/clean/callgraph.data",
            |record| {
                let time = record["time"].as_u64().or_else(|| record["sample_time"].as_u64())?;
                (time > 0).then(|| microseconds(time))
            },
            "cpu-clock",
        ),
        (
            "apitrace/clean/glxdemo.trace",
            |record| Some(record["number"].to_string()),
            "glXCreateContext",
        ),
        ("ovni/clean/attach", |record| Some(microseconds(record["clock"].as_u64()?)), "OHx"),
        ("qemu/clean/guestoff_7.2.log", |record| Some(record["icount"].to_string()), "INSTRUCTION"),
        (
            "revent/clean/Nexus10.run.revent",
            |record| {
                let seconds = record["sec"].as_u64()? * 1_000_000_000;
                Some(microseconds(seconds + record["usec"].as_u64()? * 1_000))
            },
            "ABS_MT_TRACKING_ID",
        ),
    ];
    for (name, time_of, word) in cases {
        let path = corpus.join(name);
        let ran = run!("dump", &path, "--style", "chrome-json");
        assert_eq!(ran.code, 0, "{}", ran.err);
        let events: Vec<Value> = serde_json::from_str(&ran.out).unwrap();
        let (names, events): (Vec<Value>, Vec<Value>) =
            events.into_iter().partition(|event| event["ph"] == "M");
        assert!(names.iter().all(|event| event["name"] == "thread_name"));
        assert_eq!(names.is_empty(), name.starts_with("qemu"), "a guest has no threads");
        let times: Vec<(Value, String)> = records(&path)
            .into_iter()
            .filter_map(|record| time_of(&record).map(|time| (record, time)))
            .collect();
        assert_eq!(events.len(), times.len(), "{name}");
        let lines = ran.out.lines().filter(|line| line.starts_with(r#"{"ph":"i","s":"t""#));
        for ((event, line), (record, time)) in events.iter().zip(lines).zip(&times) {
            assert_eq!(event["args"], *record);
            // As it is written: a reader of JSON loses digits.
            assert!(line.contains(&format!(r#","ts":{time},"pid":"#)), "{line}");
            assert!(event["pid"].is_i64() || event["pid"].is_u64(), "{line}");
        }
        assert!(events.iter().any(|event| event["name"] == word), "{name}");
    }
}
