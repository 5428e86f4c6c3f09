//! Shows a memory of the host at an action that one of its triggers fits: `palazzo hook act`.
//!
//! A hook is in the way of an agent, so nothing here opens the palace or its repository: only the folder of
//! memories is read, and one small file for each memory that fits. A memory is shown if this machine's host
//! wrote its content, or a person has allowed it.
//!
//! The content that the host wrote is read from the input of the hook, not from the disk, where another
//! program may have written meanwhile. An edit counts only if the content before was allowed: an agent that corrects a
//! word in a memory that came by sync has not written the rest of it.

use std::cmp::Reverse;
use std::path::{Component, Path, PathBuf};
use std::thread;

use chrono::{DateTime, Utc};

use crate::Keeper;
use palazzo_core::exchange::{FileWrite, HookInput, TextEdit};
use palazzo_core::format;
use palazzo_core::model::redact_secrets;
use palazzo_core::model::{Consent, HOST_MEMORY_FOLDER, ToolUse, TriggerKind, TriggeredMemory};
use palazzo_core::render;
use palazzo_store::{self as store, ConsentStore, HostMemoryFile};

/// How many memories one thread reads.
const FILES_OF_THREAD: usize = 125;

/// The memories of one palace, for a hook.
pub struct ActHook {
    palace: PathBuf,
    consents: ConsentStore,
    state_folder: PathBuf,
    now: DateTime<Utc>,
}

/// A memory that an action fits.
struct FittingMemory {
    kind: TriggerKind,
    written: DateTime<Utc>,
    name: String,
    memory: TriggeredMemory,
}

/// Returns whether a tool may have written a memory, by the path of the file.
pub fn is_memory_write(input: &HookInput) -> bool {
    let folder = Path::new(HOST_MEMORY_FOLDER);
    let written = input.written_file();
    written.is_some_and(|(path, _)| Path::new(path).parent().is_some_and(|it| it.ends_with(folder)))
}

impl ActHook {
    /// Returns a hook for the memories of the palace that `keeper` finds without a visit, which is not
    /// opened; `None`: there is none. `state_folder` is the folder for the state of this program.
    pub fn find(keeper: &Keeper, state_folder: &Path, now: DateTime<Utc>) -> Option<Self> {
        let palace = keeper.default_palace_folder().ok()?;
        let (consents, state_folder) = (keeper.consents.clone(), state_folder.to_owned());
        Some(Self { palace, consents, state_folder, now })
    }

    /// Remembers that the host has written the content of a memory on this machine. Returns whether it has.
    pub fn record_written_memory(&self, input: &HookInput) -> bool {
        self.written_memory(input).is_some_and(|it| self.consents.add(&it).is_ok())
    }

    /// Returns the consent to show what a tool has written into a memory; `None`: it has written none, or
    /// has changed one that is not allowed.
    fn written_memory(&self, input: &HookInput) -> Option<Consent> {
        let (path, write) = input.written_file()?;
        let file = Path::new(input.folder.as_deref().unwrap_or_default()).join(path);
        let name = store::find_host_memory(&self.palace, &file)?;
        let consent = |text: &str| {
            store::memory_consent(&self.palace, name, &format::parse_host_memory(text)).ok()
        };
        let is_allowed = |text: &str| consent(text).is_some_and(|it| self.is_allowed(&it));
        let text = match write {
            FileWrite::Content(text) => text,
            FileWrite::Edits { before, edits } => match before.filter(|it| is_allowed(it)) {
                Some(before) => TextEdit::apply_all(&edits, &before)?,
                None => {
                    let text = store::read_host_memory(&self.palace, name)?;
                    TextEdit::undo_all(&edits, &text).filter(|it| is_allowed(it)).map(|_| text)?
                }
            },
        };
        consent(&text)
    }

