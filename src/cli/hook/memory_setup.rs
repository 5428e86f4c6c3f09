//! Puts the memory that Claude Code has of a project into a palace, and takes that back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::cli::client::Client;
use crate::cli::client::config_file::{read_config, require_writable, resolve_links};
use crate::cli::client::places::UserFolders;
use crate::cli::home::{WorkspaceArgs, keeper_for_home};
use crate::cli::hook::memory_files::{
    CopiedFiles, copy_back_files, copy_missing_files, folder_of_host,
};
use crate::cli::hook::memory_settings::{
    MEMORY_KEY, find_memory_folder, insert_memory, other_folder, remove_memory,
};
use crate::cli::outcome::{Failure, terminal_user};
use crate::cli::program::{program_path, to_utf8};
use crate::cli::setup::change::{Change, RecordChange, apply_change};
use crate::cli::user_folders::state_dir;
use crate::config_edit::{ConfigFormat, revert_text_change, text_change};
use palazzo_core::model::{ClientSetup, HOST_MEMORY_FOLDER, InsertionTrace, path_text};
use palazzo_core::render;
use palazzo_keeper::{self as keeper, Keeper};

/// The settings of a project that Claude Code does not share.
const LOCAL_SETTINGS: &str = ".claude/settings.local.json";

/// The memory of a project, and the palace into which it is put.
pub(in crate::cli) struct MemorySetup {
    keeper: Keeper,
    palace: PathBuf,
    folder: PathBuf,
    settings: PathBuf,
    host_folder: PathBuf,
}

impl MemorySetup {
    /// Finds the palace and the project around the current folder. Changes nothing; fails if the
    /// memory cannot be put there.
    pub(in crate::cli) fn new(keeper: Keeper) -> Result<Self, Failure> {
        let palace = keeper::default_palace_folder(&keeper)?;
        let palace = dunce::canonicalize(&palace).map_err(Failure::Io)?;
        let project = ProjectFolders::find()?;
        project.reject_other_folders()?;
        let folder = palace.join(HOST_MEMORY_FOLDER);
        reject_links_below(&palace)?;
        let settings = resolve_links(&project.root.join(LOCAL_SETTINGS));
        reject_other_project(&folder, &settings)?;
        let host_folder = project.host_folder();
        Ok(Self { keeper, palace, folder, settings, host_folder })
    }

    /// Asks what a person should know who puts the memory there; `None`: there is nothing to ask.
    pub(in crate::cli) fn question(&self) -> Result<Option<String>, Failure> {
        let warning = warn_of_remotes(&self.keeper)?;
        Ok(warning.map(|it| format!("{it}. Put the memory there?")))
    }

    /// Copies the memories, commits them, and changes the settings. Returns what to tell the user.
    pub(in crate::cli) fn install(&self) -> Result<Vec<String>, Failure> {
        let not_changed = |why: String| self.not_changed(&why);
        let was = read_config(&self.settings).map_err(not_changed)?;
        let record = find_record(&self.settings)?;
        let original = was.as_deref().unwrap_or_default();
        let original = match &record {
            Some(it) => text_before(original, it).map_err(not_changed)?,
            None => without_memory(original, &self.folder).map_err(not_changed)?,
        };
        let folder = to_utf8(&self.folder)?;
        let (program, palace) = (program_path()?, to_utf8(&self.palace)?);
        let new = insert_memory(&original, &folder, (&program, &palace)).map_err(not_changed)?;
        require_writable(&self.settings).map_err(not_changed)?;
        fs::create_dir_all(&self.folder)?;
        let copied = copy_missing_files(&self.host_folder, &self.folder)?;
        let person = terminal_user("hook install");
        let report = keeper::commit_host_memory(&self.keeper, &person, None, None)?;
        let created_file = record.as_ref().map_or(was.is_none(), |it| it.created_file);
        let setup = ClientSetup {
            client: Client::ClaudeCode.name(),
            file: self.settings.clone(),
            name: MEMORY_KEY.to_owned(),
            start: vec![folder],
            trace: InsertionTrace::default(),
            text: Some(text_change(&original, &new)),
            created_file,
            created_folders: record.map(|it| it.created_folders).unwrap_or_default(),
        };
        let change = Change {
            target: self.settings.clone(),
            was,
            new: Some(new),
            record: RecordChange::Add(Box::new(setup)),
            description: String::new(),
        };
        apply_change(change).map_err(not_changed)?;
        Ok(self.installed_lines(&copied, report.notes()))
    }

