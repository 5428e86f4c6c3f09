//! Paths that a person gives on the command line: with the folder of the palace, or absolute.

use std::path::{Component, Path};

use crate::palace::OpenPalace;

/// Returns the path in the palace that `name` can mean besides itself: `survey/rooms/hall.yaml` and
/// `./rooms/hall.yaml` mean `rooms/hall.yaml` in the palace `survey`, as an absolute path does.
pub(crate) fn path_in_palace(open: &OpenPalace, name: &str) -> Option<String> {
    let path = Path::new(name.trim());
    let inside = match path.is_absolute() {
        true => open.store().path_below_palace(path)?,
        false => path_below_folder(open.store().palace_folder(), path)?,
    };
    Some(inside).filter(|it| !it.is_empty() && it != name)
}

/// Returns a relative path without the last folders of `folder` that it begins with.
fn path_below_folder(folder: &Path, path: &Path) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name.to_str()?),
            Component::ParentDir => drop(names.pop()),
            _ => {}
        }
    }
    let begins_with_folder =
        |it: &usize| folder.ends_with(names[..*it].iter().collect::<std::path::PathBuf>());
    let named = (1..names.len()).rev().find(begins_with_folder);
    Some(names[named.unwrap_or(0)..].join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside(path: &str) -> String {
        path_below_folder(Path::new("/home/ada/survey"), Path::new(path)).unwrap()
    }

    #[test]
    fn the_folders_of_the_palace_are_left_out() {
        let hall = "rooms/hall.yaml";
        for before in ["", "./", "survey/", "ada/survey/", "../survey/", "../", "x/../survey/"] {
            assert_eq!(inside(&format!("{before}{hall}")), hall);
        }
        assert_eq!(inside("home/survey/rooms/hall.yaml"), "home/survey/rooms/hall.yaml");
        assert_eq!(inside("other/rooms/hall.yaml"), "other/rooms/hall.yaml");
        assert_eq!(inside("survey"), "survey");
    }
}
