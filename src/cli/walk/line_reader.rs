//! Reads the lines that a person types: with an editor on a terminal, which completes words, numbers,
//! and names of rooms and scrolls; plainly from a pipe.

use std::fs;
use std::io::{self, IsTerminal as _, Lines, StdinLock, Write as _};
use std::path::PathBuf;

use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use crate::cli::terminal;
use crate::cli::walk::words::WORDS;
use palazzo_core::model::escape_unprintable_in_lines;
use palazzo_keeper::CompletionCandidates;

/// The number of lines that the history keeps.
const MAX_HISTORY_LINES: usize = 1000;

/// Before a command.
const PROMPT: &str = "> ";

/// Where the lines come from.
pub(super) enum LineReader {
    /// A terminal, with line editing, completion and history.
    Terminal {
        /// The line editor.
        editor: Box<Editor<NameCompleter, FileHistory>>,
        /// The file of the history, if there is a place for it.
        history: Option<PathBuf>,
    },
    /// A pipe or a file.
    Pipe(Lines<StdinLock<'static>>),
}

/// One input from the terminal or the pipe.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TypedLine {
    /// A line.
    Text(String),
    /// Ctrl-C: the line is abandoned.
    Interrupt,
    /// Ctrl-D, or the end of the pipe.
    End,
}

impl LineReader {
    /// Reads from standard input. The history is kept in the file `history`.
    pub(super) fn open(history: Option<PathBuf>) -> io::Result<Self> {
        if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
            return Ok(Self::Pipe(io::stdin().lines()));
        }
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .completion_show_all_if_ambiguous(true)
            .history_ignore_dups(true)
            .and_then(|it| it.max_history_size(MAX_HISTORY_LINES))
            .map_err(io::Error::other)?
            .build();
        let mut editor = Editor::with_config(config).map_err(io::Error::other)?;
        editor.set_helper(Some(NameCompleter::default()));
        if let Some(file) = history.as_deref().filter(|it| it.is_file()) {
            // Without its history the editor works as well.
            editor.load_history(file).ok();
        }
        Ok(Self::Terminal { editor: Box::new(editor), history })
    }

    /// Returns whether a person types.
    pub(super) fn is_interactive(&self) -> bool {
        matches!(self, Self::Terminal { .. })
    }

    /// Reads a command, completed with `choices`, and adds it to the history.
    pub(super) fn read_command(&mut self, choices: CompletionCandidates) -> io::Result<TypedLine> {
        write_and_flush("\n")?;
        self.complete_with(Some(choices));
        let line = self.read_line(PROMPT)?;
        if let TypedLine::Text(text) = &line
            && let Err(err) = self.add_to_history(text.trim())
        {
            terminal::eprint_failure(&format!("cannot save the history of commands: {err}"));
        }
        Ok(line)
    }

    /// Reads a line of a text, without completion.
    pub(super) fn read_text_line(&mut self) -> io::Result<TypedLine> {
        self.complete_with(None);
        self.read_line("")
    }

    fn complete_with(&mut self, choices: Option<CompletionCandidates>) {
        if let Self::Terminal { editor, .. } = self
            && let Some(completer) = editor.helper_mut()
        {
            completer.choices = choices;
        }
    }

    /// Adds a command to the history and its file, which only the user can read. If it cannot be
    /// written, the history is kept in memory from now on.
    fn add_to_history(&mut self, command: &str) -> io::Result<()> {
        let Self::Terminal { editor, history } = self else { return Ok(()) };
        editor.add_history_entry(command).map_err(io::Error::other)?;
        let Some(file) = history.take() else { return Ok(()) };
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        editor.append_history(&file).map_err(io::Error::other)?;
        *history = Some(file);
        Ok(())
    }

    fn read_line(&mut self, prompt: &str) -> io::Result<TypedLine> {
        match self {
            Self::Terminal { editor, .. } => match editor.readline(prompt) {
                Ok(line) => Ok(TypedLine::Text(line)),
                Err(ReadlineError::Interrupted) => Ok(TypedLine::Interrupt),
                Err(ReadlineError::Eof) => Ok(TypedLine::End),
                Err(ReadlineError::Io(err)) => Err(err),
                Err(err) => Err(io::Error::other(err)),
            },
            Self::Pipe(lines) => {
                write_and_flush(prompt)?;
                Ok(lines.next().transpose()?.map_or(TypedLine::End, TypedLine::Text))
            }
        }
    }
}

/// Completes what can be typed in the current room.
#[derive(Default)]
pub(super) struct NameCompleter {
    /// The choices in the current room. `None` while a text is typed: its lines are not completed.
    pub(super) choices: Option<CompletionCandidates>,
}

