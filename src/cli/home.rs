//! The arguments that name the home of a command, and how it is found without them.

use std::path::{Component, Path, PathBuf};
use std::sync::Once;

use clap::ArgMatches;

use crate::cli::built_in_templates::read_built_in_templates;
use crate::cli::home_fault::{UNEXPANDED, home_fault, unfilled_variable};
use crate::cli::outcome::{Failure, no_palace_message};
use crate::cli::terminal;
use crate::cli::user_folders::{env_path, expand_tilde, state_dir, template_dir, user_folder};
use palazzo_core::model::{WatchMode, escape_unprintable_in_lines, path_text};
use palazzo_keeper::{self as keeper, Keeper};

/// Chooses among several palaces.
#[derive(clap::Args, Default)]
pub(super) struct WorkspaceArgs {
    /// The workspace, if the home has several
    #[arg(long, value_name = "NAME")]
    pub(super) workspace: Option<String>,
}

/// The option `--home`.
#[derive(clap::Args)]
struct HomeOption {
    /// The home, or one palace
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
}

/// Chooses one palace, for commands that else work on all of them.
#[derive(Clone, clap::Args)]
struct OnlyWorkspaceArgs {
    /// Only this workspace
    #[arg(long, value_name = "NAME")]
    workspace: Option<String>,
}

/// The options `--home` and `--workspace`, for commands that have other arguments and work on all
/// palaces.
#[derive(clap::Args)]
pub(super) struct PalacesOptions {
    #[command(flatten)]
    home: HomeOption,

    #[command(flatten)]
    workspace: OnlyWorkspaceArgs,
}

/// The options `--home` and `--workspace`, for commands that have other arguments.
#[derive(clap::Args)]
pub(super) struct HomeArgs {
    #[command(flatten)]
    home: HomeOption,

    #[command(flatten)]
    workspace: WorkspaceArgs,
}

/// The home as an argument or an option, and `--workspace`, for commands without other arguments
/// that work on all palaces.
#[derive(Clone, clap::Args)]
pub(super) struct PalacesArgs {
    #[command(flatten)]
    home: HomeArgumentOrOption,

    #[command(flatten)]
    workspace: OnlyWorkspaceArgs,
}

/// The home as an argument or an option.
#[derive(Clone, clap::Args)]
pub(super) struct HomeArgumentOrOption {
    /// The home, or one palace
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,

    /// The same as DIR, named as in other commands
    #[arg(long, value_name = "DIR", conflicts_with = "dir")]
    home: Option<PathBuf>,
}

/// The home as an argument or an option, and `--workspace`, for commands without other arguments.
#[derive(clap::Args)]
pub(super) struct PalaceArgs {
    #[command(flatten)]
    pub(super) home: HomeArgumentOrOption,

    #[command(flatten)]
    pub(super) workspace: WorkspaceArgs,
}

impl OnlyWorkspaceArgs {
    /// Returns the home, or the palace in it that was chosen.
    fn narrow_to_workspace(&self, home: PathBuf) -> Result<PathBuf, Failure> {
        match &self.workspace {
            None => Ok(home),
            Some(name) => {
                let keeper = keeper_for_home(Some(&home), &WorkspaceArgs::default());
                Ok(keeper.palace_folder(name)?)
            }
        }
    }
}

impl PalacesOptions {
    /// Finds this home, or the palace in it that was chosen.
    pub(super) fn find(&self) -> Result<PathBuf, Failure> {
        self.workspace.narrow_to_workspace(find_home(self.home.home.as_deref()))
    }
}

impl PalacesArgs {
    /// Returns the same with `DIR` as the home.
    pub(super) fn with_dir(self, dir: PathBuf) -> Self {
        Self { home: HomeArgumentOrOption { dir: Some(dir), home: None }, ..self }
    }

    /// Returns the home, if one is given.
    pub(super) fn given(&self) -> Option<&Path> {
        self.home.given()
    }

    /// Finds this home, or the palace in it that was chosen.
    pub(super) fn find(&self) -> Result<PathBuf, Failure> {
        self.workspace.narrow_to_workspace(self.home.find())
    }

    /// Returns what was chosen instead of `home`, which was found for these arguments.
    pub(super) fn narrow_to_workspace(&self, home: PathBuf) -> Result<PathBuf, Failure> {
        self.workspace.narrow_to_workspace(home)
    }

    /// Returns a keeper for all palaces of this home, or for the one that was chosen.
    pub(super) fn keeper(&self) -> Result<Keeper, Failure> {
        Ok(keeper_for_home(Some(&self.find()?), &WorkspaceArgs::default()))
    }
}

impl HomeArgs {
    /// Returns the arguments `--home HOME --workspace WORKSPACE`.
    #[cfg(test)]
    pub(super) fn new(home: &str, workspace: Option<&str>) -> Self {
        let home = HomeOption { home: Some(home.into()) };
        Self { home, workspace: WorkspaceArgs { workspace: workspace.map(str::to_owned) } }
    }

