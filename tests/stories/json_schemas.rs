//! JSON Schemas for editors.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use palazzo_core::model::FileKind;
use palazzo_keeper as keeper;
use serde_json::json;

use crate::harness::{Home, MARCH_1};

#[test]
fn the_schema_files_in_the_repository_are_current() {
    let write = std::env::var_os("PALAZZO_WRITE_SCHEMAS").is_some();
    for kind in FileKind::ALL {
        let place = Path::new("schema").join(format!("{kind}.json"));
        let schema = keeper::json_schema(kind);
        if write {
            fs::write(&place, schema).unwrap();
        }
        let kept = fs::read_to_string(&place).unwrap_or_default();
        let place = place.display();
        assert!(
            kept.replace("\r\n", "\n") == schema,
            "{place} is another; PALAZZO_WRITE_SCHEMAS=1 cargo test --test stories schemas"
        );
    }
    assert_eq!(fs::read_dir("schema").unwrap().count(), FileKind::ALL.len());
}

#[test]
fn the_schema_command_prints_a_schema() {
    let home = Home::new();
    let said = |arguments: &[&str]| {
        let output = home.run_palazzo(arguments);
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr)
    };
    assert_snapshot!(said(&["schema"]), @"
    palace    palace.toml
    room      rooms/SLUG.yaml, rooms/WING/SLUG.yaml
    entity    entities/GENUS/NAME.yaml
    genus     genera/NAME.yaml
    task      tasks/ID.yaml
    process   processes/ID.yaml
    conflict  conflicts/HASH.yaml
    scroll    scrolls/ROOM/ID-TITLE.md (front matter)
    drawer    drawers/WING/ROOM/ID-WORDS.md (front matter)
    diary     diary/AGENT/ID-TOPIC.md (front matter)
    ");
    assert_eq!(said(&["schema", "room"]), keeper::json_schema(FileKind::Room));
    assert_snapshot!(said(&["schema", "rooms"]).lines().next().unwrap(), @"error: invalid value 'rooms' for '[KIND]': no kind of file is called `rooms`; did you mean `room`?");
}

#[tokio::test]
async fn a_new_file_points_editors_to_its_schema() {
    let home = Home::new();
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    let mut hall = json!({ "slug": "hall", "wing": "code", "name": "Hall", "description": "Ivy." });
    agent.call("build_room", hall.clone()).await;
    hall["description"] = json!("Thick ivy.");
    agent.call("build_room", hall).await;
    let entities = json!([{ "name": "Basalt", "genus": "Rock" }]);
    agent.call("create_entities", json!({ "entities": entities })).await;
    agent.call("update_entity", json!({ "name": "Basalt", "status": "grey" })).await;
    agent.call("create_task", json!({ "title": "Look" })).await;
    let files = home.git(&["ls-files"]);
    let mut led = Vec::new();
    for file in files.lines().filter(|it| it.split('.').next_back() == Some("yaml")) {
        let first = home.read(file).lines().next().unwrap().to_owned();
        let schema = first.strip_prefix("# yaml-language-server: $schema=").unwrap();
        let folder = home.path().join(file).parent().unwrap().to_owned();
        let schema = folder.join(schema).canonicalize().unwrap();
        led.push(schema.file_name().unwrap().to_str().unwrap().to_owned());
        let kind = schema.file_stem().unwrap().to_str().unwrap().parse().unwrap();
        assert_eq!(fs::read_to_string(&schema).unwrap(), keeper::json_schema(kind));
    }
    assert_eq!(led, ["entity.json", "room.json", "task.json"], "{files}");
    assert!(home.read("w/rooms/code/hall.yaml").contains("Thick ivy."));
    assert!(home.run_palazzo(&["fmt", "--check"]).status.success());
    assert!(home.run_palazzo(&["check"]).status.success());
    home.assert_clean_repository();

    // A person moves a file, and `fmt` corrects its schema line.
    home.git(&["mv", "w/rooms/code/hall.yaml", "w/rooms/hall.yaml"]);
    assert!(!home.run_palazzo(&["fmt", "--check"]).status.success());
    home.run_palazzo(&["fmt"]);
    let hall = home.read("w/rooms/hall.yaml");
    assert!(hall.starts_with("# yaml-language-server: $schema=../.palazzo/schema/room.json\nid: "));

    home.git(&["checkout", "-q", "HEAD", "."]);

    // Schemas are deleted with the file they were written for, and written again with
    // it.
    home.run_palazzo(&["undo"]);
    assert!(!home.path().join("w/.palazzo/schema/task.json").exists());
    agent.call("create_task", json!({ "title": "Look again" })).await;
    assert!(home.path().join("w/.palazzo/schema/task.json").exists());
    // A schema of the user's own, or of another version, is not changed.
    home.write("w/.palazzo/schema/task.json", "{}\n");
    agent.call("create_task", json!({ "title": "Look once more" })).await;
    assert_eq!(home.read("w/.palazzo/schema/task.json"), "{}\n");
}

