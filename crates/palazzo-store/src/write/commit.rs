//! Builds commits: their trees, messages and authors.

use gix::ObjectId;
use gix::bstr::ByteSlice as _;
use gix::objs::WriteTo as _;

use crate::repo::tree_lookup::{BlobEntry, tree_of_commit};
use crate::write::objects::ObjectWriter;
use crate::write::signing::Signer;
use palazzo_core::model::{Author, Changeset};

/// A commit to be made: the files that differ from its parent, with its metadata.
#[derive(Debug)]
pub(crate) struct CommitDraft {
    /// Paths inside the working directory; `None`: the file is deleted.
    pub(crate) files: Vec<(String, Option<BlobEntry>)>,
    pub(crate) author: GitIdentity,
    pub(crate) committer: GitIdentity,
    /// The time in seconds since 1970.
    pub(crate) seconds: i64,
    pub(crate) message: String,
}

/// A name and an email address in a form that git accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GitIdentity {
    name: String,
    email: String,
}

impl CommitDraft {
    /// Writes the trees and the commit on top of `parent`; `None`: nothing differs from it.
    pub(crate) fn write_trees_and_commit(
        &self,
        writer: &mut ObjectWriter<'_>,
        signer: Option<&Signer>,
        parent: Option<ObjectId>,
    ) -> gix::Result<Option<ObjectId>> {
        let before = tree_of_commit(writer.git(), parent)?;
        let tree = self.write_trees(writer, before)?;
        if tree == before && !(parent.is_none() && self.files.iter().any(|it| it.1.is_some())) {
            return Ok(None);
        }
        self.write_commit(writer, signer, tree, parent.as_slice()).map(Some)
    }

    /// Writes the trees with the files, which differ from the tree `before`; returns the id of the
    /// root.
    pub(crate) fn write_trees(
        &self,
        writer: &mut ObjectWriter<'_>,
        before: ObjectId,
    ) -> gix::Result<ObjectId> {
        let git = writer.git();
        let root = git.find_tree(before)?.decode()?.into_owned();
        // gix's repository-level editor looks up every neighbour of a changed file; this
        // lower-level one costs only what changed.
        let mut tree = gix::objs::tree::Editor::new(root, &git.objects, git.object_hash());
        for (path, entry) in &self.files {
            let parts = path.split('/');
            match entry {
                Some(it) => tree.upsert(parts, it.kind, it.id)?,
                None => tree.remove_leaf(parts)?,
            };
        }
        tree.write(|tree| writer.write(tree))
    }

    /// Writes the commit, signed if the user's configuration asks for that; fails if `signer` has
    /// to sign it first. Without a signer, it is not signed.
    pub(crate) fn write_commit(
        &self,
        writer: &mut ObjectWriter<'_>,
        signer: Option<&Signer>,
        tree: ObjectId,
        parents: &[ObjectId],
    ) -> gix::Result<ObjectId> {
        let mut commit = gix::objs::Commit {
            tree,
            parents: parents.into(),
            author: self.author.to_signature(self.seconds),
            committer: self.committer.to_signature(self.seconds),
            encoding: None,
            message: self.message.as_str().into(),
            extra_headers: Vec::new(),
        };
        if let Some(signer) = signer {
            let mut payload = Vec::new();
            commit.write_to(&mut payload).map_err(gix::Error::from_error)?;
            if let Some(signature) = signer.find_signature(writer.git(), &payload)? {
                commit.extra_headers.push(("gpgsig".into(), signature.into()));
            }
        }
        writer.write(&commit)
    }

    /// Returns the reflog entry of this commit: committer, time and subject.
    pub(crate) fn reflog_entry(&self) -> String {
        let subject = self.message.lines().next().unwrap_or_default();
        let who = self.committer.description();
        format!("{who} {} +0000\tcommit: {subject}", self.seconds.max(0))
    }
}

impl GitIdentity {
    /// Returns the author and committer of merges, which is the same on every machine.
    pub(crate) fn for_sync() -> Self {
        Self { name: "palazzo".to_owned(), email: Author::SYNC_EMAIL.to_owned() }
    }

