//! Finds names that look alike and are not the same.

use std::collections::{BTreeMap, HashMap};

use crate::check::palace_check::{CheckFinding, PalaceCheck};
use crate::model::{Code, ValuePath, fold_look_alikes, quoted};

impl PalaceCheck<'_> {
    /// Reports names of rooms, entities, genera, scrolls, tasks, processes and wings that look like the name
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
            find_look_alikes(self.wing_names(), "wing"),
        ];
        kinds.concat()
    }

    /// Yields the names of the wings, each with a file that has it.
    fn wing_names(&self) -> impl Iterator<Item = (&str, String)> {
        let names = self
            .palace
            .drawers
            .iter()
            .filter_map(|(file, _, it)| Some((it.filed_under.wing.as_deref()?, file)));
        let mut first_files: BTreeMap<&str, &str> = BTreeMap::new();
        for (name, file) in names {
            let first = first_files.entry(name).or_insert(file);
            *first = file.min(first);
        }
        first_files.into_iter().map(|(name, file)| (name, file.to_owned()))
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

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use crate::check::tests::findings_of;

    #[test]
    fn wings_that_look_alike_are_reported_once() {
        let drawer = |wing: &str| format!("---\nwing: {wing}\nroom: Hall\n---\n\nWords.\n");
        assert_snapshot!(
            findings_of(&[
                ("drawers/code/hall/a.md", &drawer("Code")),
                ("drawers/sode/hall/a.md", &drawer("Сode")),
                ("drawers/sode/hall/b.md", &drawer("Сode")),
            ]),
            @"drawers/sode/hall/a.md wing: look-alike-name: `Code` looks like this name (it has U+0043 where this one has U+0421; rename one of them)"
        );
    }
}