    /// Returns the note for what an agent has just done; `None`: nothing is shown.
    pub fn note(&self, input: &HookInput) -> Option<String> {
        let done = tool_use(input);
        if done == ToolUse::default() {
            return None;
        }
        let fitting = self
            .fitting_memories(&done)
            .into_iter()
            .find(|it| store::claim_memory_to_show(&self.state_folder, &input.session, &it.name));
        let FittingMemory { kind, written, name, memory } = fitting?;
        let text = redact_secrets(&memory.text).text;
        Some(render::memory_note(&name, &text, kind, (written, self.now)))
    }

    /// Lists the memories that an action fits, the most important first.
    fn fitting_memories(&self, done: &ToolUse) -> Vec<FittingMemory> {
        let files = store::list_host_memories(&self.palace);
        let fit = |files: &[HostMemoryFile]| {
            files.iter().filter_map(|it| self.fit_memory(it, done)).collect::<Vec<_>>()
        };
        let mut fitting: Vec<_> = thread::scope(|scope| {
            let start = |part| thread::Builder::new().spawn_scoped(scope, move || fit(part));
            let started: Vec<_> = files.chunks(FILES_OF_THREAD).map(|it| (it, start(it))).collect();
            // Where no thread can be started, this one reads.
            let results = started.into_iter().map(|(part, thread)| match thread {
                Ok(thread) => thread.join().unwrap_or_default(),
                Err(_) => fit(part),
            });
            results.flatten().collect()
        });
        fitting.sort_by(|a, b| {
            let key = |it: &FittingMemory| (it.kind, Reverse(it.written));
            key(a).cmp(&key(b)).then_with(|| a.name.cmp(&b.name))
        });
        fitting
    }

    /// Reads a memory; `None` if it may not be shown, or the action does not fit it. The patterns of others
    /// are not compared: they may be slow on purpose.
    fn fit_memory(&self, file: &HostMemoryFile, done: &ToolUse) -> Option<FittingMemory> {
        let text = file.read().filter(|it| format::may_have_trigger(it, done))?;
        let memory = format::parse_host_memory(&text);
        let consent = store::memory_consent(&self.palace, &file.name, &memory).ok()?;
        if memory.text.is_empty() || memory.triggers.is_empty() || !self.is_allowed(&consent) {
            return None;
        }
        let kind = memory.matching_kind(done)?;
        let written = memory.modified.unwrap_or_else(|| file.change_time().into());
        Some(FittingMemory { kind, written, name: file.name.clone(), memory })
    }

    fn is_allowed(&self, consent: &Consent) -> bool {
        self.consents.is_allowed(consent).unwrap_or_default()
    }
}

/// Returns what an agent has done, with paths as globs are compared with them.
fn tool_use(input: &HookInput) -> ToolUse {
    let folder = Path::new(input.folder.as_deref().unwrap_or_default());
    let files = input.changed_files();
    let base = match files.is_empty() {
        true => folder,
        false => store::find_working_directory(folder).unwrap_or(folder),
    };
    let files = files.into_iter().map(|it| path_for_globs(base, &folder.join(it))).collect();
    ToolUse { command: input.command(), files, error: input.error() }
}

