//! Finds the files to mine. What a person has hardly written is left out, with the reason; a path
//! that was given is always taken.

use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};

use crate::cli::outcome::Failure;
use palazzo_core::model::path_text;
use palazzo_keeper::{IgnoreRules, SourceFile, SourceKind};

/// The room of documents at the top of the mined folder.
const DEFAULT_ROOM: &str = "notes";

/// The file that makes a folder a palace; files in it are filed already.
pub(super) const PALACE_FILE: &str = "palace.toml";

/// The start of the file names of exports; a number may follow.
const EXPORT_PREFIX: &str = "conversations";

/// Folders that programs fill: with dependencies, virtual environments, or what they build.
const GENERATED_FOLDERS: &[&str] = &[
    "node_modules",
    "bower_components",
    "vendor",
    "venv",
    ".venv",
    "site-packages",
    "__pycache__",
    "target",
    "dist",
];

/// Files that mark such a folder, whatever its name.
const GENERATED_MARKS: &[&str] = &["pyvenv.cfg", "CACHEDIR.TAG"];

/// Hidden folders of coding agents, and the folder in each that contains its memories.
const AGENT_FOLDERS: &[(&str, &str)] =
    &[(".serena", "memories"), (".kiro", "steering"), (".amazonq", "rules")];

/// A hidden folder of conversations with coding agents.
const SPECSTORY_FOLDER: &str = ".specstory";

/// The start of the names of aider's hidden files and folders.
const AIDER_PREFIX: &str = ".aider";

/// The hidden folder of Claude Code; its Markdown is instructions and memories.
const CLAUDE_FOLDER: &str = ".claude";

/// The folder of transcripts in that of Claude Code.
const TRANSCRIPTS_FOLDER: &str = ".claude/projects";

/// Names of folders that do not say what project they belong to.
const COMMON_NAMES: &[&str] = &["docs", "doc", "memories", "memory", "memory-bank"];

/// A file to mine, its path, and the room to file it in.
pub(super) struct MineInput {
    pub(super) path: PathBuf,
    pub(super) room: String,
    pub(super) source: SourceFile,
}

/// The files to mine, and what is left out.
#[derive(Default)]
pub(super) struct MineInputs {
    pub(super) files: Vec<MineInput>,
    /// Files and folders, with the reason.
    pub(super) left_out: Vec<(PathBuf, LeftOut)>,
    /// Messages about folders that could not be read.
    pub(super) faults: Vec<String>,
}

/// Why a file or a folder is not mined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeftOut {
    Ignored,
    Generated,
    Hidden,
    KeptByClient,
    Link,
    Unreadable,
}

impl LeftOut {
    pub(super) const ALL: [Self; 6] = [
        Self::Ignored,
        Self::Generated,
        Self::Hidden,
        Self::KeptByClient,
        Self::Link,
        Self::Unreadable,
    ];

    /// Returns its key in JSON.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Ignored => "ignored",
            Self::Generated => "generated",
            Self::Hidden => "hidden",
            Self::KeptByClient => "client",
            Self::Link => "links",
            Self::Unreadable => "unreadable",
        }
    }

    /// Describes it after a number.
    pub(super) fn description(self) -> &'static str {
        match self {
            Self::Ignored => "excluded by .gitignore",
            Self::Generated => "of dependencies or builds",
            Self::Hidden => "hidden",
            Self::KeptByClient => "that a client keeps for itself",
            Self::Link => "linked",
            Self::Unreadable => "not readable",
        }
    }
}

/// The files of a folder that are mined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FilesToMine {
    /// Everything that no rule leaves out.
    All,
    /// Everything, even if `.gitignore` excludes it: programs add their own memories there.
    Memories,
    /// Only one folder, with memories.
    OnlyFolder(&'static str),
    /// Only Markdown.
    OnlyMarkdown,
}

/// The search in one folder that was given.
struct FolderSearch<'a> {
    /// The path that was given.
    given: &'a Path,
    root: &'a Path,
    source: SourceFile,
    rules: IgnoreRules,
    found: &'a mut MineInputs,
}

