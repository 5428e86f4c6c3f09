//! `palazzo walk`: the same walk as an agent's, for a person at a terminal.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Map, Value, json};

use crate::cli::home::{self, Workspace};
use crate::cli::{Failure, Outcome, person, terminal};
use crate::keeper::Keeper;
use crate::mcp::{Answer, Reply, ToolSet, Toolbox};

/// Walk a palace yourself: numbers at a prompt
///
/// Type a number to choose an action, with words behind it where it asks for
/// them (`16 great-hall`, `17 fossils`); `scroll TITLE` to leave a scroll; `q`
/// to leave.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The home, or one palace
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,

    #[command(flatten)]
    workspace: Workspace,
}

struct Walk {
    keeper: Keeper,
    tools: Toolbox,
}

pub(super) fn run(args: &Args) -> Outcome {
    let keeper = home::keeper(args.dir.as_deref(), &args.workspace);
    let tools = Toolbox::new(ToolSet::OWN.to_vec());
    let mut walk = Walk { keeper, tools };
    terminal::print(&walk.begin()?)?;
    let mut lines = io::stdin().lock().lines();
    loop {
        print_prompt()?;
        let Some(line) = lines.next().transpose()? else { break };
        let (word, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        match word {
            "" => {}
            "q" | "quit" | "exit" => break,
            "scroll" if rest.trim().is_empty() => terminal::print("Say its title: scroll TITLE")?,
            "scroll" => walk.scroll(rest, &mut lines)?,
            _ => walk.step(word, rest.trim())?,
        }
    }
    terminal::print("")?;
    Ok(ExitCode::SUCCESS)
}

impl Walk {
    /// Shows the entry room of the palace.
    fn begin(&mut self) -> Result<String, Failure> {
        Ok(self.keeper.enter_default(&person("walk"))?)
    }

    fn step(&mut self, word: &str, said: &str) -> io::Result<()> {
        let Ok(action) = word.parse::<i64>() else {
            let help = "A number chooses an action; `scroll TITLE` leaves a scroll; `q` leaves.";
            return terminal::print(help);
        };
        let mut arguments = json!({ "action": action });
        if !said.is_empty() {
            arguments["params"] = said.into();
        }
        let answer = self.call("palace_action", arguments);
        show(&answer)
    }

    /// Leaves a scroll: its text are the lines up to one that is only a dot.
    fn scroll(
        &mut self,
        title: &str,
        lines: &mut impl Iterator<Item = io::Result<String>>,
    ) -> io::Result<()> {
        terminal::print("Write; a line with only a dot ends the scroll.")?;
        let mut body = String::new();
        for line in lines {
            let line = line?;
            if line == "." {
                break;
            }
            body.push_str(&line);
            body.push('\n');
        }
        let answer = self.call("write_scroll", json!({ "title": title, "body": body }));
        show(&answer)
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Answer {
        let arguments = match arguments {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        let answer = self.tools.call(&mut self.keeper, &person("walk"), tool, arguments);
        answer.unwrap_or_else(|| Err(format!("there is no tool `{tool}`")))
    }
}

fn print_prompt() -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    write!(out, "\n> ")?;
    out.flush()
}

fn show(answer: &Answer) -> io::Result<()> {
    match answer {
        Ok(Reply { text, .. }) | Err(text) => terminal::print(text),
    }
}
