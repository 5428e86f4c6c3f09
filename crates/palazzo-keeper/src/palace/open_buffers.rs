//! The texts of files that are open in an editor. They stand for the files on disk.

use crate::palace::open_palace::OpenPalace;

impl OpenPalace {
    /// Applies the text of a file that is open in an editor. A text that cannot be parsed is
    /// reported, and the last content of the file stays.
    pub(crate) fn set_open_buffer(&mut self, path: &str, text: &str) {
        self.loaded.store.set_open_buffer(path, Some(text.to_owned()));
        self.apply_own_write(path, Some(text));
        self.retry_name_conflicts();
    }

    /// Applies the file on disk again.
    pub(crate) fn close_buffer(&mut self, path: &str) {
        self.loaded.store.set_open_buffer(path, None);
        self.reread_file(path);
    }
}
