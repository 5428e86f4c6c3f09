//! Checks the subjects of tasks and processes.

use crate::check::palace_check::{CheckFinding, PalaceCheck};
use crate::model::{ValuePath, WorkSubject};

impl PalaceCheck<'_> {
    /// Reports tasks and processes about missing rooms or entities.
    pub(crate) fn check_task_and_process_subjects(&self) -> Vec<CheckFinding> {
        let tasks = self.palace.tasks.iter().map(|(file, it)| (file, &it.subject));
        let processes = self.palace.processes.iter().map(|(file, it)| (file, &it.subject));
        let mut compared = 0;
        let mut findings = Vec::new();
        for (file, WorkSubject { entity, room }) in tasks.chain(processes) {
            findings.extend(room.iter().filter_map(|it| {
                self.check_room_reference(
                    it,
                    None,
                    file,
                    ValuePath::ROOT.then_value("room"),
                    &mut compared,
                )
            }));
            let fault = entity.as_ref().and_then(|it| {
                self.palace.graph.undefined_name_fault(it, ValuePath::ROOT.then_value("entity"))
            });
            findings.extend(fault.and_then(|it| self.fault_finding(file, it)));
        }
        findings
    }
}
