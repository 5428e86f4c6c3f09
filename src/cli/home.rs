//! Which home a command works on.

use std::path::{Component, Path, PathBuf};

use crate::cli::Failure;
use crate::keeper::Keeper;
use crate::model::WatchMode;

/// Chooses among several palaces.
#[derive(clap::Args)]
pub(super) struct WorkspaceArgs {
    /// The workspace, where the home has several.
    #[arg(long, value_name = "NAME")]
    pub(super) workspace: Option<String>,
}

/// Chooses the home, and among several palaces there.
#[derive(clap::Args)]
pub(super) struct HomeArgs {
    /// The home, or one palace
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,

    #[command(flatten)]
    workspace: WorkspaceArgs,
}

impl HomeArgs {
    /// Returns a keeper of that home.
    pub(super) fn keeper(&self) -> Keeper {
        keeper_for_home(self.home.as_deref(), &self.workspace)
    }
}

/// Returns the home: the given one, else `$PALAZZO_HOME`, else the current
/// directory if palaces lie in it, else the nearest upwards that is a palace, else
/// the one in the user's data folder. No shell has read what the configuration of a
/// client says: `~` is understood here.
pub(super) fn find_home(given: Option<&Path>) -> PathBuf {
    let home = given.map(Path::to_owned).or_else(home_from_env);
    let home = home.map(|it| expand_tilde(&it)).or_else(home_around_cwd);
    let home = home.or_else(home_in_user_data).unwrap_or_else(|| PathBuf::from("palazzo"));
    let home = std::path::absolute(&home).unwrap_or(home);
    // Who reads it later may stand elsewhere, and be a person.
    let is_roundabout = home.components().any(|it| it == Component::ParentDir);
    let plain = is_roundabout.then(|| std::fs::canonicalize(&home).ok()).flatten();
    plain.unwrap_or(home)
}

/// Returns a keeper of that home.
pub(super) fn keeper_for_home(given: Option<&Path>, workspace: &WorkspaceArgs) -> Keeper {
    let keeper =
        Keeper::new(find_home(given), workspace.workspace.clone()).with_consent_folder(state_dir());
    keeper.with_watching(WatchMode::Off, |word| anstream::eprintln!("palazzo: {word}"))
}

/// Refuses a home without palaces.
pub(super) fn require_palace(keeper: &Keeper, home: &Path) -> Result<(), Failure> {
    match keeper.has_palaces() {
        true => Ok(()),
        false => Err(Failure::Message(format!("there is no palace in {}", home.display()))),
    }
}

/// Puts the user's own folder in the place of `~`.
pub(super) fn expand_tilde(path: &Path) -> PathBuf {
    let own = || env_path("HOME").or_else(|| env_path("USERPROFILE"));
    match path.strip_prefix("~") {
        Ok(rest) => own().unwrap_or_default().join(rest),
        Err(_) => path.to_owned(),
    }
}

fn home_from_env() -> Option<PathBuf> {
    env_path("PALAZZO_HOME")
}

fn home_around_cwd() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    if Keeper::new(here.clone(), None).has_palaces() {
        return Some(here);
    }
    here.ancestors().find(|it| it.join("palace.toml").is_file()).map(Path::to_owned)
}

fn home_in_user_data() -> Option<PathBuf> {
    let data = env_path("XDG_DATA_HOME").filter(|it| it.is_absolute());
    let data = data.or_else(|| env_path("HOME").map(|it| it.join(".local/share")));
    data.or_else(|| env_path("LOCALAPPDATA")).map(|it| it.join("palazzo"))
}

/// Returns the folder for what this program remembers of the user: what was allowed.
pub(super) fn state_dir() -> Option<PathBuf> {
    let state = env_path("XDG_STATE_HOME").filter(|it| it.is_absolute());
    let state = state.or_else(|| env_path("HOME").map(|it| it.join(".local/state")));
    state.or_else(|| env_path("LOCALAPPDATA")).map(|it| it.join("palazzo"))
}

/// Returns the path that a variable of the environment holds.
pub(super) fn env_path(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|it| !it.is_empty()).map(PathBuf::from)
}
