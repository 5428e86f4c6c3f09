//! Checks tasks and processes: their subjects, and the titles of tasks.

use std::collections::HashMap;

use crate::check::palace_check::{CheckFinding, PalaceCheck};
use crate::model::{Code, ValuePath, WorkSubject, quoted_unless_plain};

impl PalaceCheck<'_> {
    /// Reports tasks and processes about missing rooms or entities.
    pub(crate) fn check_task_and_process_subjects(&self) -> Vec<CheckFinding> {
        let (mut compared, subjects) = (0, self.palace.work_subjects());
        subjects.flat_map(|(file, it)| self.check_work_subject(file, it, &mut compared)).collect()
    }

    /// Reports a task or process about a missing room or entity; `compared` is as for
    /// [`Self::check_room_reference`].
    pub(crate) fn check_work_subject(
        &self,
        file: &str,
        WorkSubject { entity, room }: &WorkSubject,
        compared: &mut usize,
    ) -> Vec<CheckFinding> {
        let about = ValuePath::ROOT.then_value("room");
        let room = room.as_ref();
        let room = room.and_then(|it| self.check_room_reference(it, None, file, about, compared));
        let fault = entity.as_ref().and_then(|it| {
            self.palace.graph.undefined_name_fault(it, ValuePath::ROOT.then_value("entity"))
        });
        room.into_iter().chain(fault.and_then(|it| self.fault_finding(file, it))).collect()
    }

    /// Reports open tasks with the title of another open task.
    pub(crate) fn check_task_titles(&self) -> Vec<CheckFinding> {
        let mut files_by_title = HashMap::new();
        let mut findings = Vec::new();
        for (file, task) in self.palace.tasks.iter().filter(|(_, it)| it.status.is_open()) {
            let first = files_by_title.entry(task.title.trim().to_lowercase()).or_insert(file);
            if *first != file {
                let first = quoted_unless_plain(first);
                let message = format!("the open task {first} has the same title");
                let about = ValuePath::ROOT.then_value("title");
                findings.push(CheckFinding::new(Code::DuplicateTitle, file, about, message));
            }
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use crate::check::tests::findings_of;

    const CRYPT: (&str, &str) = ("rooms/crypt.yaml", "name: Crypt\ndescription: Dark.\n");

    #[test]
    fn a_task_about_a_missing_room_or_entity_is_reported() {
        let task = ("tasks/sweep.yaml", "title: Sweep\nroom: cript\nentity: Dust\n");
        assert_snapshot!(findings_of(&[CRYPT, task]), @"
        tasks/sweep.yaml room: unfinished-room: the room `cript` is not built yet (did you mean `crypt`?)
        tasks/sweep.yaml entity: undefined-entity: there is no entity `Dust` yet
        ");
    }

    #[test]
    fn two_open_tasks_with_one_title_are_reported() {
        let task = |status: &str| format!("title: Sweep\n{status}");
        let found = |status: &str| {
            findings_of(&[
                ("tasks/a.yaml", &task("")),
                ("tasks/b.yaml", &task(status)),
                ("tasks/c.yaml", "title: sweep the hall\n"),
            ])
        };
        assert_snapshot!(
            found(""),
            @"tasks/b.yaml title: duplicate-title: the open task tasks/a.yaml has the same title"
        );
        assert_eq!(found("status: done\n"), "");
    }

    #[test]
    fn a_process_in_an_existing_room_is_accepted() {
        let process = |room: &str| format!("name: Spring\nsteps: [Sweep]\nroom: {room}\n");
        let found = |room| findings_of(&[CRYPT, ("processes/spring.yaml", &process(room))]);
        assert_eq!(found("crypt"), "");
        assert_snapshot!(
            found("west/crypt"),
            @"processes/spring.yaml room: unfinished-room: the room `west/crypt` is not built yet"
        );
    }

    #[test]
    fn the_entity_of_a_task_is_not_missing_while_an_entity_file_is_unreadable() {
        let unreadable = ("entities/thing/dust.yaml", "name: [Dust\n");
        assert_eq!(findings_of(&[("tasks/a.yaml", "title: A\nentity: Dust\n"), unreadable]), "");
    }
}