/// Finds the files to mine at a path, sorted by name.
pub(super) fn find_mine_inputs(given: &Path, found: &mut MineInputs) -> Result<(), Failure> {
    let path = dunce::canonicalize(given)
        .map_err(|err| Failure::Message(format!("cannot read {}: {err}", path_text(given))))?;
    let folder = if path.is_dir() { Some(path.as_path()) } else { path.parent() };
    let (wing, older_wing) = folder.map(wing_of_folder).unwrap_or_default();
    let source = SourceFile {
        name: file_name(&path),
        wing,
        older_wing,
        kind: SourceKind::Document,
        modified: None,
    };
    if path.is_dir() {
        let rules = IgnoreRules::above(&path);
        let mut search = FolderSearch { given, root: &path, source, rules, found };
        search.search_folder(&path, FilesToMine::All);
        return Ok(());
    }
    let kind = SourceKind::from_file_name(&source.name).ok_or_else(|| {
        let known = "only files ending in .md, .markdown, .txt, .jsonl or .json can be mined";
        Failure::Message(format!("{}: {known}", path_text(&path)))
    })?;
    let source = SourceFile { kind, modified: modified_time(&path), ..source };
    found.files.push(MineInput { path, room: DEFAULT_ROOM.to_owned(), source });
    Ok(())
}

impl FolderSearch<'_> {
    fn search_folder(&mut self, folder: &Path, taken: FilesToMine) {
        let entries = std::fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(err) => {
                let folder = self.given_path(folder);
                self.found.faults.push(format!("cannot read {}: {err}", path_text(&folder)));
                self.found.left_out.push((folder, LeftOut::Unreadable));
                return;
            }
        };
        entries.sort_by_key(std::fs::DirEntry::file_name);
        let outer = self.rules.enter(folder);
        for entry in entries {
            self.search_entry(folder, &entry.path(), taken);
        }
        self.rules.leave(outer);
    }

    fn search_entry(&mut self, folder: &Path, path: &Path, taken: FilesToMine) {
        let (name, is_folder) = (file_name(path), path.is_dir());
        let kind = SourceKind::from_file_name(&name).filter(|it| is_of_kind(&name, *it));
        // A repository's own files are no text of a person.
        if name == ".git" || path.join(PALACE_FILE).is_file() || !is_folder && kind.is_none() {
            return;
        }
        if let Some(why) = self.reason_to_leave_out(path, &name, is_folder, taken) {
            self.found.left_out.push((self.given_path(path), why));
            return;
        }
        match kind.filter(|_| !is_folder) {
            None => self.search_folder(path, taken_from_folder(&name, taken)),
            Some(kind) => {
                let relative = path.strip_prefix(self.root).unwrap_or(path);
                let name = relative.display().to_string();
                let is_top = folder == self.root;
                let room = if is_top { DEFAULT_ROOM.to_owned() } else { file_name(folder) };
                let modified = modified_time(path);
                let source = SourceFile { name, kind, modified, ..self.source.clone() };
                self.found.files.push(MineInput { path: path.to_owned(), room, source });
            }
        }
    }

    fn reason_to_leave_out(
        &self,
        path: &Path,
        name: &str,
        is_folder: bool,
        taken: FilesToMine,
    ) -> Option<LeftOut> {
        let is_taken = match taken {
            FilesToMine::All | FilesToMine::Memories => true,
            FilesToMine::OnlyFolder(folder) => is_folder && name == folder,
            // A repository in it is a copy of a project, or comes from others.
            FilesToMine::OnlyMarkdown if is_folder => path.join(".git").symlink_metadata().is_err(),
            FilesToMine::OnlyMarkdown => is_markdown(name),
        };
        let is_memory = taken != FilesToMine::All && taken != FilesToMine::OnlyMarkdown
            || is_agent_memory(name);
        if is_folder && GENERATED_FOLDERS.contains(&name)
            || GENERATED_MARKS.iter().any(|it| path.join(it).is_file())
        {
            Some(LeftOut::Generated)
        } else if !is_taken || name.starts_with('.') && !is_memory && name != CLAUDE_FOLDER {
            Some(LeftOut::Hidden)
        } else if is_folder && taken == FilesToMine::All && is_kept_by_client(path, name) {
            Some(LeftOut::KeptByClient)
        } else if path.is_symlink() {
            Some(LeftOut::Link)
        } else {
            let is_ignored = !is_memory && self.rules.excludes(path, is_folder);
            is_ignored.then_some(LeftOut::Ignored)
        }
    }

    /// Returns a path below the path that was given.
    fn given_path(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(self.root) {
            Ok(inside) if !inside.as_os_str().is_empty() => self.given.join(inside),
            _ => self.given.to_owned(),
        }
    }
}

