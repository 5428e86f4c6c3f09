//! Checks the memory of a host: whether its index and its files fit together.

use std::collections::BTreeSet;

use crate::check::palace_check::{CheckFinding, PalaceCheck};
use crate::model::{
    Code, HOST_MEMORY_FOLDER, HOST_MEMORY_INDEX, ValuePath, linked_memory_files, names_memory_file,
    path_below_host_memory, quoted_unless_plain,
};

impl PalaceCheck<'_> {
    /// Reports memories that no line of the index names, and links of the index to files that do not
    /// exist. Without an index, nothing is reported: another program may use the folder.
    pub(crate) fn check_host_memory(&self) -> Vec<CheckFinding> {
        let drawers = &self.palace.drawers;
        let Some(index) = drawers.drawer_in_file(HOST_MEMORY_INDEX) else { return Vec::new() };
        let files = drawers.iter().map(|(file, ..)| file).filter(|it| *it != HOST_MEMORY_INDEX);
        let files: BTreeSet<_> = files.filter_map(path_below_host_memory).collect();
        let is_named = |file: &str| index.text.lines().any(|it| names_memory_file(it, file));
        let unnamed = files.iter().filter(|it| !is_named(it)).map(|file| {
            let file = format!("{HOST_MEMORY_FOLDER}/{file}");
            let message = "no line of MEMORY.md leads to this memory";
            let finding =
                CheckFinding::new(Code::MemoryWithoutPointer, &file, ValuePath::ROOT, message);
            finding.with_hint("the next conversation in Claude Code adds one, if its hooks run")
        });
        let is_unreadable =
            |file: &str| self.has_unreadable_files(&format!("{HOST_MEMORY_FOLDER}/{file}"));
        let links = linked_memory_files(&index.text).into_iter();
        let dead = links.filter(|(_, it)| !files.contains(it.as_str()) && !is_unreadable(it));
        let dead = dead.filter(|(_, it)| it != "MEMORY.md").map(|(line, file)| {
            let file = quoted_unless_plain(&file);
            let message = format!("line {line} leads to {file}, which does not exist");
            let code = Code::PointerWithoutMemory;
            let finding = CheckFinding::new(code, HOST_MEMORY_INDEX, ValuePath::ROOT, message);
            finding.with_hint("remove the line, or bring the file back")
        });
        unnamed.chain(dead).collect()
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use crate::check::tests::findings_of;

    #[test]
    fn memories_and_pointers_that_do_not_fit_together_are_reported() {
        let files = [
            ("drawers/claude/memory/MEMORY.md", "# Index\n- [A](a.md)\n- [B](b.md) — gone\n"),
            ("drawers/claude/memory/a.md", "---\nname: A\n---\nText.\n"),
            ("drawers/claude/memory/sub/c.md", "Text.\n"),
            ("drawers/claude/other/d.md", "Text.\n"),
        ];
        assert_snapshot!(findings_of(&files), @"
        drawers/claude/memory/sub/c.md: memory-without-pointer: no line of MEMORY.md leads to this memory (the next conversation in Claude Code adds one, if its hooks run)
        drawers/claude/memory/MEMORY.md: pointer-without-memory: line 3 leads to b.md, which does not exist (remove the line, or bring the file back)
        ");
        assert_snapshot!(findings_of(&files[1..]), @"");
    }
}
