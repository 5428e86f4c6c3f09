//! Starts the reference memory server, if it is installed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::measured_server::MeasuredServer;

/// The default path of the reference server.
const REFERENCE_PATH: &str = concat!(
    env!("CARGO_TARGET_TMPDIR"),
    "/reference/node_modules/@modelcontextprotocol/server-memory/dist/index.js"
);

/// Starts the reference server with the data in `file`. Returns `None` if it is not installed.
pub(crate) fn start_reference(file: &Path) -> Option<MeasuredServer> {
    let program = std::env::var_os("PALAZZO_REFERENCE");
    let program = program.map_or_else(|| PathBuf::from(REFERENCE_PATH), PathBuf::from);
    if !program.is_file() || Command::new("node").arg("--version").output().is_err() {
        return None;
    }
    let mut command = Command::new("node");
    command.arg(program).env("MEMORY_FILE_PATH", file).stderr(Stdio::null());
    Some(MeasuredServer::start(command))
}
