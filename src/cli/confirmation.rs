//! Asks a question at the terminal whose answer is no unless a person says yes.

use std::io::{self, IsTerminal as _, Write as _};

use crate::cli::outcome::Failure;

/// Asks whether to do something, unless it `is_given`. Without a terminal it fails, and says what was
/// asked and the `option` that answers it.
pub(super) fn confirm(question: &str, is_given: bool, option: &str) -> Result<bool, Failure> {
    if is_given {
        return Ok(true);
    }
    if !io::stdin().is_terminal() {
        let why = format!("{question} Run this in a terminal, or with {option}");
        return Err(Failure::Message(why));
    }
    anstream::eprint!("{question} [y/N] ");
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
