//! The command `palazzo`.

use std::process::ExitCode;

fn main() -> ExitCode {
    palazzo::cli::run()
}
