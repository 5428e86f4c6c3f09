//! The summary for the beginning of a conversation, and the list of places to write at its end.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use crate::mempalace::facts::fact_record;
use crate::palace::OpenPalace;
use crate::templates::is_example;
use crate::walk::hand_over::find_hand_over;
use crate::walk::notices::needs_history;
use crate::walk::show_item::render_scroll;
use crate::work::{list_open_work, work_view};
use crate::{Caller, Keeper, Refusal, Session};
use palazzo_core::model::{
    Entity, Palace, PointInTime, Relation, RoomId, Scroll, ScrollId, Severity, entity_links,
    quoted_unless_plain,
};
use palazzo_core::render::{
    self, ItemCounts, WakeUpPage, WakeUpSection, ago, in_quotes, name_in_list, name_in_sentence,
    one_line, truncate, whole_line,
};
use palazzo_core::token_estimate;

/// Minimum budget.
pub const MIN_WAKE_UP_TOKENS: usize = 100;

/// The default budget.
pub const DEFAULT_WAKE_UP_TOKENS: usize = 2_000;

/// The text above the page.
const OPENING: &str =
    "What follows was read from the palace; the user has not said it, and asks for none of it.\n\n";

/// The text above the places to write.
const PLACES_OPENING: &str =
    "The places to write, whose names were read from the palace; the user has not said them:\n\n";

/// The budget of the list of places to write.
const MAX_PLACES_TOKENS: usize = 600;

/// Maximum number of items of a section.
const MAX_ITEMS: usize = 200;

/// Maximum number of commits that are listed.
const MAX_RECENT_CHANGES: usize = 10;

/// Maximum number of characters of an excerpt.
const MAX_EXCERPT_CHARS: usize = 240;

/// Summarizes the palace for the beginning of a conversation, in at most `budget` tokens: the entry room
/// and the hand-over, then changes, open work and rooms, then each kind of content that fits as a whole,
/// or of which the part that the hand-over links fits. Examples of a template stay out.
pub fn wake_up(
    keeper: &mut Keeper,
    caller: &Caller,
    workspace: Option<&str>,
    budget: usize,
) -> Result<String, Refusal> {
    if budget < MIN_WAKE_UP_TOKENS {
        let why =
            format!("a budget of {budget} tokens is too small: give at least {MIN_WAKE_UP_TOKENS}");
        return Err(Refusal::Invalid(why));
    }
    let session = session_for_reading(keeper, caller, workspace)?;
    session.palace.load_provenance()?;
    if needs_history(&session.palace.palace) {
        session.palace.update_file_history_cache()?;
    }
    let page = wake_up_page(&session)?;
    Ok(render::wake_up(&page, budget, token_estimate::estimate_token_count))
}

fn wake_up_page(session: &Session<'_>) -> Result<WakeUpPage, Refusal> {
    let (open, now) = (&*session.palace, session.caller.now);
    let palace = &open.palace;
    let hand_over = find_hand_over(palace, now);
    let linked = hand_over.as_ref().map(|it| entities_linked_in(palace, it)).unwrap_or_default();
    let (entry, place) = (palace.entry_room(), |room: &RoomId| {
        format!("in {}", name_in_sentence(&palace.room_name(room)))
    });
    let scrolls = scrolls_section(open, now, hand_over.as_ref());
    let hand_over = hand_over.and_then(|it| {
        Some((quote_text_below("\n\n", &render_scroll(session, &it)?), place(&it.room)))
    });
    Ok(WakeUpPage {
        head: OPENING.to_owned() + &palace_heading(open),
        entry_room: entry.map(|it| (render_entry_room(palace, it), place(it))).unwrap_or_default(),
        hand_over: hand_over.unwrap_or_default(),
        sections: vec![
            recent_changes_section(open, now)?,
            open_work_section(open, now),
            rooms_section(open),
            wings_section(open),
        ],
        contents: vec![
            facts_sections(open, session.caller.point_in_time(), &linked),
            observations_sections(open, &linked),
            vec![scrolls],
            vec![diaries_section(open, now)],
        ],
    })
}

