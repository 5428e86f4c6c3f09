//! What the tools of MemPalace are told, as they spell it. What is blank is not
//! given.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::keeper::{Direction, NewDrawer, NewFact};
use crate::mcp::arguments::graph::DirectionArgument;
use crate::mcp::arguments::{DateArgument, LenientInteger, LenientNumber, date_text, non_blank};
use crate::model::{Relation, Triple, WingRoom};

/// A wing, or all.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct ListRooms {
    /// Only this wing.
    wing: Option<String>,
}

/// What `mempalace_search` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct MempalaceSearch {
    /// What to look for: a question or some words.
    pub(in crate::mcp) query: String,
    /// How many results, 1 to 100; 5 if not said.
    limit: Option<LenientInteger>,
    /// Only this wing, exactly.
    wing: Option<String>,
    /// Only rooms of this name, exactly.
    room: Option<String>,
    /// Only what was filed on or after this date.
    since: Option<DateArgument>,
    /// Only what was filed before this date.
    before: Option<DateArgument>,
}

/// What `mempalace_check_duplicate` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct CheckDuplicate {
    /// The text.
    pub(in crate::mcp) content: String,
    /// How much alike, 0 to 1; 0.9 if not said: the same but for wording.
    threshold: Option<LenientNumber>,
}

/// What `mempalace_add_drawer` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct AddDrawer {
    /// A person or a project: `wing_code`.
    wing: String,
    /// The topic: `auth-migration`.
    room: String,
    /// The text, kept word for word.
    content: String,
    /// Where it comes from.
    source_file: Option<String>,
    /// Who files it.
    added_by: Option<String>,
    /// File it though it is filed already, or something like it.
    force: Option<bool>,
}

impl From<AddDrawer> for NewDrawer {
    fn from(it: AddDrawer) -> Self {
        Self {
            shelf: WingRoom { wing: it.wing, room: it.room },
            text: it.content,
            source: non_blank(it.source_file),
            by: non_blank(it.added_by),
            force: it.force.unwrap_or_default(),
        }
    }
}

/// What `mempalace_delete_drawer` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct DeleteDrawer {
    /// As search or `add_drawer` gave it.
    pub(in crate::mcp) drawer_id: String,
}

/// What `mempalace_kg_query` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct KgQuery {
    /// A name, in any spelling: `Max`, `max`.
    pub(in crate::mcp) entity: String,
    /// Only what held at this date: 2026-01-15.
    as_of: Option<DateArgument>,
    /// Only facts from it, or only those to it.
    direction: Option<DirectionArgument>,
}

/// What `mempalace_kg_add` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct KgAdd {
    /// Who or what: `Max`.
    subject: String,
    /// What it does: `loves`, `works_on`.
    predicate: String,
    /// Whom or what: `chess`.
    object: String,
    /// Since when: 2026-01-15, or only 2026.
    valid_from: Option<DateArgument>,
    /// From when no longer.
    valid_to: Option<DateArgument>,
    /// Where this is known from: a drawer's id, a file.
    source_closet: Option<String>,
}

impl From<KgAdd> for NewFact {
    fn from(it: KgAdd) -> Self {
        let (since, until) = (date_text(it.valid_from), date_text(it.valid_to));
        let source = non_blank(it.source_closet);
        let relation = Relation { kind: it.predicate, to: it.object, since, until, source };
        Self { subject: it.subject, relation }
    }
}

/// What `mempalace_kg_invalidate` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct KgInvalidate {
    /// Who or what.
    subject: String,
    /// What it did.
    predicate: String,
    /// Whom or what.
    object: String,
    /// From when no longer; today if not said.
    ended: Option<DateArgument>,
}

/// What `mempalace_kg_timeline` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct KgTimeline {
    /// Only facts about this name; all if not said.
    entity: Option<String>,
    /// How many, 1 to 100; 100 if not said.
    limit: Option<LenientInteger>,
    /// How many to pass over.
    offset: Option<LenientInteger>,
}

/// What `mempalace_traverse` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct Traverse {
    /// The room to start from, exactly.
    pub(in crate::mcp) start_room: String,
    /// How far, 0 to 10; 2 if not said.
    max_hops: Option<LenientInteger>,
}

/// What `mempalace_find_tunnels` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct FindTunnels {
    /// Only rooms that stand in this wing.
    wing_a: Option<String>,
    /// And in this one.
    wing_b: Option<String>,
}

/// What `mempalace_diary_write` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct DiaryWrite {
    /// Your name: each agent has a diary.
    pub(in crate::mcp) agent_name: String,
    /// What happened, what you learned, what matters.
    pub(in crate::mcp) entry: String,
    /// What it is about, in a word.
    pub(in crate::mcp) topic: Option<String>,
}

/// What `mempalace_diary_read` is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct DiaryRead {
    /// Whose.
    pub(in crate::mcp) agent_name: String,
    /// How many of the latest, 1 to 100; 10 if not said.
    last_n: Option<LenientInteger>,
}

impl ListRooms {
    pub(in crate::mcp) fn wing(self) -> Option<String> {
        non_blank(self.wing)
    }
}

impl MempalaceSearch {
    pub(in crate::mcp) fn limit(&self) -> usize {
        clamp_limit(self.limit, 5)
    }

    /// Says which limit was taken in place of one that cannot be.
    pub(in crate::mcp) fn limit_warning(&self) -> Option<String> {
        let asked = self.limit.map(|it| it.0).filter(|it| !(1..=100).contains(it))?;
        Some(format!("`limit` goes from 1 to 100: {asked} was taken for {}", self.limit()))
    }

    /// Returns wing and room, where they are given.
    pub(in crate::mcp) fn wing_and_room(&self) -> (Option<String>, Option<String>) {
        (non_blank(self.wing.clone()), non_blank(self.room.clone()))
    }

    /// Returns since when and before when, where that is given.
    pub(in crate::mcp) fn since_and_before(&self) -> (Option<String>, Option<String>) {
        (date_text(self.since.clone()), date_text(self.before.clone()))
    }
}

impl CheckDuplicate {
    pub(in crate::mcp) fn threshold(&self) -> Option<f32> {
        self.threshold.map(|it| it.0)
    }
}

impl KgQuery {
    pub(in crate::mcp) fn as_of(&self) -> Option<String> {
        date_text(self.as_of.clone())
    }

    pub(in crate::mcp) fn direction(&self) -> Direction {
        self.direction.map(Into::into).unwrap_or_default()
    }
}

impl KgInvalidate {
    /// Returns the fact, and since when it no longer holds.
    pub(in crate::mcp) fn into_fact_and_end(self) -> (Triple, Option<String>) {
        let triple = Triple { from: self.subject, kind: self.predicate, to: self.object };
        (triple, date_text(self.ended))
    }
}

impl KgTimeline {
    pub(in crate::mcp) fn entity(&self) -> Option<String> {
        non_blank(self.entity.clone())
    }

    /// Returns how many facts are passed over, and how many are told.
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
        [self.wing_a, self.wing_b].into_iter().filter_map(non_blank).collect()
    }
}

impl DiaryRead {
    pub(in crate::mcp) fn entry_limit(&self) -> usize {
        clamp_limit(self.last_n, 10)
    }
}

/// Returns what is asked for, from 1 to 100; `usual` if nothing is.
fn clamp_limit(asked: Option<LenientInteger>, usual: usize) -> usize {
    asked.map_or(usual, |it| usize::try_from(it.0.clamp(1, 100)).unwrap_or(usual))
}
