//! Finds links in notes that lead to nothing.

use std::collections::HashSet;

use crate::palace::loaded_palace::LoadedPalace;
use palazzo_core::format::{NoteLink, NoteLinkTarget, positions_of_bytes};
use palazzo_core::model::{Code, Diagnostic, quoted};

/// The maximum number of links that are reported in one note.
const MAX_FINDINGS_PER_NOTE: usize = 50;
/// The maximum number of characters of a link in a message.
const MAX_LINK_CHARS: usize = 120;

/// Reports the links of notes that lead to no note, room or entity, each once in a note.
pub(crate) fn dead_note_link_findings(open: &LoadedPalace) -> Vec<Diagnostic> {
    let folders = &open.palace.settings.note_folders;
    if folders.is_empty() {
        return Vec::new();
    }
    let drawers = open.palace.drawers.iter().filter(|(file, ..)| folders.contains(file));
    let mut findings: Vec<_> =
        drawers.flat_map(|(file, _, note)| findings_in(open, file, &note.text)).collect();
    findings.sort_by(|a, b| (&a.file, a.at.line).cmp(&(&b.file, b.at.line)));
    findings
}

fn findings_in(open: &LoadedPalace, file: &str, text: &str) -> Vec<Diagnostic> {
    let links = open.note_links().links_of(&open.palace, file).into_iter();
    let dead = links.filter(|(_, target)| *target == NoteLinkTarget::Nothing);
    let mut seen = HashSet::new();
    let written = |link: &NoteLink| text.get(link.range.clone()).unwrap_or_default().to_owned();
    let dead = dead.map(|(link, _)| (link.range.start, written(link)));
    let dead: Vec<_> =
        dead.filter(|(_, it)| seen.insert(it.clone())).take(MAX_FINDINGS_PER_NOTE).collect();
    let starts: Vec<_> = dead.iter().map(|(start, _)| *start).collect();
    let positions = positions_of_bytes(text, &starts);
    let finding = |((_, link), at): ((usize, String), _)| {
        let link: String = link.chars().take(MAX_LINK_CHARS).collect();
        let message = format!("the link {} leads to no note, room or entity", quoted(&link));
        Diagnostic { at, ..Diagnostic::for_file(Code::UnresolvedLink, file, message) }
    };
    dead.into_iter().zip(positions).map(finding).collect()
}