    /// Finds this home.
    pub(super) fn find(&self) -> PathBuf {
        find_home(self.home.home.as_deref())
    }

    /// Returns a keeper for this home.
    pub(super) fn keeper(&self) -> Keeper {
        keeper_for_home(self.home.home.as_deref(), &self.workspace)
    }

    /// Returns a keeper for this home that opens no palace. Finds the home without a message.
    pub(super) fn silent_keeper(&self) -> Keeper {
        let (home, _) = find_home_and_source(self.home.home.as_deref());
        Keeper::new(home, self.workspace.workspace.clone()).with_consent_folder(state_dir())
    }

    /// Returns the home, if one is given.
    pub(super) fn given(&self) -> Option<&Path> {
        self.home.home.as_deref()
    }

    /// Returns the name of the workspace, if one is given.
    pub(super) fn workspace(&self) -> Option<&str> {
        self.workspace.workspace.as_deref()
    }
}

impl HomeArgumentOrOption {
    /// Returns the home, if one is given.
    pub(super) fn given(&self) -> Option<&Path> {
        self.dir.as_deref().or(self.home.as_deref())
    }

    /// Finds this home.
    pub(super) fn find(&self) -> PathBuf {
        find_home(self.given())
    }
}

impl PalaceArgs {
    /// Returns a keeper for this home.
    pub(super) fn keeper(&self) -> Keeper {
        keeper_for_home(self.home.given(), &self.workspace)
    }
}

/// Returns the home: the given one, else `$PALAZZO_HOME`, else the current directory if it
/// contains palaces, else the nearest parent that is a palace, else the home in the user's
/// data folder if it contains palaces, else the one that was last named, else the one in the
/// user's data folder. Expands `~`, because no shell expands the arguments in a client's
/// configuration.
pub(super) fn find_home(given: Option<&Path>) -> PathBuf {
    let (home, source) = find_home_and_source(given);
    if source == LAST_NAMED {
        note_last_home(&home);
    }
    home
}

/// How a home was found that nothing names.
const DEFAULT: &str = "the default";
/// How a home was found that was not given now, but earlier.
const LAST_NAMED: &str = "the one that was given last";

/// Finds the home as [`find_home`] does, without a message, and how it was found.
pub(super) fn find_home_and_source(given: Option<&Path>) -> (PathBuf, &'static str) {
    let given = given.map(|it| (it.to_owned(), "given"));
    let given = given.or_else(|| Some((home_from_env()?, "from PALAZZO_HOME")));
    let given = given.map(|(home, source)| (expand_tilde(&home), source));
    let default = home_in_user_data();
    let (home, source) = given
        .or_else(|| Some((home_around_cwd()?, "around the current folder")))
        .or_else(|| Some((default.clone().filter(|it| has_palaces(it))?, DEFAULT)))
        .or_else(|| Some((last_home()?, LAST_NAMED)))
        .unwrap_or_else(|| (default.unwrap_or_else(|| PathBuf::from("palazzo")), DEFAULT));
    let home = std::path::absolute(&home).unwrap_or(home);
    // The path is shown to users and used from other directories, so it must not contain `..`.
    let has_parent_dirs = home.components().any(|it| it == Component::ParentDir);
    let canonical = has_parent_dirs.then(|| dunce::canonicalize(&home).ok()).flatten();
    (canonical.unwrap_or(home), source)
}

/// Stores the home that the user has given, for commands that find no other.
pub(super) fn remember_home(given: Option<&Path>) {
    let (Some(given), Some(folder)) = (given, state_dir()) else { return };
    if let Err(refusal) = keeper::remember_home(&folder, &find_home(Some(given))) {
        anstream::eprintln!("palazzo: other commands will not find this home: {refusal}");
    }
}

/// Fails if a home is named that cannot be one: on the command line, whose parsed arguments are
/// `matches`, or in the environment. Clients pass on variables that nobody has filled in, and a
/// palace in a folder called `$HOME` would be found by nobody.
pub(super) fn reject_unusable_home(matches: &ArgMatches) -> Result<(), Failure> {
    let mut matches = matches;
    while let Some((_, below)) = matches.subcommand() {
        matches = below;
    }
    let Ok(option) = matches.try_get_one::<PathBuf>("home") else { return Ok(()) };
    let argument = matches.try_get_one::<PathBuf>("dir").ok().flatten();
    let given = option.or(argument);
    if let Some(fault) = given.and_then(|it| home_fault(it)) {
        return Err(unusable_home("the home", given.map_or(Path::new(""), |it| it), fault));
    }
    for name in HOME_VARIABLES {
        let value = std::env::var_os(name).map(PathBuf::from).unwrap_or_default();
        let is_unexpanded = name != "PALAZZO_HOME" && value.starts_with("~");
        if let Some(fault) = unfilled_variable(&value).or(is_unexpanded.then_some(UNEXPANDED)) {
            return Err(unusable_home(name, &value, fault));
        }
    }
    if given.is_some() {
        return Ok(());
    }
    let named = std::env::var_os("PALAZZO_HOME").map(PathBuf::from);
    if let Some(fault) = named.as_deref().and_then(home_fault) {
        return Err(unusable_home("PALAZZO_HOME", &named.unwrap_or_default(), fault));
    }
    if find_home_and_source(None).1 != DEFAULT || home_in_user_data().is_some() {
        return Ok(());
    }
    let Some(home) = std::env::var_os("HOME").map(PathBuf::from) else {
        return Err(Failure::Message(format!(
            "there is no place for palaces, because HOME is not set: {NAME_A_HOME}"
        )));
    };
    home_fault(&home).map_or(Ok(()), |fault| Err(unusable_home("HOME", &home, fault)))
}

