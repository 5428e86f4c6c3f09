//! What a Markdown document says of itself: its title, its date, its tags and other names.
//!
//! People write these in many programs: front matter in YAML or TOML, or properties in the first
//! lines. The reader is tolerant: what is no YAML for a parser still has a title for its author.

pub(crate) mod headings;
pub(crate) mod properties;
pub(crate) mod written_time;

use chrono::{DateTime, Utc};

use crate::model::TimeZone;
use crate::model::document::headings::Headings;
use crate::model::document::properties::DocumentProperties;

/// Returns the title of a document: that of its properties, or its first heading.
pub fn document_title(text: &str) -> Option<String> {
    let properties = DocumentProperties::parse(text);
    let heading = || Headings::of(text).next().map(|it| it.text.to_owned());
    properties.title().map(str::to_owned).or_else(heading).filter(|it| !it.is_empty())
}

/// Returns the time in the properties of a document; without an offset it is one of `zone`.
pub fn document_date(text: &str, zone: &TimeZone) -> Option<DateTime<Utc>> {
    DocumentProperties::parse(text).date(zone)
}

#[cfg(test)]
mod tests {
    use super::*;

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
