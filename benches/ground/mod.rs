//! The environment of benchmarks: a folder isolated from the settings of the machine,
//! and the command-line arguments.

mod asked;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) use asked::{is_smoke_run, requested_parts};

/// Automatic maintenance by git would distort later measurements.
const GIT_CONFIG: &str = "[user]\nname = Ada\nemail = ada@example.org\n[maintenance]\nauto = false\n\
                        [gc]\nauto = 0\n[advice]\ndetachedHead = false\n";

/// A temporary folder, in `$PALAZZO_BENCH_DIR` if that is set.
pub(crate) struct BenchDir(tempfile::TempDir);

impl BenchDir {
    /// Creates the folder, with a git configuration.
    pub(crate) fn new() -> Self {
        let place = std::env::var_os("PALAZZO_BENCH_DIR");
        let place = place.map_or(PathBuf::from(env!("CARGO_TARGET_TMPDIR")), PathBuf::from);
        let dir = tempfile::tempdir_in(place).expect("the folder for benchmarks exists");
        fs::write(dir.path().join("gitconfig"), GIT_CONFIG).expect("it can be written");
        Self(dir)
    }

    /// Returns the path of the folder.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns a command that ignores the settings of the machine.
    pub(crate) fn isolated_command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        for name in ["GIT_DIR", "GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "XDG_CONFIG_HOME"] {
            command.env_remove(name);
        }
        command
            .env("HOME", self.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", self.path().join("gitconfig"));
        command
    }
}
