//! The server that a client starts, or connects to: its options, its address and its token.

use std::ops::Range;
use std::path::Path;

use clap::Args as _;

use crate::cli::home::HomeArgs;
use crate::cli::http_access::{DEFAULT_URL, http_access};
use crate::cli::outcome::Failure;
use crate::cli::program::{program_path, to_utf8};
use crate::cli::serve;
use crate::mcp::ToolSet;
use palazzo_keeper as keeper;

/// The command by which a client starts the server, and the server's name there.
#[derive(Clone, Debug)]
pub(in crate::cli) struct ServerCommand {
    pub(in crate::cli) name: &'static str,
    pub(in crate::cli) program: String,
    pub(in crate::cli) arguments: Vec<String>,
    /// Whether the user has named the home.
    pub(in crate::cli) is_home_given: bool,
}

/// The names that a server of Palazzo has in configurations.
pub(in crate::cli) const SERVER_NAMES: [&str; 3] = ["palazzo", "memory", "mempalace"];

impl ServerCommand {
    /// Returns the command that serves a home with these tool sets, and writes to the branch
    /// `propose` if it is given. Fails if the server would refuse the names of the workspace or the
    /// branch, or if a path is not UTF-8, because configurations are.
    pub(in crate::cli) fn new(
        home: &HomeArgs,
        tools: &[ToolSet],
        propose: Option<&str>,
    ) -> Result<Self, Failure> {
        if let Some(name) = home.workspace() {
            home.keeper().reject_unknown_workspace(name)?;
        }
        propose.map_or(Ok(()), keeper::check_branch_name)?;
        let tools: Vec<_> = tools.iter().map(|it| it.name()).collect();
        let mut arguments = vec!["serve".to_owned(), to_utf8(&home.find())?];
        if !tools.is_empty() {
            arguments.extend(["--tools".to_owned(), tools.join(",")]);
        }
        if let Some(name) = home.workspace() {
            // After `=`, a name may begin with a hyphen.
            match name.starts_with('-') {
                true => arguments.push(format!("--workspace={name}")),
                false => arguments.extend(["--workspace".to_owned(), name.to_owned()]),
            }
        }
        if let Some(branch) = propose {
            arguments.extend(["--propose".to_owned(), branch.to_owned()]);
        }
        // A tool set that replaces another server keeps that server's name.
        let name = match tools.as_slice() {
            ["memory"] => "memory",
            ["mempalace"] => "mempalace",
            _ => "palazzo",
        };
        let is_home_given = home.given().is_some();
        let program = program_path()?;
        if !cfg!(windows) && Path::new(&program).iter().any(|it| it == "_npx") {
            // npx keeps each version in a folder of its own, which may be removed.
            arguments.splice(..0, ["-y".to_owned(), "palazzo".to_owned()]);
            return Ok(Self { name, program: "npx".to_owned(), arguments, is_home_given });
        }
        Ok(Self { name, program, arguments, is_home_given })
    }

    /// Returns the words that start the server, up to `serve`.
    pub(in crate::cli) fn start_words(&self) -> Vec<String> {
        let words = std::iter::once(&self.program).chain(&self.arguments);
        let end = words.clone().position(|it| it == "serve").map_or(1, |it| it + 1);
        words.take(end).cloned().collect()
    }

    /// Returns this command with the home and the options of the command in an entry, as far as none
    /// were given now. Fails if the entry has options that are not known.
    pub(in crate::cli) fn with_options_of(&self, command: &[String]) -> Result<Self, String> {
        if !serves_directly(command) {
            return Ok(self.clone());
        }
        let (serve, new) = self.arguments.split_at(self.start_words().len() - 1);
        let options = merge_serve_options(&command[2..], new, self.is_home_given)?;
        Ok(Self { arguments: [serve, &options].concat(), ..self.clone() })
    }
}

/// An option in the arguments of `palazzo serve`.
struct ServeOption {
    /// Its name; `home` also for the home that is given without a name.
    name: String,
    /// Its words.
    words: Range<usize>,
}

/// The name of the option for the home.
const HOME_OPTION: &str = "home";

/// Returns whether a command runs Palazzo itself, or another program, such as `env`, that runs
/// `palazzo serve`.
pub(in crate::cli) fn runs_palazzo(command: &[String]) -> bool {
    let is_palazzo = |it: &String| {
        let name = it.rsplit(['/', '\\']).next().unwrap_or_default();
        name.strip_suffix(".exe").unwrap_or(name) == "palazzo"
    };
    command.first().is_some_and(is_palazzo)
        || command.windows(2).any(|it| is_palazzo(&it[0]) && it[1] == "serve")
}

