//! The environment of a benchmark: a temporary folder that is isolated from the settings of the
//! machine, and the command-line arguments.

mod arguments;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) use arguments::{is_smoke_run, positional_arguments};

/// A git configuration without automatic maintenance, which would distort later measurements.
const GIT_CONFIG: &str = "[user]\nname = Ada\nemail = ada@example.org\n\
                          [maintenance]\nauto = false\n[gc]\nauto = 0\n\
                          [advice]\ndetachedHead = false\n";

/// A temporary folder, below `$PALAZZO_BENCH_DIR` if that is set.
pub(crate) struct BenchDir(tempfile::TempDir);

impl BenchDir {
    /// Creates the folder and writes a git configuration into it.
    pub(crate) fn new() -> Self {
        let parent = std::env::var_os("PALAZZO_BENCH_DIR");
        let parent = parent.map_or(PathBuf::from(env!("CARGO_TARGET_TMPDIR")), PathBuf::from);
        let dir = tempfile::tempdir_in(parent).expect("the folder for benchmarks exists");
        fs::write(dir.path().join("gitconfig"), GIT_CONFIG).expect("the file is writable");
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
