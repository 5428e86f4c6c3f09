//! What tasks and processes are about.

use crate::check::{CheckFinding, PalaceCheck};
use crate::model::{ValuePath, WorkSubject};

impl PalaceCheck<'_> {
    /// Looks whether rooms and entities that work is about are there.
    pub(crate) fn check_work(&self) -> Vec<CheckFinding> {
        let tasks = self.palace.tasks.iter().map(|(file, it)| (file, &it.subject));
        let processes = self.palace.processes.iter().map(|(file, it)| (file, &it.subject));
        let mut compared = 0;
        let mut remarks = Vec::new();
        for (file, WorkSubject { entity, room }) in tasks.chain(processes) {
            remarks.extend(room.iter().filter_map(|it| {
                self.check_exit(it, None, file, ValuePath::ROOT.then_value("room"), &mut compared)
            }));
            let lost = entity.as_ref();
            let lost = lost.and_then(|it| {
                self.palace.graph.undefined_name_fault(it, ValuePath::ROOT.then_value("entity"))
            });
            remarks.extend(lost.and_then(|it| self.fault_finding(file, it)));
        }
        remarks
    }
}
