//! The templates that are in the program: the example palaces.

use std::collections::BTreeMap;

use rust_embed::RustEmbed;

use palazzo_core::model::Files;

#[derive(RustEmbed)]
#[folder = "example-palaces"]
struct ExamplePalaces;

/// Returns the files of each template, by its name.
pub(super) fn read_built_in_templates() -> BTreeMap<String, Files> {
    let mut templates = BTreeMap::<String, Files>::new();
    for path in ExamplePalaces::iter() {
        if let (Some((name, inside)), Some(file)) =
            (path.split_once('/'), ExamplePalaces::get(&path))
        {
            let text = String::from_utf8_lossy(&file.data).into_owned();
            templates.entry(name.to_owned()).or_default().insert(inside.to_owned(), text);
        }
    }
    templates
}

#[cfg(test)]
mod tests {
    use super::*;
    use palazzo_core::format;

    #[test]
    fn every_template_has_rooms_and_a_description() {
        let templates = read_built_in_templates();
        assert!(templates.contains_key("codebase"));
        for (name, files) in templates {
            let settings = format::parse_settings(&files["palace.toml"]).unwrap();
            assert!(!settings.template.description.is_empty(), "{name}");
            assert!(files.keys().any(|it| it.starts_with("rooms/")), "{name}");
        }
    }
}