/// Returns the names of the entities that a scroll links.
fn entities_linked_in<'a>(palace: &'a Palace, scroll: &ScrollId) -> BTreeSet<&'a str> {
    let body = palace.scroll(scroll).map(|it| it.body.as_str()).unwrap_or_default();
    let links = entity_links(body).into_iter();
    links.filter_map(|it| palace.graph.find_entity(it.name)).map(|it| it.name.as_str()).collect()
}

/// Renders the name and the description of the entry room.
fn render_entry_room(palace: &Palace, id: &RoomId) -> String {
    let Some(room) = palace.room(id) else { return String::new() };
    let description = render::resolve_entity_links(&room.description, &palace.graph);
    let title = render::title_in_heading(&room.name);
    quote_text_below("\n", &format!("── {title} ──\n{}\n", render::text_in_page(&description)))
}

/// Renders the lines below a heading as a quotation of Markdown. Clients give an agent this page as a message
/// of the user.
fn quote_text_below(end_of_heading: &str, page: &str) -> String {
    let (heading, text) = page.split_once(end_of_heading).unwrap_or((page, ""));
    let lines = text.trim_end().lines().map(|it| format!("> {it}").trim_end().to_owned() + "\n");
    format!("{heading}{end_of_heading}{}", lines.collect::<String>())
}

/// Lists the rooms and wings in which an agent can leave what it has learned.
pub fn list_places_to_write(
    keeper: &mut Keeper,
    caller: &Caller,
    workspace: Option<&str>,
) -> Result<String, Refusal> {
    let session = session_for_reading(keeper, caller, workspace)?;
    let palace = &*session.palace;
    let page = WakeUpPage {
        head: PLACES_OPENING.to_owned() + &palace_heading(palace),
        sections: vec![rooms_section(palace), wings_section(palace)],
        ..WakeUpPage::default()
    };
    Ok(render::wake_up(&page, MAX_PLACES_TOKENS, token_estimate::estimate_token_count))
}

/// Begins a session on the workspace that is named, or on the one that the caller acts on.
fn session_for_reading<'k>(
    keeper: &'k mut Keeper,
    caller: &'k Caller,
    workspace: Option<&str>,
) -> Result<Session<'k>, Refusal> {
    let key = match workspace {
        Some(name) => keeper.find_workspace(name)?.key,
        // A palace that the first write would create is empty.
        None => match keeper.current_workspace(caller) {
            Err(Refusal::NoSuchWorkspace { .. }) => {
                return Err(keeper.no_workspace_refusal(Vec::new()));
            }
            current => current?,
        },
    };
    keeper.session_in(&key, caller)
}

/// Renders the name of the palace and the numbers of its items.
fn palace_heading(open: &OpenPalace) -> String {
    let palace = &open.palace;
    let name = name_in_sentence(&truncate(&palace.settings.name, 40));
    format!("── {name} ──\n{}\n", ItemCounts::of(palace))
}

fn open_work_section(open: &OpenPalace, now: DateTime<Utc>) -> WakeUpSection {
    let broken = open.findings().filter(|it| it.severity() == Severity::Error);
    let broken = broken.map(|it| {
        format!("Fix {}:{}: {}", quoted_unless_plain(&it.file), it.at.line, whole_line(&it.message))
    });
    let work = list_open_work(&open.palace, |_| true).concat();
    let work = work.iter().filter_map(|it| work_view(open, it));
    let work = work.filter(|it| !is_example(it.title()));
    let work: Vec<_> = work.map(|it| render::work_notice(&it, now)).collect();
    let lines: Vec<_> = work.into_iter().chain(broken).collect();
    let total = lines.len();
    WakeUpSection {
        heading: "To be done",
        lines: lines.into_iter().take(MAX_ITEMS).collect(),
        total,
    }
}