/// Returns what is taken from the folder `name` in a folder from which `taken` is taken.
fn taken_from_folder(name: &str, taken: FilesToMine) -> FilesToMine {
    if let Some((_, memories)) = AGENT_FOLDERS.iter().find(|(folder, _)| *folder == name) {
        return FilesToMine::OnlyFolder(memories);
    }
    match taken {
        _ if is_agent_memory(name) => FilesToMine::Memories,
        FilesToMine::OnlyFolder(_) => FilesToMine::Memories,
        FilesToMine::All if name == CLAUDE_FOLDER => FilesToMine::OnlyMarkdown,
        taken => taken,
    }
}

/// Returns true for the folders in which Claude Code keeps the results of tools and its own notes,
/// beside its transcripts. They are no conversation.
fn is_kept_by_client(folder: &Path, name: &str) -> bool {
    // Results are in the folder of a conversation, notes in that of all conversations of a project.
    let project = match name {
        "memory" => folder.parent(),
        "tool-results" => folder.ancestors().nth(2),
        _ => None,
    };
    let is_transcript =
        |it: &std::fs::DirEntry| it.path().extension().is_some_and(|it| it == "jsonl");
    project.is_some_and(|it| {
        it.parent().is_some_and(|it| it.ends_with(TRANSCRIPTS_FOLDER))
            || std::fs::read_dir(it)
                .is_ok_and(|mut it| it.any(|it| it.is_ok_and(|it| is_transcript(&it))))
    })
}

/// Returns true for the hidden files and folders in which coding agents keep memories.
fn is_agent_memory(name: &str) -> bool {
    name == SPECSTORY_FOLDER
        || name.starts_with(AIDER_PREFIX)
        || AGENT_FOLDERS.iter().any(|(folder, _)| *folder == name)
}

/// Returns true unless the file is JSON of another program: most JSON in folders is no export.
fn is_of_kind(name: &str, kind: SourceKind) -> bool {
    kind != SourceKind::Export || name.starts_with(EXPORT_PREFIX)
}

fn is_markdown(name: &str) -> bool {
    let end = name.rsplit_once('.').map(|(_, end)| end.to_lowercase());
    end.is_some_and(|it| it == "md" || it == "markdown")
}

/// Returns the wing of what is in a folder, and the one that older versions gave it, if that is
/// another. It is the folder's name, or that of the folder around it if that says more.
fn wing_of_folder(folder: &Path) -> (String, Option<String>) {
    let own_name = file_name(folder);
    let is_agent_folder = |it: &Path| {
        let name = file_name(it);
        is_agent_memory(&name) || name == CLAUDE_FOLDER
    };
    let is_common = |it: &&Path| {
        let name = file_name(it);
        let is_memory = it.parent().is_some_and(is_agent_folder) && name != "projects";
        name.starts_with('.') || COMMON_NAMES.contains(&name.as_str()) || is_memory
    };
    let telling = folder.ancestors().find(|it| !is_common(it)).map(file_name);
    match telling.filter(|it| !it.is_empty() && *it != own_name) {
        Some(telling) => (telling, Some(own_name)),
        None => (own_name, None),
    }
}

fn modified_time(path: &Path) -> Option<DateTime<Utc>> {
    Some(std::fs::metadata(path).ok()?.modified().ok()?.into())
}