    fn not_changed(&self, why: &str) -> Failure {
        Failure::Message(format!("`{}` is not changed: {why}", path_text(&self.settings)))
    }

    fn installed_lines(&self, copied: &CopiedFiles, notes: Vec<String>) -> Vec<String> {
        let mut lines = vec![format!(
            "Claude Code keeps its memory of this project in {}: {}",
            path_text(&self.folder),
            path_text(&self.settings)
        )];
        if copied.copied > 0 {
            let count = render::count_with_noun(copied.copied, "file");
            let from = path_text(&self.host_folder);
            lines.push(format!("Copied {count} from {from}, where they stay"));
        }
        if !copied.different.is_empty() {
            let names: Vec<_> = copied.different.iter().map(|(it, _)| it.clone()).collect();
            let names = render::join_names(&names);
            lines.push(format!("Not copied, because the palace has another version: {names}"));
        }
        lines.extend(notes);
        lines
    }
}

/// Warns that the repository of the palace has a remote.
fn warn_of_remotes(keeper: &Keeper) -> Result<Option<String>, Failure> {
    let remotes = keeper::list_remotes_of_palace(keeper)?;
    let names: Vec<_> = remotes.iter().map(|it| render::whole_line(it)).collect();
    let warning = format!(
        "The memory of Claude Code is private, and the repository of the palace has a remote: {}",
        names.join(", ")
    );
    Ok((!remotes.is_empty()).then_some(warning))
}

/// Returns the settings that are changed for the memory of the project around the current folder, and
/// lines that describe what is done. `None`: the memory is in a palace already, or the folder is in no
/// repository. Fails if the palace, which need not exist yet, has a remote and nobody `is_asked`.
pub(in crate::cli) fn describe_memory_setup(
    keeper: &Keeper,
    is_asked: bool,
) -> Result<Option<(PathBuf, String)>, Failure> {
    let project = ProjectFolders::find()?;
    let settings = resolve_links(&project.root.join(LOCAL_SETTINGS));
    let text = read_config(&settings).map_err(Failure::Message)?.unwrap_or_default();
    let is_there =
        ConfigFormat::Json.parse(&text).is_ok_and(|it| find_memory_folder(&it).is_some());
    if is_there || !project.root.join(".git").exists() {
        return Ok(None);
    }
    project.reject_other_folders()?;
    let mut warning = None;
    if keeper.has_palaces() {
        let palace = dunce::canonicalize(keeper::default_palace_folder(keeper)?)?;
        reject_other_project(&palace.join(HOST_MEMORY_FOLDER), &settings)?;
        warning = warn_of_remotes(keeper)?;
    }
    if let Some(warning) = warning.as_ref().filter(|_| !is_asked) {
        let command = "`palazzo hook install --memory --accept` puts it there";
        return Err(Failure::Message(format!("{warning}; {command}")));
    }
    let warning = warning.map(|it| format!("  {it}\n")).unwrap_or_default();
    let description = format!(
        "  what Claude Code remembers of this project is written into the palace, as drawers, and \
         committed there;\n  its memories so far are copied from {}\n{warning}",
        path_text(project.host_folder())
    );
    Ok(Some((settings, description)))
}

