//! Recognises the settings of a palace whose files may follow other rules than those of this program.

use crate::format::file_parser::FileParser;
use crate::model::{Code, Position, split_lines};

/// The format of the files of a palace that this program reads and writes, `format` in
/// `palace.toml`. docs/files.md says when it changes.
pub const FORMAT_VERSION: i64 = 1;

/// The key with the number of the format.
pub(super) const KEY: &str = "format";

/// Reports that a palace has the format `value`, which this program does not read.
pub(super) fn report_other_format(reader: &mut FileParser<'_>, at: Position, value: &str) {
    let (message, hint) = describe_other_format(value.trim());
    reader.report(Code::FormatVersion, at, message).hint = Some(hint);
}

/// Reports another format in a `palace.toml` that cannot be parsed, or has the markers of a merge
/// conflict: one of its lines says so.
pub(super) fn report_other_format_in_lines(reader: &mut FileParser<'_>, text: &str) {
    let lines = split_lines(text.trim_start_matches('\u{feff}')).zip(1..);
    // Keys below a header are not those of the palace.
    for (line, number) in lines.take_while(|(line, _)| !line.trim_start().starts_with('[')) {
        let Some((key, value)) = line.split_once('=') else { continue };
        let value = value.split('#').next().unwrap_or_default().trim();
        let key = key.trim().trim_matches(['"', '\'']);
        if key == KEY && value != FORMAT_VERSION.to_string() {
            return report_other_format(reader, Position { line: number, column: 1 }, value);
        }
    }
}

/// Returns the message and the hint.
fn describe_other_format(value: &str) -> (String, String) {
    let is_number = !value.is_empty() && value.bytes().all(|it| it.is_ascii_digit());
    match value.parse::<i64>() {
        Ok(format) if format <= FORMAT_VERSION => {
            (format!("no palace has format {format}"), format!("write `format = {FORMAT_VERSION}`"))
        }
        // A number may be too large to be parsed.
        Ok(_) | Err(_) if is_number => (
            format!(
                "this palace has format {value}, which needs a newer Palazzo; this one reads \
                 format {FORMAT_VERSION}"
            ),
            "update Palazzo; `palazzo doctor` prints the command".to_owned(),
        ),
        _ => (
            format!("`format` is a whole number, and this Palazzo reads format {FORMAT_VERSION}"),
            format!(
                "write `format = {FORMAT_VERSION}`; if a newer Palazzo has written the file, \
                 update Palazzo"
            ),
        ),
    }
}
