//! A signal ends a command, and nothing unfinished is left.

use super::*;

/// Starts a repair by way of `wrapper`, and sends it a signal while it writes.
fn signalled(folder: &Path, wrapper: &[&str], signal: &str) -> Output {
    let mut command = Command::new(wrapper[0]);
    command.args(&wrapper[1..]).arg(PROGRAM).arg("repair").arg(folder.join("big"));
    command.arg("-o").arg(folder.join("out")).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A wrapper has become the program when it opens files in the folder.
    let seen = wait_until(&mut child, |pid| unfinished(pid, folder) > 0);
    assert!(seen, "it ended before the test could act");
    // The registration follows the creation; both are long done before the writing is.
    sleep(Duration::from_millis(5));
    let kill = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
    child.wait_with_output().unwrap()
}

#[test]
fn a_signal_removes_what_is_unfinished() {
    if is_left_to_the_gate("a signal removes what is unfinished") {
        return;
    }
    let (folder, _) = big();
    for signal in Share::one_in(1).of(["TERM", "INT", "HUP"]) {
        // Whoever runs the tests may ignore signals, as nohup does.
        let output = signalled(folder.path(), &["env", "--default-signal"], signal);
        assert_eq!(output.status.code(), None, "{signal} takes its course: {}", output.status);
        assert_eq!(names(folder.path()), ["big"], "{signal}");
        let said = String::from_utf8(output.stderr).unwrap();
        let line = "tracemend: interrupted: no file was written\n";
        assert_eq!(said, if signal == "HUP" { "" } else { line }, "{signal}");
    }
}

#[test]
fn a_signal_to_a_run_over_many_says_how_many_are_done() {
    if is_left_to_the_gate("a signal to a run over many says how many are done") {
        return;
    }
    let (folder, big) = big();
    let small = folder.path().join("a");
    fs::write(&small, perf::clean().swap_remove(0).built.crashed()).unwrap();
    let out = folder.path().join("out");
    let mut command = Command::new("env");
    command.args(["--default-signal", PROGRAM, "repair", "--jobs=1", "--out-dir"]).arg(&out);
    command.args([&small, &big]).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    assert!(wait_until(&mut child, |_| out.join("a").exists()));
    // A file has its name a moment before it is closed and counted.
    sleep(Duration::from_millis(300));
    let seen = wait_until(&mut child, |pid| unfinished(pid, &out) > 0);
    assert!(seen, "it ended before the test could act");
    let kill = Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let line = "interrupted after 1 recording: 1 file was written, and is complete\n";
    assert_eq!(said, format!("tracemend: {line}"));
    assert_eq!(names(&out), ["a"]);
}

#[test]
fn a_signal_that_nohup_ignores_ends_nothing() {
    if is_left_to_the_gate("a signal that nohup ignores ends nothing") {
        return;
    }
    let (folder, _) = big();
    let nohup = ["bash", "-c", "trap '' HUP; exec \"$@\"", "nohup"];
    let output = signalled(folder.path(), &nohup, "HUP");
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(names(folder.path()), ["big", "out"]);
}

#[test]
fn a_signal_removes_an_unfinished_directory() {
    let (folder, _) = big_directory();
    let status = signalled(folder.path(), &["env", "--default-signal"], "TERM").status;
    assert_eq!(status.code(), None, "TERM takes its course: {status}");
    assert_eq!(names(folder.path()), ["big"]);
}
