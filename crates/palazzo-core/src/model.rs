//! Domain types of a palace: plain values without access to files, git or MCP.
//!
//! The types that the upper modules exchange ([`Files`], [`Changeset`], [`Diagnostic`]) are here
//! too, so that those modules do not depend on each other.

mod audience;
mod changeset;
mod client_setup;
pub mod commit_trailers;
mod conflict;
mod date;
mod diagnostic;
mod diary;
mod document;
mod drawer;
mod embedding_vector;
mod entity;
mod file_kind;
mod git_url;
mod graph;
mod hall;
mod history;
mod host_memory;
mod item;
mod memory_trigger;
mod palace;
mod proposal;
mod provenance;
mod room;
mod scroll;
mod secret;
mod settings;
mod slug;
mod text;
mod text_location;
mod time_zone;
mod tool;
mod uri;
mod work;

pub use crate::model::diagnostic::code::{Code, Rule, Severity};
pub use crate::model::document::file_name::{time_in_file_name, title_from_file_name};
pub use crate::model::document::headings::{Heading, Headings};
pub use crate::model::document::properties::DocumentProperties;
pub use crate::model::document::written_time::parse_written_time;
pub use crate::model::entity::genus::{AttributeDef, AttributeKind, Genus, RelationDef, StatusDef};
pub use crate::model::entity::relation::{Relation, Triple};
pub use crate::model::graph::entity_check::EntityFault;
pub use crate::model::graph::grouped_entities::{GroupedEntities, GroupedEntity};
pub use crate::model::history::item_diff::{
    ChangeDetail, ChangeKind, DiffLine, DiffWords, ItemDiff, ItemElement, ItemOrFile,
};
pub use crate::model::history::visit::{
    ChangeSteps, HandOver, RecordedVisit, RepeatedChanges, UndoneAmount, VisitDetails,
};
pub use crate::model::room::action::{Action, ActionKind, NavigationTarget};
pub use crate::model::room::menu::{Layout, Slot};
pub use crate::model::settings::consent::{Consent, ConsentScope, MemoryConsent};
pub use crate::model::settings::note_folder::{NoteFolder, NoteFolders, NotePatterns};
pub use crate::model::text::entity_link::{
    EntityLink, entity_links, rename_in_entity_links, replace_entity_links,
};
pub use crate::model::text::invisible::{
    is_invisible, is_printable, mark_hidden_chars, may_be_hidden,
};
pub use crate::model::text::look_alike::{fold_look_alikes, letter_that_looks_like};
pub use crate::model::text::side_files::{SideFile, is_editor_file, side_file};
pub use crate::model::text::token_weight::{abridge_to_weight, token_weight};
pub use audience::{Audience, Reader};
pub use changeset::{Author, Changeset, FileEdit, Files, MAX_FILE_BYTES, max_file_bytes};
pub use client_setup::{ClientSetup, InsertionTrace, TextChange};
pub use conflict::{Conflict, ConflictAuthor, ConflictChoice, LastChange, OpenConflict};
pub use date::{Date, DateError, PointInTime};
pub use diagnostic::{
    Diagnostic, MeantWord, PathStep, Position, ValuePath, typo_correction, typo_corrections,
};
pub use diary::{Diaries, DiaryEntry};
pub use document::{document_body, document_date, document_title};
pub use drawer::{
    DisplayWingRoom, Drawer, Drawers, FrontMatterWingRoom, is_markdown_file, parse_drawer_id,
};
pub use embedding_vector::{EmbeddingVector, VectorsByTextHash};
pub use entity::Entity;
pub use file_kind::{FileKind, PALACE_FOLDERS};
pub use git_url::{GitUrl, GitUrlError};
pub use graph::{DatedFact, EntityFilter, FactEvent, Graph, IncomingRelation, TimeSpan};
pub use hall::{GroupBy, GroupHeading, Grouping, Hall, HallBoundary};
pub use history::{
    BlamedLine, CommitDetails, CommitId, CommitSummary, FileCommit, FileContent, FileDiff,
    FileHistories, FileHistory, RecentCommits, RoomArrivalOrder, StaleReason,
};
pub use host_memory::{
    HOST_MEMORY_FOLDER, HOST_MEMORY_INDEX, encode_link_target, has_secret_of_memory,
    is_host_memory_path, linked_memory_files, names_memory_file, path_below_host_memory,
};
pub use item::{ItemId, ItemKind, ItemKindError};
pub use memory_trigger::{
    ToolUse, Trigger, TriggerKind, TriggeredMemory, host_memory_name, host_memory_name_in_folder,
};
pub use palace::{Door, Palace};
pub use proposal::Proposal;
pub use provenance::{Origin, Provenance};
pub use room::room_id::{RoomDestination, RoomId, RoomRef};
pub use room::{AmbiguousRoomError, Room};
pub use scroll::{Scroll, ScrollId};
pub use secret::{RedactedText, Secret, SecretKind, find_secrets, redact_secrets};
pub use settings::{
    CommitMode, HandEditMode, Settings, SigningMode, TemplateSettings, TemplateVariable, WatchMode,
};
pub use slug::{Slug, SlugError};
pub use text::{
    MAX_ANSWER_CHARS, MAX_SHOWN_NAME_CHARS, common_prefix_len_ignoring_case,
    compare_alphabetically, did_you_mean, escape_unprintable, escape_unprintable_in_lines,
    escape_unprintable_json, fold_name, foreign_message, normalize_prose, path_text,
    possible_file_paths, quote_for_shell, quoted, quoted_unless_plain, replace_lone_surrogates,
    split_lines, unquote_for_shell, whole_words_prefix_len,
};
pub use text_location::{SoughtText, TextInCommit, TextInFile, TextInRepository, TextLocations};
pub use time_zone::{TimeZone, TimeZoneError};
pub use tool::{Tool, ToolEffect, ToolParameter};
pub use uri::{ResourceUri, UriError, UriTarget};
pub use work::{Process, ProcessStep, Task, WorkStatus, WorkSubject};
