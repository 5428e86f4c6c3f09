//! The packages of a release, made from the program under test, each used from an empty folder and
//! an empty home: the MCP Inspector lists the tools and builds a room.
//!
//! They need node with npm, and these packages below `target/tmp`:
//!
//! ```sh
//! npm install --prefix target/tmp/inspector --ignore-scripts @modelcontextprotocol/inspector@2.12.0
//! npm install --prefix target/tmp/mcpb --ignore-scripts @anthropic-ai/mcpb@2.1.2
//! npm install --prefix target/tmp/conformance node@22
//! ```
//!
//! A test whose packages are missing prints a notice and passes; with the variable `CI`, it fails.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use serde_json::Value;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The target that the archives in tests are named after.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The archive of the program under test, without its debug information.
static ARCHIVES: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = PathBuf::from(concat!(env!("CARGO_TARGET_TMPDIR"), "/packages"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let mut archive = node_script("packaging/archive.mjs");
    archive.arg("--program").arg(stripped_program(&folder)).args(["--target", TARGET, "--out"]);
    run(archive.arg(&folder));
    folder
});

/// A program that shows how it was started: its arguments, its input, and how it ends.
const FAKE_PROGRAM: &str = "#!/bin/sh
echo \"arguments: $*\"
cat
case $1 in
    wait)
        trap 'echo stopped; exit 7' HUP INT QUIT TERM
        echo waiting >&2
        for turn in $(seq 100); do sleep 0.1; done
        echo abandoned ;;
    die) kill -$2 $$ ;;
esac
exit 3
";