/// Lists the scrolls that nothing replaces, except for the hand-over, which is shown above.
fn scrolls_section(
    open: &OpenPalace,
    now: DateTime<Utc>,
    hand_over: Option<&ScrollId>,
) -> WakeUpSection {
    let palace = &open.palace;
    let is_shown = |room: &RoomId, it: &Scroll| {
        hand_over.is_none_or(|above| above.id != it.id)
            && !is_example(&it.title)
            && palace.replacement_of_scroll(room, it).is_none()
    };
    let mut all: Vec<_> = palace.scrolls().filter(|(room, it)| is_shown(room, it)).collect();
    all.sort_by_key(|(_, it)| Reverse((it.written, it.id)));
    let lines = all.iter().map(|(room, it)| {
        let (title, place) = (
            in_quotes(&truncate(&it.title, 80)),
            name_in_list(&truncate(&palace.room_name(room), 40)),
        );
        let by = render::short_provenance(&open.scroll_view(room, it).provenance);
        let age = ago(it.written, now);
        let start = text_start(&render::resolve_entity_links(&it.body, &palace.graph));
        format!("{title} in {place} ({by}, {age}): {start}")
    });
    whole_section("Latest scrolls", (all.len(), all.len()), lines)
}

fn diaries_section(open: &OpenPalace, now: DateTime<Utc>) -> WakeUpSection {
    let diaries = &open.palace.diaries;
    let entries = diaries.agents().flat_map(|(agent, _)| {
        diaries
            .entries_of_agent(agent)
            .take(MAX_ITEMS)
            .map(move |(file, entry)| (agent, file, entry))
    });
    let mut entries: Vec<_> = entries.collect();
    entries.sort_by_key(|(_, _, it)| Reverse((it.written, it.id)));
    let lines = entries.into_iter().map(|(agent, file, it)| {
        let origin = render::origin_suffix(&open.provenance(file));
        let age = it.written.map(|at| format!(", {}", ago(at, now))).unwrap_or_default();
        let [agent, topic] = [(agent, 20), (it.topic.as_str(), 40)]
            .map(|(it, max)| name_in_list(&truncate(it, max)));
        format!("{agent}{age}{origin}, {topic}: {}", text_start(&it.text))
    });
    whole_section("Diary", (diaries.len(), diaries.len()), lines)
}

/// Lists all current facts, and those of the `linked` entities: those that began last first, then those of
/// the newest subjects. The headings count all current facts.
fn facts_sections(
    open: &OpenPalace,
    now: PointInTime,
    linked: &BTreeSet<&str>,
) -> Vec<WakeUpSection> {
    let mut sources: Vec<_> = open.palace.graph.entities_and_loose_ends().collect();
    sources.retain(|it| !is_example(&it.name));
    let is_current = |it: &&Relation| it.is_current(now);
    let total = sources.iter().flat_map(|it| &it.relations).filter(is_current).count();
    let section = |mut sources: Vec<&Entity>| {
        sources.sort_unstable_by_key(|it| (Reverse(it.id), &it.name, it.is_defined));
        let facts =
            sources.into_iter().flat_map(|it| it.relations.iter().map(move |fact| (it, fact)));
        let mut facts: Vec<_> = facts.filter(|(_, fact)| fact.is_current(now)).collect();
        facts.sort_by_cached_key(|(_, fact)| Reverse(fact.since_date()));
        let lines = facts.iter().map(|(it, fact)| current_fact_line(&it.name, fact, now));
        whole_section("Current facts", (facts.len(), total), lines)
    };
    let about_linked = sources.iter().filter(|it| linked.contains(it.name.as_str()));
    let about_linked: Vec<_> = about_linked.copied().collect();
    let all = if total <= MAX_ITEMS { sources } else { Vec::new() };
    vec![section(all), section(about_linked)]
}

fn current_fact_line(name: &str, fact: &Relation, now: PointInTime) -> String {
    let date = |it: &String| match fact.since_date() {
        Some(_) => truncate(&one_line(it), 20),
        None => in_quotes(&truncate(it, 20)),
    };
    let since = fact.since.as_ref().map(|it| format!(" (since {})", date(it)));
    fact_record(name, fact, now).to_line() + &since.unwrap_or_default()
}