/// The variables that name folders of the user.
const HOME_VARIABLES: [&str; 5] =
    ["PALAZZO_HOME", "HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"];
const NAME_A_HOME: &str =
    "give the whole path of a folder, as `--home /path/to/palaces` or in PALAZZO_HOME";

fn unusable_home(what: &str, value: &Path, fault: &str) -> Failure {
    Failure::Message(format!("{what} is `{}`, which {fault}: {NAME_A_HOME}", path_text(value)))
}

/// Returns the home that commands use without `--home`, and how it is found, if it is another than
/// `home` and has palaces.
pub(super) fn other_home_in_use(home: &Path) -> Option<(PathBuf, &'static str)> {
    let (used, source) = find_home_and_source(None);
    (!is_same_folder(&used, home) && has_palaces(&used)).then_some((used, source))
}

/// Returns whether two paths, which may begin with `~`, lead to one folder.
pub(super) fn is_same_folder(one: &Path, other: &Path) -> bool {
    let folder = |it: &Path| {
        let path = expand_tilde(it);
        dunce::canonicalize(&path).unwrap_or(path)
    };
    folder(one) == folder(other)
}

/// Returns a keeper for the home that [`find_home`] finds.
pub(super) fn keeper_for_home(given: Option<&Path>, workspace: &WorkspaceArgs) -> Keeper {
    let keeper = Keeper::new(find_home(given), workspace.workspace.clone())
        .with_consent_folder(state_dir())
        .with_built_in_templates(read_built_in_templates)
        .with_template_folder(template_dir());
    keeper.with_watch_mode(WatchMode::Off, terminal::eprint_failure)
}

/// Fails if the home has no palaces.
pub(super) fn require_palace(keeper: &Keeper, home: &Path) -> Result<(), Failure> {
    match keeper.has_palaces() {
        true => Ok(()),
        false => Err(Failure::Message(no_palace_message(home))),
    }
}

fn home_from_env() -> Option<PathBuf> {
    env_path("PALAZZO_HOME")
}

/// Returns whether there is a palace in a folder, or it is one.
pub(super) fn has_palaces(home: &Path) -> bool {
    Keeper::new(home.to_owned(), None).has_palaces()
}

/// Returns the home that was last given to `init` or `setup`, if it still has palaces.
fn last_home() -> Option<PathBuf> {
    keeper::last_home(&state_dir()?).filter(|it| has_palaces(it))
}

/// Prints, once in a run, that the home given last is used.
fn note_last_home(home: &Path) {
    static NOTE: Once = Once::new();
    let shown = home.display().to_string();
    NOTE.call_once(|| {
        anstream::eprintln!(
            "palazzo: the home is {}, which was given last; --home or $PALAZZO_HOME chooses another",
            escape_unprintable_in_lines(&shown)
        );
    });
}

fn home_around_cwd() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    if has_palaces(&here) {
        return Some(here);
    }
    here.ancestors().find(|it| it.join("palace.toml").is_file()).map(Path::to_owned)
}

fn home_in_user_data() -> Option<PathBuf> {
    user_folder("XDG_DATA_HOME", "LOCALAPPDATA", ".local/share").map(|it| it.join("palazzo"))
}

/// Returns the name and the folder of the palace that the import changed.
pub(super) fn palace_label(workspace: Option<&str>, root: Option<&Path>) -> String {
    match (workspace, root) {
        (Some(name), Some(root)) => format!("`{name}` in {}", path_text(root)),
        _ => "a new workspace".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_given_home_becomes_an_absolute_path_without_parent_folders() {
        let folder = tempfile::tempdir().unwrap();
        let folder = dunce::canonicalize(folder.path()).unwrap();
        let given = folder.join("..").join(folder.file_name().unwrap());
        assert_eq!(find_home(Some(&given)), folder);
        let relative = Path::new("palaces-that-do-not-exist");
        assert_eq!(find_home(Some(relative)), std::path::absolute(relative).unwrap());
    }

    #[test]
    fn a_folder_without_a_palace_is_refused_with_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let keeper = Keeper::new(folder.path().to_owned(), None);
        let refused = require_palace(&keeper, folder.path()).unwrap_err().to_string();
        assert_eq!(refused, no_palace_message(folder.path()));
        std::fs::write(folder.path().join("palace.toml"), "name = \"Keep\"\n").unwrap();
        assert!(require_palace(&keeper, folder.path()).is_ok());
    }
}
