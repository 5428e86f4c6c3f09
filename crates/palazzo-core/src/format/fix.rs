//! Fixes findings in a file where there is no doubt what was meant.
//!
//! A fix is accepted only if the file then has fewer findings and no new ones; a text is quoted
//! only if the file up to its line can then be parsed, so that no content is swallowed and no error
//! merely moves.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

use crate::format::file_parser::FileParser;
use crate::format::yaml::one_line_scalar;
use crate::format::{
    PalacePath, ParsedItem, front_matter, has_merge_conflict, parse_file, parse_file_with_parser,
};
use crate::model::{Code, Diagnostic, MAX_FILE_BYTES, Palace, Position, RoomId, Slug, split_lines};

/// A file with this many findings is not fixed: they are not typing errors.
const MAX_FINDINGS: usize = 200;

/// Maximum number of bytes that are parsed again to fix one file.
const MAX_BYTES_PARSED: usize = 16 * MAX_FILE_BYTES;

/// A file after at least one fix.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedFile {
    /// The new text.
    pub text: String,
    /// The findings that were fixed, in the order of the file.
    pub fixed: Vec<Diagnostic>,
}

/// The rooms of a palace that a door may lead to, by slug of id and name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoomNameIndex(BTreeMap<Slug, BTreeSet<RoomId>>);

/// A file while it is fixed.
struct FixSession<'a> {
    path: &'a str,
    rooms: &'a RoomNameIndex,
    text: String,
    findings: Vec<Diagnostic>,
    fixed: Vec<Diagnostic>,
    /// The number of bytes that may still be parsed.
    bytes_left: usize,
}

/// A possible fix of a finding.
struct ProposedFix {
    fault: Diagnostic,
    range: Range<usize>,
    replacement: String,
}

/// Fixes the text of a file; `None` if nothing can be fixed, or it would cost too much. The result
/// is final: another call finds nothing to fix.
///
/// Fixes words at edit distance 1 from the only possible word, names of one of `rooms` in place of
/// its slug, ids that contradict the file name, and texts that need quotes. A file with a merge
/// conflict is left to the user.
pub fn fix_file(path: &str, text: &str, rooms: &RoomNameIndex) -> Option<FixedFile> {
    if has_merge_conflict(text) {
        return None;
    }
    let mut draft = FixSession {
        path,
        rooms,
        text: text.to_owned(),
        findings: findings_of_text(path, text),
        fixed: Vec::new(),
        bytes_left: MAX_BYTES_PARSED,
    };
    while draft.try_fixes(&draft.propose_fixes())? {}
    let FixSession { text, fixed: mut faults, .. } = draft;
    faults.sort_by_key(|it| it.at);
    (!faults.is_empty()).then_some(FixedFile { text, fixed: faults })
}

/// Returns the right path for a file whose name, or that of its folder, is invalid.
pub fn corrected_path(path: &str) -> Option<String> {
    let (start, ending) = path.rsplit_once('.')?;
    let ending = match ending.to_lowercase().as_str() {
        "yml" | "yaml" => "yaml",
        "md" | "markdown" => "md",
        _ => return None,
    };
    let slug = |it: &str| match it.parse::<Slug>() {
        Ok(_) => Some(it.to_owned()),
        Err(_) => Slug::from_text(it).map(|it| it.to_string()),
    };
    let mut names = start.split('/');
    let (kind, mut names): (_, Vec<_>) = (names.next()?, names.map(str::to_owned).collect());
    // The file name of a room is its slug; for texts only the folders are slugs.
    let named = match kind {
        "rooms" => names.len(),
        "scrolls" | "diary" => names.len().checked_sub(1)?,
        _ => 0,
    };
    for name in &mut names[..named] {
        *name = slug(name)?;
    }
    let right = format!("{kind}/{}.{ending}", names.join("/"));
    (right != path).then_some(right)
}

