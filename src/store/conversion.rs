//! Line ends: the bytes git keeps need not be those on the disk.

use std::borrow::Cow;
use std::io::Read as _;
use std::path::Path;

use gix::filter::Pipeline;
use gix::filter::plumbing::pipeline::convert::ToGitOutcome;
use gix::worktree::stack::state::attributes::Source;

/// Returns what git keeps of a file at `path` that holds `text`, by its configuration and attributes.
pub(super) fn to_git<'a>(
    git: &gix::Repository,
    index: &gix::index::State,
    path: &str,
    text: &'a str,
) -> gix::Result<Cow<'a, [u8]>> {
    // Asking costs as much as the rest of a commit, and without this there is nothing to convert.
    if !text.contains('\r') {
        return Ok(Cow::Borrowed(text.as_bytes()));
    }
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

#[cfg(test)]
mod tests {
    use super::super::scene::{Scene, change, done};

    const HALL: &str = "rooms/hall.yaml";

    #[test]
    fn where_git_converts_line_ends_a_checked_out_file_is_no_hand_edit() {
        let scene = Scene::of_a_person();
        scene.put("keep/rooms/hall.yaml", "a: 1\n");
        scene.git(&["add", "keep"]);
        scene.git(&["commit", "-qm", "keep"]);
        scene.git(&["config", "core.autocrlf", "true"]);
        std::fs::remove_file(scene.home.join("keep/rooms/hall.yaml")).unwrap();
        scene.git(&["checkout", "keep"]);
        assert_eq!(scene.text("keep/rooms/hall.yaml"), "a: 1\r\n");
        let mut store = scene.palace("keep");
        done(&mut store, &change(HALL, Some("a: 1\r\n"), Some("a: 2\r\n")));
        assert_eq!(scene.git(&["show", "HEAD:keep/rooms/hall.yaml"]), "a: 2\n");
        assert_eq!(scene.text("keep/rooms/hall.yaml"), "a: 2\r\n");
        assert!(!scene.log().contains("hand edit"));
        assert_eq!(scene.status(), "");
    }

    #[test]
    fn without_conversion_line_ends_are_kept_as_they_are() {
        let scene = Scene::of_a_person();
        done(&mut scene.palace("keep"), &change(HALL, None, Some("a: 1\r\n")));
        assert_eq!(scene.git(&["show", "HEAD:keep/rooms/hall.yaml"]), "a: 1\r\n");
        scene.put(".gitattributes", "*.yaml text\n");
        let now = Some("a: 2\r\n");
        done(&mut scene.palace("keep"), &change(HALL, Some("a: 1\r\n"), now));
        assert_eq!(scene.git(&["show", "HEAD:keep/rooms/hall.yaml"]), "a: 2\n");
        assert_eq!(scene.status(), "?? .gitattributes\n");
    }
}