/// Returns the path of a file with `/`: relative to `base` if it is there, else whole.
fn path_for_globs(base: &Path, file: &Path) -> String {
    let mut plain = PathBuf::new();
    for part in file.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    let relative = plain.strip_prefix(base).unwrap_or(&plain).to_string_lossy();
    if cfg!(windows) { relative.replace('\\', "/") } else { relative.into_owned() }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::{Value, json};

    use super::*;
    use crate::test_home::{NOW, TestHome};

    const FOLDER: &str = "home/keep/drawers/claude/memory";
    const LESSON: &str = "---\nname: locked\nmetadata:\n  when:\n    - run: ^cargo build\n---\n\n\
        Use `--locked`.\n";

    /// A palace with memories, and the state of the user.
    struct Scene {
        home: TestHome,
        state: tempfile::TempDir,
    }

    impl Scene {
        fn new(memories: &[(&str, &str)]) -> Self {
            let files: Vec<_> = memories
                .iter()
                .map(|(name, text)| (format!("{HOST_MEMORY_FOLDER}/{name}.md"), *text))
                .collect();
            let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
            let (home, state) = (TestHome::new(&files), tempfile::tempdir().unwrap());
            let scene = Self { home, state };
            fs::create_dir_all(scene.home.dir().join(FOLDER)).unwrap();
            scene
        }

        fn hook(&self) -> ActHook {
            let folder = self.state.path().join("palazzo");
            let keeper = Keeper::new(self.home.dir().join("home"), None);
            let keeper = keeper.with_consent_folder(Some(folder.clone()));
            ActHook::find(&keeper, &folder, NOW.parse().unwrap()).unwrap()
        }

        fn path(&self, name: &str) -> String {
            self.home.dir().join(FOLDER).join(format!("{name}.md")).to_str().unwrap().to_owned()
        }

        /// Runs the hook for a write by the host. Returns whether the content is recorded.
        fn record(&self, tool: &str, mut input: Value, response: &Value) -> bool {
            input["file_path"] = self.path("locked").into();
            self.hook().record_written_memory(&told(tool, &input, response))
        }

        /// Returns the note for a command of a new conversation.
        fn note(&self, session: &str) -> Option<String> {
            let mut input = told("Bash", &json!({ "command": "cargo build" }), &Value::Null);
            session.clone_into(&mut input.session);
            self.hook().note(&input)
        }
    }

    fn told(tool: &str, input: &Value, response: &Value) -> HookInput {
        let told = json!({
            "session_id": "s", "cwd": "/p", "hook_event_name": "PostToolUse", "tool_name": tool,
            "tool_input": input, "tool_response": response,
        });
        HookInput::parse(&told.to_string()).unwrap()
    }

    #[test]
    fn what_the_host_wrote_is_shown_whatever_front_matter_it_makes_of_it() {
        let scene = Scene::new(&[("locked", LESSON)]);
        assert_eq!(scene.note("1"), None);
        // The host moves keys that it does not know below `metadata`.
        let content = "---\nname: locked\nwhen: [{run: ^cargo build}]\n---\nUse `--locked`.";
        assert!(scene.record("Write", json!({ "content": content }), &Value::Null));
        assert!(scene.note("1").unwrap().ends_with("\n│ Use `--locked`."));
        assert_eq!(scene.note("1"), None, "once in a conversation");
        assert!(scene.note("2").is_some());
    }

    #[test]
    fn what_is_on_disk_besides_what_the_host_wrote_is_not_shown() {
        let scene = Scene::new(&[("locked", &LESSON.replace("Use", "Never use"))]);
        assert!(scene.record("Write", json!({ "content": LESSON }), &Value::Null));
        assert_eq!(scene.note("1"), None);
        let broader = LESSON.replace("^cargo build", ".");
        scene.home.write(&format!("{HOST_MEMORY_FOLDER}/locked.md"), &broader);
        assert_eq!(scene.note("1"), None);
    }

    #[test]
    fn an_edit_of_a_memory_counts_only_if_it_was_allowed_before() {
        let changed = LESSON.replace("Use", "Always use");
        let scene = Scene::new(&[("locked", &changed)]);
        let edit = json!({ "old_string": "Use", "new_string": "Always use" });
        let response = json!({ "originalFile": LESSON });
        assert!(!scene.record("Edit", edit.clone(), &response));
        assert!(!scene.record("Edit", edit.clone(), &Value::Null));
        assert_eq!(scene.note("1"), None);
        assert!(scene.record("Write", json!({ "content": LESSON }), &Value::Null));
        assert_eq!(scene.note("1"), None);
        assert!(scene.record("Edit", edit, &response));
        assert!(scene.note("1").unwrap().ends_with("│ Always use `--locked`."));
    }

    #[test]
    fn an_edit_without_the_content_before_is_compared_with_the_disk() {
        let changed = LESSON.replace("Use", "Always use");
        let scene = Scene::new(&[("locked", &changed)]);
        assert!(scene.record("Write", json!({ "content": LESSON }), &Value::Null));
        let other = json!({ "edits": [{ "old_string": "Use", "new_string": "Do not" }] });
        assert!(!scene.record("MultiEdit", other, &Value::Null));
        let edit = json!({ "edits": [{ "old_string": "Use", "new_string": "Always use" }] });
        assert!(scene.record("MultiEdit", edit, &Value::Null));
        assert!(scene.note("1").is_some());
    }

    #[test]
    fn a_trigger_that_the_host_adds_to_its_memory_counts() {
        let plain = "---\nname: locked\n---\n\nUse `--locked`.\n";
        let scene = Scene::new(&[("locked", LESSON)]);
        assert!(scene.record("Write", json!({ "content": plain }), &Value::Null));
        let edit = json!({
            "old_string": "name: locked\n", "new_string": "name: locked\nwhen: {run: ^cargo build}\n",
        });
        assert!(scene.record("Edit", edit, &json!({ "originalFile": plain })));
        assert!(scene.note("1").is_some());
    }

    #[test]
    fn a_file_elsewhere_is_no_memory() {
        let scene = Scene::new(&[]);
        let elsewhere = [
            format!("/elsewhere/{HOST_MEMORY_FOLDER}/locked.md"),
            scene.path("../locked"),
            scene.path("MEMORY"),
            "locked.md".to_owned(),
        ];
        for path in elsewhere {
            let input = json!({ "file_path": path, "content": LESSON });
            let input = told("Write", &input, &Value::Null);
            assert!(!scene.hook().record_written_memory(&input), "{path}");
        }
        assert!(is_memory_write(&told(
            "Write",
            &json!({ "file_path": scene.path("a"), "content": "x" }),
            &Value::Null
        )));
    }

    #[test]
    fn the_most_important_and_latest_memory_is_shown_first() {
        let memory = |trigger: &str, day: u32| {
            format!(
                "---\nmetadata:\n  when: {{{trigger}}}\n  modified: 2026-02-{day:02}\n---\n{trigger}"
            )
        };
        let memories = [
            ("a", memory("run: cargo", 1)),
            ("b", memory("run: build", 2)),
            ("c", memory("error: E0433", 1)),
            ("d", memory("run: cargo test", 3)),
        ];
        let memories: Vec<_> = memories.iter().map(|(name, it)| (*name, it.as_str())).collect();
        let scene = Scene::new(&memories);
        for (name, text) in &memories {
            let input = json!({ "file_path": scene.path(name), "content": text });
            assert!(scene.hook().record_written_memory(&told("Write", &input, &Value::Null)));
        }
        let failed = json!({ "exit_code": 1, "output": "error[E0433]" });
        let input = told("Bash", &json!({ "command": "cargo build" }), &failed);
        let notes: Vec<_> = (0..4).map(|_| scene.hook().note(&input).unwrap_or_default()).collect();
        insta::assert_snapshot!(notes.join("\n"), @"
        Your memory `c`, written 28 days ago, is about this error:
        │ error: E0433
        Your memory `b`, written 27 days ago, is about this command:
        │ run: build
        Your memory `a`, written 28 days ago, is about this command:
        │ run: cargo
        ");
    }

    #[test]
    fn globs_are_relative_to_the_repository() {
        let path = |base: &str, file: &str| path_for_globs(Path::new(base), Path::new(file));
        assert_eq!(path("/p", "/p/src/./a/../b.rs"), "src/b.rs");
        assert_eq!(path("/p", "/p2/b.rs"), "/p2/b.rs");
        assert_eq!(path("/p", "/p/../q"), "/q");
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        fs::create_dir_all(dir.join("sub")).unwrap();
        fs::create_dir(dir.join(".git")).unwrap();
        let mut input = told("Edit", &json!({ "file_path": dir.join("sub/a.rs") }), &Value::Null);
        input.folder = dir.join("sub").to_str().map(str::to_owned);
        assert_eq!(tool_use(&input).files, ["sub/a.rs"]);
    }
}
