//! The templates in the program: the example palaces.

use std::collections::BTreeSet;

use rust_embed::RustEmbed;

use crate::model::Files;

#[derive(RustEmbed)]
#[folder = "example-palaces"]
struct ExamplePalaces;

/// Returns the names of the templates, sorted.
pub(super) fn built_in_names() -> Vec<String> {
    let names =
        ExamplePalaces::iter().filter_map(|it| it.split_once('/').map(|it| it.0.to_owned()));
    names.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns the files of a template; `None` if there is no such template.
pub(super) fn built_in_files(name: &str) -> Option<Files> {
    if name.contains('/') {
        return None;
    }
    let prefix = format!("{name}/");
    let mut files = Files::new();
    for path in ExamplePalaces::iter() {
        if let Some(inside) = path.strip_prefix(&prefix) {
            let text = String::from_utf8_lossy(&ExamplePalaces::get(&path)?.data).into_owned();
            files.insert(inside.to_owned(), text);
        }
    }
    Some(files).filter(|it| !it.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format;

    #[test]
    fn every_template_has_rooms_and_a_description() {
        for name in built_in_names() {
            let files = built_in_files(&name).unwrap();
            let settings = format::parse_settings(&files["palace.toml"]).unwrap();
            assert!(!settings.template.description.is_empty(), "{name}");
            assert!(files.keys().any(|it| it.starts_with("rooms/")), "{name}");
        }
    }

    #[test]
    fn only_the_whole_name_names_a_template() {
        assert!(built_in_files("codebase").is_some());
        for name in ["code", "Codebase", "codebase/rooms", ""] {
            assert_eq!(built_in_files(name), None, "{name}");
        }
    }
}
