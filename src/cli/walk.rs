//! `palazzo walk`: the same visit as an agent's, for a person at a terminal.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use serde_json::{Map, Value, json};

use crate::cli::home::PalaceArgs;
use crate::cli::outcome::{Failure, Outcome, terminal_user};
use crate::cli::terminal;
use crate::keeper::{self, Keeper};
use crate::mcp::{ToolReply, ToolResult, ToolSet, Toolbox};

/// Explore a palace yourself by typing action numbers
///
/// Type a number to choose an action, followed by its input if it needs one
/// (`16 great-hall`, `17 fossils`); `scroll TITLE` to write a scroll; `q` to quit.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    palace: PalaceArgs,
}

struct WalkSession {
    keeper: Keeper,
    tools: Toolbox,
}

pub(super) fn run(args: &Args) -> Outcome {
    let keeper = args.palace.keeper();
    let tools = Toolbox::new(ToolSet::FOR_ACTIONS.to_vec());
    let mut walk = WalkSession { keeper, tools };
    terminal::print_page(&walk.enter_palace()?)?;
    let mut lines = io::stdin().lock().lines();
    loop {
        print_input_prompt()?;
        let Some(line) = lines.next().transpose()? else { break };
        let (word, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        match word {
            "" => {}
            "q" | "quit" | "exit" => break,
            "scroll" if rest.trim().is_empty() => {
                terminal::print_page("Give its title: scroll TITLE")?;
            }
            "scroll" => walk.write_scroll(rest, &mut lines)?,
            _ => walk.choose_action(word, rest.trim())?,
        }
    }
    terminal::print_page("")?;
    Ok(ExitCode::SUCCESS)
}

impl WalkSession {
    /// Shows the entry room of the palace.
    fn enter_palace(&mut self) -> Result<String, Failure> {
        Ok(keeper::enter_current_palace(&mut self.keeper, &terminal_user("walk"))?)
    }

    fn choose_action(&mut self, word: &str, input: &str) -> io::Result<()> {
        let Ok(action) = word.parse::<i64>() else {
            let help = "A number chooses an action; `scroll TITLE` writes a scroll; `q` quits.";
            return terminal::print_page(help);
        };
        let mut arguments = json!({ "action": action });
        if !input.is_empty() {
            arguments["params"] = input.into();
        }
        let answer = self.call_tool("palace_action", arguments);
        print_answer(&answer)
    }

    /// Reads lines up to one that is only a dot, and writes them as a scroll.
    fn write_scroll(
        &mut self,
        title: &str,
        lines: &mut impl Iterator<Item = io::Result<String>>,
    ) -> io::Result<()> {
        terminal::print_page("Type the text; a line with only a dot ends the scroll.")?;
        let mut body = String::new();
        for line in lines {
            let line = line?;
            if line == "." {
                break;
            }
            body.push_str(&line);
            body.push('\n');
        }
        let answer = self.call_tool("write_scroll", json!({ "title": title, "body": body }));
        print_answer(&answer)
    }

    fn call_tool(&mut self, tool: &str, arguments: Value) -> ToolResult {
        let arguments = match arguments {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        let answer =
            self.tools.call_tool(&mut self.keeper, &terminal_user("walk"), tool, arguments);
        answer.unwrap_or_else(|| Err(format!("there is no tool `{tool}`")))
    }
}

fn print_input_prompt() -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    write!(out, "\n> ")?;
    out.flush()
}

fn print_answer(answer: &ToolResult) -> io::Result<()> {
    match answer {
        Ok(ToolReply { text, .. }) | Err(text) => terminal::print_page(text),
    }
}