/// Takes the memory of Claude Code out of the settings in `file`, and copies what is new to where
/// Claude Code finds it then. Returns what to tell the user; `None`: the settings have none.
pub(in crate::cli) fn remove_memory_setup(file: &Path) -> Result<Option<Vec<String>>, Failure> {
    let settings = resolve_links(file);
    let not_changed =
        |why: String| Failure::Message(format!("`{}` is not changed: {why}", path_text(&settings)));
    let was = read_config(&settings).map_err(not_changed)?;
    let record = find_record(&settings)?;
    let text = was.as_deref().unwrap_or_default();
    let parsed = ConfigFormat::Json.parse(text).map_err(|it| not_changed(it.to_string()))?;
    let recorded = record.as_ref().and_then(|it| it.start.first().cloned());
    let Some(folder) = recorded.or_else(|| find_memory_folder(&parsed).map(str::to_owned)) else {
        return Ok(None);
    };
    let folder = PathBuf::from(folder);
    let rest = match &record {
        Some(it) => text_before(text, it).map_err(not_changed)?,
        None => without_memory(text, &folder).map_err(not_changed)?,
    };
    let project = ProjectFolders::of_settings(&settings)?;
    let lines = copy_back(&folder, &project.host_folder())?;
    let is_deleted = record.as_ref().is_some_and(|it| it.created_file) && rest.trim().is_empty();
    let new = was.is_some().then_some(rest).filter(|_| !is_deleted);
    if new != was {
        require_writable(&settings).map_err(not_changed)?;
    }
    let record = RecordChange::Remove(record.into_iter().collect());
    let (target, description) = (settings.clone(), String::new());
    apply_change(Change { target, was, new, record, description }).map_err(not_changed)?;
    Ok(Some(lines))
}

/// Copies the memories to the folder of the host.
fn copy_back(folder: &Path, host_folder: &Path) -> Result<Vec<String>, Failure> {
    if !folder.is_dir() {
        return Ok(vec![format!("There is no folder {} to copy memories from", path_text(folder))]);
    }
    let depth = Path::new(HOST_MEMORY_FOLDER).components().count();
    let palace = folder.ancestors().nth(depth).unwrap_or(folder);
    let keeper = keeper_for_home(Some(palace), &WorkspaceArgs::default());
    let is_known = |file: &str, text: &str| {
        keeper::is_past_memory(&keeper, &format!("{HOST_MEMORY_FOLDER}/{file}"), text)
    };
    let copied = copy_back_files(folder, host_folder, is_known)?;
    let mut lines = vec![format!(
        "Claude Code reads its memory of this project from {} again: {} copied; those in the palace \
         stay",
        path_text(host_folder),
        render::count_with_noun(copied.copied, "file")
    )];
    for (file, beside) in copied.different {
        let beside = beside.unwrap_or_default();
        lines.push(format!("{file} is another one there: the version of the palace is {beside}"));
    }
    Ok(lines)
}

/// Fails if the memory of another project is in the folder: the two would be one.
fn reject_other_project(folder: &Path, settings: &Path) -> Result<(), Failure> {
    let Some(state) = state_dir() else { return Ok(()) };
    let is_there = |it: &ClientSetup| {
        let text = read_config(&it.file).ok().flatten().unwrap_or_default();
        let found = ConfigFormat::Json.parse(&text);
        found
            .is_ok_and(|found| find_memory_folder(&found).is_some_and(|it| Path::new(it) == folder))
    };
    let mut records = keeper::client_setups(&state)?.into_iter();
    match records.find(|it| it.name == MEMORY_KEY && it.file != settings && is_there(it)) {
        None => Ok(()),
        Some(other) => Err(Failure::Message(format!(
            "{} has the memory of another project, by `{}`: choose a palace for this one with \
             --workspace, `palazzo init NAME` creates one",
            path_text(folder),
            path_text(&other.file)
        ))),
    }
}

/// Returns the record of the memory in settings.
fn find_record(settings: &Path) -> Result<Option<ClientSetup>, Failure> {
    let Some(folder) = state_dir() else { return Ok(None) };
    let mut records = keeper::client_setups(&folder)?.into_iter();
    Ok(records.find(|it| it.file == settings && it.name == MEMORY_KEY))
}

/// Returns the text of settings before the memory was set up, with what others have changed since.
fn text_before(text: &str, record: &ClientSetup) -> Result<String, String> {
    let reverted = record.text.as_ref().and_then(|it| revert_text_change(text, it));
    let folder = record.start.first().map_or("", String::as_str);
    reverted.map_or_else(|| without_memory(text, Path::new(folder)), Ok)
}

fn without_memory(text: &str, folder: &Path) -> Result<String, String> {
    remove_memory(text, &folder.display().to_string()).map_err(|it| it.to_string())
}

