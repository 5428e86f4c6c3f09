//! The arguments of the MemPalace tools, with its field names. A blank text counts as
//! absent.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::mcp::arguments::graph::DirectionInput;
use crate::mcp::arguments::{
    LenientDate, LenientInteger, LenientNumber, non_blank_date, trimmed_non_blank,
};
use palazzo_core::model::{DisplayWingRoom, Relation, Triple};
use palazzo_keeper::{Direction, NewDrawer, NewFact};

/// The arguments of `mempalace_list_rooms`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct ListRooms {
    /// Only this wing.
    wing: Option<String>,
}

/// The arguments of `mempalace_search`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct MempalaceSearch {
    /// A question or words to search for.
    pub(in crate::mcp) query: String,
    /// Maximum number of results, 1 to 100; default 5.
    limit: Option<LenientInteger>,
    /// Only this wing, by its exact name.
    wing: Option<String>,
    /// Only rooms of this exact name.
    room: Option<String>,
    /// Only texts filed on or after this date.
    since: Option<LenientDate>,
    /// Only texts filed before this date.
    before: Option<LenientDate>,
}

/// The arguments of `mempalace_check_duplicate`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct CheckDuplicate {
    /// The text to check.
    pub(in crate::mcp) content: String,
    /// Minimum similarity, 0 to 1; default 0.9: only the wording differs.
    threshold: Option<LenientNumber>,
}

/// The arguments of `mempalace_add_drawer`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct AddDrawer {
    /// A person or a project: `wing_code`.
    wing: String,
    /// The topic: `auth-migration`.
    room: String,
    /// The text, kept word for word.
    content: String,
    /// The source of the text.
    source_file: Option<String>,
    /// Who files it.
    added_by: Option<String>,
    /// File it even if it or a similar text is filed already.
    force: Option<bool>,
}

impl From<AddDrawer> for NewDrawer {
    fn from(it: AddDrawer) -> Self {
        Self {
            shelf: DisplayWingRoom { wing: it.wing, room: it.room },
            text: it.content,
            source: trimmed_non_blank(it.source_file),
            by: trimmed_non_blank(it.added_by),
            force: it.force.unwrap_or_default(),
        }
    }
}

/// The arguments of `mempalace_delete_drawer`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct DeleteDrawer {
    /// The id that search or `add_drawer` returned.
    pub(in crate::mcp) drawer_id: String,
}

/// The arguments of `mempalace_kg_query`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct KgQuery {
    /// A name, in any spelling: `Max`, `max`.
    pub(in crate::mcp) entity: String,
    /// Only facts valid on this date: 2026-01-15.
    as_of: Option<LenientDate>,
    /// Only facts from it, or only facts to it.
    direction: Option<DirectionInput>,
}

/// The arguments of `mempalace_kg_add`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct KgAdd {
    /// The subject: `Max`.
    subject: String,
    /// The predicate: `loves`, `works_on`.
    predicate: String,
    /// The object: `chess`.
    object: String,
    /// The start date: 2026-01-15, or only 2026.
    valid_from: Option<LenientDate>,
    /// The end date.
    valid_to: Option<LenientDate>,
    /// The source: a drawer id, a file.
    source_closet: Option<String>,
}

impl From<KgAdd> for NewFact {
    fn from(it: KgAdd) -> Self {
        let (since, until) = (non_blank_date(it.valid_from), non_blank_date(it.valid_to));
        let source = trimmed_non_blank(it.source_closet);
        let relation = Relation { kind: it.predicate, to: it.object, since, until, source };
        Self { subject: it.subject, relation }
    }
}

/// The arguments of `mempalace_kg_invalidate`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct KgInvalidate {
    /// The subject.
    subject: String,
    /// The predicate.
    predicate: String,
    /// The object.
    object: String,
    /// The end date; default today.
    ended: Option<LenientDate>,
}

/// The arguments of `mempalace_kg_timeline`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct KgTimeline {
    /// Only facts about this name; default: all facts.
    entity: Option<String>,
    /// Maximum number of facts, 1 to 100; default 100.
    limit: Option<LenientInteger>,
    /// Facts to skip; default 0.
    offset: Option<LenientInteger>,
}

