//! The attributes by which git stores a file in another form than its text, other than line endings.
//!
//! Filters are programs, and a palace may come from anyone, so files that need a filter are refused.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::attrs::StateRef;
use gix::bstr::{BStr, ByteSlice as _};
use gix::index::State;
use gix::index::entry::{Flags, Mode, Stage, Stat};
use gix::worktree::stack::state::attributes::Source;

use crate::Error;
use crate::repo::git_files;
use crate::repo::regular_file;
use crate::repo::regular_file::SizeLimit;

/// The attributes, other than line endings, by which git stores a file in another form.
const CONVERTING_ATTRIBUTES: [&str; 3] = ["filter", "ident", "working-tree-encoding"];

/// Returns an index of the `.gitattributes` files in a tree that apply to files.
pub(crate) fn attributes_of_tree(
    git: &gix::Repository,
    tree: ObjectId,
    paths: impl Iterator<Item = impl AsRef<str>>,
) -> gix::Result<State> {
    let mut folders = BTreeSet::from([String::new()]);
    for path in paths {
        let path = path.as_ref();
        folders.extend(path.match_indices('/').map(|(end, _)| path[..=end].to_owned()));
    }
    let (root, mut index) = (git.find_tree(tree)?, State::new(git.object_hash()));
    for folder in folders {
        let file = format!("{folder}.gitattributes");
        let found = root.lookup_entry(file.split('/'))?.filter(|it| it.mode().is_blob());
        if let Some(found) = found {
            let (stat, flags) = (Stat::default(), Flags::empty());
            let (id, mode) = (found.object_id(), Mode::FILE);
            index.dangerously_push_entry(stat, id, flags, mode, file.as_str().into());
        }
    }
    index.sort_entries();
    Ok(index)
}

/// Looks for attributes of many files that are not on disk. The attributes are read once.
pub(crate) struct CommittedAttributes<'r> {
    attributes: gix::AttributeStack<'r>,
    matches: gix::attrs::search::Outcome,
}

impl<'r> CommittedAttributes<'r> {
    /// Prepares the look with the attributes in `index`, and those of the user.
    pub(crate) fn new(git: &'r gix::Repository, index: &State) -> gix::Result<Self> {
        check_attribute_files(git, "any").map_err(gix::Error::from_error)?;
        let attributes = git.attributes_only(index, Source::IdMapping)?;
        let matches = attributes.selected_attribute_matches(CONVERTING_ATTRIBUTES);
        Ok(Self { attributes, matches })
    }

    /// Returns the attribute by which git would convert the file at `path` in an unsupported way.
    pub(crate) fn converting_attribute(&mut self, path: &str) -> gix::Result<Option<&'static str>> {
        self.attributes.at_path(path, None)?.matching_attributes(&mut self.matches);
        let states = self.matches.iter_selected();
        let mut states = CONVERTING_ATTRIBUTES.into_iter().zip(states);
        let found = states.find(|(name, it)| is_converting(name, it.assignment.state));
        Ok(found.map(|(name, _)| name))
    }
}

/// Returns the attribute by which git would convert the file at `path` in an unsupported way.
pub(crate) fn converting_attribute(
    git: &gix::Repository,
    index: &gix::index::State,
    path: &str,
) -> gix::Result<Option<&'static str>> {
    let files = check_attribute_files(git, path).map_err(gix::Error::from_error)?;
    converting_attribute_in(git, index, path, &files)
}

/// Returns the attribute as [`converting_attribute`] does; `files` are the attributes files on disk.
pub(crate) fn converting_attribute_in(
    git: &gix::Repository,
    index: &gix::index::State,
    path: &str,
    files: &[PathBuf],
) -> gix::Result<Option<&'static str>> {
    // Evaluating attributes is slow, and few repositories use one of these.
    if !files_mention_converting_attribute(files, git, index, path)? {
        return Ok(None);
    }
    let mut stack = git.attributes_only(index, Source::WorktreeThenIdMapping)?;
    let mut matches = stack.selected_attribute_matches(CONVERTING_ATTRIBUTES);
    stack.at_path(path, None)?.matching_attributes(&mut matches);
    let mut states = CONVERTING_ATTRIBUTES.into_iter().zip(matches.iter_selected());
    Ok(states.find(|(name, it)| is_converting(name, it.assignment.state)).map(|(name, _)| name))
}

/// Checks every attributes file that may apply to `path` before it is opened; returns those that
/// exist.
pub(crate) fn check_attribute_files(
    git: &gix::Repository,
    path: &str,
) -> Result<Vec<PathBuf>, Error> {
    let mut files = match git.workdir() {
        Some(work) => git_files::check_gitattributes(work, path)?,
        None => Vec::new(),
    };
    let own = git.common_dir().join("info/attributes");
    if regular_file::check_regular_file(&own, SizeLimit::Bounded)? {
        files.push(own);
    }
    let global = git.attribute_global_paths().map_err(|err| Error::Git {
        operation: "find the attributes files",
        place: git.common_dir().to_owned(),
        source: err.into(),
    })?;
    for file in global {
        // It may be a link, because the user's own configuration names it.
        if regular_file::check_link_target(&file)? {
            files.push(file);
        }
    }
    Ok(files)
}

