//! Prints long pages through the user's pager.
//!
//! Only the environment of the user names the pager. A repository may come from a stranger, so
//! `core.pager` in its configuration is not used.

use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::process::{Child, Command, Stdio};

use anstream::{AutoStream, ColorChoice};

use crate::cli::signal;

/// The options of `less`, as git sets them: exit if one screen is enough, keep colours, leave the
/// page on the screen.
const LESS_OPTIONS: &str = "FRX";
/// The exit codes by which a shell reports that a command cannot be run.
const SHELL_FAILURES: [i32; 2] = [126, 127];

/// Whether a pager is used.
#[derive(clap::Args)]
pub(super) struct PagerArgs {
    /// Print without a pager; without this, a terminal uses `$PALAZZO_PAGER`, `$PAGER`, or `less`
    #[arg(long)]
    no_pager: bool,
}

/// The pager of the user.
#[derive(Debug, PartialEq, Eq)]
enum Pager {
    None,
    /// A command line for the shell.
    Command(String),
    /// `less`, if it is installed.
    Less,
}

/// Prints a page with colours: through the pager if standard output is a terminal.
pub(super) fn print_paged(page: &str, args: &PagerArgs) -> io::Result<()> {
    let pager = match !args.no_pager && io::stdout().is_terminal() {
        true => Pager::from_environment(|name| std::env::var(name).ok()),
        false => Pager::None,
    };
    let is_plain = AutoStream::choice(&io::stdout()) == ColorChoice::Never;
    let plain = || anstream::adapter::strip_str(page).to_string();
    let text = if is_plain { plain() } else { page.to_owned() };
    if !pager.show(&text)? {
        let mut out = anstream::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()?;
    }
    Ok(())
}

impl Pager {
    fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Self {
        if variable("TERM").is_some_and(|it| it == "dumb") {
            return Self::None;
        }
        match variable("PALAZZO_PAGER").or_else(|| variable("PAGER")) {
            Some(command) if ["", "cat"].contains(&command.trim()) => Self::None,
            Some(command) => Self::Command(command),
            None => Self::Less,
        }
    }

    /// Shows a text, and waits until the user quits; `false` if there is no pager.
    fn show(&self, text: &str) -> io::Result<bool> {
        let mut command = match self {
            Self::None => return Ok(false),
            Self::Less => {
                let mut less = Command::new("less");
                less.arg(format!("-{LESS_OPTIONS}"));
                less
            }
            Self::Command(line) => {
                let mut shell = Command::new("sh");
                shell.args(["-c", line]);
                shell
            }
        };
        if std::env::var_os("LESS").is_none() {
            command.env("LESS", LESS_OPTIONS);
        }
        match command.stdin(Stdio::piped()).spawn() {
            Ok(pager) => write_to_pager(pager, text),
            Err(err) if err.kind() == ErrorKind::NotFound => Ok(false),
            Err(err) => Err(err),
        }
    }
}

fn write_to_pager(mut pager: Child, text: &str) -> io::Result<bool> {
    // Ctrl-C belongs to the pager; it must not leave the pager alone with the terminal.
    let _ignored = signal::ignore_interrupt()?;
    if let Some(mut input) = pager.stdin.take() {
        match input.write_all(text.as_bytes()) {
            // The user has quit before the end.
            Err(err) if err.kind() == ErrorKind::BrokenPipe => {}
            written => written?,
        }
    }
    let code = pager.wait()?.code();
    Ok(!code.is_some_and(|it| SHELL_FAILURES.contains(&it)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pager(variables: &[(&str, &str)]) -> Pager {
        let value = |name: &str| variables.iter().find(|it| it.0 == name);
        Pager::from_environment(|name| value(name).map(|it| it.1.to_owned()))
    }

    #[test]
    fn the_environment_names_the_pager() {
        let command = |it: &str| Pager::Command(it.to_owned());
        assert_eq!(pager(&[]), Pager::Less);
        assert_eq!(pager(&[("PAGER", "more -s")]), command("more -s"));
        assert_eq!(pager(&[("PAGER", "more"), ("PALAZZO_PAGER", "bat -p")]), command("bat -p"));
        assert_eq!(pager(&[("PAGER", "more"), ("PALAZZO_PAGER", "")]), Pager::None);
        assert_eq!(pager(&[("PAGER", "cat")]), Pager::None);
        assert_eq!(pager(&[("PAGER", "more"), ("TERM", "dumb")]), Pager::None);
    }

    #[cfg(unix)]
    #[test]
    fn a_pager_receives_the_whole_text() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("seen");
        let text = "line\n".repeat(100_000);
        assert!(Pager::Command(format!("cat > '{}'", file.display())).show(&text).unwrap());
        assert_eq!(std::fs::read_to_string(file).unwrap(), text);
    }

    #[cfg(unix)]
    #[test]
    fn quitting_the_pager_is_no_error() {
        let text = "line\n".repeat(100_000);
        assert!(Pager::Command("head -1 > /dev/null".to_owned()).show(&text).unwrap());
        assert!(Pager::Command("exit 1".to_owned()).show(&text).unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn without_the_pager_the_page_is_still_to_be_printed() {
        let pager = Pager::Command("exec 2> /dev/null; no-such-pager".to_owned());
        assert!(!pager.show("text").unwrap());
    }
}
