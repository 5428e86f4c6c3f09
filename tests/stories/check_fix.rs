//! `palazzo check --fix`: repairs faults with only one possible meaning.

use insta::assert_snapshot;

use crate::harness::Home;

/// Runs `check --fix`, and returns its output.
fn run_check_fix(home: &Home) -> String {
    let output = home.run_palazzo(&["check", "--fix"]);
    let said = [output.stderr, output.stdout].concat();
    format!("{}exit {}", String::from_utf8(said).unwrap(), output.status.code().unwrap())
}

/// Adds files with faults to a palace.
fn write_faulty_files(home: &Home) {
    home.write("code/palace.toml", "name = \"Code\"\nentri = \"hall\"\n");
    home.write("code/rooms/hall.yaml", "# Mine.\nnmae: Hall: the first\nportals: [Great Hall]\n");
    home.write("code/rooms/Great Hall.yaml", "name: Great Hall\ndescription: Stone.\n");
    home.write("code/rooms/Hall.yml", "name: Another\n");
    home.write(
        "code/scrolls/The Hall/a.md",
        "---\ntitle: A\nwritten: 2026-03-01\n---\nBody: x: y\n",
    );
    home.write(
        "code/rooms/attic.yaml",
        "name: Attic\nnotes: none\ndescription: Dry.\nportals: [hall]\n",
    );
}

#[test]
fn unambiguous_faults_are_fixed_and_left_uncommitted() {
    let home = Home::new();
    home.run_palazzo(&["init", "Code"]);
    write_faulty_files(&home);
    let before = home.git(&["rev-parse", "HEAD"]);
    assert_snapshot!(run_check_fix(&home), @"
    home/code/rooms/Great Hall.yaml:1:1: fixed[file-name]: `Great Hall` is not a slug: it contains 'G', and only a-z, 0-9, _ and - may appear; try `great-hall`
    home/code/scrolls/The Hall/a.md:1:1: fixed[file-name]: `The Hall` is not a slug: it contains 'T', and only a-z, 0-9, _ and - may appear; try `the-hall`
    home/code/palace.toml:2:1: fixed[unknown-key]: palace.toml has no key `entri`
    home/code/rooms/hall.yaml:2:1: fixed[unknown-key]: a room has no key `nmae`
    home/code/rooms/hall.yaml:2:11: fixed[syntax]: this is not YAML: mapping values are not allowed in this context
    home/code/rooms/hall.yaml:3:11: fixed[bad-slug]: `Great Hall` is not a slug: it contains 'G', and only a-z, 0-9, _ and - may appear; try `great-hall`
    1 palace, 3 rooms, 1 scroll, 0 entities: 2 errors, 1 note
    home/code/rooms/Hall.yml:1:1: error[file-name]: a file that ends in `.yml` is not read
        = rename it to `hall.yaml`
    home/code/rooms/attic.yaml:2:1: error[unknown-key]: a room has no key `notes`
      2 | notes: none
        | ^
        = it may have id, name, description, actions, generate, portals
    home/code/rooms/hall.yaml:1:1: info[empty-room]: the room is empty: no description, no actions
    exit 1
    ");
    assert_eq!(home.git(&["rev-parse", "HEAD"]), before);
    let hall = "# Mine.\nname: \"Hall: the first\"\nportals: [great-hall]\n";
    assert_eq!(home.read("code/rooms/hall.yaml"), hall);
    assert_eq!(home.read("code/rooms/Hall.yml"), "name: Another\n");
    assert_eq!(home.read("code/rooms/great-hall.yaml"), "name: Great Hall\ndescription: Stone.\n");
    assert_snapshot!(home.git(&["status", "--porcelain", "-uall"]), @"
     M code/palace.toml
    ?? code/rooms/Hall.yml
    ?? code/rooms/attic.yaml
    ?? code/rooms/great-hall.yaml
    ?? code/rooms/hall.yaml
    ?? code/scrolls/the-hall/a.md
    ");
    assert!(!run_check_fix(&home).contains("fixed["));
}

#[test]
fn a_portal_is_fixed_only_if_a_room_has_that_name() {
    let home = Home::new();
    home.run_palazzo(&["init", "Code"]);
    home.write(
        "code/rooms/hall.yaml",
        "name: Hall\ndescription: Stone.\nportals: [The Attic, The Cellar]\n",
    );
    home.write("code/rooms/attic.yaml", "name: The Attic\ndescription: Dry.\nportals: [hall]\n");
    assert_snapshot!(run_check_fix(&home), @"
    home/code/rooms/hall.yaml:3:11: fixed[bad-slug]: `The Attic` is not a slug: it contains 'T', and only a-z, 0-9, _ and - may appear; try `the-attic`
    1 palace, 2 rooms, 0 scrolls, 0 entities: 1 error
    home/code/rooms/hall.yaml:3:18: error[bad-slug]: `The Cellar` is not a slug: it contains 'T', and only a-z, 0-9, _ and - may appear; try `the-cellar`
      3 | portals: [attic, The Cellar]
        |                  ^
    exit 1
    ");
    let hall = "name: Hall\ndescription: Stone.\nportals: [attic, The Cellar]\n";
    assert_eq!(home.read("code/rooms/hall.yaml"), hall);
}