/// The arguments of `mempalace_traverse`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct Traverse {
    /// The exact name of the first room.
    pub(in crate::mcp) start_room: String,
    /// Maximum number of steps, 0 to 10; default 2.
    max_hops: Option<LenientInteger>,
}

/// The arguments of `mempalace_find_tunnels`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct FindTunnels {
    /// Only rooms that are in this wing.
    wing_a: Option<String>,
    /// Only rooms also in this wing.
    wing_b: Option<String>,
}

/// The arguments of `mempalace_diary_write`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct DiaryWrite {
    /// Your name; each agent has its own diary.
    pub(in crate::mcp) agent_name: String,
    /// What happened, what you learned, what matters.
    pub(in crate::mcp) entry: String,
    /// The topic, in one word.
    pub(in crate::mcp) topic: Option<String>,
}

/// The arguments of `mempalace_diary_read`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct DiaryRead {
    /// The agent whose diary to read.
    pub(in crate::mcp) agent_name: String,
    /// Maximum number of entries, 1 to 100; default 10.
    last_n: Option<LenientInteger>,
}

impl ListRooms {
    pub(in crate::mcp) fn wing(self) -> Option<String> {
        trimmed_non_blank(self.wing)
    }
}

impl MempalaceSearch {
    pub(in crate::mcp) fn limit(&self) -> usize {
        clamp_limit(self.limit, 5)
    }

    /// Warns if the requested limit is out of range, and names the one used.
    pub(in crate::mcp) fn limit_warning(&self) -> Option<String> {
        let requested = self.limit.map(|it| it.0).filter(|it| !(1..=100).contains(it))?;
        Some(format!("`limit` must be from 1 to 100: {requested} was changed to {}", self.limit()))
    }

    /// Returns wing and room, if given.
    pub(in crate::mcp) fn wing_and_room(&self) -> (Option<String>, Option<String>) {
        (trimmed_non_blank(self.wing.clone()), trimmed_non_blank(self.room.clone()))
    }

    /// Returns the dates `since` and `before`, if given.
    pub(in crate::mcp) fn since_and_before(&self) -> (Option<String>, Option<String>) {
        (non_blank_date(self.since.clone()), non_blank_date(self.before.clone()))
    }
}

impl CheckDuplicate {
    pub(in crate::mcp) fn threshold(&self) -> Option<f32> {
        self.threshold.map(|it| it.0)
    }
}

impl KgQuery {
    pub(in crate::mcp) fn as_of(&self) -> Option<String> {
        non_blank_date(self.as_of.clone())
    }

    pub(in crate::mcp) fn direction(&self) -> Direction {
        self.direction.map(Into::into).unwrap_or_default()
    }
}

impl KgInvalidate {
    /// Returns the fact, and the date it ended.
    pub(in crate::mcp) fn into_fact_and_end(self) -> (Triple, Option<String>) {
        let triple = Triple { from: self.subject, kind: self.predicate, to: self.object };
        (triple, non_blank_date(self.ended))
    }
}

impl KgTimeline {
    pub(in crate::mcp) fn entity(&self) -> Option<String> {
        trimmed_non_blank(self.entity.clone())
    }

    /// Returns how many facts to skip, and how many to return.
    pub(in crate::mcp) fn offset_and_limit(&self) -> (usize, usize) {
        let offset = self.offset.and_then(|it| usize::try_from(it.0).ok()).unwrap_or_default();
        (offset, clamp_limit(self.limit, 100))
    }
}

impl Traverse {
    pub(in crate::mcp) fn hop_limit(&self) -> usize {
        let hops = self.max_hops.map_or(2, |it| it.0.clamp(0, 10));
        usize::try_from(hops).unwrap_or_default()
    }
}

impl FindTunnels {
    pub(in crate::mcp) fn wings(self) -> Vec<String> {
        [self.wing_a, self.wing_b].into_iter().filter_map(trimmed_non_blank).collect()
    }
}

impl DiaryRead {
    pub(in crate::mcp) fn entry_limit(&self) -> usize {
        clamp_limit(self.last_n, 10)
    }
}

/// Returns the requested number, clamped to 1 to 100; `default` if there is none.
fn clamp_limit(requested: Option<LenientInteger>, default: usize) -> usize {
    requested.map_or(default, |it| usize::try_from(it.0.clamp(1, 100)).unwrap_or(default))
}
