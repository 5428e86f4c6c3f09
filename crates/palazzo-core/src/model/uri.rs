//! URIs of the rooms and scrolls of a palace, and of its findings.

use std::fmt;
use std::str::FromStr;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::model::{RoomId, ScrollId, escape_unprintable};

/// The scheme of the URIs.
const SCHEME: &str = "palace://";

/// All characters except the unreserved ones of RFC 3986, section 2.3.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The URI of a room or a scroll, which need not exist, or of the findings:
/// `palace://survey/rooms/code/auth`, `palace://survey/scrolls/great-hall/01K…`,
/// `palace://survey/findings`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ResourceUri {
    /// The palace: the name of its directory, or its display name.
    pub workspace: String,
    /// What it names in the palace.
    pub target: UriTarget,
}

/// The part of a [`ResourceUri`] after the workspace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UriTarget {
    /// A room.
    Room(RoomId),
    /// A scroll.
    Scroll(ScrollId),
    /// What is wrong or missing in the palace.
    Findings,
}

/// The error for a text that is not a [`ResourceUri`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{}` is not the URI of a palace: write {SCHEME}WORKSPACE/rooms/ROOM, \
     {SCHEME}WORKSPACE/scrolls/ROOM/ID or {SCHEME}WORKSPACE/findings",
    escape_unprintable(.0)
)]
pub struct UriError(String);

impl FromStr for ResourceUri {
    type Err = UriError;

    fn from_str(text: &str) -> Result<Self, UriError> {
        let read = || {
            let mut names = text.strip_prefix(SCHEME)?.splitn(3, '/').map(percent_decode);
            let (workspace, kind, rest) = (names.next()??, names.next()??, names.next());
            let place = match (kind.as_str(), rest) {
                ("findings", None) => UriTarget::Findings,
                ("rooms", Some(rest)) => UriTarget::Room(rest?.parse().ok()?),
                ("scrolls", Some(rest)) => {
                    let rest = rest?;
                    let (room, id) = rest.rsplit_once('/')?;
                    UriTarget::Scroll(ScrollId { room: room.parse().ok()?, id: id.parse().ok()? })
                }
                _ => return None,
            };
            Some(Self { workspace, target: place })
        };
        read().ok_or_else(|| UriError(text.to_owned()))
    }
}

impl fmt::Display for ResourceUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let workspace = utf8_percent_encode(&self.workspace, RESERVED);
        match &self.target {
            UriTarget::Findings => write!(f, "{SCHEME}{workspace}/findings"),
            UriTarget::Room(room) => write!(f, "{SCHEME}{workspace}/rooms/{room}"),
            UriTarget::Scroll(it) => write!(f, "{SCHEME}{workspace}/scrolls/{}/{}", it.room, it.id),
        }
    }
}

fn percent_decode(text: &str) -> Option<String> {
    percent_decode_str(text).decode_utf8().ok().map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parsed_uri_displays_as_it_was_written() {
        for text in [
            "palace://survey/findings",
            "palace://survey/rooms/great-hall",
            "palace://survey/rooms/code/auth",
            "palace://survey/scrolls/great-hall/01KJMPXF9069S44V81ASY1KY37",
            "palace://My%20Palace%2F%C3%A9/scrolls/code/auth/01KJMPXF9069S44V81ASY1KY37",
        ] {
            assert_eq!(text.parse::<ResourceUri>().unwrap().to_string(), text);
        }
        let spelled_out = "palace://survey/rooms/code%2fauth".parse::<ResourceUri>().unwrap();
        assert_eq!(spelled_out.to_string(), "palace://survey/rooms/code/auth");
    }

    #[test]
    fn an_invalid_uri_is_refused_with_the_expected_form() {
        for text in [
            "",
            "palace://",
            "palace://survey",
            "palace://survey/rooms",
            "palace://survey/findings/",
            "palace://survey/findings/all",
            "palace://survey/rooms/",
            "palace://survey/rooms/Great%20Hall",
            "palace://survey/rooms/../../etc/passwd",
            "palace://survey/rooms/%2e%2e/x",
            "palace://survey/rooms/a/b/c",
            "palace://survey/scrolls/hall",
            "palace://survey/scrolls/hall/1",
            "palace://survey/entities/claim/a",
            "palace://%ff/rooms/hall",
            "file:///etc/passwd",
        ] {
            assert!(text.parse::<ResourceUri>().is_err(), "{text}");
        }
        insta::assert_snapshot!("file:///x".parse::<ResourceUri>().unwrap_err(), @"`file:///x` is not the URI of a palace: write palace://WORKSPACE/rooms/ROOM, palace://WORKSPACE/scrolls/ROOM/ID or palace://WORKSPACE/findings");
    }
}
