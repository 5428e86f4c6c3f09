//! Collects the first page of a home with several palaces: what is in each, who was there last, and
//! what needs a person.

use crate::history::visits::visits_of_commits;
use crate::pages::frame::{count_open_work, finding_count};
use crate::pages::page_session::PageSession;
use crate::pages::visit::visit_row;
use crate::proposals::list_proposals;
use crate::{Caller, Keeper, Refusal};
use palazzo_core::model::{Palace, Tool};
use palazzo_core::render::count_with_noun;
use palazzo_core::view::{self, Links, PageKind, PalaceRow};

/// Renders the list of the palaces, those that were changed last first.
pub(super) fn palaces_document(
    keeper: &mut Keeper,
    by: &Caller,
    tools: &[Tool],
) -> Result<String, Refusal> {
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
    Ok(view::plain_document("Palaces", &view::palaces_page(&rows, by.now)))
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
