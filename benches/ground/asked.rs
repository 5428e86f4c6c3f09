//! What the command line asks of a benchmark.

/// Returns the parts that were named, where none is named all are meant; `None`: nothing is to be
/// measured, for `cargo test --all-targets` runs benchmarks too.
pub(crate) fn requested_parts() -> Option<Vec<String>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_meant = is_smoke_run() || arguments.iter().any(|it| it == "--bench");
    is_meant.then(|| arguments.into_iter().filter(|it| !it.starts_with('-')).collect())
}

/// Tells whether to run everything once at its smallest size, to see that it runs: `--smoke`.
pub(crate) fn is_smoke_run() -> bool {
    std::env::args().any(|it| it == "--smoke")
}
