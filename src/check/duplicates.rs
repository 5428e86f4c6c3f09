//! Names and ids that mean two things, or would where upper and lower case are
//! the same.

use std::collections::{BTreeMap, HashMap};

use ulid::Ulid;

use crate::check::{CheckFinding, PalaceCheck};
use crate::model::{Code, ValuePath};

impl PalaceCheck<'_> {
    /// Looks for what is there twice.
    pub(crate) fn check_duplicates(&self) -> Vec<CheckFinding> {
        let mut remarks = self.duplicate_ids();
        remarks.extend(self.case_variant_files());
        remarks.extend(self.case_variant_names());
        remarks.extend(self.case_variant_genera());
        remarks
    }

    fn duplicate_ids(&self) -> Vec<CheckFinding> {
        let rooms = self.palace.rooms();
        let rooms = rooms.filter_map(|(id, it)| Some((it.id?, (self.room_file)(id))));
        let entities = self.palace.graph.entities_with_files();
        let entities = entities.filter_map(|(file, it)| Some((it.id?, file.to_owned())));
        let scrolls = self.palace.scroll_files().map(|(file, it)| (it.id, file.to_owned()));
        let mut holders: BTreeMap<Ulid, String> = BTreeMap::new();
        let mut remarks = Vec::new();
        for (id, file) in rooms.chain(entities).chain(scrolls) {
            if let Some(first) = holders.get(&id) {
                let message = format!("{first} has the same id");
                let remark = CheckFinding::new(
                    Code::SameId,
                    &file,
                    ValuePath::ROOT.then_value("id"),
                    message,
                );
                remarks.push(remark.with_hint("leave the id out of the younger of the two"));
            } else {
                holders.insert(id, file);
            }
        }
        remarks
    }

    /// Tells of files that some systems take for one.
    fn case_variant_files(&self) -> Vec<CheckFinding> {
        let palace = self.palace;
        let scrolls = palace.scroll_files().map(|(file, _)| file);
        let entities = palace.graph.entities_with_files().map(|(file, _)| file);
        let drawers = palace.drawers.rooms().flat_map(|it| palace.drawers.in_room(it));
        let work = palace.tasks.keys().chain(palace.processes.keys());
        let files = scrolls.chain(entities).chain(drawers.map(|(file, _)| file));
        let twins = case_variants(files.chain(work.map(String::as_str)));
        let remark = |(first, file): (&str, &str)| {
            let message = format!("{first} differs from this file in case only");
            let remark = CheckFinding::new(Code::CaseTwins, file, ValuePath::ROOT, message);
            remark.with_hint("rename one: some systems cannot hold both")
        };
        twins.into_iter().map(remark).collect()
    }

    fn case_variant_names(&self) -> Vec<CheckFinding> {
        let graph = &self.palace.graph;
        let twins = case_variants(graph.iter().map(|it| it.name.as_str()));
        let remark = |(first, name): (&str, &str)| {
            let file = graph.file_of_entity(name).unwrap_or_default();
            let message = format!("`{}` differs from this name in case only", first.escape_debug());
            CheckFinding::new(Code::CaseTwins, file, ValuePath::ROOT.then_value("name"), message)
        };
        twins.into_iter().map(remark).collect()
    }

    /// Tells of genera that are spelled in two ways: what is laid down for one
    /// does not hold for the other.
    fn case_variant_genera(&self) -> Vec<CheckFinding> {
        let graph = &self.palace.graph;
        let laid_down = graph.genus_definitions().map(|it| it.name.as_str());
        let twins = case_variants(laid_down.chain(graph.genus_counts().map(|(it, _)| it)));
        let remark = |(first, genus): (&str, &str)| {
            let file = graph.file_of_entity(&graph.entities_of_genus(genus, None).next()?.name)?;
            let message = format!("there is a genus `{}`, in another case", first.escape_debug());
            let remark = CheckFinding::new(
                Code::CaseTwins,
                file,
                ValuePath::ROOT.then_value("genus"),
                message,
            );
            Some(remark.with_hint(match graph.genus_definition(first) {
                Some(_) => format!("write `{}`", first.escape_debug()),
                None => "write it in one way, if the same is meant".to_owned(),
            }))
        };
        twins.into_iter().filter_map(remark).collect()
    }
}

/// Pairs each text with the first that differs from it in case only.
fn case_variants<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<(&'a str, &'a str)> {
    let mut first: HashMap<String, &str> = HashMap::new();
    let mut twins = Vec::new();
    for text in texts {
        let known = *first.entry(text.to_lowercase()).or_insert(text);
        if known != text {
            twins.push((known, text));
        }
    }
    twins
}
