//! `palazzo walk`: the same visit as an agent's, for a person at a terminal.

mod line_reader;
mod words;

use std::io;
use std::process::ExitCode;

use crate::cli::home::PalaceArgs;
use crate::cli::outcome::{Failure, Outcome, terminal_user};
use crate::cli::terminal;
use crate::cli::user_folders::state_dir;
use crate::cli::walk::line_reader::{LineReader, TypedLine};
use crate::cli::walk::words::{WalkCommand, similar_word, words_help};
use crate::mcp::{ChosenPage, ToolSet, Toolbox};
use palazzo_core::model::{Slot, quoted};
use palazzo_core::render;
use palazzo_keeper::{self as keeper, Keeper, NewScroll, Refusal};

/// Explore a palace yourself by typing numbers and words
///
/// Type a number to choose an action, followed by its input if it needs one (`5 stasis`),
/// or a word: look, map, everything, go ROOM, back, search WORDS, read NAME, scroll TITLE, inventory,
/// help, quit. The name of a room leads there. At a terminal, Tab completes words and names,
/// and the arrow keys edit the line and repeat earlier ones. Lines can also come from a pipe;
/// then the command exits with 1 if one of them was refused.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    palace: PalaceArgs,
}

struct WalkSession {
    keeper: Keeper,
    tools: Toolbox,
    lines: LineReader,
}

/// The answer to a command; `Err` is a refusal.
type Answer = Result<String, String>;

pub(super) fn run(args: &Args) -> Outcome {
    let mut keeper = args.palace.keeper();
    let page = keeper::enter_current_palace(&mut keeper, &terminal_user("walk"))?;
    let tools = Toolbox::new(ToolSet::FOR_ACTIONS.to_vec());
    let lines = LineReader::open(state_dir().map(|it| it.join("walk-history")))?;
    let mut walk = WalkSession { keeper, tools, lines };
    terminal::print_page(&page)?;
    let is_refused = walk.run_commands()?;
    terminal::print_page("")?;
    Ok(ExitCode::from(u8::from(is_refused && !walk.lines.is_interactive())))
}

impl WalkSession {
    /// Runs the commands up to the end of the input; returns whether one was refused.
    fn run_commands(&mut self) -> io::Result<bool> {
        let mut is_refused = false;
        loop {
            let user = terminal_user("walk");
            let choices =
                keeper::list_completion_candidates(&mut self.keeper, &user).unwrap_or_default();
            let line = match self.lines.read_command(choices)? {
                TypedLine::Text(line) => line,
                TypedLine::Interrupt => continue,
                TypedLine::End => return Ok(is_refused),
            };
            let command = WalkCommand::parse(&line);
            if command == WalkCommand::Quit {
                return Ok(is_refused);
            }
            let answer = self.run_command(command)?;
            is_refused |= answer.is_err();
            match answer {
                Ok(page) if page.is_empty() => {}
                Ok(page) | Err(page) => terminal::print_page(&page)?,
            }
        }
    }

    fn run_command(&mut self, command: WalkCommand<'_>) -> io::Result<Answer> {
        let (keeper, user) = (&mut self.keeper, terminal_user("walk"));
        let answer = match command {
            WalkCommand::Nothing | WalkCommand::Quit => Ok(String::new()),
            WalkCommand::Help => Ok(words_help()),
            WalkCommand::Look => keeper::look_around(keeper, &user),
            WalkCommand::Read("") => return Ok(Err("Give its name: read NAME".to_owned())),
            WalkCommand::Read(name) => keeper::read_by_name(keeper, &user, name),
            WalkCommand::Global(slot, input) => {
                keeper::choose_global_action(keeper, &user, slot, Some(input))
            }
            WalkCommand::Number(number, input) => return Ok(self.choose_number(number, input)),
            WalkCommand::Room(name) => return Ok(self.go_to_room(name)),
            WalkCommand::WriteScroll(title) => return self.write_scroll(title),
        };
        Ok(answer.map_err(refusal_text))
    }

    fn choose_number(&mut self, number: i64, input: &str) -> Answer {
        let (keeper, user) = (&mut self.keeper, terminal_user("walk"));
        let input = Some(input).filter(|it| !it.is_empty());
        let choice = keeper::find_choice(keeper, &user, number).map_err(refusal_text)?;
        match self.tools.run_choice(keeper, &user, (number, choice), input)? {
            ChosenPage::WithMenu(page) => Ok(page),
            ChosenPage::WithoutMenu(page) => {
                keeper::with_menu(keeper, &user, &page).map_err(refusal_text)
            }
        }
    }

    fn go_to_room(&mut self, name: &str) -> Answer {
        let (keeper, user) = (&mut self.keeper, terminal_user("walk"));
        let answer = keeper::choose_global_action(keeper, &user, Slot::GoTo, Some(name));
        answer.map_err(|refusal| match refusal {
            Refusal::NoSuchRoom { meant, .. } => {
                let meant = similar_word(name).map(str::to_owned).or(meant);
                let hint = meant.map(|it| format!("; did you mean {}?", quoted(&it)));
                format!(
                    "{} is no word, number or room{} `help` lists the words.",
                    quoted(name),
                    hint.unwrap_or_else(|| ".".to_owned())
                )
            }
            refusal => refusal_text(refusal),
        })
    }

    /// Reads lines up to one that is only a dot, and writes them as a scroll.
    fn write_scroll(&mut self, title: &str) -> io::Result<Answer> {
        if title.is_empty() {
            return Ok(Err("Give its title: scroll TITLE".to_owned()));
        }
        let discard = if self.lines.is_interactive() { "; Ctrl-C discards it" } else { "" };
        let prompt = format!("Type the text; a line with only a dot ends the scroll{discard}.");
        terminal::print_page(&prompt)?;
        let mut body = String::new();
        loop {
            match self.lines.read_text_line()? {
                TypedLine::Text(line) if line == "." => break,
                TypedLine::Text(line) => body = body + &line + "\n",
                TypedLine::End => break,
                TypedLine::Interrupt => return Ok(Ok("The scroll is discarded.".to_owned())),
            }
        }
        if body.trim().is_empty() {
            return Ok(Err("No text was given, so no scroll was written.".to_owned()));
        }
        Ok(self.save_scroll(&NewScroll { title: title.to_owned(), body, room: None }))
    }

    fn save_scroll(&mut self, new: &NewScroll) -> Answer {
        let (keeper, user) = (&mut self.keeper, terminal_user("walk"));
        let written = keeper::write_scroll(keeper, &user, new).map_err(refusal_text)?;
        let number = written.number.map(|it| format!(" ({it} reads it)")).unwrap_or_default();
        let line = |it: &String| format!("\nWarning: {it}");
        let warnings: String = keeper.take_commits().warnings.iter().map(line).collect();
        let title = render::in_quotes(&written.title);
        let room = render::name_in_sentence(&written.room_name);
        Ok(format!("Wrote the scroll {title} in {room}{number}.{warnings}"))
    }
}

fn refusal_text(refusal: Refusal) -> String {
    Failure::from(refusal).to_string()
}
