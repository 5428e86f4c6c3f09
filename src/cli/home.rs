//! Which home a command works on.

use std::path::{Path, PathBuf};

use crate::keeper::Keeper;

/// Chooses among several palaces.
#[derive(clap::Args)]
pub(super) struct Workspace {
    /// The workspace, where the home has several.
    #[arg(long, value_name = "NAME")]
    pub(super) workspace: Option<String>,
}

/// Chooses the home, and among several palaces there.
#[derive(clap::Args)]
pub(super) struct Home {
    /// The home, or one palace
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,

    #[command(flatten)]
    workspace: Workspace,
}

impl Home {
    /// Returns a keeper of that home.
    pub(super) fn keeper(&self) -> Keeper {
        keeper(self.home.as_deref(), &self.workspace)
    }
}

/// Returns the home: the given one, else `$PALAZZO_HOME`, else the current
/// directory if palaces lie in it, else the nearest upwards that is a palace, else
/// the one in the user's data folder.
pub(super) fn find(given: Option<&Path>) -> PathBuf {
    let home = given.map(Path::to_owned).or_else(from_environment).or_else(around);
    let home = home.or_else(in_user_data).unwrap_or_else(|| PathBuf::from("palazzo"));
    std::path::absolute(&home).unwrap_or(home)
}

/// Returns a keeper of that home.
pub(super) fn keeper(given: Option<&Path>, workspace: &Workspace) -> Keeper {
    Keeper::new(find(given), workspace.workspace.clone())
}

fn from_environment() -> Option<PathBuf> {
    std::env::var_os("PALAZZO_HOME").filter(|it| !it.is_empty()).map(PathBuf::from)
}

fn around() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    if Keeper::new(here.clone(), None).has_palaces() {
        return Some(here);
    }
    here.ancestors().find(|it| it.join("palace.toml").is_file()).map(Path::to_owned)
}

fn in_user_data() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let data = set("XDG_DATA_HOME").filter(|it| it.is_absolute());
    let data = data.or_else(|| set("HOME").map(|it| it.join(".local/share")));
    data.or_else(|| set("LOCALAPPDATA")).map(|it| it.join("palazzo"))
}
