//! `install.sh`, and what uses it: the action and the hook of pre-commit. The releases are a folder
//! with an archive whose program prints its arguments; `.ci/release-test` tries a real one.

use super::kit::{root, script_of};
use super::*;

/// A folder of releases with an archive for this machine, whose checksum is right; `None` where
/// curl is missing, without which nothing reads releases from a folder.
fn releases_or_skip() -> Option<TempDir> {
    if Command::new("curl").arg("--version").output().is_err() {
        tracemend_tests::notice::skip("install.sh", "curl is missing");
        return None;
    }
    let target = match std::env::consts::ARCH {
        "aarch64" => "aarch64-unknown-linux-gnu",
        _ => "x86_64-unknown-linux-gnu",
    };
    let version = env!("CARGO_PKG_VERSION");
    let name = format!("tracemend-{version}-{target}");
    let at = |file: &str| format!("{name}/{file}");
    let program = "#!/bin/sh\necho \"tracemend $*\"\n";
    let folder = folder(&[
        (&at("tracemend"), program.as_bytes()),
        (&at("man/man1/tracemend.1"), b"page"),
        (&at("completions/tracemend.bash"), b""),
        (&at("completions/_tracemend"), b""),
        (&at("completions/tracemend.fish"), b""),
        (&at("README.md"), b""),
        (&at("LICENSE-MIT"), b""),
    ]);
    let script = "chmod +x */tracemend && mkdir \"v$1\" && tar -czf \"v$1/$2.tar.gz\" \"$2\" && \
                  cd \"v$1\" && sha256sum ./*.tar.gz | sed 's|\\./||' >SHA256SUMS";
    let mut command = Command::new("sh");
    command.args(["-euc", script, "sh", version, &name]).current_dir(folder.path());
    assert!(command.status().unwrap().success());
    Some(folder)
}

/// Runs a command with the releases of a folder, and an empty home.
fn with_releases(releases: &Path, command: &mut Command) -> (i32, String) {
    let home = releases.join("home");
    fs::create_dir_all(&home).unwrap();
    let address = format!("file://{}", releases.display());
    command.env("TRACEMEND_RELEASES", address).env("HOME", &home).env_remove("XDG_CACHE_HOME");
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(text).unwrap())
}

fn install(releases: &Path, to: &Path) -> (i32, String) {
    with_releases(releases, Command::new("sh").arg(root().join("install.sh")).arg(to))
}

/// The archive in a folder of releases.
fn archive(releases: &Path) -> PathBuf {
    let version = releases.join(format!("v{}", env!("CARGO_PKG_VERSION")));
    let name = names(&version).into_iter().find(|name| name.ends_with(".tar.gz")).unwrap();
    version.join(name)
}

#[test]
fn an_archive_is_installed_only_with_the_right_checksum() {
    let Some(releases) = releases_or_skip() else { return };
    let to = releases.path().join("to");
    let (code, text) = install(releases.path(), &to);
    assert_eq!(code, 0, "{text}");
    assert!(text.starts_with("tracemend --version\n"), "{text}");
    assert_eq!(fs::read(to.join("share/man/man1/tracemend.1")).unwrap(), b"page");

    // A release installs over an earlier one, and a changed archive over none.
    assert_eq!(install(releases.path(), &to).0, 0);
    let mut bytes = fs::read(archive(releases.path())).unwrap();
    bytes.push(0);
    fs::write(archive(releases.path()), bytes).unwrap();
    let to = releases.path().join("refused");
    let (code, text) = install(releases.path(), &to);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("nothing is installed"), "{text}");
    assert!(!to.exists());

    fs::write(archive(releases.path()).with_file_name("SHA256SUMS"), "").unwrap();
    let (code, text) = install(releases.path(), &to);
    assert_eq!((code, text.contains("is not listed")), (1, true), "{text}");
}

#[test]
fn the_action_builds_only_where_there_is_no_release() {
    let Some(releases) = releases_or_skip() else { return };
    let output = releases.path().join("output");
    let run = || {
        fs::write(&output, "").unwrap();
        let mut command = Command::new("bash");
        command.args(["-e", "-c", &script_of("action.yml", "Download tracemend")]);
        command
            .env("ACTION", root())
            .env("RUNNER_TEMP", releases.path())
            .env("GITHUB_OUTPUT", &output);
        let (code, text) = with_releases(releases.path(), &mut command);
        (code, fs::read_to_string(&output).unwrap(), text)
    };
    let (code, written, text) = run();
    assert_eq!(code, 0, "{text}");
    assert!(written.contains("build=no\n") && written.contains("key="), "{written}");
    assert!(releases.path().join("tracemend/bin/tracemend").exists());

    // A changed archive ends the job; it is not a reason to build.
    fs::write(archive(releases.path()), "changed").unwrap();
    let (code, written, _) = run();
    assert_eq!((code, written.contains("build=")), (1, false), "{written}");

    fs::remove_file(archive(releases.path())).unwrap();
    let (code, written, text) = run();
    assert_eq!(code, 0, "{text}");
    assert!(written.contains("build=yes\n"), "{written}");
}

#[test]
fn the_hook_downloads_a_release_once() {
    let Some(releases) = releases_or_skip() else { return };
    let run = || {
        let mut command = Command::new("sh");
        command.arg(root().join("docs/ci/pre-commit.sh")).args(["a b.data", "--strict"]);
        with_releases(releases.path(), &mut command)
    };
    let (code, text) = run();
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("tracemend check -- a b.data --strict\n"), "{text}");
    fs::remove_file(archive(releases.path())).unwrap();
    assert_eq!(run(), (0, "tracemend check -- a b.data --strict\n".to_owned()));
}

#[test]
fn examples_name_the_version_of_the_project() {
    let version = env!("CARGO_PKG_VERSION");
    let documents = [
        ("README.md", 2),
        ("SECURITY.md", 2),
        ("docs/ci.md", 1),
        ("docs/ci/github.yml", 1),
        ("docs/ci/gitlab.yml", 2),
        ("docs/start-ci.md", 3),
    ];
    for (name, count) in documents {
        let text = fs::read_to_string(root().join(name)).unwrap();
        let starts = ["tracemend-", "tracemend_", "tracemend:", "/v", "@v", "version: "];
        let named = starts.iter().flat_map(|start| text.split(start).skip(1));
        let named: Vec<_> = named.filter(|rest| rest.starts_with(char::is_numeric)).collect();
        assert_eq!(named.len(), count, "{name}: {named:?}");
        assert!(named.iter().all(|rest| rest.starts_with(version)), "{name}: {named:?}");
    }
    // Outside of the workspace, which names the version once.
    let python = fs::read_to_string(root().join("python/Cargo.toml")).unwrap();
    assert!(python.contains(&format!("\nversion = \"{version}\"\n")), "python/Cargo.toml");
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let rust = format!("Rust {} or newer", env!("CARGO_PKG_RUST_VERSION"));
    assert!(readme.contains(&rust), "README.md does not name the oldest toolchain: {rust}");
}
