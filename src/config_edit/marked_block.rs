//! A block between two marks in a text, such as AGENTS.md. Everything outside of it stays.

use crate::config_edit::line::line_end;

/// The lines around the block.
const BEGIN: &str = "<!-- palazzo -->";
const END: &str = "<!-- /palazzo -->";

/// Returns the text with this content of the block, which is added at the end if there is none. The
/// error says why the marks are not understood.
pub fn with_marked_block(text: &str, content: &str) -> Result<String, &'static str> {
    let end = line_end(text);
    let lines = content.lines().map(|it| it.replace("<!--", "<! --"));
    let content = lines.map(|it| it + end).collect::<String>();
    let block = format!("{BEGIN}{end}{content}{END}");
    Ok(match find_block(text)? {
        Some((start, stop)) => format!("{}{block}{}", &text[..start], &text[stop..]),
        None if text.is_empty() => format!("{block}{end}"),
        // A text without an end of its last line gets it back when the block is removed.
        None if !text.ends_with('\n') => format!("{text}{end}{end}{block}"),
        None => format!("{text}{end}{block}{end}"),
    })
}

/// Returns the text without the block, and without the empty line above it if the block is at the end.
pub fn without_marked_block(text: &str) -> Result<String, &'static str> {
    let Some((start, stop)) = find_block(text)? else { return Ok(text.to_owned()) };
    let end = line_end(text);
    let (above, below) = (&text[..start], &text[stop..]);
    let without = |text: &str, ends: usize| {
        text.strip_suffix(end.repeat(ends).as_str()).unwrap_or(text).to_owned()
    };
    Ok(match below {
        "" => without(above, 2),
        below if below == end => without(above, 1),
        below => format!("{above}{}", below.strip_prefix(end).unwrap_or(below)),
    })
}

/// Finds the block: where its first mark begins, and where its last mark ends.
fn find_block(text: &str) -> Result<Option<(usize, usize)>, &'static str> {
    let (mut begins, mut ends, mut at) = (Vec::new(), Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        match line.trim() {
            BEGIN => begins.push(at + line.find(BEGIN).unwrap_or_default()),
            END => ends.push(at + line.find(END).unwrap_or_default() + END.len()),
            _ => {}
        }
        at += line.len();
    }
    match (begins.as_slice(), ends.as_slice()) {
        ([], []) => Ok(None),
        ([begin], [end]) if begin < end => Ok(Some((*begin, *end))),
        ([_], [_]) => Err("`<!-- /palazzo -->` is above `<!-- palazzo -->`"),
        ([_], []) => Err("`<!-- /palazzo -->` is missing"),
        ([], [_]) => Err("`<!-- palazzo -->` is missing"),
        _ => Err("a mark of Palazzo is there twice"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_block_is_added_updated_and_removed() {
        let added = with_marked_block("# Rules\n", "One.\nTwo.").unwrap();
        assert_eq!(added, "# Rules\n\n<!-- palazzo -->\nOne.\nTwo.\n<!-- /palazzo -->\n");
        let moved = format!("{added}Mine.\n");
        let updated = with_marked_block(&moved, "<!-- palazzo -->").unwrap();
        let block = "<!-- palazzo -->\n<! -- palazzo -->\n<!-- /palazzo -->\n";
        assert_eq!(updated, format!("# Rules\n\n{block}Mine.\n"));
        assert_eq!(without_marked_block(&updated).unwrap(), "# Rules\n\nMine.\n");
    }

    #[test]
    fn broken_marks_are_refused() {
        for (text, why) in [
            ("<!-- palazzo -->\n", "`<!-- /palazzo -->` is missing"),
            ("a\n  <!-- /palazzo -->", "`<!-- palazzo -->` is missing"),
            (
                "<!-- /palazzo -->\n<!-- palazzo -->",
                "`<!-- /palazzo -->` is above `<!-- palazzo -->`",
            ),
            (
                "<!-- palazzo -->\n<!-- palazzo -->\n<!-- /palazzo -->\n",
                "a mark of Palazzo is there twice",
            ),
        ] {
            assert_eq!(with_marked_block(text, "x"), Err(why));
            assert_eq!(without_marked_block(text), Err(why));
        }
    }

    proptest! {
        #[test]
        fn removing_a_block_restores_the_text(
            text in "([a#é]{0,2}\n){0,4}[a ]{0,2}",
            windows in proptest::bool::ANY,
            content in "([a#é]{0,2}\n){0,3}",
        ) {
            let text = if windows { text.replace('\n', "\r\n") } else { text };
            let added = with_marked_block(&text, &content).unwrap();
            prop_assert_eq!(with_marked_block(&added, &content), Ok(added.clone()));
            prop_assert_eq!(without_marked_block(&added), Ok(text));
        }
    }
}
