//! The links in notes, in the notation of several programs: `[[Iron]]`, `[[Ideas/Iron|the metal]]`,
//! `[[Iron#Ore]]`, `![[Iron]]`, `[iron](../Ideas/Iron.md#ore)`.
//!
//! A name leads to the note with that file name, title or alias: of several to the one in the same folder,
//! else to the one with the shortest path. If there is none, it leads to a room or to an entity.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::OnceLock;

use percent_encoding::percent_decode_str;
use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};

use crate::format::items::{file_of_item, item_in_file};
use crate::model::{
    DocumentProperties, Drawer, ItemId, PALACE_FOLDERS, Palace, RoomId, RoomRef, fold_name,
    is_markdown_file,
};

/// The maximum number of links of one note.
const MAX_LINKS: usize = 2_000;

/// The links of the notes of a palace, and the names by which notes are found.
#[derive(Clone, Debug, Default)]
pub struct NoteLinks {
    notes: BTreeMap<String, IndexedNote>,
    /// The files of the notes with a name, by the folded name.
    files_by_name: FilesByName,
    /// The files of the notes with a link that ends in a name, by the folded name.
    files_by_link_end: FilesByName,
    /// The rooms by their folded display names, made by the first use.
    rooms_by_name: OnceLock<HashMap<String, RoomId>>,
}

type FilesByName = HashMap<String, BTreeSet<String>>;

#[derive(Clone, Debug)]
struct IndexedNote {
    links: Vec<NoteLink>,
    names: BTreeSet<String>,
}

/// A link, as written in a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteLink {
    /// Its place in the text in bytes.
    pub range: Range<usize>,
    /// Where it leads: a name, or the path of a file.
    to: String,
    /// Whether it stands between double brackets.
    is_wiki: bool,
}

/// The target of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoteLinkTarget {
    /// An item of the palace.
    Item(ItemId),
    /// Nothing.
    Nothing,
    /// A place that is not in the palace, such as a page of the Internet, or a picture.
    Elsewhere,
}

impl NoteLinks {
    /// Reads the links of all notes.
    pub fn of_palace(palace: &Palace) -> Self {
        let mut links = Self::default();
        if palace.settings.note_folders.is_empty() {
            return links;
        }
        for (file, _, drawer) in palace.drawers.iter() {
            links.insert(palace, file, drawer);
        }
        links
    }

    /// Reads the links of a file again after it was changed, created or deleted.
    pub fn update(&mut self, palace: &Palace, file: &str) {
        if let Some(old) = self.notes.remove(file) {
            old.names.iter().for_each(|it| remove_file(&mut self.files_by_name, it, file));
            let ends = old.links.iter().map(NoteLink::end);
            ends.for_each(|it| remove_file(&mut self.files_by_link_end, &it, file));
        }
        if let Some(drawer) = palace.drawers.drawer_in_file(file) {
            self.insert(palace, file, drawer);
        }
    }

    /// Returns the links of a note, each with what it leads to.
    pub fn links_of(&self, palace: &Palace, file: &str) -> Vec<(&NoteLink, NoteLinkTarget)> {
        let links = self.notes.get(file).map(|it| it.links.as_slice()).unwrap_or_default();
        links.iter().map(|link| (link, self.target(palace, file, link))).collect()
    }

    /// Forgets the names of the rooms, one of which has changed.
    pub fn forget_room_names(&mut self) {
        self.rooms_by_name = OnceLock::new();
    }

    /// Lists the files of the notes with a link to an item, by path; a link of a note to itself does not
    /// count. Only links that end in a name of the item are resolved.
    pub fn notes_leading_to(&self, palace: &Palace, item: &ItemId) -> Vec<&str> {
        let ends = self.names_of_item(palace, item).into_iter().map(|it| name_end(&it));
        let files: BTreeSet<_> =
            ends.filter_map(|it| self.files_by_link_end.get(&it)).flatten().collect();
        let leads = |file: &str| {
            let mut targets = self.links_of(palace, file).into_iter();
            targets.any(|(_, target)| matches!(target, NoteLinkTarget::Item(it) if it == *item))
        };
        let is_other = |file: &str| !matches!(item, ItemId::Drawer(it) if it == file);
        let files = files.into_iter().map(String::as_str);
        files.filter(|it| is_other(it) && leads(it)).collect()
    }