#[test]
fn the_files_of_a_release_name_archives_that_exist() {
    if !has_tools(&[]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let names = release_file_names();
    assert!(write_release_files(folder.path(), &names).status.success());
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let checksums = read("SHA256SUMS");
    assert_eq!(checksums.lines().count(), names.len());
    let checksum_of = |url: &str| {
        let (_, name) = url.split_once(&format!("/releases/download/v{VERSION}/")).unwrap();
        let line = checksums.lines().find(|it| it.ends_with(&format!("  {name}")));
        line.unwrap_or_else(|| panic!("{url}")).split(' ').next().unwrap().to_owned()
    };

    let formula = read("palazzo.rb");
    let quoted = |key: &str| {
        let start = format!("      {key} \"");
        let lines = formula.lines();
        lines.filter_map(move |it| Some(it.strip_prefix(&start)?.strip_suffix('"')?.to_owned()))
    };
    assert_eq!(quoted("url").count(), 4);
    assert!(quoted("url").map(|it| checksum_of(&it)).eq(quoted("sha256")));
    assert!(!formula.contains('@'), "{formula}");

    let server: Value = serde_json::from_str(&read("server.json")).unwrap();
    assert_server_entry_follows_the_rules(&server);
    let packages = server["packages"].as_array().unwrap().iter();
    for bundle in packages.filter(|it| it["registryType"] == "mcpb") {
        assert_eq!(bundle["fileSha256"], checksum_of(bundle["identifier"].as_str().unwrap()));
    }
}

#[test]
fn a_release_without_one_of_its_archives_is_refused() {
    if !has_tools(&[]) {
        return;
    }
    let names = release_file_names();
    for missing in [0, names.len() - 1] {
        let folder = tempfile::tempdir().unwrap();
        let mut incomplete = names.clone();
        let missing = incomplete.remove(missing);
        let output = write_release_files(folder.path(), &incomplete);
        assert!(!output.status.success());
        assert!(String::from_utf8_lossy(&output.stderr).contains(&missing), "{output:?}");
    }
}

#[test]
fn only_the_newest_version_is_released_as_the_latest() {
    if !has_tools(&[]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let git = |words: &[&str]| {
        let identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
        let mut git = Command::new("git");
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        run(git.args(identity).args(words).current_dir(folder.path()));
    };
    git(&["init", "--quiet"]);
    git(&["commit", "--quiet", "--allow-empty", "--message", "Begin"]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/channel.mjs");
    let channels = [
        ("v0.9.0", "latest"),
        ("v0.10.0-rc.1", "next"),
        ("v0.10.0", "latest"),
        ("v0.9.1", "previous"),
        ("v0.11.0-rc.1", "next"),
        ("v0.10.1", "latest"),
        ("v1.0.0", "latest"),
    ];
    for (tag, channel) in channels {
        // The workflow runs when the tag is there.
        git(&["tag", tag]);
        let mut command = Command::new("node");
        let output = run(command.arg(&script).args(["--tag", tag]).current_dir(folder.path()));
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), channel, "{tag}");
    }
}

#[test]
fn cargo_binstall_finds_the_archives_of_every_target() {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let mut packages = metadata["packages"].as_array().unwrap().iter();
    let package = packages.find(|it| it["name"] == "palazzo").unwrap();
    let binstall = &package["metadata"]["binstall"];
    let targets: Value =
        serde_json::from_str(&fs::read_to_string("packaging/targets.json").unwrap()).unwrap();
    let names = if has_tools(&[]) { release_file_names() } else { return };
    for target in targets.as_array().unwrap().iter().map(|it| it["rust"].as_str().unwrap()) {
        let rules = &binstall["overrides"][target];
        let url = rules["pkg-url"].as_str().or(binstall["pkg-url"].as_str()).unwrap();
        let url = url
            .replace("{ repo }", package["repository"].as_str().unwrap())
            .replace("{ name }", package["name"].as_str().unwrap())
            .replace("{ version }", package["version"].as_str().unwrap())
            .replace("{ target }", target);
        let (_, name) = url.split_once(&format!("/releases/download/v{VERSION}/")).unwrap();
        assert!(names.iter().any(|it| it == name), "{url} is in none of {names:?}");
    }
}

#[test]
fn the_npm_package_serves_a_client() {
    if !has_tools(&["inspector"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("made");
    make_npm_packages(&ARCHIVES, TARGET, &made);
    let [install, home] = ["install", "home"].map(|it| folder.path().join(it));
    fs::create_dir_all(&install).unwrap();
    for package in ["@palazzo/linux-x64", "palazzo"] {
        let mut pack = Command::new("npm");
        pack.args(["pack", "--silent"]).arg(made.join(package)).current_dir(folder.path());
        run(&mut pack);
    }
    let mut npm = Command::new("npm");
    npm.args(["install", "--offline", "--no-audit", "--no-fund", "--silent"]);
    for package in ["palazzo-linux-x64", "palazzo"] {
        npm.arg(format!("../{package}-{VERSION}.tgz"));
    }
    run(npm.current_dir(&install).env("HOME", &home));
    let palaces = home.join("palaces");
    let command = ["npx", "palazzo", "serve", palaces.to_str().unwrap()];
    assert_serves(&palaces, &home, &install, &command);
}

#[test]
fn the_bundle_for_claude_desktop_serves_a_client() {
    if !has_tools(&["inspector", "mcpb"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("made");
    let mut command = node_script("packaging/mcpb.mjs");
    command.arg("--archives").arg(&*ARCHIVES).arg("--out").arg(&made);
    run(command.args(["--only", "linux", "--target", TARGET]));
    let mcpb = |arguments: &[&Path]| {
        let mut command = Command::new(node_22());
        command.arg(packages("mcpb").join("@anthropic-ai/mcpb/dist/cli/cli.js"));
        run(command.args(arguments));
    };
    let [bundle, unpacked] = ["palazzo.mcpb", "unpacked"].map(|it| folder.path().join(it));
    mcpb(&[Path::new("validate"), &made.join("linux/manifest.json")]);
    mcpb(&[Path::new("pack"), &made.join("linux"), &bundle]);
    mcpb(&[Path::new("unpack"), &bundle, &unpacked]);

    let home = folder.path().join("home");
    let manifest = fs::read_to_string(unpacked.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let config = &manifest["server"]["mcp_config"];
    let palaces = home.join("palaces");
    let fill = |word: &Value| {
        let word = word.as_str().unwrap().replace("${__dirname}", unpacked.to_str().unwrap());
        word.replace("${user_config.home}", palaces.to_str().unwrap())
    };
    let words = [&config["command"]].into_iter().chain(config["args"].as_array().unwrap());
    let words: Vec<_> = words.map(fill).collect();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    assert_serves(&palaces, &home, folder.path(), &words);
}

#[test]
fn the_image_serves_a_client_as_a_user_without_rights() {
    if !has_tools(&["inspector"]) || !is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let [stage, image, home] = ["stage", "image", "home"].map(|it| folder.path().join(it));
    let mut layout = Command::new("sh");
    layout.arg("packaging/container/layout.sh").arg(stage.join("out")).arg("amd64");
    run(layout.arg(ARCHIVES.join("palazzo")));
    let mut command = node_script("packaging/container/root-folder.mjs");
    command.arg("--program").arg(&stage).args(["--architecture", "amd64"]);
    let words = run(command.arg("--out").arg(&image)).stdout;
    let words: Vec<String> = serde_json::from_slice(&words).unwrap();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    assert_serves(&image.join("palaces"), &home, folder.path(), &words);
    let owner =
        |path: &str| std::os::unix::fs::MetadataExt::uid(&fs::metadata(image.join(path)).unwrap());
    assert_eq!(owner("palaces/palace/rooms/kitchen.yaml"), 65532);
    assert_eq!(owner("usr/local/bin/palazzo"), 0);
}

#[test]
fn the_npm_launcher_passes_arguments_streams_and_exit_code() {
    let Some(install) = fake_npm_install() else { return };
    let mut command = launcher(&install);
    let mut child =
        command.args(["a", "b c"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"one line\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "arguments: a b c\none line\n");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn the_npm_launcher_ends_by_the_signal_that_ended_the_program() {
    let Some(install) = fake_npm_install() else { return };
    for (name, signal) in [("KILL", 9), ("TERM", 15), ("HUP", 1)] {
        let output = launcher(&install).args(["die", name]).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.signal(), Some(signal), "{output:?}");
    }
    // Node ignores this one, so the launcher reports it as a shell does.
    let output = launcher(&install).args(["die", "PIPE"]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(128 + 13), "{output:?}");
}

#[test]
fn the_npm_launcher_passes_a_signal_to_the_program() {
    use std::io::{BufRead as _, BufReader};

    let Some(install) = fake_npm_install() else { return };
    for signal in ["-TERM", "-INT", "-HUP", "-QUIT"] {
        let mut command = launcher(&install);
        command.arg("wait").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "waiting\n");
        run(Command::new("kill").arg(signal).arg(child.id().to_string()));
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "arguments: wait\nstopped\n");
        assert_eq!(output.status.code(), Some(7), "{signal}");
    }
}

#[test]
fn a_signal_while_the_npm_launcher_starts_or_ends_leaves_no_program_behind() {
    let Some(install) = fake_npm_install() else { return };
    // Sends the signal at the moment when the program has just been started, or has just ended.
    let script = "const processes = require('node:child_process');
        const { spawn } = processes;
        processes.spawn = (...words) => {
            const child = spawn(...words);
            const send = () => process.kill(process.pid, 'SIGTERM');
            if (process.env.SIGNAL_AT === 'start') send();
            else child.once('exit', send);
            return child;
        };";
    let preload = install.path().join("preload.js");
    fs::write(&preload, script).unwrap();
    let run_at = |moment: &str, argument: &str| {
        let mut command = Command::new("node");
        command.arg("--require").arg(&preload);
        command.arg(install.path().join("node_modules/palazzo/palazzo.js")).arg(argument);
        command.env("SIGNAL_AT", moment).stdin(Stdio::null()).output().unwrap()
    };
    let started = run_at("start", "wait");
    assert!(!String::from_utf8_lossy(&started.stdout).contains("abandoned"), "{started:?}");
    // The program is stopped before or after it has said how it wants to be stopped.
    assert!(matches!(
        (started.status.signal(), started.status.code()),
        (Some(15), _) | (_, Some(7))
    ));
    let ended = run_at("end", "once");
    assert!(ended.stderr.is_empty(), "{ended:?}");
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
}

#[test]
fn ctrl_c_at_a_terminal_reaches_the_program_of_the_npm_package_once() {
    use std::io::{BufRead as _, BufReader};

    let Some(install) = fake_npm_install() else { return };
    let program = "#!/usr/bin/env node
        let interrupts = 0;
        process.on('SIGINT', () => {
            interrupts += 1;
            // A second signal would come at once.
            if (interrupts === 1) setTimeout(() => process.exit(interrupts), 500);
        });
        setInterval(() => {}, 1000);
        console.log('waiting');";
    write_programs(&install, program);
    let launcher = install.path().join("node_modules/palazzo/palazzo.js");
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--command"]);
    // Some shells stay as a parent of what they run, and would end by the interrupt themselves.
    command.arg(format!("exec node '{}'", launcher.display())).arg("/dev/null");
    command.env("SHELL", "/bin/sh");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line.trim_end(), "waiting");
    let mut terminal = child.stdin.take().unwrap();
    terminal.write_all(b"\x03").unwrap();
    // The number of times that the program was interrupted.
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn the_npm_launcher_says_in_a_sentence_why_the_program_cannot_be_started() {
    let Some(install) = fake_npm_install() else { return };
    let fails_with = |reason: &str| {
        let output = launcher(&install).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(126), "{output:?}");
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.starts_with("palazzo: cannot start /"), "{errors}");
        assert!(errors.ends_with(&format!("/bin/palazzo: {reason}\n")), "{errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
    };
    let being_written: Vec<_> = programs(&install)
        .iter()
        .map(|it| fs::OpenOptions::new().append(true).open(it).unwrap())
        .collect();
    fails_with("it is being replaced; try again");
    drop(being_written);
    write_programs(&install, "#!/no/such/loader\n");
    fails_with("the loader or the C library that it needs is missing");
    for program in programs(&install) {
        fs::set_permissions(program, fs::Permissions::from_mode(0o644)).unwrap();
    }
    fails_with("it may not be executed: its permissions or its file system forbid it");
}

#[test]
fn the_npm_launcher_says_what_to_do_when_the_program_was_left_out() {
    let Some(install) = fake_npm_install() else { return };
    fs::remove_dir_all(install.path().join("node_modules/@palazzo")).unwrap();
    let output = launcher(&install).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(127));
    assert!(output.stdout.is_empty());
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("palazzo: the package @palazzo/linux-x64 with"), "{errors}");
    let install = format!("\n    npm install --include=optional palazzo@{VERSION}\n");
    assert!(errors.contains(&install), "{errors}");
}

/// Checks what the MCP registry requires of an entry, where its schema or its server would refuse it.
fn assert_server_entry_follows_the_rules(server: &Value) {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    assert!((1..=100).contains(&text(&server["description"]).len()));
    let name = text(&server["name"]);
    assert!(name.starts_with("io.github.") && name.matches('/').count() == 1, "{name}");
    for package in server["packages"].as_array().unwrap() {
        let identifier = text(&package["identifier"]);
        match text(&package["registryType"]).as_str() {
            "mcpb" => assert!(identifier.contains("mcp") && package["fileSha256"].is_string()),
            // The tag is the version; a key for it is refused.
            "oci" => assert!(identifier.ends_with(VERSION) && package["version"].is_null()),
            "npm" => assert_eq!(identifier, "palazzo"),
            other => panic!("{other}"),
        }
        assert_eq!(package["transport"]["type"], "stdio");
    }
}

/// Returns the names of the archives and bundles of a release.
fn release_file_names() -> Vec<String> {
    let script =
        "import { TARGETS, BUNDLES, archiveName, readProject } from './packaging/project.mjs';
        const project = readProject();
        for (const { rust } of TARGETS) console.log(archiveName(project, rust));
        for (const { name } of BUNDLES) console.log(`palazzo-v${project.version}-${name}.mcpb`);";
    let mut command = Command::new("node");
    let output = run(command.args(["--input-type=module", "--eval", script]));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Writes the files with checksums for a release of these files, each with its name as content.
fn write_release_files(folder: &Path, names: &[String]) -> Output {
    for name in names {
        fs::write(folder.join(name), name).unwrap();
    }
    node_script("packaging/release-files.mjs").arg("--files").arg(folder).output().unwrap()
}

fn make_npm_packages(archives: &Path, only: &str, out: &Path) {
    let mut command = node_script("packaging/npm.mjs");
    command.arg("--archives").arg(archives).arg("--out").arg(out);
    run(command.args(["--only", only]));
}

/// Installs the launcher with a fake program for this platform; `None` without node.
fn fake_npm_install() -> Option<tempfile::TempDir> {
    if !has_tools(&[]) {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let packages = folder.path().join("node_modules");
    make_npm_packages(folder.path(), "launcher", &packages);
    write_programs(&folder, FAKE_PROGRAM);
    Some(folder)
}

/// Returns the paths of the program in the packages for this platform.
fn programs(install: &tempfile::TempDir) -> [PathBuf; 2] {
    let platform =
        run(Command::new("node").args(["--print", "process.platform + '-' + process.arch"]));
    let platform = String::from_utf8(platform.stdout).unwrap();
    ["", "-musl"].map(|libc| {
        let package = format!("node_modules/@palazzo/{}{libc}", platform.trim());
        install.path().join(package).join("bin/palazzo")
    })
}

/// Writes a fake program into the packages for this platform.
fn write_programs(install: &tempfile::TempDir, program: &str) {
    for file in programs(install) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, program).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

fn launcher(install: &tempfile::TempDir) -> Command {
    let mut command = Command::new("node");
    command.arg(install.path().join("node_modules/palazzo/palazzo.js"));
    command
}

/// Checks that the command serves a client that has an empty home and stands in `folder`: it lists
/// the tools and builds a room, which is then in `palaces`.
fn assert_serves(palaces: &Path, home: &Path, folder: &Path, command: &[&str]) {
    fs::create_dir_all(home).unwrap();
    fs::create_dir_all(palaces).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/smoke.mjs");
    let mut smoke = Command::new(node_22());
    smoke.arg(script).arg(palaces).args(command).current_dir(folder);
    smoke.env("HOME", home).env("INSPECTOR", packages("inspector"));
    let output = run(&mut smoke);
    let output = String::from_utf8(output.stdout).unwrap();
    assert!(output.ends_with("tools; built palace/rooms/kitchen.yaml\n"), "{output}");
}

/// Copies the program under test without its debug information, which is most of it.
fn stripped_program(folder: &Path) -> PathBuf {
    let program = folder.join("palazzo");
    run(Command::new("strip").arg("-o").arg(&program).arg(env!("CARGO_BIN_EXE_palazzo")));
    program
}

fn node_script(script: &str) -> Command {
    let mut command = Command::new("node");
    command.arg(script);
    command
}

/// The node for packages that need a newer one than the machine may have.
fn node_22() -> PathBuf {
    packages("conformance").join(".bin/node")
}

fn packages(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).join("node_modules")
}

/// Returns whether node and the packages of these names are there; in CI they must be.
fn has_tools(names: &[&str]) -> bool {
    let has_node = Command::new("npm").arg("--version").output().is_ok();
    let with_node_22 = names.is_empty() || node_22().is_file();
    if has_node && with_node_22 && names.iter().all(|it| packages(it).is_dir()) {
        return true;
    }
    skip("node or a package is not there; see tests/stories/packages.rs\n");
    false
}

fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        skip("only root can change the root folder, as an image does\n");
    }
    is_root
}

fn skip(why: &str) {
    assert!(std::env::var_os("CI").is_none(), "{why}");
    // Written directly to stderr, because the test harness captures prints.
    std::io::stderr().write_all(format!("skipped: {why}").as_bytes()).unwrap();
}

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    output
}
