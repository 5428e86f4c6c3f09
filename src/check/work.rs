//! What tasks and processes are about.

use crate::check::{CheckFinding, PalaceCheck};
use crate::model::{About, Trail};

impl PalaceCheck<'_> {
    /// Looks whether rooms and entities that work is about are there.
    pub(crate) fn check_work(&self) -> Vec<CheckFinding> {
        let tasks = self.palace.tasks.iter().map(|(file, it)| (file, &it.about));
        let processes = self.palace.processes.iter().map(|(file, it)| (file, &it.about));
        let mut compared = 0;
        let mut remarks = Vec::new();
        for (file, About { entity, room }) in tasks.chain(processes) {
            remarks.extend(room.iter().filter_map(|it| {
                self.check_exit(it, None, file, Trail::TOP.value("room"), &mut compared)
            }));
            let lost = entity.as_ref();
            let lost = lost.and_then(|it| self.palace.graph.lost(it, Trail::TOP.value("entity")));
            remarks.extend(lost.and_then(|it| self.fault_finding(file, it)));
        }
        remarks
    }
}