    /// Returns all names by which a link can lead to an item, and that of its file.
    fn names_of_item(&self, palace: &Palace, item: &ItemId) -> Vec<String> {
        let mut names: Vec<_> = file_of_item(palace, item).into_iter().collect();
        match item {
            ItemId::Drawer(file) => {
                names.extend(self.notes.get(file).into_iter().flat_map(|it| it.names.clone()));
            }
            ItemId::Room(id) => names.extend(palace.room(id).map(|it| it.name.clone())),
            ItemId::Entity(name) => {
                names.push(name.clone());
                let entity = palace.graph.get(name);
                names.extend(entity.into_iter().flat_map(|it| it.former_names.clone()));
            }
            _ => {}
        }
        names
    }

    /// Yields the files of the notes with this file name, title or alias, or whose path ends like this.
    pub fn notes_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let by_name = self.files_by_name.get(&fold_name(without_markdown_ending(name)));
        let ends = move |it: &str| it.strip_suffix(name).is_some_and(|it| it.ends_with('/'));
        let by_path = self.notes.keys().map(String::as_str).filter(move |it| ends(it));
        let is_path = name.contains('/');
        let by_name = by_name.into_iter().flatten().map(String::as_str);
        by_name.filter(move |_| !is_path).chain(by_path.filter(move |_| is_path))
    }

    fn insert(&mut self, palace: &Palace, file: &str, drawer: &Drawer) {
        if !palace.settings.note_folders.contains(file) {
            return;
        }
        let names = names_of_note(file, drawer);
        for name in &names {
            self.files_by_name.entry(name.clone()).or_default().insert(file.to_owned());
        }
        let links = links_in(&drawer.text);
        for end in links.iter().map(NoteLink::end) {
            self.files_by_link_end.entry(end).or_default().insert(file.to_owned());
        }
        self.notes.insert(file.to_owned(), IndexedNote { links, names });
    }

    fn target(&self, palace: &Palace, file: &str, link: &NoteLink) -> NoteLinkTarget {
        match link.is_wiki {
            true => self.target_of_name(palace, file, &link.to),
            false => target_of_path(palace, file, &link.to),
        }
    }

    fn target_of_name(&self, palace: &Palace, file: &str, to: &str) -> NoteLinkTarget {
        let name = to.split(['#', '^']).next().unwrap_or_default().trim();
        if name.is_empty() {
            return NoteLinkTarget::Elsewhere;
        }
        if let Some(file) = self.note_named(palace, file, name) {
            return NoteLinkTarget::Item(ItemId::Drawer(file.to_owned()));
        }
        if let Some(id) = self.room_named(palace, name) {
            return NoteLinkTarget::Item(ItemId::Room(id));
        }
        match palace.graph.find_entity(name) {
            Some(entity) => NoteLinkTarget::Item(ItemId::Entity(entity.name.clone())),
            None if has_other_ending(name) => NoteLinkTarget::Elsewhere,
            None => NoteLinkTarget::Nothing,
        }
    }

    /// Returns the room with a slug or a display name.
    fn room_named(&self, palace: &Palace, name: &str) -> Option<RoomId> {
        let by_slug = name.parse::<RoomRef>().ok();
        let by_slug = by_slug.and_then(|it| palace.resolve_room(&it, None).ok());
        by_slug.filter(|it| palace.room(it).is_some()).or_else(|| {
            let rooms = self.rooms_by_name.get_or_init(|| {
                // Of several rooms with one name, the first is meant.
                let names = palace.rooms().map(|(id, it)| (fold_name(&it.name), id.clone()));
                names.collect::<Vec<_>>().into_iter().rev().collect()
            });
            rooms.get(&fold_name(name)).cloned()
        })
    }

    /// Returns the note with this name that is nearest to `file`: in its folder, then in its folder of
    /// notes, then the one whose path has the fewest folders.
    fn note_named(&self, palace: &Palace, file: &str, name: &str) -> Option<&str> {
        let plain = name.trim_start_matches("./").trim_start_matches('/');
        let stem = without_markdown_ending(plain);
        let last = stem.rsplit('/').next().unwrap_or(stem);
        let named = self.files_by_name.get(&fold_name(stem));
        let files = named.or_else(|| self.files_by_name.get(&fold_name(last)))?;
        let path_end = fold_name(stem);
        let has_path = |it: &str| {
            let path = fold_name(without_markdown_ending(it));
            path == path_end || path.ends_with(&format!("/{path_end}"))
        };
        let is_path = named.is_none() && stem.contains('/');
        let folder = |it: &str| it.rsplit_once('/').map(|(folder, _)| folder.to_owned());
        let notes = &palace.settings.note_folders;
        let root = |it: &str| notes.folder_of_note(it).map(|it| it.path.clone());
        let distance = |it: &&String| {
            let depth = it.matches('/').count();
            (folder(it) != folder(file), root(it) != root(file), depth)
        };
        let found = files.iter().filter(|it| !is_path || has_path(it)).min_by_key(distance);
        found.map(String::as_str)
    }
}

