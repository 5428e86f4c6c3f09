//! What a Markdown document says of itself: its title, its date, its tags and other names.
//!
//! People write these in many programs: front matter in YAML or TOML, or properties in the first
//! lines. The reader is tolerant: what is no YAML for a parser still has a title for its author.

pub(crate) mod file_name;
pub(crate) mod headings;
pub(crate) mod properties;
pub(crate) mod written_time;

use chrono::{DateTime, Utc};

use crate::model::TimeZone;
use crate::model::document::headings::Headings;
use crate::model::document::properties::{DocumentProperties, is_property};

/// Returns the title of a document: that of its properties, or its first heading.
pub fn document_title(text: &str) -> Option<String> {
    let properties = DocumentProperties::parse(text);
    let heading = || Headings::of(text).next().map(|it| it.text.to_owned());
    properties.title().map(str::to_owned).or_else(heading).filter(|it| !it.is_empty())
}

/// Returns the text of a document after its properties, in front matter or in the first lines, and
/// after the blank lines between them.
pub fn document_body(text: &str) -> &str {
    let body = DocumentProperties::parse(text).body;
    let lines = body.split_inclusive('\n').take_while(|it| is_property(it) || it.trim().is_empty());
    let body = &body[lines.map(str::len).sum()..];
    body.trim_start_matches('\u{feff}').trim_start()
}

/// Returns the time in the properties of a document; without an offset it is one of `zone`.
pub fn document_date(text: &str, zone: &TimeZone) -> Option<DateTime<Utc>> {
    DocumentProperties::parse(text).date(zone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_is_the_text_without_properties() {
        for text in [
            "Coal.\n\nx:: y\n",
            "\u{feff}Coal.\n\nx:: y\n",
            "---\ntags: [a]\n---\nCoal.\n\nx:: y\n",
            "---\ntags: [a]\n---\n\ntype:: note\n\nCoal.\n\nx:: y\n",
            "+++\ntags = ['a']\n+++\n\nCoal.\n\nx:: y\n",
            "tags:: a\nalias:: b\n\nCoal.\n\nx:: y\n",
        ] {
            assert_eq!(document_body(text), "Coal.\n\nx:: y\n", "{text}");
        }
        assert_eq!(document_body("---\ntags: [a]\n---\n"), "");
        assert_eq!(document_body("---\nA rule.\n---\n"), "---\nA rule.\n---\n");
    }

    #[test]
    fn the_title_is_that_of_the_front_matter_or_the_first_heading() {
        for (text, title) in [
            ("---\ntags: [a]\ntitle: \"Coal: a life\"\n---\n# Other\n", Some("Coal: a life")),
            ("+++\ntitle = 'Coal'\n+++\n\nBlack.\n", Some("Coal")),
            ("title:: Coal\ntags:: a\n\n- # Other\n", Some("Coal")),
            ("---\ntags: [a]\n---\n\n[badge](x)\n\n## Coal ##\n", Some("Coal")),
            ("```sh\n# no heading\n```\n\nCoal\n====\n", Some("Coal")),
            ("---\nTitle: Coal\n---\n", Some("Coal")),
            ("---\ntitle:\n---\nBlack.\n", None),
            ("Black.\n", None),
        ] {
            assert_eq!(document_title(text).as_deref(), title, "{text}");
        }
    }
}
