//! Finds the drawers of a source, also after its file or its folder was moved.

use std::collections::HashMap;

use crate::import::earlier_texts::ReadText;
use crate::palace::OpenPalace;

/// The files of drawers with a source: by the source, by its file name, and by their text.
pub(crate) struct SourceIndex<'o> {
    open: &'o OpenPalace,
    by_source: HashMap<&'o str, Vec<&'o str>>,
    by_name: HashMap<&'o str, Vec<&'o str>>,
    by_text: HashMap<&'o str, Vec<&'o str>>,
}

impl<'o> SourceIndex<'o> {
    pub(crate) fn new(open: &'o OpenPalace) -> Self {
        let drawers = open.palace.drawers.iter();
        let mut filed: Vec<_> =
            drawers.filter_map(|(file, _, it)| Some((file, it.source.as_deref()?, it))).collect();
        // The order in memory is a random one.
        filed.sort_unstable_by_key(|(file, ..)| *file);
        let [mut by_source, mut by_name, mut by_text] =
            [(); 3].map(|()| HashMap::<_, Vec<_>>::new());
        for (file, source, drawer) in filed {
            by_source.entry(source).or_default().push(file);
            by_name.entry(file_name(source)).or_default().push(file);
            by_text.entry(drawer.text.as_str()).or_default().push(file);
        }
        Self { open, by_source, by_name, by_text }
    }

    /// Returns the files of a document.
    pub(crate) fn files_of_document(&self, source: &str) -> &[&'o str] {
        self.by_source.get(source).map_or(&[], Vec::as_slice)
    }

    /// Returns the files of the conversations in a file, wherever it is: a client gives its file a name
    /// that stays.
    pub(crate) fn files_of_conversations(&self, source: &str) -> &[&'o str] {
        self.by_name.get(file_name(source)).map_or(&[], Vec::as_slice)
    }

    /// Returns the file with a text and its time in its wing; of the document `below`, also in another wing:
    /// that of a folder around the document, or of a folder that was renamed.
    pub(crate) fn file_of_moved_text(
        &self,
        new: &ReadText<'_>,
        below: Option<&str>,
    ) -> Option<&'o str> {
        let drawers = &self.open.palace.drawers;
        let is_moved = |file: &&str| {
            let Some(old) = drawers.drawer_in_file(file) else { return false };
            let is_in_wing =
                || drawers.wing_room_of_file(file).is_some_and(|it| it.wing == new.shelf.wing);
            let is_below = || {
                below.zip(old.source.as_deref()).is_some_and(|(new, old)| has_same_end(new, old))
            };
            old.filed.is_some() && old.filed == new.drawer.filed && (is_in_wing() || is_below())
        };
        let files = new.texts.iter().filter_map(|it| self.by_text.get(*it)).flatten();
        files.copied().find(is_moved)
    }
}

/// Returns the last name in a path of any system.
fn file_name(source: &str) -> &str {
    source.rsplit(['/', '\\']).next().unwrap_or(source)
}

/// Returns true if one of two paths is the other, or its end.
fn has_same_end(a: &str, b: &str) -> bool {
    let mut names = a.rsplit(['/', '\\']).zip(b.rsplit(['/', '\\']));
    names.all(|(a, b)| a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_below_a_folder_has_the_same_end() {
        assert!(has_same_end("kitchen/kettle.md", "kettle.md"));
        assert!(has_same_end("kettle.md", "kitchen\\kettle.md"));
        assert!(has_same_end("kettle.md", "kettle.md"));
        assert!(!has_same_end("old-kettle.md", "kettle.md"));
        assert!(!has_same_end("kitchen/kettle.md", "cellar/kettle.md"));
    }
}