/// Fails if a part of the folder of the memory is a link: the palace would not have the files.
fn reject_links_below(palace: &Path) -> Result<(), Failure> {
    let mut place = palace.to_owned();
    for name in Path::new(HOST_MEMORY_FOLDER) {
        place.push(name);
        if fs::symlink_metadata(&place).is_ok_and(|it| !it.is_dir()) {
            let why = "is not a folder; the memory lies below a palace, through no link";
            return Err(Failure::Message(format!("`{}` {why}", path_text(&place))));
        }
    }
    Ok(())
}

/// A project, and the folder with the configuration of Claude Code.
struct ProjectFolders {
    root: PathBuf,
    config: PathBuf,
}

impl ProjectFolders {
    /// Finds the project around the current folder.
    fn find() -> Result<Self, Failure> {
        Self::of(find_project(&dunce::canonicalize(std::env::current_dir()?)?))
    }

    /// Returns the project that has these local settings.
    fn of_settings(settings: &Path) -> Result<Self, Failure> {
        Self::of(settings.ancestors().nth(2).unwrap_or(settings).to_owned())
    }

    fn of(root: PathBuf) -> Result<Self, Failure> {
        let unknown = "the folder of the user is not known: set HOME";
        let user = UserFolders::from_env().ok_or_else(|| Failure::Message(unknown.to_owned()))?;
        let config = user.claude_settings();
        let config = config.parent().unwrap_or(&config).to_owned();
        if resolve_links(&root.join(".claude")) == resolve_links(&config) {
            let why = "is the folder of your own settings, which hold for all projects: run this in \
                       the folder of one project";
            return Err(Failure::Message(format!("`{}` {why}", path_text(&config))));
        }
        Ok(Self { root, config })
    }

    /// Returns the folder in which Claude Code keeps the memory by itself.
    fn host_folder(&self) -> PathBuf {
        folder_of_host(&self.config, &self.root)
    }

    /// Fails if other settings that hold for the project have a folder for the memory.
    fn reject_other_folders(&self) -> Result<(), Failure> {
        let files = [self.root.join(".claude/settings.json"), self.config.join("settings.json")];
        for file in files {
            let text = read_config(&file).ok().flatten().unwrap_or_default();
            let settings = ConfigFormat::Json.parse(&text).unwrap_or_default();
            if let Some(other) = settings.get(MEMORY_KEY) {
                let why = other_folder(other);
                return Err(Failure::Message(format!("`{}`: {why}", path_text(&file))));
            }
        }
        Ok(())
    }
}

/// Returns the folder of the git repository around a folder, else the folder. For a linked worktree it
/// is the main one, whose settings and memory Claude Code uses for all.
fn find_project(folder: &Path) -> PathBuf {
    let root = folder.ancestors().find(|it| it.join(".git").exists()).unwrap_or(folder);
    main_worktree(&root.join(".git")).unwrap_or_else(|| root.to_owned())
}

/// Returns the main worktree to which the file `.git` of a linked one leads.
fn main_worktree(git_file: &Path) -> Option<PathBuf> {
    const MAX_BYTES: u64 = 4096;
    let metadata = fs::metadata(git_file).ok()?;
    let text =
        (metadata.is_file() && metadata.len() < MAX_BYTES).then(|| fs::read_to_string(git_file));
    let text = text.and_then(io::Result::ok)?;
    let git_dir = git_file.parent()?.join(text.trim().strip_prefix("gitdir: ")?);
    let worktrees = git_dir.parent()?;
    let common = worktrees.parent()?;
    let is_linked = worktrees.file_name()? == "worktrees" && common.file_name()? == ".git";
    is_linked.then(|| dunce::canonicalize(common.parent()?).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_the_main_worktree_of_the_repository() {
        let folder = tempfile::tempdir().unwrap();
        let root = dunce::canonicalize(folder.path()).unwrap();
        let [main, linked, module] = ["main", "linked", "main/module"].map(|it| root.join(it));
        for it in [&main.join(".git/worktrees/linked"), &main.join("src/deep"), &linked, &module] {
            fs::create_dir_all(it).unwrap();
        }
        fs::write(linked.join(".git"), "gitdir: ../main/.git/worktrees/linked\n").unwrap();
        fs::write(module.join(".git"), "gitdir: ../.git/modules/module\n").unwrap();
        assert_eq!(find_project(&main.join("src/deep")), main);
        assert_eq!(find_project(&linked), main);
        assert_eq!(find_project(&module), module);
    }
}