impl RoomNameIndex {
    /// Collects the rooms among the files of a palace.
    pub fn from_files<'a>(files: impl IntoIterator<Item = (&'a String, &'a String)>) -> Self {
        let mut rooms = Self::default();
        for (path, text) in files {
            let Ok(PalacePath::Room(id)) = PalacePath::parse(path) else { continue };
            let name = match parse_file(path, text).item {
                Some(ParsedItem::Room(_, room)) => Slug::from_text(&room.name),
                _ => None,
            };
            for called in name.into_iter().chain([id.slug.clone()]) {
                rooms.0.entry(called).or_default().insert(id.clone());
            }
        }
        rooms
    }

    /// Collects the rooms of a palace.
    pub fn from_palace(palace: &Palace) -> Self {
        let mut rooms = Self::default();
        for (id, room) in palace.rooms() {
            for called in Slug::from_text(&room.name).into_iter().chain([id.slug.clone()]) {
                rooms.0.entry(called).or_default().insert(id.clone());
            }
        }
        rooms
    }

    /// Returns the only room whose name or slug has this slug, unless its own slug is ambiguous.
    pub fn find_unique_room(&self, called: &str) -> Option<&RoomId> {
        let only = |called: &Slug| {
            let rooms = self.0.get(called)?;
            rooms.first().filter(|_| rooms.len() == 1)
        };
        let room = only(&called.parse().ok()?)?;
        only(&room.slug)
    }
}

impl FixSession<'_> {
    /// Returns the possible fixes, in the order of the file, without overlaps.
    fn propose_fixes(&self) -> Vec<ProposedFix> {
        if self.findings.len() >= MAX_FINDINGS {
            return Vec::new();
        }
        let page = SourceText::new(&self.text);
        let mut attempts: Vec<_> =
            self.findings.iter().filter_map(|it| page.propose_fix(it, self.rooms)).collect();
        attempts.sort_by_key(|it| it.range.start);
        attempts.dedup_by(|it, before| it.range.start < before.range.end);
        attempts
    }

    /// Applies as many fixes as are accepted: all at once, else each half separately. Returns
    /// whether any was applied; `None` if it costs too much to find out.
    fn try_fixes(&mut self, attempts: &[ProposedFix]) -> Option<bool> {
        if attempts.is_empty() {
            return Some(false);
        }
        let text = self.text_with_fixes(attempts);
        self.bytes_left = self.bytes_left.checked_sub(text.len())?;
        let after = findings_of_text(self.path, &text);
        if self.is_improvement(attempts, &text, &after) {
            self.fixed.extend(attempts.iter().map(|it| it.fault.clone()));
            (self.text, self.findings) = (text, after);
            return Some(true);
        }
        if let [only] = attempts {
            return self.try_fix_with_followup(only, text, &after);
        }
        // The later half does not move anything before it.
        let (start, end) = attempts.split_at(attempts.len() / 2);
        let is_end_better = self.try_fixes(end)?;
        Some(self.try_fixes(start)? || is_end_better)
    }

    /// Applies a fix and the one that becomes possible after it: the room of an action is only
    /// checked once its type is valid, and may be wrong too.
    fn try_fix_with_followup(
        &mut self,
        first: &ProposedFix,
        mut text: String,
        after: &[Diagnostic],
    ) -> Option<bool> {
        let known: HashSet<_> = self.findings.iter().map(|it| &it.message).collect();
        let mut others = after.iter().filter(|it| !known.contains(&it.message));
        let next = match (others.next(), others.next()) {
            (Some(fault), None) if first.fault.code == Code::BadValue => {
                SourceText::new(&text).propose_fix(fault, self.rooms)
            }
            _ => None,
        };
        let Some(ProposedFix { fault, range, replacement: new_text }) = next else {
            return Some(false);
        };
        text.replace_range(range, &new_text);
        self.bytes_left = self.bytes_left.checked_sub(text.len())?;
        let after = findings_of_text(self.path, &text);
        let is_better = self.is_improvement(std::slice::from_ref(first), &text, &after);
        if is_better {
            self.fixed.extend([first.fault.clone(), fault]);
            (self.text, self.findings) = (text, after);
        }
        Some(is_better)
    }

    fn text_with_fixes(&self, attempts: &[ProposedFix]) -> String {
        let (mut text, mut from) = (String::new(), 0);
        for ProposedFix { range, replacement: new_text, .. } in attempts {
            text.push_str(&self.text[from..range.start]);
            text.push_str(new_text);
            from = range.end;
        }
        text + &self.text[from..]
    }

    /// Returns whether the file can be parsed up to the end of a line, which shows that the line is
    /// complete. With an open bracket it cannot.
    fn is_readable_up_to_line(&self, text: &str, line: usize) -> bool {
        let mut start: String = text.split_inclusive('\n').take(line).collect();
        if front_matter::text_after_opening_fence(text).is_some() {
            start.push_str("\n---\n");
        }
        let is_wrong = |it: &Diagnostic| {
            it.code == Code::Syntax || it.code == Code::WrongType && it.at.line == line
        };
        !findings_of_text(self.path, &start).iter().any(is_wrong)
    }

    /// Returns whether a file has at least one finding less per fix, and no new one. After a syntax
    /// error, findings further down may be new.
    fn is_improvement(&self, attempts: &[ProposedFix], text: &str, after: &[Diagnostic]) -> bool {
        if let [ProposedFix { fault, .. }] = attempts
            && fault.code == Code::Syntax
        {
            let line = fault.at.line;
            let is_later = |it: &Diagnostic| it.code != Code::Syntax || it.at.line > line;
            return after.iter().all(is_later) && self.is_readable_up_to_line(text, line);
        }
        let known: HashSet<_> = self.findings.iter().map(|it| &it.message).collect();
        after.len() + attempts.len() <= self.findings.len()
            && after.iter().all(|it| known.contains(&it.message))
    }
}

