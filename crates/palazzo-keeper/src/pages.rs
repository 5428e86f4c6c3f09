//! The pages of the palaces of a home: collects what they show. The first page of a home with
//! several palaces, and the pages of proposals, are here.

mod item;
mod lists;
pub(crate) mod live;
mod log;
pub(crate) mod map;
mod page_session;
pub(crate) mod request;
mod room;
mod side_by_side;
pub(crate) mod whole_palace;

use std::sync::Arc;

use crate::history::item_diffs::{compare_items_in_files, replaced_scroll_files};
use crate::history::visits::visits_of_commits;
use crate::pages::log::visit_row;
use crate::pages::page_session::{
    PageContent, PageSession, count_open_work, finding_count, time_bar,
};
use crate::pages::request::{PageRequest, PageTarget};
use crate::pages::side_by_side::compare_file_side_by_side;
use crate::proposals::{list_proposals, merge_and_drop_commands};
use crate::workspaces::open_as_of;
use crate::{Caller, Keeper, Refusal, Session};
use palazzo_core::model::{
    CommitDetails, CommitId, CommitSummary, FileDiff, Palace, Proposal, Tool, escape_unprintable,
};
use palazzo_core::render::count_with_noun;
use palazzo_core::view::{self, Links, PageFrame, PageKind, PalaceRow, ProposalPage};

/// How many files the page of a proposal compares.
const MAX_FILES: usize = 20;

/// Renders a page as a complete HTML document. `tools` are those that actions can call.
pub fn render_page(
    keeper: &mut Keeper,
    by: &Caller,
    request: &PageRequest,
    tools: &[Tool],
) -> Result<String, Refusal> {
    let Some(key) = key_of_page(keeper, request)? else {
        return palaces_document(keeper, by, tools);
    };
    let workspaces = keeper.workspace_keys_and_names()?;
    let present = keeper.session_in(&key, by)?.palace.newest_commits()?;
    let past_key = request.at.as_ref().map(|at| open_as_of(keeper, by, &key, at)).transpose()?;
    let shown_key = past_key.unwrap_or_else(|| key.clone());
    let mut session = keeper.session_without_refresh(&shown_key, by)?;
    session.palace.update_file_history_cache()?;
    session.palace.find_renamed_rooms()?;
    let at = session.palace.store().as_of_commit().cloned();
    let past = commits_until(&session, &present, at.as_ref())?;
    let time = time_bar(&present, at.as_ref(), &past);
    let links = Links::Server { workspace: key.clone(), at: at.map(|it| it.short) };
    let mut page = PageSession {
        session: &mut session,
        links: &links,
        commits: &past,
        tools,
        workspaces: &workspaces,
    };
    let content = page_content(&mut page, &request.target)?;
    let findings = finding_count(&mut page)?;
    let palace = &session.palace.palace;
    let frame = PageFrame {
        links: &links,
        palace: palace.settings.name.clone(),
        workspace: key,
        kind: content.kind,
        item: content.item,
        title: content.title,
        place: content.place,
        findings,
        tasks: page_session::count_open_work(palace),
        proposals: list_proposals(&session)?.len(),
        time,
        now: by.now,
    };
    Ok(view::page_document(&frame, &content.body))
}

/// Returns the newest commits up to the one that is shown.
fn commits_until(
    session: &Session<'_>,
    present: &Arc<Vec<CommitDetails>>,
    at: Option<&CommitSummary>,
) -> Result<Arc<Vec<CommitDetails>>, Refusal> {
    let Some(at) = at else { return Ok(present.clone()) };
    match present.iter().position(|it| it.summary.id == at.id) {
        Some(place) => Ok(present[place..].to_vec().into()),
        None => session.palace.newest_commits(),
    }
}

/// Renders a refusal as a page.
pub fn render_refusal_page(title: &str, refusal: &str) -> String {
    view::unframed_document(title, &view::refusal_page(refusal))
}

