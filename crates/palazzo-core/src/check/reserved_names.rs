//! Finds files and folders with names that Windows cannot hold.

use crate::check::palace_check::{CheckFinding, PalaceCheck};
use crate::model::{Code, Slug, SlugError, ValuePath, quoted};

impl PalaceCheck<'_> {
    /// Reports files that git cannot check out on Windows. Rooms, wings and agents are not checked,
    /// because no slug is such a name.
    pub(crate) fn check_reserved_names(&self) -> Vec<CheckFinding> {
        let graph = &self.palace.graph;
        let genera = graph.genus_definitions();
        let genera = genera.filter_map(|it| graph.file_of_genus_definition(&it.name));
        let files = self.files_with_free_names().chain(genera);
        files.filter_map(reserved_name_finding).collect()
    }
}

fn reserved_name_finding(file: &str) -> Option<CheckFinding> {
    let (name, why) = file.split('/').find_map(|name| Some((name, reason_to_refuse(name)?)))?;
    let message = format!("Windows cannot hold {}: {why}", quoted(name));
    let finding = CheckFinding::new(Code::ReservedName, file, ValuePath::ROOT, message);
    let what = if file.ends_with(&format!("/{name}")) { "file" } else { "folder" };
    Some(finding.with_hint(format!("rename the {what}")))
}

/// Returns why Windows cannot hold a file or folder of this name; `None`: it can.
fn reason_to_refuse(name: &str) -> Option<&'static str> {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    match () {
        () if name.contains(['<', '>', ':', '"', '|', '?', '*']) => {
            Some("names there contain none of < > : \" | ? *")
        }
        () if name.ends_with([' ', '.']) => Some("names there do not end with a space or a dot"),
        () if matches!(stem.parse::<Slug>(), Err(SlugError::Reserved { .. })) => {
            Some("it is the name of a device there")
        }
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use crate::check::tests::findings_of;

    #[test]
    fn names_that_windows_cannot_hold_are_reported() {
        let found = findings_of(&[
            ("entities/con/granite.yaml", "name: Granite\ngenus: con\n"),
            ("entities/con./gneiss.yaml", "name: Gneiss\ngenus: con\n"),
            ("genera/NUL.x.yaml", "name: con\n"),
            ("tasks/what?.yaml", "title: What\n"),
            ("tasks/console.yaml", "title: Console\n"),
        ]);
        assert_snapshot!(found, @r#"
        entities/con./gneiss.yaml: reserved-name: Windows cannot hold `con.`: names there do not end with a space or a dot (rename the folder)
        entities/con/granite.yaml: reserved-name: Windows cannot hold `con`: it is the name of a device there (rename the folder)
        tasks/what?.yaml: reserved-name: Windows cannot hold `what?.yaml`: names there contain none of < > : " | ? * (rename the file)
        genera/NUL.x.yaml: reserved-name: Windows cannot hold `NUL.x.yaml`: it is the name of a device there (rename the file)
        "#);
    }
}
