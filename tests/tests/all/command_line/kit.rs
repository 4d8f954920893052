//! The kit for platforms: completions, manual pages, built-in specimens, actions and hooks.

use tracemend_tests::judge::{kubernetes, slurm};
use tracemend_tests::sweep::is_left_to_the_gate;

use super::*;

/// The root of the project.
pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Compares a generated file, or writes it anew (`BLESS=1`).
fn assert_current(path: &Path, text: &str) {
    if std::env::var_os("BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let held = fs::read_to_string(path).unwrap_or_default();
    assert_eq!(held, text, "{} is out of date: BLESS=1 rewrites it", path.display());
}

#[test]
fn completions_and_manual_pages_are_current() {
    for (shell, name) in
        [("bash", "tracemend.bash"), ("zsh", "_tracemend"), ("fish", "tracemend.fish")]
    {
        let ran = run!("completions", shell);
        assert_current(&root().join("docs/completions").join(name), &ran.out);
    }
    let page = run!("man");
    assert!(page.out.contains(".TH tracemend 1"), "{}", page.out);
    assert_current(&root().join("docs/man/tracemend.1"), &page.out);
    let help = run!("--help").out;
    let list = help.split("Commands:").nth(1).unwrap().split("\n\n").next().unwrap();
    let commands: Vec<&str> =
        list.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    let commands = commands.into_iter().filter(|name| !name.is_empty() && *name != "help");
    let mut count = 0;
    for command in commands {
        let page = run!("man", command);
        assert_eq!(page.code, 0, "{command}: {}", page.err);
        let name = format!("tracemend-{command}").replace('-', "\\-");
        assert!(page.out.contains(&name), "{}", page.out);
        assert_current(&root().join(format!("docs/man/tracemend-{command}.1")), &page.out);
        count += 1;
    }
    assert!(count > 10, "{list}");
    assert_eq!(run!("man", "\u{1b}no").code, 2);
}

#[test]
fn the_built_in_specimens_are_those_of_the_corpus() {
    let ran = run!("self-test");
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert_eq!(ran.out.matches(" ok: ").count(), 5, "{}", ran.out);
    let thread = "ovni/rules/OV0101/loom.node.0/proc.7/thread.7";
    for (own, source) in [
        ("PD1001.data", "perf/rules/PD1001.data".to_string()),
        ("AT0003.trace", "apitrace/rules/AT0003.trace".to_string()),
        ("OV0101.json", format!("{thread}/stream.json")),
        ("OV0101.obs", format!("{thread}/stream.obs")),
        ("QR2013.log", "qemu/rules/QR2013.log".to_string()),
        ("RV2003.run.revent", "revent/rules/RV2003.run.revent".to_string()),
    ] {
        let own = root().join("cli/src/commands/self_test").join(own);
        let source = fs::read(root().join("corpus").join(source)).unwrap();
        if std::env::var_os("BLESS").is_some() {
            fs::write(&own, &source).unwrap();
        }
        assert_eq!(fs::read(&own).unwrap(), source, "{}", own.display());
    }
}

#[test]
fn the_tasks_of_a_slurm_array_give_the_report_of_one_run() {
    let folder = folder(&[("in/a", &crashed()), ("in/b", &sound()), ("in/c/d", &truncated())]);
    let (source, reports) = (folder.path().join("in"), folder.path().join("reports"));
    // Twice: a task that is requeued takes over its report.
    for _ in 0..2 {
        for part in ["1", "2", "3"] {
            let mut command = Command::new("bash");
            command.arg(root().join("docs/ci/slurm.sh"));
            command.env("DIR", &source).env("REPORTS", &reports);
            command.env("SLURM_ARRAY_TASK_ID", part).env("SLURM_ARRAY_TASK_COUNT", "3");
            let output = with_program(folder.path(), &mut command);
            assert!(output.status.success(), "{output:?}");
        }
    }
    let mut parts = names(&reports);
    parts.retain(|name| name.ends_with(".json"));
    assert_eq!(parts, ["1-of-3.json", "2-of-3.json", "3-of-3.json"]);
    let part = |name: &str| reports.join(name);
    let merged = run!("merge", part(&parts[0]), part(&parts[1]), part(&parts[2]), "--format=json");
    assert_eq!(merged.out, report_of_one_run(folder.path()));
}

#[test]
fn slurm_runs_the_job_array_of_the_example() {
    if is_left_to_the_gate("a job array of Slurm") {
        return;
    }
    if slurm::JUDGE.or_skip((slurm::JUDGE.probe)()).is_none() {
        return;
    }
    let folder = folder(&[("in/a", &crashed()), ("in/b", &sound()), ("in/c/d", &truncated())]);
    let reports = folder.path().join("reports");
    // The two commands of docs/ci/slurm.sh, and a wait for the end.
    let script = "job=$(sbatch --parsable --output=array-%a --array=1-3 \"$EXAMPLE\")\n\
                  sbatch --wait --output=joined --dependency=afterany:\"$job\" \
                  --wrap 'tracemend merge \"$REPORTS\"/*.json --format json'\n";
    let mut command = Command::new("bash");
    command.arg(slurm::script()).args(["bash", "-c", script]);
    command.env("EXAMPLE", root().join("docs/ci/slurm.sh"));
    command.env("DIR", folder.path().join("in")).env("REPORTS", &reports);
    let output = with_program(folder.path(), &mut command);
    // sbatch exits with the status of the job, which is that of the joined report.
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(names(&reports), ["1-of-3.json", "2-of-3.json", "3-of-3.json"]);
    let joined = fs::read_to_string(folder.path().join("joined")).unwrap();
    assert_eq!(joined, report_of_one_run(folder.path()));
}

#[test]
fn the_manifest_is_one_that_kubernetes_knows() {
    if kubernetes::JUDGE.or_skip((kubernetes::JUDGE.probe)()).is_none() {
        return;
    }
    let manifest = root().join("docs/ci/kubernetes.yml");
    assert_eq!(kubernetes::validate(&manifest), Ok(()));
    let wrong = fs::read_to_string(manifest).unwrap().replace("parallelism", "paralelism");
    let folder = folder(&[("wrong.yml", wrong.as_bytes())]);
    assert!(kubernetes::validate(&folder.path().join("wrong.yml")).is_err());
}

/// The report of one run over the folder `in`. Fingerprints count paths from the current directory.
fn report_of_one_run(folder: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracemend-under-test"));
    command.arg("check").arg(folder.join("in")).arg("--format=json").current_dir(folder);
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

/// Runs a script of the kit with the program in the PATH as `tracemend`.
fn with_program(folder: &Path, command: &mut Command) -> std::process::Output {
    let bin = folder.join("bin");
    fs::create_dir_all(&bin).unwrap();
    let program = env!("CARGO_BIN_EXE_tracemend-under-test");
    if !bin.join("tracemend").exists() {
        symlink(program, bin.join("tracemend")).unwrap();
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", bin.display());
    command.env("PATH", path).env("RUNNER_TEMP", folder).current_dir(folder).output().unwrap()
}

/// The script of the step `name` of the action `file`.
pub(super) fn script_of(file: &str, name: &str) -> String {
    let action = fs::read_to_string(root().join(file)).unwrap();
    let step = action.split(&format!("    - name: {name}\n")).nth(1).unwrap();
    let script = step.split("      run: |\n").nth(1).unwrap();
    let lines = script.lines().map_while(|line| line.strip_prefix("        "));
    let script: String = lines.map(|line| line.to_string() + "\n").collect();
    assert!(!script.contains("${{"), "inputs come by the environment: {script}");
    script
}

#[test]
fn the_script_of_the_action_annotates_and_cannot_be_injected() {
    let script = script_of("action.yml", "Check");
    let folder = folder(&[("traces/a.data", &crashed()), ("b c.data", &crashed())]);
    let script =
        script.replace("$RUNNER_TEMP/tracemend/bin/tracemend", "$RUNNER_TEMP/bin/tracemend");
    let mut command = Command::new("bash");
    command.args(["-e", "-c", &script]);
    command.env("PATHS", "traces\nb c.data\n$(touch owned)\n").env("SARIF", "out.sarif");
    command.env("ARGUMENTS", "--fail-on\nnever\n");
    let output = with_program(folder.path(), &mut command);
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(5), "{out}");
    for file in ["traces/a.data", "b c.data"] {
        assert!(out.contains(&format!("::error file={file},title=PD0004 ")), "{out}");
    }
    assert!(!folder.path().join("owned").exists());
    // The annotations that a workflow shows, as a file.
    assert_current(&root().join("docs/captures/action.txt"), &out);
    let document = parse(&fs::read_to_string(folder.path().join("out.sarif")).unwrap());
    let uri = &document["runs"][0]["results"][1]["locations"][0]["physicalLocation"];
    assert_eq!(uri["artifactLocation"]["uri"], "b%20c.data");
}

#[test]
fn the_script_for_shards_gives_the_report_of_one_run() {
    let folder = folder(&[("in/a", &crashed()), ("in/b", &sound()), ("in/c/d", &truncated())]);
    let mut command = Command::new("bash");
    command.arg(root().join("docs/ci/shards.sh")).args(["in", "3", "report.json"]);
    let output = with_program(folder.path(), &mut command);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracemend-under-test"));
    let one = command.args(["check", "in", "--format=json"]).current_dir(folder.path()).output();
    let report = fs::read(folder.path().join("report.json")).unwrap();
    assert_eq!(String::from_utf8(report), String::from_utf8(one.unwrap().stdout));
}