#[test]
fn template_files_point_editors_to_their_schemas() {
    let home = Home::new();
    home.run_palazzo(&["init", "Survey", "--template", "paradigm-survey"]);
    let files = home.git(&["ls-files"]);
    let mut kinds = BTreeSet::new();
    for file in files.lines().filter(|it| it.split('.').next_back() == Some("yaml")) {
        let first = home.read(file).lines().next().unwrap().to_owned();
        let schema = first.strip_prefix("# yaml-language-server: $schema=").unwrap();
        let place = home.path().join(file).parent().unwrap().join(schema).canonicalize().unwrap();
        let kind = place.file_stem().unwrap().to_str().unwrap().parse().unwrap();
        assert_eq!(fs::read_to_string(&place).unwrap(), keeper::json_schema(kind));
        kinds.insert(place);
    }
    let kept = files.lines().filter(|it| it.contains("/.palazzo/")).collect::<Vec<_>>();
    assert_eq!(kept.len(), kinds.len());
    assert_snapshot!(kept.join("\n"), @"
    survey/.palazzo/schema/entity.json
    survey/.palazzo/schema/genus.json
    survey/.palazzo/schema/process.json
    survey/.palazzo/schema/room.json
    survey/.palazzo/schema/task.json
    ");
    assert_eq!(home.commit_count(), 1);
    home.assert_clean_repository();
}

#[test]
fn fmt_updates_an_outdated_schema_copy() {
    let home = Home::new();
    home.run_palazzo(&["init", "Code"]);
    home.write("code/.palazzo/schema/room.json", "{}\n");
    home.write("code/.palazzo/schema/mine.json", "{}\n");
    let said = |arguments: &[&str]| {
        let output = home.run_palazzo(arguments);
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr)
    };
    assert_snapshot!(said(&["fmt", "--check"]), @"
    home/code/.palazzo/schema/room.json
    1 of 2 files not formatted
    ");
    assert_eq!(home.read("code/.palazzo/schema/room.json"), "{}\n");
    assert_snapshot!(said(&["fmt", "home/code/.palazzo"]), @"
    home/code/.palazzo/schema/room.json
    1 of 1 file formatted
    ");
    assert_eq!(home.read("code/.palazzo/schema/room.json"), keeper::json_schema(FileKind::Room));
    assert_eq!(home.read("code/.palazzo/schema/mine.json"), "{}\n");
    assert_snapshot!(said(&["fmt"]), @"0 of 2 files formatted");
}

#[tokio::test]
async fn fmt_writes_a_missing_schema_copy_that_a_file_points_to() {
    let home = Home::new();
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "code", "create": true })).await;
    agent.call("create_task", json!({ "title": "Look" })).await;
    agent.disconnect().await;
    let by_hand = "# yaml-language-server: $schema=../.palazzo/schema/room.json\nname: Hall\n";
    home.write("code/rooms/hall.yaml", by_hand);
    home.write("code/rooms/crypt.yaml", "name: Crypt\n");
    let schemas = home.path().join("code/.palazzo/schema");
    fs::remove_dir_all(&schemas).unwrap();
    let said = |arguments: &[&str]| {
        let output = home.run_palazzo(arguments);
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        format!("$ {}\n{said}exit {}\n", arguments.join(" "), output.status.code().unwrap())
    };
    let story = [
        said(&["fmt", "home/code/rooms/crypt.yaml"]),
        said(&["fmt", "--check"]),
        said(&["fmt", "home/code/rooms"]),
        said(&["fmt"]),
        said(&["fmt", "--check"]),
    ];
    assert_snapshot!(story.join("\n"));
    for kind in [FileKind::Room, FileKind::Task] {
        let kept = fs::read_to_string(schemas.join(format!("{kind}.json"))).unwrap();
        assert_eq!(kept, keeper::json_schema(kind));
    }
    assert_eq!(home.read("code/rooms/hall.yaml"), by_hand);
}
