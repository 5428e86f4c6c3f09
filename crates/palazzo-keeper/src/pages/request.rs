//! What a page is requested for, and how paths name it.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use palazzo_core::model::{RoomRef, ScrollId};

/// A request for a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// The directory or the name of the palace; without one, the only palace, else the list of all.
    pub workspace: Option<String>,
    /// What the page shows.
    pub target: PageTarget,
    /// The revision or the moment as of which the palace is shown; `None`: the present.
    pub at: Option<String>,
}

/// What a page shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageTarget {
    /// A room; without one, the entry.
    Room(Option<RoomRef>),
    /// The whole map.
    Map,
    /// A scroll.
    Scroll(ScrollId),
    /// The item in a file: a drawer, a task, a diary entry.
    File(String),
    /// An entity, by name.
    Entity(String),
    /// The rooms and genera, or the entities of a genus.
    Index {
        /// The genus.
        genus: Option<String>,
        /// The number of the page, from 1.
        page: usize,
    },
    /// The results of a search.
    Search(String),
    /// The commits, newest first.
    Log {
        /// The number of the page, from 1.
        page: usize,
    },
    /// A commit, by its id or the beginning of it.
    Commit(String),
    /// A visit of an MCP client, by its short id.
    Visit(String),
    /// The proposals.
    Proposals,
    /// A proposal, by its branch.
    Proposal(String),
    /// The findings and conflicts.
    Findings,
    /// The tasks and processes.
    Tasks,
}

/// Parses the path and the query of a URL; `None` if no page has this path.
pub fn parse_page_path(path: &str, query: &str) -> Option<PageRequest> {
    let parts = path.split('/').filter(|it| !it.is_empty()).map(decode);
    let parts = parts.collect::<Option<Vec<_>>>()?;
    let value = |key: &str| {
        let pairs = query.split('&').filter_map(|it| it.split_once('='));
        let (_, value) = pairs.into_iter().find(|(it, _)| *it == key)?;
        decode(&value.replace('+', " ")).filter(|it| !it.is_empty())
    };
    let page = value("page").and_then(|it| it.parse().ok()).unwrap_or(1).max(1);
    let Some((workspace, rest)) = parts.split_first() else {
        return Some(PageRequest { workspace: None, target: PageTarget::Room(None), at: None });
    };
    let rest: Vec<_> = rest.iter().map(String::as_str).collect();
    let target = match rest.as_slice() {
        [] => PageTarget::Room(None),
        ["rooms", room @ ..] => PageTarget::Room(Some(room.join("/").parse().ok()?)),
        ["scrolls", room @ .., id] => PageTarget::Scroll(ScrollId {
            room: room.join("/").parse().ok()?,
            id: id.parse().ok()?,
        }),
        ["files", path @ ..] if !path.is_empty() => PageTarget::File(path.join("/")),
        ["entities", name] => PageTarget::Entity((*name).to_owned()),
        ["index"] => PageTarget::Index { genus: value("genus"), page },
        ["search"] => PageTarget::Search(value("q").unwrap_or_default()),
        ["log"] => PageTarget::Log { page },
        ["commits", id] if is_commit_id(id) => PageTarget::Commit((*id).to_owned()),
        ["visits", id] => PageTarget::Visit((*id).to_owned()),
        ["proposals"] => PageTarget::Proposals,
        ["proposals", branch] => PageTarget::Proposal((*branch).to_owned()),
        ["findings"] => PageTarget::Findings,
        ["tasks"] => PageTarget::Tasks,
        ["map"] => PageTarget::Map,
        _ => return None,
    };
    let at = value("at");
    if at.as_ref().is_some_and(|it| !is_moment(it)) {
        return None;
    }
    Some(PageRequest { workspace: Some(workspace.clone()), target, at })
}

fn decode(text: &str) -> Option<String> {
    percent_decode_str(text).decode_utf8().ok().map(Cow::into_owned)
}

fn is_commit_id(text: &str) -> bool {
    (4..=64).contains(&text.len()) && text.chars().all(|it| it.is_ascii_hexdigit())
}

/// Returns whether a text can be a revision or a moment; git's searches through history are none.
fn is_moment(text: &str) -> bool {
    let is_allowed = |it: char| it.is_ascii_alphanumeric() || " .:+-_~/".contains(it);
    text.len() <= 100 && !text.starts_with([':', '-']) && text.chars().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(path: &str, query: &str) -> Option<PageTarget> {
        parse_page_path(path, query).map(|it| it.target)
    }

    #[test]
    fn a_path_names_a_page() {
        let room = PageTarget::Room(Some("east/hall".parse().unwrap()));
        assert_eq!(target("/keep/rooms/east/hall", ""), Some(room));
        assert_eq!(target("/keep", ""), Some(PageTarget::Room(None)));
        let entity = PageTarget::Entity("a/b <i>".to_owned());
        assert_eq!(target("/keep/entities/a%2Fb%20%3Ci%3E", ""), Some(entity));
        let index = PageTarget::Index { genus: Some("A&B c".to_owned()), page: 3 };
        assert_eq!(target("/keep/index", "genus=A%26B+c&page=3"), Some(index));
        assert_eq!(parse_page_path("/", "").unwrap().workspace, None);
        let past = parse_page_path("/my%20keep/log", "at=2026-03-01").unwrap();
        assert_eq!(
            (past.workspace.unwrap(), past.at.unwrap()),
            ("my keep".into(), "2026-03-01".into())
        );
    }

    #[test]
    fn other_paths_name_none() {
        for (path, query) in [
            ("/keep/rooms/..", ""),
            ("/keep/commits/HEAD", ""),
            ("/keep/nothing", ""),
            ("/keep/rooms/A%20B", ""),
            ("/keep/entities/%ff", ""),
            ("/keep", "at=:/fix"),
            ("/keep", "at=HEAD^{/fix}"),
            ("/keep", "at=--all"),
        ] {
            assert_eq!(target(path, query), None, "{path}?{query}");
        }
    }
}
