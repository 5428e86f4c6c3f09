//! Converts line endings between the working directory and git.
//!
//! Only line endings are converted; files that need a filter are refused (`git_attributes`).

use std::borrow::Cow;
use std::io::Read as _;
use std::path::Path;

use gix::filter::Pipeline;
use gix::filter::plumbing::pipeline::convert::ToGitOutcome;
use gix::worktree::stack::state::attributes::Source;

use crate::repo::git_attributes::{check_attribute_files, converting_attribute};

/// Returns the bytes that git stores for a file at `path` with the content `text`.
pub(crate) fn convert_to_git<'a>(
    git: &gix::Repository,
    index: &gix::index::State,
    path: &str,
    text: &'a str,
) -> gix::Result<Cow<'a, [u8]>> {
    // Evaluating attributes costs as much as the rest of a commit; without CR there is nothing to
    // convert.
    if !text.contains('\r') {
        return Ok(Cow::Borrowed(text.as_bytes()));
    }
    check_attribute_files(git, path).map_err(gix::Error::from_error)?;
    let attributes = git.attributes_only(index, Source::WorktreeThenIdMapping)?.detach();
    let mut pipeline = Pipeline::new(git, attributes)?;
    match pipeline.convert_to_git(text.as_bytes(), Path::new(path), index)? {
        ToGitOutcome::Unchanged(_) => Ok(Cow::Borrowed(text.as_bytes())),
        ToGitOutcome::Buffer(bytes) => Ok(Cow::Owned(bytes.to_vec())),
        ToGitOutcome::Process(mut out) => {
            let mut bytes = Vec::new();
            out.read_to_end(&mut bytes).map_err(gix::Error::from_error)?;
            Ok(Cow::Owned(bytes))
        }
    }
}

/// Returns the content on disk of a file at `path` for which git stores `text`.
pub(crate) fn convert_to_disk(
    git: &gix::Repository,
    index: &gix::index::State,
    path: &str,
    text: &str,
) -> gix::Result<String> {
    // Files with a filter are not written by Palazzo anyway.
    if converting_attribute(git, index, path)?.is_some() {
        return Ok(text.to_owned());
    }
    let attributes = git.attributes_only(index, Source::WorktreeThenIdMapping)?.detach();
    let mut pipeline = Pipeline::new(git, attributes)?;
    let options = gix::filter::plumbing::pipeline::convert::to_worktree::Options::default();
    let mut out = pipeline.convert_to_worktree(text.as_bytes(), path.into(), options)?;
    let mut bytes = Vec::new();
    out.read_to_end(&mut bytes).map_err(gix::Error::from_error)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use crate::test_repository::{TestHome, change_of_one_file, commit_ok};

    const HALL: &str = "rooms/hall.yaml";

    #[test]
    fn a_checkout_with_converted_line_endings_is_not_a_hand_edit() {
        let scene = TestHome::with_repository();
        scene.write_file("keep/rooms/hall.yaml", "a: 1\n");
        scene.git(&["add", "keep"]);
        scene.git(&["commit", "-qm", "keep"]);
        scene.git(&["config", "core.autocrlf", "true"]);
        std::fs::remove_file(scene.home.join("keep/rooms/hall.yaml")).unwrap();
        scene.git(&["checkout", "keep"]);
        assert_eq!(scene.read_file("keep/rooms/hall.yaml"), "a: 1\r\n");
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, Some("a: 1\r\n"), Some("a: 2\r\n")));
        assert_eq!(scene.git(&["show", "HEAD:keep/rooms/hall.yaml"]), "a: 2\n");
        assert_eq!(scene.read_file("keep/rooms/hall.yaml"), "a: 2\r\n");
        assert!(!scene.log().contains("hand edit"));
        assert_eq!(scene.status(), "");
    }

    #[test]
    fn without_conversion_line_endings_are_kept() {
        let scene = TestHome::with_repository();
        commit_ok(&mut scene.palace("keep"), &change_of_one_file(HALL, None, Some("a: 1\r\n")));
        assert_eq!(scene.git(&["show", "HEAD:keep/rooms/hall.yaml"]), "a: 1\r\n");
        scene.write_file(".gitattributes", "*.yaml text\n");
        let now = Some("a: 2\r\n");
        commit_ok(&mut scene.palace("keep"), &change_of_one_file(HALL, Some("a: 1\r\n"), now));
        assert_eq!(scene.git(&["show", "HEAD:keep/rooms/hall.yaml"]), "a: 2\n");
        assert_eq!(scene.status(), "?? .gitattributes\n");
    }
}