impl NoteLink {
    /// Returns the folded name in which the link ends, without folders and the ending of a file.
    fn end(&self) -> String {
        let to = self.to.split(['#', '^', '?']).next().unwrap_or_default();
        match self.is_wiki {
            true => name_end(to),
            false => name_end(&percent_decode_str(to).decode_utf8_lossy()),
        }
    }
}

/// Returns the last part of a name or a path, folded, without the ending of a file of the palace.
fn name_end(name: &str) -> String {
    let last = name.trim().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    fold_name(without_markdown_ending(last.strip_suffix(".yaml").unwrap_or(last)))
}

fn remove_file(files: &mut FilesByName, name: &str, file: &str) {
    if files.get_mut(name).is_some_and(|it| it.remove(file) && it.is_empty()) {
        files.remove(name);
    }
}

/// Returns the links in the text of a note.
fn links_in(text: &str) -> Vec<NoteLink> {
    let events = Parser::new_ext(text, Options::ENABLE_WIKILINKS).into_offset_iter();
    let links = events.filter_map(|(event, range)| match event {
        Event::Start(
            Tag::Link { link_type, dest_url, .. } | Tag::Image { link_type, dest_url, .. },
        ) => {
            let is_wiki = matches!(link_type, LinkType::WikiLink { .. });
            Some(NoteLink { range, to: dest_url.into_string(), is_wiki })
        }
        _ => None,
    });
    links.take(MAX_LINKS).collect()
}

/// Returns the folded names by which a note is found.
fn names_of_note(file: &str, drawer: &Drawer) -> BTreeSet<String> {
    let properties = DocumentProperties::parse(&drawer.text);
    let name = file.rsplit('/').next().unwrap_or(file);
    // Logseq writes a slash in the name of a page as three underscores.
    let stem = without_markdown_ending(name).replace("___", "/");
    let names = [Some(stem.as_str()), drawer.title.as_deref()].into_iter().flatten();
    names.chain(properties.aliases()).map(fold_name).filter(|it| !it.is_empty()).collect()
}

/// Returns what a link leads to that names a file.
fn target_of_path(palace: &Palace, file: &str, to: &str) -> NoteLinkTarget {
    let path = to.split(['#', '?']).next().unwrap_or_default();
    let is_address = path.split('/').next().is_some_and(|it| it.contains(':'));
    if path.is_empty() || is_address || path.starts_with("//") {
        return NoteLinkTarget::Elsewhere;
    }
    let path = percent_decode_str(path).decode_utf8_lossy();
    let folder = palace.settings.note_folders.folder_of_note(file);
    let from = match (path.starts_with('/'), folder) {
        (true, Some(folder)) => folder.path.as_str(),
        _ => file.rsplit_once('/').map_or("", |(folder, _)| folder),
    };
    let Some(path) = join_paths(from, &path) else { return NoteLinkTarget::Elsewhere };
    let endings = ["", ".md", ".markdown"].map(|it| format!("{path}{it}"));
    if let Some(note) = endings.iter().find_map(|it| palace.drawers.known_file(it)) {
        return NoteLinkTarget::Item(ItemId::Drawer(note.to_owned()));
    }
    if let Some(item) = item_in_file(palace, palace_file_of_path(&path)) {
        return NoteLinkTarget::Item(item);
    }
    let is_note = is_markdown_file(&path) && palace.settings.note_folders.may_contain(&path);
    if is_note { NoteLinkTarget::Nothing } else { NoteLinkTarget::Elsewhere }
}

