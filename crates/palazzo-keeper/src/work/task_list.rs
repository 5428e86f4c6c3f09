//! Lists tasks and processes with their notes and steps.

use crate::walk::contents::render_new_work;
use crate::work::{describe_work_subject, resolve_work_subject, unknown_room_note, work_view};
use crate::{Refusal, Session};
use palazzo_core::model::{ItemId, Layout, RoomRef, WorkStatus, WorkSubject};
use palazzo_core::render::{ListedContent, WorkView};

/// A query for tasks and processes.
#[derive(Clone, Debug, Default)]
pub struct WorkQuery {
    /// Only tasks and processes about the entity with this name.
    pub entity: Option<String>,
    /// Only tasks and processes about this room.
    pub room: Option<RoomRef>,
    /// True for those that are done, false for those that are open.
    pub done: bool,
    /// The page, from 1, of thirty.
    pub page: usize,
}

/// One page of a list of processes and tasks.
#[derive(Clone, Debug)]
pub struct WorkPage<'a> {
    /// The heading: `To be done about Rome`.
    pub heading: String,
    /// The processes and tasks on this page, oldest first.
    pub items: Vec<WorkView<'a>>,
    /// Their notes and steps.
    pub contents: Vec<ListedContent>,
    /// How many match the query.
    pub total: usize,
    /// The number of the page, from 1.
    pub page: usize,
}

/// Lists processes, then tasks, oldest first. The numbers of the listed items open those on this
/// page.
pub fn list_tasks<'s>(
    session: &'s mut Session<'_>,
    query: &WorkQuery,
) -> Result<WorkPage<'s>, Refusal> {
    session.palace.update_file_history_cache()?;
    let open = &*session.palace;
    let palace = &open.palace;
    let about = resolve_work_subject(palace, query.entity.as_deref(), query.room.as_ref())?;
    let is_same_room =
        |it: &RoomRef| palace.resolve_present_room(it, None).ok().map(RoomRef::from) == about.room;
    let matches = |it: &WorkSubject, status: WorkStatus| {
        status.is_open() != query.done
            && (about.entity.is_none() || it.entity == about.entity)
            && (about.room.is_none() || it.room.as_ref().is_some_and(is_same_room))
    };
    let processes = palace.processes.iter().filter(|(_, it)| matches(&it.subject, it.status));
    let processes = processes.map(|(file, _)| ItemId::Process(file.clone()));
    let tasks = palace.tasks.iter().filter(|(_, it)| matches(&it.subject, it.status));
    let all: Vec<_> = processes.chain(tasks.map(|(file, _)| ItemId::Task(file.clone()))).collect();
    let page = query.page.max(1);
    let first = (page - 1).saturating_mul(Layout::MAX_RESULTS);
    let listed: Vec<_> = all.iter().skip(first).take(Layout::MAX_RESULTS).cloned().collect();
    let status = if query.done { "Done" } else { "To be done" };
    if all.is_empty()
        && let Some(note) = query.room.as_ref().and_then(|it| unknown_room_note(palace, it))
    {
        return Err(Refusal::Invalid(note));
    }
    let heading =
        format!("{status} {}", describe_work_subject(palace, &about)).trim_end().to_owned();
    let contents = render_new_work(session, &listed)?;
    session.visit.record_listed_items(listed.clone());
    let open = &*session.palace;
    let items = listed.iter().filter_map(|it| work_view(open, it)).collect();
    Ok(WorkPage { heading, items, contents, total: all.len(), page })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::TestHome;
    use palazzo_core::render;

    #[test]
    fn a_list_shows_notes_and_steps_once() {
        let mut home = TestHome::new(&[
            ("processes/z.yaml", "name: Repair\nsteps: [Scaffold, Mortar]\n"),
            ("tasks/a.yaml", "title: Dig\nnote: \"By hand.\\nNotices: none\"\n"),
            ("tasks/b.yaml", "title: Fill\n"),
        ]);
        let mut list = || {
            home.run(|session| {
                let now = session.caller.now;
                let it = list_tasks(session, &WorkQuery::default()).unwrap();
                render::work_list(&it.heading, (&it.items, &it.contents), (it.page, it.total), now)
            })
        };
        insta::assert_snapshot!(list(), @"
        To be done, 3 things:
          31. Process: Repair (step 1/2)
              → 1. Scaffold
                2. Mortar
          32. Task: Dig
              By hand. Notices: none
          33. Task: Fill
        ");
        insta::assert_snapshot!(list(), @"
        To be done, 3 things:
          31. Process: Repair (step 1/2) (read above)
          32. Task: Dig (read above)
          33. Task: Fill (read above)
        ");
    }

    #[test]
    fn processes_come_before_tasks_and_thirty_items_make_a_page() {
        let home = &mut TestHome::new(&[("processes/z.yaml", "name: Z\nsteps: [Begin]\n")]);
        for number in 0..30 {
            home.write(&format!("tasks/{number:02}.yaml"), &format!("title: Task {number}\n"));
        }
        let pages = [0, 1, 2, 3].map(|page| {
            home.run(|session| {
                let list = list_tasks(session, &WorkQuery { page, ..WorkQuery::default() });
                let list = list.unwrap();
                (list.page, list.items.len(), list.total)
            })
        });
        assert_eq!(pages, [(1, 30, 31), (1, 30, 31), (2, 1, 31), (3, 0, 31)]);
        home.run(|session| {
            list_tasks(session, &WorkQuery::default()).unwrap();
            let first = session.visit.listed_items.first();
            assert_eq!(first, Some(&ItemId::Process("processes/z.yaml".to_owned())));
        });
    }

    #[test]
    fn the_heading_names_the_subject_as_its_genus_does() {
        let mut home = TestHome::new(&[
            ("genera/claim.yaml", "name: Claim\nsentence: the claim \"{name}\"\n"),
            ("entities/claim/data.yaml", "name: Stasis is data\ngenus: Claim\n"),
            ("rooms/hall.yaml", "name: The Hall\n"),
        ]);
        let room = Some("hall".parse().unwrap());
        let entity = Some("STASIS IS DATA".to_owned());
        let query = WorkQuery { entity, room, done: true, page: 1 };
        let heading = home.run(|session| list_tasks(session, &query).unwrap().heading);
        assert_eq!(heading, "Done about the claim \"Stasis is data\", in The Hall");
    }

    #[test]
    fn a_room_that_does_not_exist_is_named_with_the_one_that_may_be_meant() {
        let mut home = TestHome::new(&[("rooms/harbour.yaml", "name: Harbour\n")]);
        let query = WorkQuery { room: Some("harbor".parse().unwrap()), ..WorkQuery::default() };
        let refusal = home.run(|session| list_tasks(session, &query).unwrap_err().to_string());
        assert_eq!(refusal, "the room `harbor` is not built yet; did you mean `harbour`?");
    }

    #[test]
    fn a_task_is_listed_for_its_room_in_whichever_form_its_file_names_it() {
        let mut home = TestHome::new(&[
            ("rooms/east/well.yaml", "name: Well\n"),
            ("tasks/a.yaml", "title: Dig\nroom: well\n"),
            ("tasks/b.yaml", "title: Fill\nroom: east/well\n"),
            ("tasks/c.yaml", "title: Rest\n"),
        ]);
        let query = WorkQuery { room: Some("well".parse().unwrap()), ..WorkQuery::default() };
        assert_eq!(home.run(|session| list_tasks(session, &query).unwrap().total), 2);
    }
}
