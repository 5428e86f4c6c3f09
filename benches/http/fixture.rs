//! A palace in wings of 50 rooms, with entities.

use std::fs;

use crate::common::BenchDir;

/// The number of rooms of a wing.
const WING: usize = 50;

/// Writes the palace `museum` in the home of `dir`, and commits it.
pub(crate) fn write_palace(dir: &BenchDir, rooms: usize, entities: usize) {
    let root = dir.path().join("home/museum");
    let write = |path: &str, text: &str| {
        let file = root.join(path);
        fs::create_dir_all(file.parent().expect("every file is in a folder")).expect("writable");
        fs::write(file, text).expect("the folder is writable");
    };
    write("palace.toml", "format = 1\nname = \"Museum\"\nentry = \"w0/r0\"\n");
    for number in 0..rooms {
        write(&room_path(number), &room_text(number, rooms));
    }
    for number in 0..entities {
        let (kind, to) = (number % 100, number / 2);
        let text = format!(
            "name: Finding {number}\ngenus: Kind {kind}\nobservations:\n  - Seen on day {number}.\n\
             relations:\n  - type: near\n    to: Finding {to}\n"
        );
        write(&format!("entities/kind-{kind}/finding-{number}.yaml"), &text);
    }
    let commands =
        [&["init", "-q", "-b", "main"][..], &["add", "-A"], &["commit", "-q", "-m", "Begin"]];
    for arguments in commands {
        let mut git = dir.isolated_command("git");
        let git = git.current_dir(&root).args(arguments);
        assert!(git.status().expect("git starts").success(), "git {arguments:?}");
    }
}

fn room_path(number: usize) -> String {
    format!("rooms/w{}/r{number}.yaml", number / WING)
}

/// Returns the text of a room with doors to the next room, two others of its wing, and one of
/// another wing.
fn room_text(number: usize, rooms: usize) -> String {
    let wing = number / WING * WING;
    let inside = |it: usize| (wing + it % WING).min(rooms - 1);
    let doors = [inside(number + 1), inside(number + 7), (number + WING) % rooms];
    let doors = doors.map(|it| format!("w{}/r{it}", it / WING)).join(", ");
    format!(
        "name: Room {number}\ndescription: |\n  Shelves up to the ceiling, and the smell of wax.\n\
         portals: [{doors}]\nactions:\n  - label: Read the label\n    type: text\n    content: \
         \"About [[Finding {number}]].\"\n  - label: List the findings\n    type: query\n    tool: \
         list_entities\n    tool_params: {{ genus: Kind 1 }}\n"
    )
}