/// Returns the path of a file in the palace, whose own folders a path from outside names:
/// `../palace/rooms/hall.yaml` is `rooms/hall.yaml`.
fn palace_file_of_path(path: &str) -> &str {
    let above = path.split('/').take_while(|it| *it == "..").count();
    let below = path.splitn(2 * above + 1, '/').last().unwrap_or(path);
    let is_palace_folder = |it: &str| PALACE_FOLDERS.contains(&it);
    if below.split('/').next().is_some_and(is_palace_folder) { below } else { path }
}

/// Joins the paths of a folder and of something below or above it, without `.`, and with `..` at the
/// begin only; `None`: there is no such path.
fn join_paths(folder: &str, path: &str) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for name in folder.split('/').chain(path.split('/')).filter(|it| !matches!(*it, "" | ".")) {
        match names.last() {
            Some(last) if name == ".." && *last != ".." => drop(names.pop()),
            _ => names.push(name),
        }
    }
    (!names.is_empty()).then(|| names.join("/"))
}

fn without_markdown_ending(path: &str) -> &str {
    match path.rsplit_once('.') {
        Some((stem, _)) if is_markdown_file(path) => stem,
        _ => path,
    }
}

/// Returns whether a name is that of a file of another kind: `map.png`.
fn has_other_ending(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, it)| it).unwrap_or_default();
    let is_ending = (1..=6).contains(&ending.len());
    is_ending && ending.bytes().all(|it| it.is_ascii_alphanumeric()) && !is_markdown_file(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::parse_palace;
    use crate::model::Files;

    /// A palace in a vault, with the notes of `files` and some items.
    fn palace(files: &[(&str, &str)]) -> Palace {
        let settings = "name = \"P\"\n[[folder]]\npath = \"..\"\nwing = \"vault\"\n";
        let own = [
            ("palace.toml", settings),
            ("rooms/code/hall.yaml", "name: Great Hall\n"),
            ("entities/metal/tin.yaml", "name: Tin\ngenus: Metal\n"),
        ];
        let files = own.iter().chain(files);
        let files: Files = files.map(|(path, text)| ((*path).into(), (*text).into())).collect();
        let (palace, findings) = parse_palace("P", &files);
        assert_eq!(findings, []);
        palace
    }

    fn describe(target: &NoteLinkTarget) -> String {
        match target {
            NoteLinkTarget::Item(ItemId::Drawer(file)) => file.clone(),
            NoteLinkTarget::Item(ItemId::Room(id)) => format!("room {id}"),
            NoteLinkTarget::Item(ItemId::Entity(name)) => format!("entity {name}"),
            other => format!("{other:?}"),
        }
    }

    /// Returns what the links of `../Ideas/Coal.md` lead to.
    fn targets(text: &str) -> Vec<String> {
        let palace = palace(&[
            ("../Ideas/Coal.md", text),
            ("../Ideas/Iron.md", "---\naliases: [Fe, \"Ferrum\"]\n---\n# Iron ore\n"),
            ("../Ideas/deep/Iron.md", "Deep.\n"),
            ("../Daily Notes/2026-03-01.md", "A day.\n"),
            ("../pages/Metal___Zinc.md", "Zinc.\n"),
            ("../Other.md", "Other.\n"),
        ]);
        let links = NoteLinks::of_palace(&palace);
        let targets = links.links_of(&palace, "../Ideas/Coal.md");
        for (_, target) in &targets {
            if let NoteLinkTarget::Item(item) = target
                && *item != ItemId::Drawer("../Ideas/Coal.md".to_owned())
            {
                let leading = links.notes_leading_to(&palace, item);
                assert!(leading.contains(&"../Ideas/Coal.md"), "{text}: {leading:?}");
            }
        }
        targets.iter().map(|(_, target)| describe(target)).collect()
    }

    #[test]
    fn a_name_leads_to_a_note_in_the_same_folder_or_with_the_shortest_path() {
        for (link, expected) in [
            ("[[Iron]]", "../Ideas/Iron.md"),
            ("[[iron|the metal]]", "../Ideas/Iron.md"),
            ("[[Iron#Ore]]", "../Ideas/Iron.md"),
            ("[[Iron.md]]", "../Ideas/Iron.md"),
            ("![[Iron#^block]]", "../Ideas/Iron.md"),
            ("[[Ferrum]]", "../Ideas/Iron.md"),
            ("[[Iron ore]]", "../Ideas/Iron.md"),
            ("[[deep/Iron]]", "../Ideas/deep/Iron.md"),
            ("[[Daily Notes/2026-03-01|today]]", "../Daily Notes/2026-03-01.md"),
            ("[[2026-03-01]]", "../Daily Notes/2026-03-01.md"),
            ("[[Metal/Zinc]]", "../pages/Metal___Zinc.md"),
            ("[[Other]]", "../Other.md"),
            ("[[Coal]]", "../Ideas/Coal.md"),
            ("[[Great Hall]]", "room code/hall"),
            ("[[code/hall]]", "room code/hall"),
            ("[[tin]]", "entity Tin"),
            ("[[Nobody]]", "Nothing"),
            ("[[nowhere/Iron]]", "Nothing"),
            ("![[map.png]]", "Elsewhere"),
            ("[[#Heading]]", "Elsewhere"),
        ] {
            assert_eq!(targets(link), [expected], "{link}");
        }
    }

    #[test]
    fn a_path_leads_to_the_file_from_the_folder_of_the_note() {
        for (link, expected) in [
            ("[a](Iron.md)", "../Ideas/Iron.md"),
            ("[a](./deep/Iron.md#x)", "../Ideas/deep/Iron.md"),
            ("[a](../Daily%20Notes/2026-03-01.md)", "../Daily Notes/2026-03-01.md"),
            ("[a](<../Daily Notes/2026-03-01.md>)", "../Daily Notes/2026-03-01.md"),
            ("[a](/Other.md)", "../Other.md"),
            ("[a](Iron)", "../Ideas/Iron.md"),
            ("[a][1]\n\n[1]: ../Other.md", "../Other.md"),
            ("[a](../palace/rooms/code/hall.yaml)", "room code/hall"),
            ("[a](../palace/entities/metal/tin.yaml)", "entity Tin"),
            ("[a](Gone.md)", "Nothing"),
            ("[a](../src/main.rs)", "Elsewhere"),
            ("[a](../../../../../etc/a.md)", "Elsewhere"),
            ("[a](https://example.org/Iron.md)", "Elsewhere"),
            ("<mailto:ada@example.org>", "Elsewhere"),
            ("[a](#x)", "Elsewhere"),
        ] {
            assert_eq!(targets(link), [expected], "{link}");
        }
        assert_eq!(targets("`[[Iron]]`\n\n```\n[a](Iron.md)\n```\n"), [""; 0]);
    }

    #[test]
    fn what_leads_to_an_item_follows_changes() {
        let mut palace = palace(&[
            ("../a.md", "[[b]] [[Tin]] [[a]]\n"),
            ("../b.md", "[x](a.md) [[Great Hall]]\n"),
        ]);
        let mut links = NoteLinks::of_palace(&palace);
        let leading = |links: &NoteLinks, palace: &Palace, item: ItemId| {
            links.notes_leading_to(palace, &item).join(" ")
        };
        let drawer = |it: &str| ItemId::Drawer(it.to_owned());
        let hall = || ItemId::Room("code/hall".parse().unwrap());
        assert_eq!(leading(&links, &palace, drawer("../a.md")), "../b.md");
        assert_eq!(leading(&links, &palace, ItemId::Entity("Tin".to_owned())), "../a.md");
        assert_eq!(leading(&links, &palace, hall()), "../b.md");
        palace.drawers.remove("../b.md");
        links.update(&palace, "../b.md");
        assert_eq!(leading(&links, &palace, hall()), "");
        assert_eq!(describe(&links.links_of(&palace, "../a.md")[0].1), "Nothing");
    }
}
