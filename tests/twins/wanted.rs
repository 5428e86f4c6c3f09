//! Differences that are wanted, in `wanted.toml`.

use toml_edit::DocumentMut;

const FILE: &str = include_str!("wanted.toml");

/// A text of the older program that is another today.
pub(crate) struct WantedDifference {
    older: String,
    present: String,
}

impl WantedDifference {
    pub(crate) fn new(older: &str, present: &str) -> Self {
        Self { older: older.to_owned(), present: present.to_owned() }
    }

    /// Returns what the present program shows in place of a text of the older one.
    pub(crate) fn translate(&self, text: &str) -> String {
        text.replace(&self.older, &self.present)
    }
}

/// Reads the list. Each entry needs a reason.
pub(crate) fn read_wanted() -> Vec<WantedDifference> {
    let file: DocumentMut = FILE.parse().unwrap();
    let entries = file.get("difference").and_then(|it| it.as_array_of_tables());
    let wanted = entries.into_iter().flatten().map(|entry| {
        let [reason, older, present] =
            ["reason", "older", "present"].map(|key| entry[key].as_str().unwrap_or_default());
        assert!(!reason.is_empty() && !older.is_empty(), "wanted.toml: incomplete: {entry}");
        WantedDifference::new(older, present)
    });
    wanted.collect()
}
