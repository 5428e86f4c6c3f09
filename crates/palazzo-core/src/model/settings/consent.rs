//! Consents: what the user of this machine allows a palace that may come from another person.

use std::path::Path;

use crate::model::{GitUrl, Tool, TriggeredMemory, redact_secrets};

/// A consent for one folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Consent {
    /// The folder's path, with symbolic links resolved; `None`: it is not Unicode, so no consent is
    /// possible.
    path: Option<String>,
    /// What is allowed. Any change of it needs a new consent.
    pub scope: ConsentScope,
}

/// What a consent allows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConsentScope {
    /// Actions of the palace may call these tools, which change things.
    Tools(Vec<String>),
    /// The repository of the folder may be elsewhere, in these folders.
    Repository(Vec<String>),
    /// The repository may be synchronized with the one at this URL, which has no password.
    Sync(String),
    /// A memory of the host may be shown at actions, as long as it has this content.
    Memory(MemoryConsent),
}

/// The memory of a consent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemoryConsent {
    /// The name of the memory when the consent was given. It may be renamed.
    pub name: String,
    /// Its triggers, as [`Trigger`](crate::model::Trigger) displays them.
    pub triggers: Vec<String>,
    /// The first line of its text.
    pub first_line: String,
    /// A hash of its [content](TriggeredMemory::content), in hexadecimal digits.
    pub content_hash: String,
}

impl Consent {
    /// Returns the consent to the tools that `[actions] allow` of the palace at `palace` lists.
    pub fn for_tools(palace: &Path, allow: &[String]) -> Self {
        let mut tools: Vec<_> = allow.iter().map(|it| Tool::bare_name(it).to_owned()).collect();
        tools.sort();
        tools.dedup();
        Self { path: palace.to_str().map(str::to_owned), scope: ConsentScope::Tools(tools) }
    }

    /// Returns the consent to a repository of `folder` that is in `elsewhere`.
    pub fn for_repository(folder: &Path, elsewhere: [&Path; 2]) -> Self {
        let named: Option<Vec<_>> = elsewhere.iter().map(|it| it.to_str()).collect();
        let path = folder.to_str().filter(|_| named.is_some()).map(str::to_owned);
        let mut folders: Vec<_> = named.into_iter().flatten().map(str::to_owned).collect();
        folders.dedup();
        Self { path, scope: ConsentScope::Repository(folders) }
    }

    /// Returns the consent to synchronize the repository at `work` with the one at `url`. A
    /// password in the URL is not stored.
    pub fn for_sync(work: &Path, url: &GitUrl) -> Self {
        Self { path: work.to_str().map(str::to_owned), scope: ConsentScope::Sync(url.to_string()) }
    }

    /// Returns the consent to show a memory of the palace at `palace` at actions. `content_hash` is a hash of
    /// its content.
    pub fn for_memory(
        palace: &Path,
        name: &str,
        it: &TriggeredMemory,
        content_hash: String,
    ) -> Self {
        let memory = MemoryConsent {
            name: name.to_owned(),
            triggers: it.triggers.iter().map(ToString::to_string).collect(),
            first_line: redact_secrets(&it.text).text.lines().next().unwrap_or_default().to_owned(),
            content_hash,
        };
        Self { path: palace.to_str().map(str::to_owned), scope: ConsentScope::Memory(memory) }
    }

    /// Returns a consent that was read from the consent file.
    pub fn from_stored(path: String, allowed: ConsentScope) -> Self {
        Self { path: Some(path), scope: allowed }
    }

    /// Returns the path of the folder; `None`: it is not Unicode.
    pub fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// Returns whether `other` has the same folder and the same kind of scope.
    pub fn has_same_folder_and_scope_kind(&self, other: &Self) -> bool {
        let kinds = (&self.scope, &other.scope);
        let is_same_kind = matches!(
            kinds,
            (ConsentScope::Tools(_), ConsentScope::Tools(_))
                | (ConsentScope::Repository(_), ConsentScope::Repository(_))
                | (ConsentScope::Sync(_), ConsentScope::Sync(_))
        );
        is_same_kind && self.path == other.path
    }
}
