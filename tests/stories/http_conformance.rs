//! The conformance suite of MCP, over HTTP, for both protocol versions.
//!
//! It is the npm package `@modelcontextprotocol/conformance`, 0.2.0-alpha.12, and needs node 22,
//! which is a package too. The test searches both in `target/tmp/conformance`, where
//!
//! ```sh
//! npm install --prefix target/tmp/conformance @modelcontextprotocol/conformance@0.2.0-alpha.12 node@22
//! ```
//!
//! Without them, the test prints a notice and passes. `tests/conformance/left-out.yaml` lists the
//! scenarios that this server cannot pass, with the reasons.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use crate::harness::Home;

/// Where the packages are.
const PACKAGES: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/conformance/node_modules");

#[test]
fn every_conformance_scenario_that_needs_no_fixture_passes() {
    let packages = Path::new(PACKAGES);
    let suite = packages.join("@modelcontextprotocol/conformance/dist/index.js");
    if !suite.is_file() {
        let why =
            "skipped: the conformance suite is not there; see tests/stories/http_conformance.rs\n";
        assert!(std::env::var_os("CI").is_none(), "{why}");
        // Written directly to stderr, because the test harness captures prints.
        std::io::stderr().write_all(why.as_bytes()).unwrap();
        return;
    }
    let home = Home::new();
    home.write("survey/palace.toml", "name = \"Survey\"\n");
    home.write("survey/rooms/hall.yaml", "name: Hall\n");
    let server = home.http_server(&["--no-token", "--rate", "0"]);
    let left_out = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/left-out.yaml");
    for version in ["2025-11-25", "2026-07-28"] {
        let mut command = Command::new(packages.join(".bin/node"));
        command.arg(&suite).args(["server", "--suite", "all", "--spec-version", version]);
        command.arg("--url").arg(server.url("/mcp")).arg("--expected-failures").arg(&left_out);
        let output = command.current_dir(home.path()).output().unwrap();
        let report = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{version}:\n{report}");
        assert!(report.contains("dns-rebinding-protection"), "{report}");
    }
}
