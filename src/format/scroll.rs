//! Scroll files: `scrolls/<room>/<ULID>-<title>.md`, Markdown behind front matter.

use crate::format::file_parser::Reader;
use crate::format::front_matter;
use crate::format::yaml::Out;
use crate::model::{Code, Scroll, Spot};

const SCROLL: &[&str] = &["id", "title", "written", "by"];

pub(super) fn read(reader: &mut Reader<'_>, file: &str, whole: &str) -> Option<Scroll> {
    let Some((matter, body)) = front_matter::split(whole) else {
        let (message, hint) = match front_matter::opened(whole) {
            Some(_) => ("the front matter is not closed", "write `---` on the line below it"),
            None => (
                "a scroll begins with `---`, its title and so on, and `---` again",
                "front matter: `title`, `written`, `by`",
            ),
        };
        reader.find(Code::FrontMatter, Spot::START, message).hint = Some(hint.to_owned());
        return None;
    };
    let mut fields = front_matter::fields(reader, matter, "a scroll's front matter", SCROLL)?;
    let at = fields.at();
    let title = fields.required(reader, "title");
    let by = fields.text(reader, "by").unwrap_or_else(|| "unknown".to_owned());
    let dated = fields.take("written").map(|it| front_matter::moment(reader, it, "written"));
    let written = dated.flatten();
    let id = front_matter::id(reader, &mut fields, file);
    let Some(id) = id.or_else(|| Some(front_matter::made_up(written?, file))) else {
        if dated.is_none() {
            let hint = "`written: 2026-03-01T12:00:00Z`, or only the day".to_owned();
            let message = "a scroll says when it was `written`";
            reader.find(Code::MissingKey, at, message).hint = Some(hint);
        }
        return None;
    };
    let written = written.or_else(|| front_matter::dated(Some(id), file))?;
    Some(Scroll { id, title: front_matter::one_line(&title?), written, by, body: body.to_owned() })
}

pub(super) fn write(scroll: &Scroll) -> String {
    front_matter::join(&matter(scroll), &scroll.body)
}

/// Returns the front matter of a scroll.
pub(super) fn matter(scroll: &Scroll) -> Vec<(&'static str, Out)> {
    vec![
        ("id", Out::Plain(scroll.id.to_string())),
        ("title", Out::Text(scroll.title.clone())),
        ("written", front_matter::moment_out(scroll.written)),
        ("by", Out::Text(scroll.by.clone())),
    ]
}
