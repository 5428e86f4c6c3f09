//! The nouns of a palace: plain values that know nothing of files, git or MCP.
//!
//! What the workrooms hand each other lives here too ([`Files`], [`Change`],
//! [`Diagnostic`]), so that they need not meet.

mod action;
mod cabinet;
mod catalogue;
mod change;
mod code;
mod consent;
mod date;
mod diagnostic;
mod diary;
mod difference;
mod drawer;
mod entity;
mod file_kind;
mod genus;
mod graph;
mod hall;
mod health;
mod history;
mod menu;
mod opening;
mod palace;
mod ranked;
mod relation;
mod room;
mod rule;
mod scroll;
mod settings;
mod slug;
mod text;
mod tool;
mod trail;
mod uri;
mod vector;
mod watching;
mod weight;
mod work;

pub use action::{Action, Deed, Doorway};
pub use catalogue::{Card, Heading, Mark, Register};
pub use change::{Author, Change, Edit, Files, LARGEST_FILE};
pub use code::Code;
pub use consent::{Allowed, Consent};
pub use date::{Date, DateError};
pub use diagnostic::{Diagnostic, Severity, Spot, did_you_mean, slip_of, slips_of};
pub use diary::{Diaries, Entry};
pub use difference::{Detail, Difference, Fate, Filed, Part, Thing};
pub use drawer::{Drawer, Drawers, Said, Shelf};
pub use entity::Entity;
pub use file_kind::FileKind;
pub use genus::{Attribute, Genus, Kind, RelationType, Status};
pub use graph::{Event, Fact, Graph, Incoming, Selection, Span, folded};
pub use hall::{Arrangement, By, Hall};
pub use health::Fault;
pub use history::{BlamedLine, CommitId, Content, Differing, History, Moment, Record, Versions};
pub use menu::{Layout, Slot};
pub use opening::{Opening, Sort, SortError};
pub use palace::{Door, Palace};
pub use relation::{Relation, Triple};
pub use room::{Ambiguous, Room, RoomId, RoomRef, prose};
pub use rule::Rule;
pub use scroll::{Scroll, ScrollId};
pub use settings::{Commit, HandEdits, Settings};
pub use slug::{Slug, SlugError};
pub use text::{
    alike, alphabetical, is_printable, lines, printable, printable_json, quoted, whole_words,
};
pub use tool::{Bearing, Parameter, Tool};
pub use trail::{Step, Trail};
pub use uri::{Leaf, NoUri, Uri};
pub use vector::{Vector, Vectors};
pub use watching::Watching;
pub use weight::{abridged, weight};
pub use work::{About, Process, Stage, State, Task};