/// Returns whether a command starts a server of the program `palazzo` itself: not through another
/// program, such as npx, which the user has chosen.
pub(in crate::cli) fn serves_directly(command: &[String]) -> bool {
    runs_palazzo(&command[..command.len().min(1)]) && command.get(1).is_some_and(|it| it == "serve")
}

/// Returns the home that a command serves; `None` if the command does not name it.
pub(in crate::cli) fn served_home(command: &[String]) -> Option<String> {
    let serve = command.iter().position(|it| it == "serve")?;
    find_home_option(&command[serve + 1..]).map(str::to_owned)
}

/// The server over HTTP that a client connects to.
pub(in crate::cli) struct HttpEndpoint {
    pub(in crate::cli) url: String,
    pub(in crate::cli) token: String,
}

impl HttpEndpoint {
    /// Uses the token of this user for the server at `url`.
    pub(in crate::cli) fn new(url: &str) -> Result<Self, Failure> {
        let base = url.trim_end_matches('/');
        if !base.starts_with("http://") && !base.starts_with("https://") {
            return Err(Failure::Message(format!(
                "`{url}` is no address of a server: write {DEFAULT_URL}, for example"
            )));
        }
        let url = format!("{}/mcp", base.strip_suffix("/mcp").unwrap_or(base));
        Ok(Self { url, token: http_access()?.token()? })
    }

    /// Returns the value of the header `Authorization`.
    pub(in crate::cli) fn authorization(&self) -> String {
        format!("Bearer {}", self.token)
    }
}

/// Puts the options of `new` in place of those of the same names in `old`; all others stay. `old` and
/// `new` are the words after `serve`. Unless `is_home_given`, the home of `old` stays. Fails if
/// `old` contains an option that `palazzo serve` does not have.
fn merge_serve_options(
    old: &[String],
    new: &[String],
    is_home_given: bool,
) -> Result<Vec<String>, String> {
    let mut chosen = find_options(new)?;
    chosen.retain(|it| is_home_given || it.name != HOME_OPTION);
    let mut kept = find_options(old)?;
    kept.retain(|old| chosen.iter().all(|new| new.name != old.name));
    let chosen = chosen.into_iter().flat_map(|it| &new[it.words]);
    Ok(chosen.chain(kept.into_iter().flat_map(|it| &old[it.words])).cloned().collect())
}

/// Returns the home among the words after `serve`; `None` if it is not named.
fn find_home_option(words: &[String]) -> Option<&str> {
    let home = find_options(words).ok()?.into_iter().find(|it| it.name == HOME_OPTION)?;
    let word = words.get(home.words.end.checked_sub(1)?)?;
    Some(word.strip_prefix("--home=").unwrap_or(word))
}

