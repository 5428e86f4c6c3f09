//! What is special about a repository: it has not all objects, commits or files, another program
//! keeps its `HEAD`, or it has an extension that this version does not know.
//!
//! Nothing is fetched or checked out here. The user gets the command that does it.

use gix::index::entry::Flags;

use crate::Store;
use crate::repo::config;
use crate::repo::index_file;
use crate::repo::palace_trees::palaces_in_commit;
use crate::repo::repository::Repository;
use palazzo_core::model::quote_for_shell;

impl Store {
    /// Returns the warning that a sparse checkout leaves files of the palace out.
    pub fn missing_files_warning(&self) -> Option<String> {
        let repository = self.repository().ok()??;
        let count = repository.count_files_outside_checkout()?;
        (count > 0).then(|| {
            format!(
                "this is a sparse checkout without {count} of the palace's files, which are not \
                 read; `{}` checks them out",
                repository.sparse_checkout_command()
            )
        })
    }

    /// Lists the palaces in or below the store's folder that the last commit has and a sparse
    /// checkout leaves out, with the command that checks them out.
    pub fn palaces_outside_checkout(&self) -> Option<(Vec<String>, String)> {
        let repository = self.repository().ok()??;
        let (git, head) = (repository.git(), repository.head().ok()??);
        if !repository.is_sparse() {
            return None;
        }
        let mut palaces = palaces_in_commit(&git, head, &repository.prefix).ok()?;
        palaces.retain(|it| !repository.work.join(it).join("palace.toml").exists());
        let words: Vec<_> = palaces.iter().map(|it| quote_for_shell(it)).collect();
        let command = repository.git_command(&format!("sparse-checkout add {}", words.join(" ")));
        (!palaces.is_empty()).then_some((palaces, command))
    }
}

impl Repository {
    fn is_sparse(&self) -> bool {
        self.git().config_snapshot().boolean("core.sparseCheckout") == Some(true)
    }

    /// Counts the files of the palace that a sparse checkout leaves out; `None`: it is none.
    fn count_files_outside_checkout(&self) -> Option<usize> {
        if !self.is_sparse() {
            return None;
        }
        let index = index_file::load_or_rebuild_index(&self.git()).ok()?;
        let entries = match self.prefix.as_str() {
            "" => index.entries(),
            prefix => index.prefixed_entries(prefix.into()).unwrap_or_default(),
        };
        let is_missing = |it: &gix::index::Entry| {
            let path = it.path(&index).to_string();
            it.flags.contains(Flags::SKIP_WORKTREE) && !self.work.join(path).exists()
        };
        Some(entries.iter().filter(|it| is_missing(it)).count())
    }

    /// Describes what is special about the repository, each with the command that helps.
    pub(crate) fn peculiarities(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if config::is_partial_clone(&self.git()) {
            lines.push(format!(
                "partial clone: older versions may not be here; {} fetches them",
                self.git_command("fetch --refetch --no-filter")
            ));
        }
        if self.is_shallow() {
            lines.push(format!(
                "shallow clone: the history begins late; {} fetches the rest",
                self.git_command("fetch --unshallow")
            ));
        }
        lines.extend(self.count_files_outside_checkout().map(|count| match count {
            0 => "sparse checkout: with all files of this palace".to_owned(),
            _ => format!(
                "sparse checkout: without {count} of the files of this palace; {} checks them out",
                self.sparse_checkout_command()
            ),
        }));
        if self.is_kept_by_jj() {
            lines.push(
                "jj repository: HEAD is always detached; jj bookmark set NAME -r @- names the \
                 commits, jj git push shares them"
                    .to_owned(),
            );
        }
        lines.extend(self.reject_unknown_extensions().err().map(|it| format!("read-only: {it}")));
        lines
    }
}
