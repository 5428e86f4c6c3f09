//! Creates palaces.

use std::path::Path;

use crate::name_check::reject_hidden_chars;
use crate::palace::OpenPalace;
use crate::palace::change_plan::{ChangeOptions, ChangePlan};
use crate::palace::open_palace::WatchConfig;
use crate::{Caller, Refusal};
use palazzo_core::format::{self, PalacePath};
use palazzo_core::model::{FileEdit, Files, Settings, Slug};
use palazzo_store::{self as store, HomeEntryKind, Store};

/// Creates a palace in an empty directory: its `palace.toml`, and the files of `template`.
pub(crate) fn create_palace(
    store: Store,
    caller: &Caller,
    name: &str,
    template: &Files,
    warn: fn(&str),
) -> Result<OpenPalace, Refusal> {
    let key = store.palace_folder().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let config = WatchConfig { warn, ..WatchConfig::default() };
    let mut palace = OpenPalace::open(store, name, &config)?;
    palace.change_files(caller, &ChangeOptions::default(), |palace| {
        let mut edits = Vec::new();
        for (path, text) in new_palace_files(name, template) {
            let was = palace.read_file_for_change(&path)?;
            let now = if was.is_none() { format::ensure_modeline(&path, &text) } else { text };
            edits.push(FileEdit { was, path, now: Some(now) });
        }
        Ok(ChangePlan {
            edits,
            subject: format!("palace {key}: create"),
            body: format!("Created the workspace {name}"),
        })
    })?;
    Ok(palace)
}

/// Derives a directory name from the name of a workspace; refuses invalid names, and a name that
/// is taken in the home.
pub(crate) fn available_directory_name(home: &Path, name: &str) -> Result<String, Refusal> {
    let refused = |why: &str| {
        Err(Refusal::InvalidName {
            what: "a workspace".to_owned(),
            name: name.to_owned(),
            why: why.to_owned(),
        })
    };
    if name.is_empty() {
        return refused("it is empty");
    }
    if name.chars().count() > Slug::MAX_CHARS {
        return refused("a name has at most 80 characters");
    }
    if name.starts_with('.') {
        return refused("it may not begin with a dot");
    }
    if name.contains(['/', '\\']) || reject_hidden_chars("name", name).is_err() {
        return refused("it may not contain slashes or control characters");
    }
    let Some(slug) = Slug::from_text(name) else {
        return refused(
            "no directory name can be made from it; use at least one letter from a-z or one digit, \
             and no name that some systems reserve, such as `con`",
        );
    };
    let is_palace = |folder: &&Path| folder.join(PalacePath::SETTINGS_FILE).exists();
    if let Some(palace) = home.ancestors().find(is_palace) {
        let what = if palace == home { "is itself a palace" } else { "is a folder of a palace" };
        return refused(&format!(
            "this home {what}, and a palace cannot contain another; use another home"
        ));
    }
    let entries = store::list_home_entries(home)?;
    match entries.iter().find(|(it, _)| it.to_lowercase() == slug.as_str()) {
        None | Some((_, HomeEntryKind::Directory)) => Ok(slug.to_string()),
        Some((entry, _)) => refused(&format!("`{entry}` already exists; use another name")),
    }
}

/// The files of a new palace: those of its template, with the name of the palace.
fn new_palace_files(name: &str, template: &Files) -> Files {
    let mut files = template.clone();
    let text = files.get(PalacePath::SETTINGS_FILE).and_then(|text| {
        let settings = Settings { name: name.to_owned(), ..format::parse_settings(text)? };
        format::edit_settings_name_and_entry(text, &settings)
    });
    let text = text.unwrap_or_else(|| format::serialize_settings(&Settings::with_name(name)));
    files.insert(PalacePath::SETTINGS_FILE.to_owned(), text);
    files
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn no_palace_is_created_in_another() {
        let folder = tempfile::tempdir().unwrap();
        let (palace, rooms) = (folder.path().join("keep"), folder.path().join("keep/rooms"));
        fs::create_dir_all(&rooms).unwrap();
        fs::write(palace.join("palace.toml"), "name = \"Keep\"\n").unwrap();
        let why = |home: &Path| available_directory_name(home, "new").unwrap_err().to_string();
        assert!(why(&palace).contains("this home is itself a palace"), "{}", why(&palace));
        assert!(why(&rooms).contains("this home is a folder of a palace"), "{}", why(&rooms));
        assert_eq!(available_directory_name(folder.path(), "New").unwrap(), "new");
    }
}