/// Returns the findings of a file on its own, up to the limit.
fn findings_of_text(path: &str, text: &str) -> Vec<Diagnostic> {
    parse_file_with_parser(FileParser::with_finding_limit(path, MAX_FINDINGS), text).findings
}

/// A text and its lines, without line breaks.
struct SourceText<'a> {
    text: &'a str,
    lines: Vec<&'a str>,
}

impl<'a> SourceText<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, lines: split_lines(text).collect() }
    }

    /// Returns a fix for a finding, if there is one.
    fn propose_fix(&self, fault: &Diagnostic, rooms: &RoomNameIndex) -> Option<ProposedFix> {
        let certain = fault.meant.as_ref().filter(|it| it.is_certain).map(|it| &it.word);
        let (range, new_text) = match certain {
            Some(meant) if fault.code == Code::BadSlug => {
                (self.word_range(fault.at, fault.code)?, rooms.find_unique_room(meant)?.to_string())
            }
            Some(meant) => (self.word_range(fault.at, fault.code)?, meant.clone()),
            None if fault.code == Code::Syntax => self.propose_quoted_value(fault.at)?,
            None => return None,
        };
        Some(ProposedFix { fault: fault.clone(), range, replacement: new_text })
    }

    /// Returns the range of the word at a position.
    fn word_range(&self, at: Position, code: Code) -> Option<Range<usize>> {
        let line = self.line_range(at.line)?;
        let before: usize =
            self.text[line.clone()].chars().take(at.column - 1).map(char::len_utf8).sum();
        let start = line.start + before;
        let rest = &self.text[start..line.end];
        let end = match rest.chars().next()? {
            quote @ ('"' | '\'') => rest[1..].find(quote)? + 2,
            _ if code == Code::UnknownKey => rest
                .find(|it: char| !(it.is_alphanumeric() || matches!(it, '_' | '-')))
                .unwrap_or(rest.len()),
            _ => {
                let end = rest.find([',', ']', '}', '#']).unwrap_or(rest.len());
                rest[..end].trim_end().len()
            }
        };
        Some(start..start + end)
    }

    /// Returns the range of the value after the key of a line, and the value in quotes.
    fn propose_quoted_value(&self, at: Position) -> Option<(Range<usize>, String)> {
        let line = self.line_range(at.line)?;
        let (key, value) = self.text[line.clone()].split_once(": ")?;
        let said = value.trim();
        // These characters begin another style, and ` #` may begin a comment.
        if said.is_empty()
            || said.starts_with(['"', '\'', '[', '{', '|', '>'])
            || said.contains(" #")
        {
            return None;
        }
        // The text may continue on an indented line below.
        let column = |it: &str, blanks: &[char]| it.len() - it.trim_start_matches(blanks).len();
        let mut below = self.lines[at.line..].iter().map(|it| it.trim_end());
        let below = below.find(|it| !it.is_empty() && !it.trim_start().starts_with('#'));
        if below.is_some_and(|it| column(it, &[' ', '\t']) > column(key, &[' ', '-'])) {
            return None;
        }
        let start = line.start + key.len() + 2 + (value.len() - value.trim_start().len());
        Some((start..start + said.len(), one_line_scalar(said)))
    }

    /// Returns the range of a line.
    fn line_range(&self, number: usize) -> Option<Range<usize>> {
        let line = self.lines.get(number.checked_sub(1)?)?;
        let start = line.as_ptr() as usize - self.text.as_ptr() as usize;
        Some(start..start + line.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Files;

    /// Fixes a file of a palace with some rooms.
    fn mend(path: &str, text: &str) -> Option<FixedFile> {
        let room = |path: &str, name: &str| (path.to_owned(), format!("name: {name}\n"));
        let numbered = (0..190).map(|it| room(&format!("rooms/room-{it}.yaml"), "Some"));
        let rooms = [
            room("rooms/attic.yaml", "The Attic"),
            room("rooms/crypt.yaml", "[unreadable"),
            room("rooms/east/annex.yaml", "Glass House"),
            room("rooms/one-shed.yaml", "Shed"),
            room("rooms/other-shed.yaml", "Shed"),
            room("rooms/loft.yaml", "Loft"),
            room("rooms/east/loft.yaml", "High Loft"),
        ];
        let files: Files = numbered.chain(rooms).collect();
        super::fix_file(path, text, &RoomNameIndex::from_files(&files))
    }

    #[track_caller]
    fn assert_fixed(path: &str, text: &str, meant: &str) {
        assert_eq!(mend(path, text).map(|it| it.text).as_deref(), Some(meant), "{text}");
    }

    #[test]
    fn a_misspelled_key_or_value_is_corrected() {
        assert_fixed("rooms/a.yaml", "nmae: Hall # mine\n", "name: Hall # mine\n");
        assert_fixed("rooms/a.yaml", "\"naem\" : Hall\r\n", "name : Hall\r\n");
        assert_fixed(
            "palace.toml",
            "name = \"P\"\n[meun]\nlayout = \"wide\"\n",
            "name = \"P\"\n[menu]\nlayout = \"wide\"\n",
        );
        let action =
            |word| format!("name: Hall\nactions: [{{ label: Go, type: {word}, room: a }}]\n");
        assert_fixed("rooms/a.yaml", &action("navigat"), &action("navigate"));
        assert_fixed(
            "tasks/a.yaml",
            "title: T\nstatus: doen # yes\n",
            "title: T\nstatus: done # yes\n",
        );
    }

    #[test]
    fn a_room_name_is_replaced_by_its_slug() {
        assert_fixed(
            "rooms/a.yaml",
            "name: Hall\nportals:\n  - The Attic\n  - 'Crypt'\n  - Glass house # warm\n  - ATTIC\n",
            "name: Hall\nportals:\n  - attic\n  - crypt\n  - east/annex # warm\n  - attic\n",
        );
        assert_fixed("tasks/a.yaml", "title: T\nroom: The Attic\n", "title: T\nroom: attic\n");
    }

    #[test]
    fn an_unknown_or_ambiguous_room_name_is_not_changed() {
        for portal in ["The Cellar", "Shed", "Loft", "High Loft"] {
            let text = format!("name: Hall\nportals: [{portal}]\n");
            assert_eq!(mend("rooms/a.yaml", &text), None, "{text}");
        }
        let elsewhere = "name: Hall\nactions:\n  - label: Go\n    type: navigate\n    room: The Attic\n    workspace: other\n";
        assert_eq!(mend("rooms/a.yaml", elsewhere), None);
    }

    #[test]
    fn a_text_that_needs_quotes_gets_them() {
        assert_fixed(
            "rooms/a.yaml",
            "name: Wegener: a life\ndescription: @ home: now\n",
            "name: \"Wegener: a life\"\ndescription: \"@ home: now\"\n",
        );
        assert_fixed(
            "rooms/a.yaml",
            "name: Hall\ndescription: @home\n",
            "name: Hall\ndescription: \"@home\"\n",
        );
        assert_fixed(
            "scrolls/a/a.md",
            "---\ntitle: A: b\nwritten: 2026-03-01\n---\nC: d: e\n",
            "---\ntitle: \"A: b\"\nwritten: 2026-03-01\n---\nC: d: e\n",
        );
    }

    #[test]
    fn text_inside_brackets_is_not_changed() {
        for line in [
            "{ label: Go: home, type: navigate, room: a }",
            "{ type: navigate, room: a, label: Go: home }",
            "{ type: navigate, room: a,\n      label: Go: home }",
            "{ type: navigate,\n    label: Go: home,\n    room: a }",
        ] {
            let other = "{ label: Go, type: navigate, room: b }";
            for items in [[line, other], [other, line]] {
                let text = format!("name: Hall\nactions:\n  - {}\n  - {}\n", items[0], items[1]);
                assert_eq!(mend("rooms/a.yaml", &text), None, "{text}");
            }
        }
        let text = "name: E\ngenus: G\nrelations:\n- {type: a, to: Foo: bar}\n- {type: b, to: Z}\n";
        assert_eq!(mend("entities/g/e.yaml", text), None);
    }

    #[test]
    fn an_id_is_corrected_to_match_the_file_name() {
        let text = |id| format!("---\nid: {id}\ntitle: T\nwritten: 2026-03-01\n---\n");
        let (own, other) = ("01KJMPXF9069S44V81ASY1KY37", "01KJMPXF9069S44V81ASY1KY38");
        assert_fixed(&format!("scrolls/a/{own}.md"), &text(other), &text(own));
    }

    #[test]
    fn typos_are_fixed_beside_many_unfixable_faults() {
        let strange: Vec<_> = (0..60).map(|it| format!("strange {it}: x\n")).collect();
        let strange = strange.concat();
        let room = |one, other| {
            format!(
                "name: Hall\nactions:\n  - {{ {one}: Go, type: navigate, room: a }}\n  - {{ {other}: Come, type: navigate, room: b }}\n{strange}"
            )
        };
        assert_fixed("rooms/a.yaml", &room("aabel", "\u{c0}abel"), &room("label", "label"));
        let portals = |slug: fn(usize) -> String| {
            let portals: Vec<_> = (0..190).map(|it| format!("  - {}\n", slug(it))).collect();
            format!("name: Hall\nportals:\n{}", portals.concat())
        };
        assert_fixed(
            "rooms/a.yaml",
            &portals(|it| format!("Room {it}")),
            &portals(|it| format!("room-{it}")),
        );
    }

    #[test]
    fn the_type_and_the_room_of_an_action_are_both_fixed() {
        let room = |one: &str, other: &str| {
            let action = |label, it: &str| format!("  - {{ label: {label}, {it} }}\n");
            format!("name: Hall\nactions:\n{}{}", action("Go", one), action("Come", other))
        };
        let right = "type: navigate, room: attic";
        for wrong in ["type: navigat, room: The Attic", "room: The Attic, type: navigat"] {
            let meant =
                if wrong.starts_with("room") { "room: attic, type: navigate" } else { right };
            assert_fixed("rooms/a.yaml", &room(wrong, wrong), &room(meant, meant));
            let faults = mend("rooms/a.yaml", &room(wrong, right)).map(|it| it.fixed.len());
            assert_eq!(faults, Some(2));
        }
        let nowhere = room("type: navigat, room: The Cellar", right);
        assert_eq!(mend("rooms/a.yaml", &nowhere), None, "no such room is there");
    }

    #[test]
    fn only_the_faulty_ones_of_similar_lines_are_fixed() {
        let text = |attic| {
            let line = |it| if it % 10 == 4 { attic } else { "attic" };
            let portals: Vec<_> = (0..40).map(|it| format!("  - {}\n", line(it))).collect();
            format!("name: Hall\nportals:\n{}", portals.concat())
        };
        assert_fixed("rooms/a.yaml", &text("The Attic"), &text("attic"));
        assert_fixed("rooms/a.yaml", &text("Attic"), &text("attic"));
    }

    #[test]
    fn all_faults_are_fixed_in_one_run() {
        let key = |it: usize| ["aabel", "\u{c0}abel", "lable"][it % 3];
        let action = |it| format!("  - {{ {}: A, type: text }}\n", key(it));
        let actions: Vec<_> = (0..90).map(action).collect();
        let text = format!("name: Hall\nactions:\n{}", actions.concat());
        let mended = mend("rooms/a.yaml", &text).unwrap();
        assert_eq!(mended.fixed.len(), 90);
        assert!(mended.fixed.is_sorted_by_key(|it| it.at));
        assert_eq!(mend("rooms/a.yaml", &mended.text), None);
    }

    #[test]
    fn ambiguous_faults_are_not_changed() {
        for text in [
            "nmae: Hall\nname: Attic\n",
            "name: Hall\nnotes: x\n",
            "name: [Hall\n",
            "name: a: b # c\n",
            "name: Wegener: a life\n  and a death\n",
            "name: Wegener: a life\n\n  and a death\n",
            "name: Wegener: a life\n# or\n\tand a death\n",
            "nam: Hall\nnmae: Attic\n",
            "name: Hall\nactions: [{ labe: Go, lable: Come, type: text }]\n",
            "name: Hall\nportals:\n  - to: the: attic\n  - crypt\n",
            "name: &a Hall\n",
            "name: \"Hall\" of stone\n",
            "name: Hall\nportals:\n  - one: two\n",
            "name: Hall\nactions: [{ label: a: b }]\n",
            "name: Hall\n",
            "nmae: Hall\n<<<<<<< HEAD\na: b\n=======\nc: d\n>>>>>>> branch\n",
        ] {
            assert_eq!(mend("rooms/a.yaml", text), None, "{text}");
        }
    }

    #[test]
    fn only_values_of_types_and_states_are_fixed() {
        let ask =
            |tool| format!("name: Hall\nactions: [{{ label: Ask, type: query, tool: {tool} }}]\n");
        for (path, text) in [
            ("genera/a.yaml", "name: A\nattributes: { a: numbr }\n"),
            ("genera/a.yaml", "name: A\nstatuses: { open: [close], closed: [] }\n"),
            ("rooms/a.yaml", &ask("list_entites")),
            ("entities/a/a.yaml", "name: A\ngenus: A\nstatus: contestet\n"),
            ("palace.toml", "name = \"P\"\nentry = \"The Attic\"\n"),
            ("palace.toml", "name = \"P\"\n[git]\ncommit = \"manul\"\n"),
        ] {
            assert_eq!(mend(path, text), None, "{text}");
        }
    }

    #[test]
    fn file_names_become_slugs_with_the_right_extension() {
        let right = |path| corrected_path(path).unwrap_or_default();
        assert_eq!(right("rooms/Great Hall.yaml"), "rooms/great-hall.yaml");
        assert_eq!(right("rooms/east/Annex.YML"), "rooms/east/annex.yaml");
        assert_eq!(right("scrolls/The Hall/On Stasis.md"), "scrolls/the-hall/On Stasis.md");
        assert_eq!(right("entities/claim/X y.yml"), "entities/claim/X y.yaml");
        assert_eq!(right("rooms/---.yaml"), "");
        assert_eq!(right("rooms/hall.yaml"), "");
    }
}
