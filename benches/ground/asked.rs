//! The command-line arguments of a benchmark.

/// Returns the named parts; none named means all. `None` if nothing should be measured,
/// because `cargo test --all-targets` runs benchmarks too.
pub(crate) fn requested_parts() -> Option<Vec<String>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_meant = is_smoke_run() || arguments.iter().any(|it| it == "--bench");
    is_meant.then(|| arguments.into_iter().filter(|it| !it.starts_with('-')).collect())
}

/// Returns true for `--smoke`: run everything once at its smallest size, to check that
/// it works.
pub(crate) fn is_smoke_run() -> bool {
    std::env::args().any(|it| it == "--smoke")
}
