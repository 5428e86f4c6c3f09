//! Rewrites a whole file, with its comments.

use crate::format::yaml::attached_comments::AttachedComments;
use crate::format::yaml::comments::CommentsAndDashes;
use crate::format::yaml::output_node::OutputNode;
use crate::format::yaml::parse::{Node, parse_yaml};
use crate::format::yaml::write::serialize_yaml_with_comments;

/// Writes the node that `out` makes of the parsed `text`, with the comments of `text`; `None` if
/// `text` cannot be parsed.
pub(in crate::format) fn rewrite_yaml(
    text: &str,
    out: impl Fn(&Node) -> OutputNode,
) -> Option<String> {
    let root = parse_yaml(text).ok()?;
    let out = out(&root);
    let mut notes =
        AttachedComments::attach_all_comments(text, &root, &CommentsAndDashes::scan(text));
    notes.fit_to_output(&out);
    Some(serialize_yaml_with_comments(&out, &notes))
}

/// Writes the node `now` with the comments of `text`, whose content is `was`; `None` if `text`
/// cannot be parsed.
pub(in crate::format) fn rewrite_edited_yaml(
    text: &str,
    was: &OutputNode,
    now: &OutputNode,
) -> Option<String> {
    let root = parse_yaml(text).ok()?;
    let mut notes =
        AttachedComments::attach_all_comments(text, &root, &CommentsAndDashes::scan(text));
    notes.follow_items(was, now);
    notes.fit_to_output(now);
    Some(serialize_yaml_with_comments(now, &notes))
}
