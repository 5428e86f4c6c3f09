//! `palazzo templates`: the example palaces, built into the program.

use std::collections::BTreeSet;
use std::process::ExitCode;

use rust_embed::RustEmbed;

use crate::cli::outcome::Outcome;
use crate::cli::terminal;
use crate::model::Files;

/// List the templates that `palazzo init` can start from
#[derive(clap::Args)]
pub(super) struct Args {}

#[derive(RustEmbed)]
#[folder = "example-palaces"]
struct ExamplePalaces;

pub(super) fn run(_: &Args) -> Outcome {
    for name in template_names() {
        let files = template_files(&name).unwrap_or_default();
        let count = |folder: &str| files.keys().filter(|it| it.starts_with(folder)).count();
        let (rooms, entities) = (count("rooms/"), count("entities/"));
        terminal::print_page(&format!("{name:<18} {rooms} rooms, {entities} entities"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the names of the templates, sorted.
pub(super) fn template_names() -> Vec<String> {
    let names =
        ExamplePalaces::iter().filter_map(|it| it.split_once('/').map(|it| it.0.to_owned()));
    names.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns the files of a template; `None` if there is no such template.
pub(super) fn template_files(name: &str) -> Option<Files> {
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

    #[test]
    fn every_template_has_settings_and_rooms() {
        for name in template_names() {
            let files = template_files(&name).unwrap();
            assert!(files.contains_key("palace.toml"), "{name}");
            assert!(files.keys().any(|it| it.starts_with("rooms/")), "{name}");
        }
    }

    #[test]
    fn only_the_whole_name_names_a_template() {
        assert!(template_files("codebase").is_some());
        for name in ["code", "Codebase", "codebase/rooms", ""] {
            assert_eq!(template_files(name), None, "{name}");
        }
    }
}
