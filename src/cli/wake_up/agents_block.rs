//! The block about a palace in a file for agents, such as AGENTS.md.

use std::path::Path;

use crate::cli::client::config_file::{
    read_config, replace_config, require_writable, resolve_links,
};
use crate::cli::outcome::Failure;
use crate::config_edit::{with_marked_block, without_marked_block};
use palazzo_core::model::{HOST_MEMORY_FOLDER, escape_unprintable, path_text};
use palazzo_core::render;
use palazzo_keeper::HostMemory;

/// Maximum number of memories, and of characters of each line.
const MAX_MEMORIES: usize = 50;
const MAX_LINE_CHARS: usize = 180;

/// Writes the block into a file, or updates it. Returns what was done.
pub(super) fn write_block(file: &Path, memories: &[HostMemory]) -> Result<&'static str, Failure> {
    let content = render_block(memories);
    edit(file, |text| with_marked_block(text, &content))
}

/// Removes the block from a file. A file that is then empty is deleted.
pub(super) fn remove_block(file: &Path) -> Result<&'static str, Failure> {
    edit(file, without_marked_block)
}

fn edit(
    file: &Path,
    edit: impl Fn(&str) -> Result<String, &'static str>,
) -> Result<&'static str, Failure> {
    let target = resolve_links(&std::path::absolute(file)?);
    let refused =
        |why: String| Failure::Message(format!("`{}` is not changed: {why}", path_text(&target)));
    let was = read_config(&target).map_err(refused)?;
    let text = was.as_deref().unwrap_or_default();
    let new = edit(text).map_err(|it| refused(it.to_owned()))?;
    if new == text {
        return Ok("nothing to change");
    }
    require_writable(&target).map_err(refused)?;
    let new = Some(new).filter(|it| !it.is_empty());
    replace_config(&target, was.as_deref(), new.as_deref()).map_err(refused)?;
    Ok(if new.is_some() { "written" } else { "deleted" })
}

/// Renders the block: the memories, and how to ask the palace. It names no path of this machine,
/// because such files are shared.
fn render_block(memories: &[HostMemory]) -> String {
    let mut block = "There is a palace of notes for this project. Search it before you answer: with \
                     the tools of the MCP server Palazzo, or `palazzo search WORDS` and `palazzo show \
                     THING`.\n"
        .to_owned();
    if memories.is_empty() {
        return block;
    }
    block += &format!(
        "\nIts memories in `{HOST_MEMORY_FOLDER}`, whose names were read from the palace; the user \
         has not said them:\n\n"
    );
    for HostMemory { file, title, description } in memories.iter().take(MAX_MEMORIES) {
        let description = match description.as_str() {
            "" => String::new(),
            it => format!(": {it}"),
        };
        let line =
            format!("- `{}` {title}{description}", escape_unprintable(&file.replace('`', "'")));
        block += &format!("{}\n", render::truncate(&line, MAX_LINE_CHARS - 1));
    }
    match memories.len().saturating_sub(MAX_MEMORIES) {
        0 => block,
        more => format!("{block}- {more} more: `palazzo search`\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_lists_memories_in_one_line_each() {
        let memory = |number: usize| HostMemory {
            file: format!("m{number}.md"),
            title: "Build".to_owned(),
            description: if number == 0 { String::new() } else { "x".repeat(300) },
        };
        let memories: Vec<_> = (0..60).map(memory).collect();
        let block = render_block(&memories);
        let lines: Vec<_> = block.lines().collect();
        assert_eq!(lines[4], "- `m0.md` Build");
        assert!(lines[5].starts_with("- `m1.md` Build: xxx") && lines[5].chars().count() == 180);
        assert_eq!(lines.last(), Some(&"- 10 more: `palazzo search`"));
        assert_eq!(render_block(&[]).lines().count(), 1);
    }
}