fn find_options(words: &[String]) -> Result<Vec<ServeOption>, String> {
    let command = serve::Args::augment_args(clap::Command::new("serve"));
    let (mut options, mut at) = (Vec::new(), 0);
    while let Some(word) = words.get(at) {
        let (name, len) = match word.strip_prefix("--").filter(|it| !it.is_empty()) {
            None => (HOME_OPTION, 1),
            Some(option) => {
                let name = option.split_once('=').map_or(option, |(name, _)| name);
                let known = command.get_arguments().find(|it| it.get_long() == Some(name));
                let known = known.ok_or_else(|| {
                    format!("`palazzo serve` has no option `--{name}`, which is in the entry")
                })?;
                let has_next = known.get_action().takes_values() && name == option;
                (name, 1 + usize::from(has_next))
            }
        };
        let end = (at + len).min(words.len());
        options.push(ServeOption { name: name.to_owned(), words: at..end });
        at = end;
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_set_that_replaces_a_server_has_its_name() {
        let name = |tools: &[ToolSet]| {
            ServerCommand::new(&HomeArgs::new("/a", None), tools, None).unwrap().name
        };
        assert_eq!(name(&[]), "palazzo");
        assert_eq!(name(&[ToolSet::Memory]), "memory");
        assert_eq!(name(&[ToolSet::Mempalace]), "mempalace");
        assert_eq!(name(&[ToolSet::Palace, ToolSet::Memory]), "palazzo");
    }

    #[test]
    fn names_that_the_server_would_refuse_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("palace.toml"), "name = \"Keep\"\n").unwrap();
        let home = folder.path().to_str().unwrap();
        let command = |workspace, propose| {
            ServerCommand::new(&HomeArgs::new(home, workspace), &[], propose).map(drop)
        };
        assert!(command(Some("keep"), Some("draft")).is_ok());
        let refused = command(Some("nave"), None).unwrap_err().to_string();
        assert_eq!(refused, "there is no palace `nave` here; there are Keep");
        let refused = command(None, Some("a b")).unwrap_err().to_string();
        assert!(refused.starts_with("`a b` cannot be the name of a branch"), "{refused}");
    }

    #[test]
    fn the_options_are_passed_to_the_server() {
        let arguments = |tools: &[ToolSet], workspace, propose| {
            let server =
                ServerCommand::new(&HomeArgs::new("/a", workspace), tools, propose).unwrap();
            server.arguments[2..].join(" ")
        };
        assert_eq!(arguments(&[], None, None), "");
        assert_eq!(
            arguments(&[ToolSet::Palace, ToolSet::Memory], Some("My Code"), Some("draft")),
            "--tools palace,memory --workspace My Code --propose draft"
        );
    }

    #[test]
    fn options_in_an_entry_stay_unless_new_ones_are_given() {
        // On Windows, an absolute path begins with a drive.
        let new = std::path::absolute("/new").unwrap().display().to_string();
        let home = HomeArgs::new(&new, None);
        let command = ["/bin/palazzo", "serve", "/old", "--tools", "palace"].map(str::to_owned);
        let plain = ServerCommand::new(&home, &[], None).unwrap();
        let plain = plain.with_options_of(&command).unwrap();
        assert_eq!(plain.arguments, ["serve", &new, "--tools", "palace"]);
        assert_eq!(plain.start_words()[1..], ["serve"]);
        let npx = ["-y", "palazzo", "serve", &new].map(str::to_owned).to_vec();
        let npx = ServerCommand { program: "npx".to_owned(), arguments: npx, ..plain };
        let npx = npx.with_options_of(&command).unwrap();
        assert_eq!(npx.arguments, ["-y", "palazzo", "serve", &new, "--tools", "palace"]);
        assert_eq!(npx.start_words(), ["npx", "-y", "palazzo", "serve"]);
    }

    fn merge(old: &str, new: &str, is_home_given: bool) -> Result<String, String> {
        let [old, new] = [old, new].map(|it| it.split(' ').map(str::to_owned).collect::<Vec<_>>());
        merge_serve_options(&old, &new, is_home_given).map(|it| it.join(" "))
    }

    #[test]
    fn options_of_other_names_stay_wherever_they_stand() {
        let merged = |old: &str| merge(old, "/new --tools memory", true).unwrap();
        assert_eq!(merged("--read-only /old"), "/new --tools memory --read-only");
        assert_eq!(merged("--propose b /old"), "/new --tools memory --propose b");
        assert_eq!(merged("--home=/old --unbounded"), "/new --tools memory --unbounded");
        assert_eq!(merged("--tools palace --home /old"), "/new --tools memory");
        assert_eq!(merged("/old --watch=poll"), "/new --tools memory --watch=poll");
    }

    #[test]
    fn the_home_stays_unless_one_is_given() {
        let merged = |old: &str, new: &str| merge(old, new, false).unwrap();
        assert_eq!(merged("--read-only /old", "/default"), "--read-only /old");
        assert_eq!(merged("--tools=palace", "/default --tools graph"), "--tools graph");
    }

    #[test]
    fn the_home_is_found_wherever_it_stands() {
        for (words, home) in [
            ("/a --tools memory", Some("/a")),
            ("--read-only --home /a", Some("/a")),
            ("--propose b --home=/a", Some("/a")),
            ("--workspace b", None),
            ("/a --later", None),
        ] {
            let words: Vec<_> = words.split(' ').map(str::to_owned).collect();
            assert_eq!(find_home_option(&words), home, "{words:?}");
        }
    }

    #[test]
    fn an_unknown_option_is_an_error() {
        let why = merge("/old --later", "/new", true).unwrap_err();
        assert_eq!(why, "`palazzo serve` has no option `--later`, which is in the entry");
    }
}
