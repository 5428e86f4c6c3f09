//! Compares an older program with the present one: the same random calls, commands and edits must
//! have the same effects.
//!
//! ```sh
//! PALAZZO_OLDER=/path/to/older/palazzo PROPTEST_CASES=100 cargo test --test twins
//! ```
//!
//! Each case is a session of a hundred steps in a home of its own: fresh, or with palaces of
//! `tests/old-palaces`. After each step the runner compares the answer or output, the exit code, the
//! changed files and the messages of the new commits. It prints the shortest list of steps that
//! leads to the first difference. `PROPTEST_RNG_SEED` chooses other sessions.
//!
//! `PALAZZO_NOW` fixes the clocks. Ids and hashes are random; each is replaced by a number, in the
//! order in which they appear. Differences that are wanted stand in `wanted.toml`, with reasons.
//!
//! Without `PALAZZO_OLDER` the present program is compared with itself, in two sessions that are the
//! same in each run.

mod observation;
mod program;
#[path = "../reference/server.rs"]
mod server;
mod steps;
mod wanted;

use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use observation::first_difference;
use program::Program;
use steps::{Step, Tools, start, step};
use wanted::WantedDifference;

/// How many steps a session has.
const STEPS: usize = 100;
/// How many sessions are run if `PROPTEST_CASES` is not set.
const SESSIONS: u32 = 2;

const PRESENT: &str = env!("CARGO_BIN_EXE_palazzo");

#[test]
fn an_older_program_differs_only_where_it_is_wanted() {
    let wanted = wanted::read_wanted();
    // Without an older program, the present one is compared with itself, and nothing may differ.
    let (older, wanted) = match std::env::var_os("PALAZZO_OLDER") {
        Some(older) => (PathBuf::from(older), wanted),
        None => (PRESENT.into(), Vec::new()),
    };
    if let Err(difference) = compare_programs(&older, &wanted) {
        panic!("{difference}");
    }
}

#[test]
fn a_change_of_one_word_is_found() {
    let changed = WantedDifference::new("palace", "castle");
    let difference = compare_programs(Path::new(PRESENT), &[changed]).unwrap_err();
    assert!(difference.contains("castle"), "{difference}");
}

/// Runs random sessions in both programs; returns the first difference, with the steps before it.
fn compare_programs(older: &Path, wanted: &[WantedDifference]) -> Result<(), String> {
    let tools = Tools::list(older);
    let present_tools = Tools::list(Path::new(PRESENT));
    if let Some(difference) = first_difference(&tools.listing(wanted), &present_tools.listing(&[]))
    {
        return Err(format!("the lists of tools and commands differ:\n{difference}"));
    }
    let default = Config::default();
    let is_set = std::env::var_os("PROPTEST_CASES").is_some();
    let cases = if is_set { default.cases } else { SESSIONS };
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 60, ..default };
    let session = (start(), vec(step(&tools), STEPS));
    let run = |(start, steps): (_, Vec<Step>)| {
        let mut programs =
            [Program::start(older, start), Program::start(Path::new(PRESENT), start)];
        for step in &steps {
            let [older, present] = programs.each_mut().map(|it| it.run_step(step));
            let older = wanted.iter().fold(older, |text, it| it.translate(&text));
            if let Some(difference) = first_difference(&older, &present) {
                return Err(TestCaseError::fail(format!("at {step:?}\n{difference}")));
            }
        }
        Ok(())
    };
    TestRunner::new(config).run(&session, run).map_err(|err| err.to_string())
}