/// Lists the latest observations of all entities, and those of the `linked` ones: those of the entities
/// with most relations first, then those of the newest entities. The headings count all entities.
fn observations_sections(open: &OpenPalace, linked: &BTreeSet<&str>) -> Vec<WakeUpSection> {
    let graph = &open.palace.graph;
    let sources = graph.entities_and_loose_ends();
    let sources = sources.filter(|it| !it.observations.is_empty() && !is_example(&it.name));
    let sources: Vec<_> = sources.collect();
    let total = sources.len();
    let section = |mut sources: Vec<&Entity>| {
        sources.sort_by_cached_key(|it| {
            let count = it.relations.len() + graph.incoming_relations(&it.name).count();
            (Reverse((count, it.id)), it.name.clone())
        });
        let lines = sources.iter().map(|it| observations_line(it));
        whole_section("Observations, most related first", (sources.len(), total), lines)
    };
    let about_linked = sources.iter().filter(|it| linked.contains(it.name.as_str()));
    let about_linked: Vec<_> = about_linked.copied().collect();
    let all = if total <= MAX_ITEMS { sources } else { Vec::new() };
    vec![section(all), section(about_linked)]
}

fn observations_line(it: &Entity) -> String {
    let [name, genus] =
        [(&it.name, 60), (&it.genus, 40)].map(|(it, max)| name_in_list(&truncate(it, max)));
    let genus = if genus.is_empty() { genus } else { format!(" ({genus})") };
    let last = it.observations.iter().rev().take(MAX_EXCERPT_CHARS / 8).map(|it| text_start(it));
    let last: Vec<_> = last.filter(|it| !it.is_empty()).collect();
    format!("{name}{genus}: {}", text_start(&last.join("; ")))
}

/// Lists the wings that have drawers, with the number of drawers in each room.
fn wings_section(open: &OpenPalace) -> WakeUpSection {
    let mut wings: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    for (shelf, _, count) in open.palace.drawers.wing_room_counts() {
        *wings.entry(shelf.wing).or_default().entry(shelf.room).or_default() += count;
    }
    let mut wings: Vec<_> = wings.into_iter().collect();
    wings.sort_by_key(|(_, rooms)| Reverse(rooms.values().sum::<usize>()));
    let lines = wings.iter().map(|(wing, rooms)| {
        let rooms: Vec<_> = rooms
            .iter()
            .map(|(room, count)| format!("{} {count}", name_in_list(&truncate(room, 60))))
            .collect();
        let wing = name_in_sentence(&truncate(wing, 60));
        truncate(&format!("{wing}: {}", rooms.join(", ")), MAX_EXCERPT_CHARS)
    });
    new_section("Drawers by wing and room", wings.len(), lines)
}

/// Lists the rooms: the entry room, then those with most scrolls.
fn rooms_section(open: &OpenPalace) -> WakeUpSection {
    let palace = &open.palace;
    let mut rooms: Vec<_> =
        palace.rooms().map(|(id, it)| (id, it, palace.scrolls_in_room(id).count())).collect();
    rooms.sort_by_key(|(id, _, scrolls)| (palace.entry_room() != Some(*id), Reverse(*scrolls)));
    let lines = rooms.iter().map(|(id, room, scrolls)| {
        let scrolls = match scrolls {
            0 => String::new(),
            _ => format!(", {}", render::count_with_noun(*scrolls, "scroll")),
        };
        format!("{} ({id}){scrolls}", name_in_sentence(&truncate(&room.name, 60)))
    });
    new_section("Rooms, the entry first", rooms.len(), lines)
}

fn recent_changes_section(open: &OpenPalace, now: DateTime<Utc>) -> Result<WakeUpSection, Refusal> {
    let commits = open.recent_commits(MAX_RECENT_CHANGES)?;
    let lines = commits.iter().map(|it| {
        let subject = render::subject_before_note(&truncate(&it.subject, 80));
        let by = name_in_sentence(&truncate(&it.by, 20));
        format!("{subject} ({by}, {})", ago(it.at, now))
    });
    Ok(new_section("Latest changes", commits.len(), lines))
}

/// Returns a section that is shown whole or not at all, of `count` of all `total` items; without lines if
/// they are too many.
fn whole_section(
    heading: &'static str,
    (count, total): (usize, usize),
    lines: impl Iterator<Item = String>,
) -> WakeUpSection {
    let limit = if count <= MAX_ITEMS { count } else { 0 };
    new_section(heading, total, lines.take(limit))
}

