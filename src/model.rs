//! The nouns of a palace: plain values that know nothing of files, git or MCP.
//!
//! What the workrooms hand each other lives here too ([`Files`], [`Change`],
//! [`Diagnostic`]), so that they need not meet.

mod change;
mod date;
mod diagnostic;
mod diary;
mod drawer;
mod entity;
mod file_kind;
mod graph;
mod hall;
mod history;
mod item;
mod palace;
mod room;
mod scroll;
mod settings;
mod slug;
mod text;
mod tool;
mod uri;
mod vector;
mod work;

pub use crate::model::diagnostic::code::Code;
pub use crate::model::diagnostic::rule::Rule;
pub use crate::model::diagnostic::value_path::{Step, Trail};
pub use crate::model::entity::genus::{Attribute, Genus, Kind, RelationType, Status};
pub use crate::model::entity::relation::{Relation, Triple};
pub use crate::model::graph::entity_check::Fault;
pub use crate::model::graph::grouped_entities::{Card, Heading, Mark, Register};
pub use crate::model::history::item_diff::{Detail, Difference, Fate, Filed, Part, Thing};
pub use crate::model::room::action::{Action, Deed, Doorway};
pub use crate::model::room::menu::{Layout, Slot};
pub use crate::model::settings::consent::{Allowed, Consent};
pub use crate::model::settings::watch_mode::Watching;
pub use crate::model::text::token_weight::{abridged, weight};
pub use change::{Author, Change, Edit, Files, LARGEST_FILE};
pub use date::{Date, DateError};
pub use diagnostic::{Diagnostic, Severity, Spot, did_you_mean, slip_of, slips_of};
pub use diary::{Diaries, Entry};
pub use drawer::{Drawer, Drawers, Said, Shelf};
pub use entity::Entity;
pub use file_kind::FileKind;
pub use graph::{Event, Fact, Graph, Incoming, Selection, Span, folded};
pub use hall::{Arrangement, By, Hall};
pub use history::{BlamedLine, CommitId, Content, Differing, History, Moment, Record, Versions};
pub use item::{Opening, Sort, SortError};
pub use palace::{Door, Palace};
pub use room::{Ambiguous, Room, RoomId, RoomRef, prose};
pub use scroll::{Scroll, ScrollId};
pub use settings::{Commit, HandEdits, Settings};
pub use slug::{Slug, SlugError};
pub use text::{
    alike, alphabetical, is_printable, lines, printable, printable_json, quoted, whole_words,
};
pub use tool::{Bearing, Parameter, Tool};
pub use uri::{Leaf, NoUri, Uri};
pub use vector::{Vector, Vectors};
pub use work::{About, Process, Stage, State, Task};