    /// Returns the author identity for a client name.
    pub(crate) fn for_client(name: &str) -> Self {
        let name = Self::clean_part(name, "agent");
        let local: Vec<String> = name
            .to_lowercase()
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|it| !it.is_empty())
            .map(str::to_owned)
            .collect();
        let local = if local.is_empty() { "agent".to_owned() } else { local.join("-") };
        Self { name, email: format!("{local}{}", Author::CLIENT_EMAIL_DOMAIN) }
    }

    /// Returns git's configured author, for files edited by the user.
    pub(crate) fn for_hand_edit(git: &gix::Repository) -> Self {
        Self::configured_author_or(git, "someone")
    }

    /// Returns git's configured author, or otherwise one named `name`.
    pub(crate) fn configured_author_or(git: &gix::Repository, name: &str) -> Self {
        Self::configured_or(git, "author", Self::on_this_machine(name))
    }

    /// Returns git's configured committer, or otherwise Palazzo.
    pub(crate) fn for_committer(git: &gix::Repository) -> Self {
        Self::configured_or(git, "committer", Self::on_this_machine("palazzo"))
    }

    fn on_this_machine(name: &str) -> Self {
        let Self { name, email } = Self::for_client(name);
        Self { name, email: email.replace(Author::CLIENT_EMAIL_DOMAIN, "@localhost") }
    }

    /// Returns git's configured author or committer, or `fallback` if nothing is configured. The
    /// name and the email address complete each other.
    fn configured_or(git: &gix::Repository, role: &str, fallback: Self) -> Self {
        let config = git.config_snapshot();
        let text = |key: &str| {
            let text = config.string(key)?.to_str_lossy().trim().to_owned();
            Some(text).filter(|it| !it.is_empty())
        };
        let either =
            |key: &str| text(&format!("{role}.{key}")).or_else(|| text(&format!("user.{key}")));
        // The variable `EMAIL` comes last.
        let email = either("email").or_else(|| text("gitoxide.user.emailFallback"));
        let (name, email) = match (either("name"), email) {
            (Some(name), Some(email)) => (name, email),
            (Some(name), None) => {
                let email = Self::on_this_machine(&name).email;
                (name, email)
            }
            (None, Some(email)) => (email.split('@').next().unwrap_or_default().to_owned(), email),
            (None, None) => return fallback,
        };
        let name = Self::clean_part(&name, &fallback.name);
        Self { name, email: Self::clean_part(&email, &fallback.email) }
    }

    /// Removes the characters that git does not allow in a name, and those that it would trim.
    fn clean_part(name: &str, fallback: &str) -> String {
        let allowed: String =
            name.chars().filter(|c| !matches!(c, '<' | '>') && !c.is_control()).collect();
        let is_trimmed =
            |c: char| c.is_whitespace() || matches!(c, '.' | ',' | ':' | ';' | '"' | '\\' | '\'');
        let clean = allowed.trim_matches(is_trimmed);
        if clean.is_empty() { fallback.to_owned() } else { clean.to_owned() }
    }

    /// Returns the identity as `Ada <ada@example.org>`.
    pub(crate) fn description(&self) -> String {
        format!("{} <{}>", self.name, self.email)
    }

    fn to_signature(&self, seconds: i64) -> gix::actor::Signature {
        let time = gix::date::Time { seconds: seconds.max(0), offset: 0 };
        let (name, email) = (self.name.as_str().into(), self.email.as_str().into());
        gix::actor::Signature { name, email, time }
    }
}

/// Returns a commit's message: subject, body, trailers.
pub(crate) fn commit_message(change: &Changeset) -> String {
    let subject = one_line(&change.subject);
    let body = change.body.replace('\0', "");
    let trailers: Vec<String> =
        change.trailers.iter().map(|(key, value)| format!("{key}: {}", one_line(value))).collect();
    let parts = [subject, body.trim().to_owned(), trailers.join("\n")];
    let parts: Vec<String> = parts.into_iter().filter(|it| !it.is_empty()).collect();
    parts.join("\n\n") + "\n"
}

fn one_line(text: &str) -> String {
    let text = text.replace('\0', "");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_client_name_becomes_a_valid_git_author() {
        let author = |name: &str| {
            let GitIdentity { name, email } = GitIdentity::for_client(name);
            format!("{name} <{email}>")
        };
        assert_eq!(author("claude-code 1.2"), "claude-code 1.2 <claude-code-1-2@palazzo.invalid>");
        assert_eq!(author(""), "agent <agent@palazzo.invalid>");
        assert_eq!(author("<>\n\0 .,"), "agent <agent@palazzo.invalid>");
        assert_eq!(author("Eve <e@x>\nfoo"), "Eve e@xfoo <eve-e-xfoo@palazzo.invalid>");
        assert_eq!(author("Žofie"), "Žofie <ofie@palazzo.invalid>");
        assert_eq!(author("客"), "客 <agent@palazzo.invalid>");
    }

    #[test]
    fn a_lone_name_or_address_is_used() {
        let scene = crate::test_repository::TestHome::with_repository();
        let identities = |name: Option<&str>, email: Option<&str>| {
            for (key, value) in [("user.name", name), ("user.email", email)] {
                match value {
                    Some(value) => scene.git(&["config", key, value]),
                    None => scene.git(&["config", key, ""]),
                };
            }
            scene.palace("keep").commit_identities("ada").unwrap().unwrap()
        };
        let both = |author: &str, committer: &str| (author.to_owned(), committer.to_owned());
        let ada = "ada <ada@localhost>";
        assert_eq!(identities(None, None), both(ada, "palazzo <palazzo@localhost>"));
        let grace = "Grace H. <grace-h@localhost>";
        assert_eq!(
            identities(Some("Grace H."), None),
            both(&grace.replace("H.", "H"), &grace.replace("H.", "H"))
        );
        let grace = "grace <grace@example.org>";
        assert_eq!(identities(None, Some("grace@example.org")), both(grace, grace));
        let grace = "Grace <g@example.org>";
        assert_eq!(identities(Some("Grace"), Some("g@example.org")), both(grace, grace));
    }

    #[test]
    fn a_commit_message_omits_empty_parts() {
        let mut change = crate::test_repository::change_of_one_file("a", None, Some("x"));
        change.subject = "room\na:\0 build".to_owned();
        change.trailers.push(("Palazzo-Client", "two\nlines".to_owned()));
        let all = "room a: build\n\nThe hall has two doors now.\n\nPalazzo-Tool: build_room\nPalazzo-Client: two lines\n";
        assert_eq!(commit_message(&change), all);
        change.body = String::new();
        change.trailers.clear();
        assert_eq!(commit_message(&change), "room a: build\n");
    }
}
