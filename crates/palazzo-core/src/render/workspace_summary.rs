//! Renders the texts for a first visit: the tutorial and the workspace summary.

use std::fmt;

use crate::model::{CommitSummary, Palace, Reader, abridge_to_weight, token_weight};
use crate::render::conflict::conflict_count_line;
use crate::render::text::{
    count_with_noun, name_in_sentence, subject_before_note, title_after_label, truncate, whole_line,
};
use crate::render::{ago, mark_imitations};

/// Limit for the genera in a summary.
const MAX_GENERA: usize = 12;

/// Limit for the weight of a summary, in thirds of a token, and for the factor by which names
/// are shortened to stay below it.
const MAX_WEIGHT: usize = 870;
const MAX_SHORTENING: usize = 3;

/// The numbers of the items of a palace.
#[derive(Clone, Copy, Debug, Default)]
pub struct ItemCounts {
    /// The number of rooms.
    pub rooms: usize,
    /// The number of scrolls.
    pub scrolls: usize,
    /// The number of entities.
    pub entities: usize,
    /// The number of drawers.
    pub drawers: usize,
}

impl ItemCounts {
    /// Counts the items of a palace.
    pub fn of(palace: &Palace) -> Self {
        Self {
            rooms: palace.rooms().len(),
            scrolls: palace.scrolls().count(),
            entities: palace.graph.len(),
            drawers: palace.drawers.len(),
        }
    }
}

impl fmt::Display for ItemCounts {
    /// Writes `1 room, 0 scrolls, 33 entities`, and the drawers if there are any.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [(self.rooms, "room"), (self.scrolls, "scroll"), (self.entities, "entity")];
        let drawers = (self.drawers > 0).then_some((self.drawers, "drawer"));
        let counts = counts.into_iter().chain(drawers);
        let counts: Vec<_> = counts.map(|(number, noun)| count_with_noun(number, noun)).collect();
        f.write_str(&counts.join(", "))
    }
}

/// The contents of a workspace in numbers, with its latest changes.
#[derive(Clone, Debug, Default)]
pub struct WorkspaceSummary {
    /// The numbers of its items.
    pub counts: ItemCounts,
    /// The number of entities of each genus that has any.
    pub genera: Vec<(String, usize)>,
    /// The latest changes, newest first.
    pub recent_commits: Vec<CommitSummary>,
    /// The number of open conflicts.
    pub conflicts: usize,
    /// The state of the synchronization, as a sentence; empty: it is not set up.
    pub sync: String,
}

/// Returns the explanation of the palace for a first visit (v1 section 10).
pub fn tutorial() -> &'static str {
    "This is a memory palace, and you are its keeper for now: what you leave, the next will \
     find. Every room has a description and numbered actions: choose one with palace_action.\n\
     Build rooms with build_room wherever a subject deserves a place of its own. Give each a \
     look, a sound, an object that stands for what it holds: what can be pictured is \
     remembered. A door may lead to a room that does not exist yet. Leave scrolls with \
     write_scroll: what you found, what you doubt, what remains. Before you go, hand over in \
     the entry room, always under the same title: the new scroll replaces the old.\n"
}

/// Renders the name of a workspace and the numbers of its items.
pub fn workspace_line(name: &str, counts: &ItemCounts) -> String {
    format!("Workspace: {} ({counts})\n", name_in_sentence(&truncate(name, 60)))
}

/// Renders the summary of a workspace (v1 section 5.1, v2 section 3.2) in less than three
/// hundred tokens; names in scripts that cost many tokens are shortened.
pub fn workspace_summary(name: &str, it: &WorkspaceSummary, reader: Reader) -> String {
    let pages = (1..).map(|share| shortened_summary(name, it, reader, share));
    let fitting = pages.take(MAX_SHORTENING).find(|page| token_weight(page) <= MAX_WEIGHT);
    fitting.unwrap_or_else(|| shortened_summary(name, it, reader, MAX_SHORTENING))
}

/// Renders the summary with names shortened to their usual weight divided by `share`.
fn shortened_summary(
    name: &str,
    it: &WorkspaceSummary,
    Reader { audience, now }: Reader,
    share: usize,
) -> String {
    let short = |text: &str, room: usize| abridge_to_weight(&whole_line(text), room / share);
    let mut page = workspace_line(name, &it.counts);
    if it.counts.entities == 0 {
        page.push_str(audience.choose(
            "This workspace has no entities yet: create some with create_entities.\n",
            "This workspace has no entities yet.\n",
        ));
    }
    let mut genera: Vec<_> = it.genera.iter().collect();
    genera.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    for (genus, number) in genera.iter().take(MAX_GENERA) {
        let line = format!("{}: {number}\n", title_after_label(&short(genus, 30)));
        page.push_str(&format!("  {}", mark_imitations(&line)));
    }
    if genera.len() > MAX_GENERA {
        let left = genera.len() - MAX_GENERA;
        let tool = audience.choose(": list_genera", "");
        page.push_str(&format!("  and {left} more{tool}\n"));
    }
    if it.conflicts > 0 {
        page.push_str(&format!("{}\n", conflict_count_line(it.conflicts, audience)));
    }
    if !it.sync.is_empty() {
        page.push_str(&format!("{}\n", it.sync));
    }
    if !it.recent_commits.is_empty() {
        page.push_str("Recent activity:\n");
    }
    let line = |commit: &CommitSummary| {
        let subject = subject_before_note(&short(&commit.subject, 50));
        let by = name_in_sentence(&short(&commit.by, 20));
        format!("  {}", mark_imitations(&format!("{subject} ({by}, {})\n", ago(commit.at, now))))
    };
    let mut lines: Vec<_> = it.recent_commits.iter().map(line).collect();
    // The commits of one import differ behind what is shown.
    lines.dedup();
    page + &lines.concat()
}
