//! Reads the lines that a person types: with an editor on a terminal, plainly from a pipe.

use std::fs;
use std::io::{self, IsTerminal as _, Lines, StdinLock, Write as _};
use std::path::PathBuf;

use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor};

use crate::cli::terminal;
use crate::cli::walk::name_completer::NameCompleter;
use palazzo_keeper::Choices;

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
    pub(super) fn read_command(&mut self, choices: Choices) -> io::Result<TypedLine> {
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

    fn complete_with(&mut self, choices: Option<Choices>) {
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

fn write_and_flush(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    write!(out, "{text}")?;
    out.flush()
}