pub(super) fn file_name(path: &Path) -> String {
    path.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates files in a folder.
    fn folder_with(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let (file, text) = file.split_once(": ").unwrap_or((file, "Words."));
            let file = folder.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text.replace(',', "\n")).unwrap();
        }
        folder
    }

    fn find(folder: &Path, path: &str) -> MineInputs {
        let mut found = MineInputs::default();
        find_mine_inputs(&folder.join(path), &mut found).unwrap();
        assert!(found.files.iter().all(|it| it.source.modified.is_some()));
        found
    }

    /// Returns the names and rooms of the files that are mined at `path`.
    fn inputs_at(files: &[&str], path: &str) -> Vec<(String, String)> {
        let found = find(folder_with(files).path(), path).files.into_iter();
        found.map(|it| (it.source.name.replace('\\', "/"), it.room)).collect()
    }

    fn names_at(files: &[&str], path: &str) -> Vec<String> {
        inputs_at(files, path).into_iter().map(|it| it.0).collect()
    }

    /// Returns what is left out at `path`, with the reason.
    fn left_out_at(folder: &Path, path: &str) -> Vec<String> {
        let found = find(folder, path).left_out.into_iter();
        let shown = found.map(|(path, why)| {
            let path = path.strip_prefix(folder).unwrap().display().to_string();
            format!("{}: {}", path.replace('\\', "/"), why.key())
        });
        shown.collect()
    }

    #[test]
    fn results_of_tools_and_notes_beside_transcripts_are_left_out() {
        let files = [
            "projects/-seams/a.jsonl",
            "projects/-seams/a/tool-results/b.txt",
            "projects/-seams/memory/MEMORY.md",
            "notes/memory/plan.md",
            "notes/tool-results/c.txt",
        ];
        let expected =
            ["notes/memory/plan.md", "notes/tool-results/c.txt", "projects/-seams/a.jsonl"];
        assert_eq!(names_at(&files, ""), expected);
        assert_eq!(names_at(&files, "projects/-seams/memory"), ["MEMORY.md"]);
        let folder = folder_with(&files);
        let left_out = find(folder.path(), "projects").left_out;
        assert_eq!(left_out.iter().filter(|(_, it)| *it == LeftOut::KeptByClient).count(), 2);
        let files = [".claude/projects/-seams/memory/MEMORY.md", ".claude/projects/-seams/a.md"];
        assert_eq!(names_at(&files, ".claude/projects"), ["-seams/a.md"]);
    }

    #[test]
    fn the_room_of_a_document_is_its_folder() {
        let found = inputs_at(&["notes/b.md", "notes/A.TXT", "notes/sub/deep/c.markdown"], "notes");
        let expected = [("A.TXT", "notes"), ("b.md", "notes"), ("sub/deep/c.markdown", "deep")];
        assert_eq!(found, expected.map(|(name, room)| (name.to_owned(), room.to_owned())));
    }

    #[test]
    fn hidden_files_palaces_and_other_json_are_not_mined() {
        let files = [
            "notes/.hidden/a.md",
            "notes/keep/palace.toml",
            "notes/keep/b.md",
            "notes/package.json",
            "notes/conversations-2.json",
            "notes/x.png",
            "notes/md",
        ];
        assert_eq!(names_at(&files, "notes"), ["conversations-2.json"]);
        assert_eq!(inputs_at(&files, "notes/package.json").len(), 1);
        assert_eq!(left_out_at(folder_with(&files).path(), "notes"), ["notes/.hidden: hidden"]);
    }

    #[test]
    fn ignored_and_generated_folders_are_left_out_with_the_reason() {
        let files = [
            "p/.gitignore: drafts/,*.log.md",
            "p/a.md",
            "p/b.log.md",
            "p/c.log.png",
            "p/drafts/d.md",
            "p/env/pyvenv.cfg",
            "p/env/e.md",
            "p/node_modules/left-pad/README.md",
            "p/sub/__pycache__/f.txt",
            "p/sub/g.md",
            "p/target/CACHEDIR.TAG",
        ];
        assert_eq!(names_at(&files, "p"), ["a.md", "sub/g.md"]);
        insta::assert_snapshot!(left_out_at(folder_with(&files).path(), "p").join("\n"), @"
        p/b.log.md: ignored
        p/drafts: ignored
        p/env: generated
        p/node_modules: generated
        p/sub/__pycache__: generated
        p/target: generated
        ");
    }

    #[test]
    fn a_given_path_is_taken_even_if_it_is_ignored() {
        let files = [
            "p/.git/config",
            "p/.gitignore: drafts/,*.log.md",
            "p/b.log.md",
            "p/drafts/d.md",
            "p/drafts/e.log.md",
            "p/node_modules/left-pad/README.md",
            "p/.obsidian/n.md",
        ];
        assert_eq!(names_at(&files, "p/b.log.md"), ["b.log.md"]);
        assert_eq!(names_at(&files, "p/drafts"), ["d.md", "e.log.md"]);
        assert_eq!(names_at(&files, "p/node_modules"), ["left-pad/README.md"]);
        assert_eq!(names_at(&files, "p/.obsidian"), ["n.md"]);
        assert_eq!(names_at(&files, "p"), [""; 0]);
    }

    #[test]
    fn the_memories_of_agents_are_taken_from_hidden_folders() {
        let files = [
            "p/.gitignore: .aider*,.serena,.specstory",
            "p/.aider.chat.history.md",
            "p/.amazonq/rules/a.md",
            "p/.claude/CLAUDE.md",
            "p/.claude/projects/s.jsonl",
            "p/.claude/agents/b.md",
            "p/.claude/worktrees/x/.git",
            "p/.claude/worktrees/x/README.md",
            "p/.cursor/c.md",
            "p/.kiro/specs/d.md",
            "p/.kiro/steering/e.md",
            "p/.serena/memories/f.md",
            "p/.serena/project.md",
            "p/.specstory/history/g.md",
        ];
        insta::assert_snapshot!(names_at(&files, "p").join("\n"), @"
        .aider.chat.history.md
        .amazonq/rules/a.md
        .claude/CLAUDE.md
        .claude/agents/b.md
        .kiro/steering/e.md
        .serena/memories/f.md
        .specstory/history/g.md
        ");
        insta::assert_snapshot!(left_out_at(folder_with(&files).path(), "p").join("\n"), @"
        p/.claude/projects/s.jsonl: hidden
        p/.claude/worktrees/x: hidden
        p/.cursor: hidden
        p/.kiro/specs: hidden
        p/.serena/project.md: hidden
        ");
        assert_eq!(names_at(&files, "p/.claude").len(), 4, "all of what was given");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_left_out_and_folders_that_cannot_be_read_stop_nothing() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = folder_with(&["p/a.md", "p/closed/b.md", "p/z.md", "other/c.md"]);
        symlink(folder.path().join("other"), folder.path().join("p/folder")).unwrap();
        symlink(folder.path().join("other/c.md"), folder.path().join("p/file.md")).unwrap();
        symlink("x.png", folder.path().join("p/image.png")).unwrap();
        symlink(folder.path().join("p"), folder.path().join("p/circle")).unwrap();
        let links = ["p/circle: links", "p/file.md: links", "p/folder: links"];
        assert_eq!(left_out_at(folder.path(), "p"), links);
        assert_eq!(find(folder.path(), "p/folder").files.len(), 1, "it was given");
        let closed = folder.path().join("p/closed");
        std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o000)).unwrap();
        // The superuser reads everything.
        if std::fs::read_dir(&closed).is_err() {
            let found = find(folder.path(), "p");
            assert_eq!((found.files.len(), found.faults.len()), (2, 1), "{:?}", found.faults);
            assert!(left_out_at(folder.path(), "p").contains(&"p/closed: unreadable".to_owned()));
        }
        std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o700)).unwrap();
    }

    #[test]
    fn the_wing_is_the_nearest_folder_whose_name_says_something() {
        let wing = |path: &str| wing_of_folder(Path::new(path)).0;
        for it in [
            "/h/seams",
            "/h/seams/docs",
            "/h/seams/.serena/memories",
            "/h/seams/.kiro/steering",
            "/h/seams/.specstory/history",
            "/h/seams/.claude",
            "/h/seams/.claude/agents",
            "/h/seams/memory-bank",
        ] {
            assert_eq!(wing(it), "seams", "{it}");
        }
        assert_eq!(wing("/h/.local/share/notes"), "notes");
        assert_eq!(wing("/h/rules"), "rules");
        assert_eq!(wing("/docs"), "docs");
        let older = |path: &str| wing_of_folder(Path::new(path)).1;
        assert_eq!(older("/h/seams/docs").as_deref(), Some("docs"));
        assert_eq!(older("/h/seams"), None);
    }

    #[test]
    fn a_file_with_another_ending_is_refused_with_the_known_endings() {
        let folder = folder_with(&["a.pdf"]);
        let find = |it: &str| find_mine_inputs(&folder.path().join(it), &mut MineInputs::default());
        let refused = find("a.pdf").unwrap_err().to_string();
        assert!(
            refused.ends_with(
                "a.pdf: only files ending in .md, .markdown, .txt, .jsonl or .json can be mined"
            ),
            "{refused}"
        );
        assert!(find("b.md").unwrap_err().to_string().starts_with("cannot read "));
    }
}
