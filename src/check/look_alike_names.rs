//! Finds names that look alike and are not the same.

use std::collections::HashMap;

use crate::check::palace_check::{CheckFinding, PalaceCheck};
use crate::model::{Code, ValuePath, fold_look_alikes, quoted};

impl PalaceCheck<'_> {
    /// Reports names of rooms, entities, genera, scrolls, tasks and processes that look like the name
    /// of another one. Names that differ in case only have a finding of their own.
    pub(crate) fn check_look_alike_names(&self) -> Vec<CheckFinding> {
        let graph = &self.palace.graph;
        let rooms = self.palace.rooms().map(|(id, it)| (it.name.as_str(), (self.room_file)(id)));
        let entities =
            graph.entities_with_files().map(|(file, it)| (it.name.as_str(), file.to_owned()));
        let genera = graph.genus_definitions().filter_map(|it| {
            Some((it.name.as_str(), graph.file_of_genus_definition(&it.name)?.to_owned()))
        });
        let scrolls = self.palace.scroll_files().filter_map(|(file, id)| {
            Some((self.palace.scroll(id)?.title.as_str(), file.to_owned()))
        });
        let tasks = self.palace.tasks.iter().map(|(file, it)| (it.title.as_str(), file.clone()));
        let processes =
            self.palace.processes.iter().map(|(file, it)| (it.name.as_str(), file.clone()));
        let kinds = [
            find_look_alikes(rooms, "name"),
            find_look_alikes(entities, "name"),
            find_look_alikes(genera, "name"),
            find_look_alikes(scrolls, "title"),
            find_look_alikes(tasks, "title"),
            find_look_alikes(processes, "name"),
        ];
        kinds.concat()
    }
}

/// Returns a finding for each name that looks like an earlier one; the names come with their files,
/// and stand there as values of `key`.
fn find_look_alikes<'a>(
    names: impl Iterator<Item = (&'a str, String)>,
    key: &str,
) -> Vec<CheckFinding> {
    let mut names: Vec<_> = names.collect();
    names.sort_by(|a, b| a.1.cmp(&b.1));
    let mut firsts: HashMap<String, &str> = HashMap::new();
    let mut findings = Vec::new();
    for (name, file) in &names {
        match firsts.get(&fold_look_alikes(name)) {
            Some(first) if first.to_lowercase() != name.to_lowercase() => {
                findings.push(look_alike_finding(first, name, file, key));
            }
            Some(_) => {}
            None => drop(firsts.insert(fold_look_alikes(name), name)),
        }
    }
    findings
}

fn look_alike_finding(first: &str, name: &str, file: &str, key: &str) -> CheckFinding {
    let message = format!("{} looks like this name", quoted(first));
    let about = ValuePath::ROOT.then_value(key);
    let finding = CheckFinding::new(Code::LookAlikeName, file, about, message);
    let code_point =
        |it: Option<char>| it.map_or("nothing".to_owned(), |it| format!("U+{:04X}", u32::from(it)));
    let at = first.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
    let [there, here] = [first, name].map(|it| code_point(it.chars().nth(at)));
    finding.with_hint(format!("it has {there} where this one has {here}; rename one of them"))
}
