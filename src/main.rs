//! The command `palazzo`.

use std::process::ExitCode;

/// glibc's allocator lets the memory of a server grow with every write, see `Cargo.toml`.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    palazzo::cli::run()
}