/// Returns the key of the palace of a page; `None` for the list of palaces.
fn key_of_page(keeper: &Keeper, request: &PageRequest) -> Result<Option<String>, Refusal> {
    if let Some(name) = &request.workspace {
        return keeper.find_workspace(name).map(|it| Some(it.key));
    }
    let all = keeper.workspaces()?;
    match all.as_slice() {
        [only] => Ok(Some(only.key.clone())),
        _ => Ok(None),
    }
}

/// Collects the content of a page.
fn page_content(
    page: &mut PageSession<'_, '_>,
    target: &PageTarget,
) -> Result<PageContent, Refusal> {
    match target {
        PageTarget::Room(room) => room::room_content(page, room.as_ref()),
        PageTarget::Map => map::map_content(page),
        PageTarget::Scroll(scroll) => item::scroll_content(page, scroll),
        PageTarget::File(path) => item::file_content(page, path),
        PageTarget::Entity(name) => item::entity_content(page, name),
        PageTarget::Index { genus, page: number } => {
            Ok(lists::index_content(page, genus.as_deref(), *number))
        }
        PageTarget::Search(query) => lists::search_content(page, query),
        PageTarget::Log { page: number } => log::log_content(page, *number),
        PageTarget::Commit(id) => log::commit_content(page, id),
        PageTarget::Visit(id) => log::visit_content(page, id),
        PageTarget::Proposals => proposals_content(page),
        PageTarget::Proposal(branch) => proposal_content(page, branch),
        PageTarget::Findings => lists::findings_content(page),
        PageTarget::Tasks => Ok(lists::tasks_content(page)),
    }
}

/// Renders the list of the palaces, those that were changed last first.
fn palaces_document(keeper: &mut Keeper, by: &Caller, tools: &[Tool]) -> Result<String, Refusal> {
    let names = keeper.workspace_keys_and_names()?;
    let mut rows = Vec::new();
    for workspace in keeper.workspaces()? {
        let row = palace_row(keeper, by, &workspace.key, (tools, &names));
        rows.push(row.unwrap_or_else(|refusal| PalaceRow {
            key: workspace.key,
            name: workspace.name,
            fault: Some(refusal.to_string()),
            ..PalaceRow::default()
        }));
    }
    rows.sort_by_key(|it| std::cmp::Reverse(it.changed));
    Ok(view::unframed_document("Palaces", &view::palaces_page(&rows, by.now)))
}

fn palace_row(
    keeper: &mut Keeper,
    by: &Caller,
    key: &str,
    (tools, workspaces): (&[Tool], &[String]),
) -> Result<PalaceRow, Refusal> {
    let mut session = keeper.session_in(key, by)?;
    let commits = session.palace.newest_commits()?;
    let links = Links::Server { workspace: key.to_owned(), at: None };
    let mut page =
        PageSession { session: &mut session, links: &links, commits: &commits, tools, workspaces };
    let visits = visits_of_commits(page.session.palace, &commits)?;
    let last_visit = visits.first().map(|it| visit_row(&page, it)).transpose()?;
    let findings = finding_count(&mut page)?.unwrap_or_default();
    let palace = &session.palace.palace;
    let needs = [
        (findings, "finding", PageKind::Findings),
        (list_proposals(&session)?.len(), "proposal", PageKind::Proposals),
        (count_open_work(palace), "open task", PageKind::Tasks),
    ];
    let needs = needs.into_iter().filter(|(count, ..)| *count > 0);
    Ok(PalaceRow {
        key: key.to_owned(),
        name: palace.settings.name.clone(),
        content: content_in_words(palace),
        changed: commits.first().map(|it| it.summary.at),
        last_visit,
        needs: needs.map(|(count, noun, kind)| (count_with_noun(count, noun), kind)).collect(),
        fault: None,
    })
}

