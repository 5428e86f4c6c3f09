//! Objects that a power cut left empty or torn.
//!
//! Git never writes an object whose file is there, so a torn one would be taken
//! for good by the next commit with the same content.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use gix::ObjectId;
use walkdir::WalkDir;

use super::Error;

/// Removes the loose objects written since `since` that do not hold what their name says.
pub(super) fn remove_torn(
    git: &gix::Repository,
    common_dir: &Path,
    since: SystemTime,
) -> Result<(), Error> {
    let folder = common_dir.join("objects");
    let store = gix::odb::loose::Store::at(&folder, git.object_hash());
    let mut buffer = Vec::new();
    for entry in WalkDir::new(&folder).min_depth(2).max_depth(2).into_iter().flatten() {
        let Some(id) = id(entry.path()) else { continue };
        let modified = entry.metadata().ok().and_then(|it| it.modified().ok());
        if modified.is_some_and(|it| it >= since) && !is_whole(&store, id, &mut buffer) {
            fs::remove_file(entry.path()).map_err(Error::file("remove", entry.path()))?;
        }
    }
    Ok(())
}

fn is_whole(store: &gix::odb::loose::Store, id: ObjectId, buffer: &mut Vec<u8>) -> bool {
    let Ok(Some(object)) = store.try_find(&id, buffer) else { return false };
    gix::objs::compute_hash(id.kind(), object.kind, object.data).is_ok_and(|it| it == id)
}

fn id(place: &Path) -> Option<ObjectId> {
    let folder = place.parent()?.file_name()?.to_str()?;
    let file = place.file_name()?.to_str()?;
    ObjectId::from_hex(format!("{folder}{file}").as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::super::scene::{Scene, change, done};
    use super::*;

    const HALL: &str = "rooms/hall.yaml";

    #[test]
    fn an_object_a_power_cut_left_empty_is_written_again() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        done(&mut store, &change(HALL, None, Some("1\n")));
        fs::write(scene.home.join(".git/palazzo/writing"), "pid 1\n").unwrap();
        // What `git hash-object` says of the next content, and of another that is torn.
        for (id, left) in [
            ("0cfbf08886fca9a91cb753ec8734c84fcbe52c9f", ""),
            ("00750edc07d6415dcc07ae0351e9397b0222b7ba", "x"),
        ] {
            let folder = scene.home.join(".git/objects").join(&id[..2]);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(&id[2..]), left).unwrap();
        }
        done(&mut store, &change(HALL, Some("1\n"), Some("2\n")));
        assert_eq!(scene.git(&["show", "HEAD:keep/rooms/hall.yaml"]), "2\n");
        scene.assert_sound();
    }
}