impl Completer for NameCompleter {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let typed = line.get(..position).unwrap_or(line);
        let blanks = typed.len() - typed.trim_start().len();
        let Some(choices) = &self.choices else { return Ok((position, Vec::new())) };
        let (start, candidates) = candidates(choices, typed);
        Ok((blanks + start, candidates))
    }
}

impl Hinter for NameCompleter {
    type Hint = String;
}

impl Highlighter for NameCompleter {}
impl Validator for NameCompleter {}
impl Helper for NameCompleter {}

fn write_and_flush(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    write!(out, "{text}")?;
    out.flush()
}

/// Returns the place in `line` from which it can be completed, and the candidates.
fn candidates(choices: &CompletionCandidates, line: &str) -> (usize, Vec<Pair>) {
    let line = line.trim_start();
    let (word, input) = line.split_once(' ').unwrap_or(("", ""));
    let input = input.trim_start();
    let candidates = match word.to_lowercase().as_str() {
        "go" | "16" => rooms(choices, input),
        "read" => scrolls(choices, input).into_iter().chain(numbers(choices, input)).collect(),
        _ => Vec::new(),
    };
    if !candidates.is_empty() {
        return (line.len() - input.len(), candidates);
    }
    let words = WORDS.iter().filter(|it| it.name.starts_with(&line.to_lowercase()));
    let words = words.map(|it| match it.input {
        "" => pair(it.name, it.name),
        _ => pair(&format!("{} ", it.name), &format!("{} {}", it.name, it.input)),
    });
    let rooms = if line.is_empty() { Vec::new() } else { rooms(choices, line) };
    (0, numbers(choices, line).into_iter().chain(words).chain(rooms).collect())
}

fn numbers(choices: &CompletionCandidates, typed: &str) -> Vec<Pair> {
    let numbers = choices.numbers.iter();
    let numbers = numbers.filter(|(number, _)| number.to_string().starts_with(typed));
    numbers
        .map(|(number, label)| pair(&number.to_string(), &format!("{number}. {label}")))
        .collect()
}

fn scrolls(choices: &CompletionCandidates, typed: &str) -> Vec<Pair> {
    let typed = typed.to_lowercase();
    let titles = choices.scrolls.iter();
    let titles = titles.filter(|it| it.to_lowercase().starts_with(&typed));
    titles.map(|it| pair(it, it)).collect()
}

/// Returns the rooms whose slug, or else whose name, begins with `typed`.
fn rooms(choices: &CompletionCandidates, typed: &str) -> Vec<Pair> {
    let typed = typed.to_lowercase();
    let matching = |(slug, name): &(String, String)| {
        let slug_without_wing = slug.rsplit('/').next().unwrap_or_default();
        if slug.starts_with(&typed) || slug_without_wing.starts_with(&typed) {
            Some(pair(slug, &format!("{slug} ({name})")))
        } else {
            name.to_lowercase().starts_with(&typed).then(|| pair(name, name))
        }
    };
    choices.rooms.iter().filter_map(matching).collect()
}

fn pair(replacement: &str, display: &str) -> Pair {
    Pair {
        display: escape_unprintable_in_lines(display),
        replacement: escape_unprintable_in_lines(replacement),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Completes a line; returns each completed line.
    fn complete(line: &str) -> Vec<String> {
        let names = |names: &[(&str, &str)]| {
            names.iter().map(|(slug, name)| ((*slug).to_owned(), (*name).to_owned())).collect()
        };
        let choices = CompletionCandidates {
            numbers: vec![(1, "Listen".to_owned()), (21, "On snow".to_owned())],
            rooms: names(&[("bug-crypt", "Bug Crypt"), ("east/well", "The Old Well")]),
            scrolls: vec!["On snow".to_owned(), "On rain".to_owned()],
        };
        let (start, candidates) = candidates(&choices, line);
        candidates.iter().map(|it| format!("{}{}", &line[..start], it.replacement)).collect()
    }

    #[test]
    fn a_word_a_number_or_a_room_is_completed_at_the_beginning_of_a_line() {
        assert_eq!(complete("ma"), ["map"]);
        assert_eq!(complete("2"), ["21"]);
        assert_eq!(complete("b"), ["back", "bug-crypt"]);
        assert_eq!(complete("the o"), ["The Old Well"]);
        assert_eq!(complete("").len(), 2 + WORDS.len());
        assert!(complete("xyzzy").is_empty());
    }

    #[test]
    fn the_input_of_a_word_is_completed_with_names() {
        assert_eq!(complete("go bu"), ["go bug-crypt"]);
        assert_eq!(complete("go we"), ["go east/well"]);
        assert_eq!(complete("go The"), ["go The Old Well"]);
        assert_eq!(complete("read on s"), ["read On snow"]);
        assert_eq!(complete("read 2"), ["read 21"]);
        assert!(complete("search on").is_empty());
    }
}