/// Counts what is in a palace: `12 rooms, 3 scrolls, 40 entities`.
fn content_in_words(palace: &Palace) -> String {
    let counts = [
        (palace.rooms().len(), "room"),
        (palace.scrolls().count(), "scroll"),
        (palace.graph.len(), "entity"),
        (palace.drawers.len(), "drawer"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<_> = counts.map(|(count, noun)| count_with_noun(count, noun)).collect();
    if counts.is_empty() { "nothing yet".to_owned() } else { counts.join(", ") }
}

/// Lists the proposals.
fn proposals_content(page: &PageSession<'_, '_>) -> Result<PageContent, Refusal> {
    let proposals = list_proposals(page.session)?;
    let body = view::proposals_page(&proposals, page.links, page.session.caller.now);
    Ok(PageContent::of_kind(PageKind::Proposals, "Proposals", body))
}

/// Collects what the page of a proposal shows.
fn proposal_content(page: &PageSession<'_, '_>, branch: &str) -> Result<PageContent, Refusal> {
    let session = &*page.session;
    let proposal = list_proposals(session)?.into_iter().find(|it| it.branch == branch);
    let proposal = proposal.ok_or_else(|| {
        let branch = escape_unprintable(branch);
        Refusal::Invalid(format!("there is no open proposal `{branch}`: it was merged or dropped"))
    })?;
    let base = base_of_proposal(session, &proposal)?;
    let diffs = diffs_of_proposal(session, &proposal, base.as_ref())?;
    let replaced = replaced_scroll_files(session.palace, base.as_ref(), &diffs)?;
    let [merge, drop] = merge_and_drop_commands(session.palace.store().palace_folder(), &proposal);
    let content = ProposalPage {
        items: compare_items_in_files(&diffs, &replaced, &session.palace.palace.settings).items,
        files: diffs.iter().take(MAX_FILES).map(compare_file_side_by_side).collect(),
        more_files: diffs.len().saturating_sub(MAX_FILES),
        merge,
        drop,
        proposal,
    };
    let body = view::proposal_page(&content, page.links, session.caller.now);
    let title = format!("Proposal {}", content.proposal.branch);
    Ok(PageContent { title, place: None, kind: Some(PageKind::Proposals), item: None, body })
}

/// Returns the commit at which a proposal left the checked-out branch.
fn base_of_proposal(
    session: &Session<'_>,
    proposal: &Proposal,
) -> Result<Option<CommitId>, Refusal> {
    let head = session.palace.store().resolve_revision(
        "HEAD",
        session.caller.now,
        &session.caller.zone,
    )?;
    Ok(session.palace.store().common_ancestor(&head, &tip_of_proposal(session, proposal)?)?)
}

/// Returns what a proposal changes since `base`.
fn diffs_of_proposal(
    session: &Session<'_>,
    proposal: &Proposal,
    base: Option<&CommitId>,
) -> Result<Vec<FileDiff>, Refusal> {
    let tip = tip_of_proposal(session, proposal)?;
    Ok(session.palace.store().as_of(&tip)?.diff_since(base)?)
}

fn tip_of_proposal(session: &Session<'_>, proposal: &Proposal) -> Result<CommitId, Refusal> {
    let tip = format!("refs/heads/{}", proposal.branch);
    Ok(session.palace.store().resolve_revision(&tip, session.caller.now, &session.caller.zone)?)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::pages::request::parse_page_path;
    use crate::test_home::{NOW, TestHome, ada, blueprint};
    use crate::walk::show::show_room;
    use crate::{ChangeMode, WholePalaceRequest, build_room, render_whole_palace, undo_last_call};
    use palazzo_core::model::{RoomId, RoomRef};

    fn reader() -> Caller {
        Caller::for_person("ada", "view", NOW.parse().unwrap())
    }

    fn page(home: &mut TestHome, path: &str) -> String {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let request = parse_page_path(path, query).unwrap();
        render_page(&mut home.keeper, &reader(), &request, &[]).unwrap()
    }

    fn file(home: &mut TestHome, at: Option<&str>, against: Option<&str>) -> String {
        let request =
            WholePalaceRequest { at: at.map(str::to_owned), against: against.map(str::to_owned) };
        render_whole_palace(&mut home.keeper, &reader(), &request).unwrap()
    }

    /// Returns the text of a page without elements and white space.
    fn text_of(page: &str) -> String {
        let parts = page.split('<').map(|it| it.split_once('>').map_or(it, |(_, text)| text));
        let text = parts.collect::<String>();
        let signs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")];
        let text = signs.iter().fold(text, |text, (code, sign)| text.replace(code, sign));
        compact(&text)
    }

    fn compact(text: &str) -> String {
        text.chars().filter(|it| !it.is_whitespace() && *it != '─').collect()
    }

    fn read_files(root: &Path, folder: &Path, files: &mut Vec<(String, String)>) {
        for place in fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
            if place.is_dir() {
                read_files(root, &place, files);
            } else if let Ok(text) = fs::read_to_string(&place) {
                let path = place.strip_prefix(root).unwrap().to_str().unwrap();
                files.push((path.to_owned(), text));
            }
        }
    }

    fn example_home(name: &str) -> TestHome {
        let root = Path::new("../../example-palaces").join(name);
        let mut files = Vec::new();
        read_files(&root, &root, &mut files);
        let files: Vec<_> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        TestHome::new(&files)
    }

    #[test]
    fn the_file_of_a_large_palace_has_two_thousand_entities() {
        for (count, shown, note) in [(2_000, 2_000, ""), (2_003, 2_000, "3 more entities are not")]
        {
            let mut files = vec![
                ("palace.toml".to_owned(), "name = \"P\"\n".to_owned()),
                ("rooms/hall.yaml".to_owned(), "name: Hall\ndescription: '[[N0009]]'\n".to_owned()),
            ];
            files.extend((0..count).map(|it| {
                let path = format!("entities/thing/n{it:04}.yaml");
                (path, format!("name: N{it:04}\ngenus: Thing\n"))
            }));
            let files: Vec<_> =
                files.iter().map(|(path, it)| (path.as_str(), it.as_str())).collect();
            let page = file(&mut TestHome::new(&files), None, None);
            let names = (0..count).filter(|it| page.contains(&format!(">N{it:04}<"))).count();
            assert_eq!(names, shown);
            assert!(page.contains(note) && page.contains(">N0009<"));
        }
    }

    #[test]
    fn a_page_has_every_line_that_show_prints() {
        let examples = fs::read_dir("../../example-palaces").unwrap();
        for example in examples.map(|it| it.unwrap().file_name().into_string().unwrap()) {
            let mut home = example_home(&example);
            let rooms = home.run(|session| -> Vec<RoomId> {
                session.palace.palace.rooms().map(|(id, _)| id.clone()).collect()
            });
            assert!(!rooms.is_empty());
            for id in rooms {
                let room = RoomRef::from(id.clone());
                let shown = show_room(&mut home.keeper, &reader(), Some(&room), None).unwrap();
                let page = text_of(&page(&mut home, &format!("/keep/rooms/{id}")));
                for line in shown.lines() {
                    assert!(page.contains(&compact(line)), "{example} {id}: {line}\n{page}");
                }
            }
        }
    }

    const HOSTILE: &str = "</title><script>alert(1)</script>\" onload=\"x\u{202e}";

    fn hostile_home() -> TestHome {
        let quoted = serde_json::to_string(HOSTILE).unwrap();
        let room = format!(
            "name: {quoted}\ndescription: |\n  <script>alert(1)</script> [x](javascript:alert(1))\n  \
             <p style=\"x\">[[{0}]]\nportals: [attic]\nactions:\n\
             - {{label: {quoted}, type: text, content: {quoted}}}\n\
             - {{label: Go, type: navigate, room: hall, workspace: {quoted}}}\n\
             - {{label: Ask, type: query, tool: {quoted}, tool_params: {{name: {quoted}}}}}\n",
            "Eve <b>"
        );
        let entity = format!(
            "name: Eve <b>\ngenus: {quoted}\nstatus: {quoted}\nobservations: [{quoted}]\n\
             relations: [{{type: {quoted}, to: {quoted}}}]\n"
        );
        let scroll = format!(
            "---\ntitle: {quoted}\nwritten: 2026-02-27T12:00:00Z\nby: {quoted}\n---\n{HOSTILE}\n\
             ![x](javascript:y) <img src=x onerror=y>\n\n| a |\n|:-:|\n| b |\n"
        );
        let task = format!("title: {quoted}\nroom: hall\nnote: {quoted}\n");
        TestHome::new(&[
            ("palace.toml", &format!("format = 1\nname = {quoted}\nentry = \"hall\"\n")),
            ("rooms/hall.yaml", &room),
            ("entities/e/eve.yaml", &entity),
            ("scrolls/hall/01JQ8M0000000000000000000C-x.md", &scroll),
            ("tasks/01JQ8M0000000000000000000B.yaml", &task),
        ])
    }

    fn assert_harmless(page: &str, path: &str) {
        let page = page.replace("<script src=\"/page.js\" defer></script>", "");
        let lower = page.to_lowercase();
        let tags: Vec<_> =
            lower.split('<').skip(1).map(|it| it.split('>').next().unwrap()).collect();
        for tag in tags {
            assert!(!tag.starts_with("script") && !tag.starts_with("img"), "{path}: {tag}");
            let values = tag.split('"').step_by(2).collect::<String>();
            for name in [" on", " style="] {
                assert!(!values.contains(name), "{path}: <{tag}>");
            }
            assert!(!tag.contains("href=\"javascript:"), "{path}: <{tag}>");
        }
        assert!(!page.contains('\u{202e}'), "{path}");
    }

    #[test]
    fn hostile_texts_are_only_texts() {
        let mut home = hostile_home();
        let paths = "/keep|/keep/rooms/attic|/keep/map|/keep/index|/keep/index?genus=x|/keep/log|\
            /keep/tasks|/keep/findings|/keep/search?q=alert|/keep/entities/Eve%20%3Cb%3E|\
            /keep/scrolls/hall/01JQ8M0000000000000000000C|\
            /keep/files/tasks/01JQ8M0000000000000000000B.yaml";
        for path in paths.split('|') {
            let page = page(&mut home, path);
            assert_harmless(&page, path);
            assert!(page.contains("</html>"), "{path}");
        }
        assert_harmless(&file(&mut home, None, None), "file");
        assert_harmless(&render_refusal_page("404", HOSTILE), "refusal");
    }

    /// A home in which a tool built the room `hall`, and then changed it.
    fn home_with_history() -> TestHome {
        let mut home = TestHome::new(&[]);
        build_room(&mut home.keeper, &ada(), &blueprint("hall"), &[]).unwrap();
        let name = Some("Great Hall".to_owned());
        let change = crate::Blueprint { name, merge: true, ..blueprint("hall") };
        build_room(&mut home.keeper, &ada(), &change, &[]).unwrap();
        home
    }

    fn commits(home: &mut TestHome) -> Vec<String> {
        home.run(|session| {
            let commits = session.palace.newest_commits().unwrap();
            commits.iter().map(|it| it.summary.short.clone()).collect()
        })
    }

    #[test]
    fn the_past_is_shown_with_links_into_the_past() {
        let mut home = home_with_history();
        let commits = commits(&mut home);
        assert!(page(&mut home, "/keep").contains("<h1>Great Hall</h1>"));
        let past = page(&mut home, &format!("/keep/rooms/hall?at={}", commits[1]));
        assert!(past.contains("<h1>Hall</h1>"), "{past}");
        assert!(past.contains("This is the palace as it was on"), "{past}");
        assert!(past.contains(&format!("href=\"/keep/map?at={}\"", commits[1])), "{past}");
        assert!(past.contains("data-at=\"\" href=\"/keep/rooms/hall\""), "{past}");
        assert!(!past.contains("data-live"), "{past}");
    }

    #[test]
    fn a_commit_has_its_change_and_the_command_that_reverts_it() {
        let mut home = home_with_history();
        let ids = commits(&mut home);
        let log = page(&mut home, "/keep/log");
        assert!(log.contains("ada: 2 conversations"), "{log}");
        let (_, visit) = log.split_once("href=\"/keep/visits/").unwrap();
        let visit = page(&mut home, &format!("/keep/visits/{}", &visit[..6]));
        assert!(visit.contains(&format!("/keep/commits/{}", ids[0])), "{visit}");
        assert!(visit.contains("palazzo undo --visit "), "{visit}");
        assert!(visit.contains("name: Great Hall</td>"), "{visit}");
        let newest = page(&mut home, &format!("/keep/commits/{}", ids[0]));
        assert!(newest.contains("palazzo undo --home ") && newest.contains("palazzo undo --visit"));
        assert!(newest.contains(&format!("revert --no-edit {}", ids[0])), "{newest}");
        assert!(text_of(&newest).contains("renamedfrom'Hall'to'GreatHall'"), "{newest}");
        assert!(newest.contains("name: Great Hall</td>"), "{newest}");
        home.run(|session| undo_last_call(session, ChangeMode::Commit).unwrap());
        let undone = page(&mut home, &format!("/keep/commits/{}", ids[0]));
        assert!(undone.contains("It was undone already"), "{undone}");
    }

    #[test]
    fn every_link_of_a_file_leads_to_a_section() {
        let mut home = example_home("paradigm-survey");
        let page = file(&mut home, None, None);
        assert!(!page.contains("<script") && !page.contains("src="), "there is a script");
        let links: Vec<_> =
            page.split("href=\"").skip(1).map(|it| it.split('"').next().unwrap()).collect();
        assert!(links.len() > 50);
        for link in links {
            match link.strip_prefix('#') {
                Some(id) => assert!(page.contains(&format!("id=\"{id}\"")), "{link}"),
                None => assert!(link.starts_with("http"), "{link}"),
            }
        }
    }

    #[test]
    fn a_file_begins_with_what_changed() {
        let mut home = home_with_history();
        let ids = commits(&mut home);
        let page = file(&mut home, None, Some(&ids[1]));
        assert!(page.contains("<section class=\"page first\" id=\"changed\">"), "{page}");
        assert!(page.contains("[data-room=\"hall\"] .room{stroke"), "{page}");
        assert!(text_of(&page).contains("renamedfrom'Hall'to'GreatHall'"), "{page}");
        let past = file(&mut home, Some(&ids[1]), None);
        assert!(past.contains("<h2>Hall</h2>") && !past.contains("Great Hall"), "{past}");
    }

    #[test]
    fn a_room_of_a_large_palace_has_a_small_page() {
        let mut home = TestHome::new(&[]);
        for number in 0..1_000 {
            let wing = ["east", "north", "south", "west"][number % 4];
            let doors = [4, 8, 40, 400].map(|it| format!("r{}", (number + it) % 1_000)).join(", ");
            let text = format!(
                "name: Room {number}\ndescription: It is room {number}.\nportals: [{doors}]\n"
            );
            home.write(&format!("rooms/{wing}/r{number}.yaml"), &text);
        }
        let page = page(&mut home, "/keep/rooms/east/r400");
        assert!(page.len() < 60_000, "{}", page.len());
        assert!(page.contains("data-room=\"east/r400\""));
        assert!(page.matches("data-room=").count() <= 41);
    }
}