/// Returns a section whose lines begin with texts of the palace.
fn new_section(
    heading: &'static str,
    total: usize,
    lines: impl Iterator<Item = String>,
) -> WakeUpSection {
    let lines = lines.take(MAX_ITEMS).map(|it| render::mark_imitations(&it));
    WakeUpSection { heading, lines: lines.collect(), total }
}

/// Returns the beginning of a text.
fn text_start(text: &str) -> String {
    let start: String = text.chars().take(2 * MAX_EXCERPT_CHARS).collect();
    truncate(&whole_line(&start), MAX_EXCERPT_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, ada};

    fn summary(home: &mut TestHome, workspace: Option<&str>) -> Result<String, Refusal> {
        wake_up(&mut home.keeper, &ada(), workspace, DEFAULT_WAKE_UP_TOKENS)
    }

    fn lines_of(
        home: &mut TestHome,
        section: impl Fn(&OpenPalace) -> WakeUpSection,
    ) -> Vec<String> {
        home.run(|session| section(session.palace)).lines
    }

    fn scroll(title: &str, written: &str) -> String {
        format!("---\ntitle: {title}\nwritten: {written}\nby: bob\n---\n\nIt\ngrows.\n")
    }

    #[test]
    fn the_smallest_budget_is_100_tokens() {
        let mut home = TestHome::new(&[]);
        let refusal = wake_up(&mut home.keeper, &ada(), None, 99).unwrap_err().to_string();
        assert_eq!(refusal, "a budget of 99 tokens is too small: give at least 100");
        let page = wake_up(&mut home.keeper, &ada(), None, 100).unwrap();
        let head = format!("{OPENING}── Keep ──\n0 rooms, 0 scrolls, 0 entities\n");
        assert!(page.starts_with(&head), "{page}");
    }

    #[test]
    fn another_workspace_can_be_summarized() {
        let mut home = TestHome::new(&[("../garden/palace.toml", "name = \"Garden\"\n")]);
        assert!(summary(&mut home, Some("garden")).unwrap().contains("\n── Garden ──\n"));
        let refusal = summary(&mut home, Some("attic")).unwrap_err().to_string();
        assert!(refusal.starts_with("there is no workspace `attic`. Workspaces: "), "{refusal}");
    }

    #[test]
    fn the_latest_scroll_comes_first() {
        let mut home = TestHome::new(&[
            ("rooms/hall.yaml", "name: Hall\n"),
            ("scrolls/hall/a.md", &scroll("Old", "2026-02-27T12:00:00Z")),
            ("scrolls/hall/b.md", &scroll("New", "2026-02-28T12:00:00Z")),
        ]);
        let lines = lines_of(&mut home, |open| scrolls_section(open, ada().now, None));
        let expected = [
            "\"New\" in Hall (by bob, 1 day ago): It grows.",
            "\"Old\" in Hall (by bob, 2 days ago): It grows.",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn open_work_comes_before_broken_files() {
        let mut home = TestHome::new(&[
            ("tasks/a.yaml", "title: Dust\n"),
            ("tasks/b.yaml", "title: Rest\nstatus: done\n"),
            ("rooms/hall.yaml", "name: Hall\nname: Porch\n"),
        ]);
        let lines = lines_of(&mut home, |open| open_work_section(open, ada().now));
        assert_eq!((lines.len(), lines[0].as_str()), (2, "Task: Dust"));
        assert!(lines[1].starts_with("Fix rooms/hall.yaml:2: the key `name`"), "{}", lines[1]);
    }

    #[test]
    fn only_current_facts_are_listed_those_that_began_last_first() {
        let text = "name: Max\ngenus: Person\nrelations:\n\
                    - { type: child_of, to: Alice }\n\
                    - { type: does, to: chess, since: 2026-02 }\n\
                    - { type: does, to: swimming, since: 2020, until: 2026-01 }\n\
                    - { type: does, to: judo, since: 2027 }\n";
        let mut home = TestHome::new(&[("entities/person/max.yaml", text)]);
        let lines = lines_of(&mut home, |open| {
            facts_sections(open, ada().point_in_time(), &BTreeSet::new()).swap_remove(0)
        });
        assert_eq!(lines, ["Max → does → chess (since 2026-02)", "Max → child_of → Alice"]);
    }

    #[test]
    fn of_too_many_facts_only_those_of_linked_entities_are_listed() {
        let relations = |count: usize| "- { type: knows, to: Bob }\n".repeat(count);
        let entity = |name: &str, count| {
            format!("name: {name}\ngenus: Person\nrelations:\n{}", relations(count))
        };
        let mut home = TestHome::new(&[
            ("entities/person/max.yaml", &entity("Max", MAX_ITEMS)),
            ("entities/person/ada.yaml", &entity("Ada", 1)),
        ]);
        let sections = home.run(|session| {
            facts_sections(session.palace, ada().point_in_time(), &BTreeSet::from(["Ada"]))
        });
        let lines: Vec<_> = sections.iter().map(|it| (it.lines.len(), it.total)).collect();
        assert_eq!(lines, [(0, MAX_ITEMS + 1), (1, MAX_ITEMS + 1)]);
    }

    #[test]
    fn the_last_observations_of_the_most_related_entity_come_first() {
        let ada = "name: Ada\ngenus: Person\nobservations: [Likes tea., Moved to Leeds.]\n\
                   relations:\n- { type: knows, to: Bob }\n";
        let cat = "name: Cat\ngenus: Animal\nobservations: [Purrs.]\n";
        let mut home =
            TestHome::new(&[("entities/animal/cat.yaml", cat), ("entities/person/ada.yaml", ada)]);
        let lines = lines_of(&mut home, |open| {
            observations_sections(open, &BTreeSet::new()).swap_remove(0)
        });
        assert_eq!(lines, ["Ada (Person): Moved to Leeds.; Likes tea.", "Cat (Animal): Purrs."]);
    }

    #[test]
    fn the_wing_with_most_drawers_comes_first() {
        let mut home = TestHome::new(&[
            ("drawers/code/auth/2026-01-01.md", "One."),
            ("drawers/team/auth/2026-01-01.md", "Two."),
            ("drawers/team/plans/2026-01-01.md", "Three."),
        ]);
        assert_eq!(lines_of(&mut home, wings_section), ["team: auth 1, plans 1", "code: auth 1"]);
    }

    #[test]
    fn the_entry_room_comes_before_rooms_with_more_scrolls() {
        let mut home = TestHome::new(&[
            ("rooms/attic.yaml", "name: Attic\n"),
            ("rooms/crypt.yaml", "name: Crypt\n"),
            ("rooms/hall.yaml", "name: Hall\n"),
            ("scrolls/crypt/a.md", &scroll("A", "2026-02-27T12:00:00Z")),
        ]);
        home.write("palace.toml", "name = \"Keep\"\nentry = \"hall\"\n");
        let lines = lines_of(&mut home, rooms_section);
        assert_eq!(lines, ["Hall (hall)", "Crypt (crypt), 1 scroll", "Attic (attic)"]);
    }

    #[test]
    fn the_places_to_write_are_rooms_and_wings() {
        let mut home = TestHome::new(&[
            ("rooms/hall.yaml", "name: Hall\n"),
            ("tasks/a.yaml", "title: Dust\n"),
            ("drawers/code/auth/2026-01-01.md", "One."),
        ]);
        let page = list_places_to_write(&mut home.keeper, &ada(), None).unwrap();
        let expected = "── Keep ──\n1 room, 0 scrolls, 0 entities, 1 drawer\n\
                        Rooms, the entry first (1 of 1):\n  Hall (hall)\n\
                        Drawers by wing and room (1 of 1):\n  code: auth 1\n";
        assert_eq!(page, PLACES_OPENING.to_owned() + expected);
    }

    #[test]
    fn an_excerpt_has_one_line_of_at_most_240_characters() {
        assert_eq!(text_start("It\n  grows.\n"), "It grows.");
        assert_eq!(text_start(&"é".repeat(240)), "é".repeat(240));
        assert_eq!(text_start(&"é".repeat(1_000)), "é".repeat(240) + "…");
    }
}
