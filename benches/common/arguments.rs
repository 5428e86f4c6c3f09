//! The command-line arguments of a benchmark.

/// Returns the positional arguments: the names of the parts to measure, or none for all parts.
///
/// Returns `None` if nothing should be measured, because `cargo test --all-targets` also runs
/// benchmarks.
pub(crate) fn positional_arguments() -> Option<Vec<String>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_benchmark_run = is_smoke_run() || arguments.iter().any(|it| it == "--bench");
    is_benchmark_run.then(|| arguments.into_iter().filter(|it| !it.starts_with('-')).collect())
}

/// Returns true for `--smoke`: run everything once at its smallest size, to check that it works.
pub(crate) fn is_smoke_run() -> bool {
    std::env::args().any(|it| it == "--smoke")
}