/// Returns the attribute that the text of a `.gitattributes` sets for some file, by which git stores
/// it in another form than the text.
pub(crate) fn attribute_set_in(attributes: &str) -> Option<&'static str> {
    let lines = attributes.lines().map(str::trim).filter(|it| !it.starts_with('#'));
    let mut words = lines.flat_map(|it| it.split_whitespace().skip(1));
    words.find_map(|word| {
        CONVERTING_ATTRIBUTES.into_iter().find(|it| {
            let rest = word.strip_prefix(it);
            rest.is_some_and(|rest| rest.starts_with('=') || (rest.is_empty() && *it == "ident"))
        })
    })
}

/// Returns true if an attribute in this state makes git convert the file.
fn is_converting(name: &str, state: StateRef<'_>) -> bool {
    match (name, state) {
        ("ident", state) => state == StateRef::Set,
        ("filter", StateRef::Value(_)) => true,
        (_, StateRef::Value(encoding)) => {
            let encoding = encoding.as_bstr();
            !["utf-8", "utf8"].iter().any(|it| encoding.eq_ignore_ascii_case(it.as_bytes()))
        }
        _ => false,
    }
}

/// Returns true if an attributes file that may apply to `path` contains one of the attribute names.
///
/// `files` are those that exist on disk.
fn files_mention_converting_attribute(
    files: &[PathBuf],
    git: &gix::Repository,
    index: &gix::index::State,
    path: &str,
) -> gix::Result<bool> {
    let mentions =
        |it: &PathBuf| std::fs::read(it).is_ok_and(|it| text_mentions_converting_attribute(&it));
    if files.iter().any(mentions) {
        return Ok(true);
    }
    // If a file is not checked out, git uses the one in the index.
    let above = Path::new(path).ancestors().skip(1).map(|it| it.join(".gitattributes"));
    for file in above.collect::<Vec<_>>().iter().filter_map(|it| it.to_str()) {
        let entry = index.entry_by_path_and_stage(BStr::new(file), Stage::Unconflicted);
        let Some(entry) = entry else { continue };
        if text_mentions_converting_attribute(&git.find_object(entry.id)?.data) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn text_mentions_converting_attribute(text: &[u8]) -> bool {
    CONVERTING_ATTRIBUTES.iter().any(|it| text.contains_str(it))
}

#[cfg(test)]
mod tests {
    use crate::test_repository::{TestHome, change_of_one_file, commit_ok};
    use crate::{Error, Store};

    const HALL: &str = "rooms/hall.yaml";

    fn commit_error(store: &mut Store) -> String {
        match store.commit(&change_of_one_file(HALL, None, Some("secret\n"))) {
            Err(err @ Error::FilteredFile { .. }) => err.to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_file_that_needs_a_git_filter_is_refused() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        for (place, text, attribute) in [
            (
                ".gitattributes",
                "*.md filter=lfs\nkeep/** filter=git-crypt diff=git-crypt\n",
                "filter",
            ),
            ("keep/.gitattributes", "*.yaml ident\n", "ident"),
            (
                "keep/rooms/.gitattributes",
                "* working-tree-encoding=UTF-16\n",
                "working-tree-encoding",
            ),
            (".git/info/attributes", "[attr]secret filter=x\n*.yaml secret\n", "filter"),
        ] {
            scene.write_file(place, text);
            assert_eq!(
                commit_error(&mut store),
                format!(
                    "`rooms/hall.yaml` has the git attribute `{attribute}`, and Palazzo runs no \
                     filters; remove the attribute for the palace, or set `commit = \"manual\"` \
                     under `[git]` in `palace.toml`"
                )
            );
            assert!(!scene.home.join("keep/rooms/hall.yaml").exists());
            std::fs::remove_file(scene.home.join(place)).unwrap();
        }
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
    }

    #[test]
    fn filter_attributes_that_are_only_in_the_index_count() {
        let scene = TestHome::with_repository();
        scene.write_file(".gitattributes", "*.yaml filter=lfs\n");
        scene.git(&["add", ".gitattributes"]);
        scene.git(&["commit", "-qm", "attributes"]);
        std::fs::remove_file(scene.home.join(".gitattributes")).unwrap();
        commit_error(&mut scene.palace("keep"));
    }

    #[test]
    fn a_filter_for_other_files_has_no_effect() {
        let scene = TestHome::with_repository();
        let attributes =
            "*.bin filter=lfs\n*.yaml ident\nkeep/** -ident -filter working-tree-encoding=UTF-8\n";
        scene.write_file(".gitattributes", attributes);
        commit_ok(&mut scene.palace("keep"), &change_of_one_file(HALL, None, Some("1\n")));
        assert_eq!(scene.status(), "?? .gitattributes\n");
    }
}
