//! YAML errors, with hints for the most frequent mistakes.

use granit_parser::{ErrorKind, ScanError};

use crate::model::{Code, Position};

/// The reason why a text is not valid YAML, or not in our subset.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::format) struct YamlError {
    pub(in crate::format) code: Code,
    pub(in crate::format) at: Position,
    pub(in crate::format) message: String,
    pub(in crate::format) hint: Option<&'static str>,
}

/// Returns an error without a hint.
pub(crate) fn error_without_hint<T>(
    code: Code,
    at: Position,
    message: impl Into<String>,
) -> Result<T, YamlError> {
    Err(YamlError { code, at, message: message.into(), hint: None })
}

/// Converts an error of the parser in `text`. Quotes that are not closed are reported where they
/// open, which is where a person forgot the other one.
pub(crate) fn error_from_scanner(err: &ScanError, text: &str) -> YamlError {
    let marker = err.marker();
    let at = Position { line: marker.line().max(1), column: marker.col() + 1 };
    if let ErrorKind::InvalidQuotedScalarIndent | ErrorKind::UnclosedQuotedScalar = err.kind()
        && let Some(at) = last_open_quote(text, at.line)
    {
        let message = "this is not YAML: these quotes are not closed".to_owned();
        return YamlError { code: Code::Syntax, at, message, hint: quoting_hint(err.kind()) };
    }
    let code = match err.kind() {
        ErrorKind::RecursionLimitExceeded => Code::TooDeep,
        ErrorKind::UnknownAnchor => Code::NotPlainYaml,
        _ => Code::Syntax,
    };
    let message = match code {
        Code::NotPlainYaml => "aliases (`*name`) are not used here".to_owned(),
        _ => format!("this is not YAML: {}", err.info()),
    };
    YamlError { code, at, message, hint: quoting_hint(err.kind()).or(indentation_hint(err.kind())) }
}

/// Returns the position of the last quotes up to `line` that are not closed in their line.
fn last_open_quote(text: &str, line: usize) -> Option<Position> {
    let lines: Vec<_> = text.lines().take(line).enumerate().collect();
    let mut open = lines.into_iter().rev();
    open.find_map(|(at, it)| Some(Position { line: at + 1, column: open_quote_in_line(it)? + 1 }))
}

/// Returns the place of the quotes, in characters, that a line opens and does not close. Quotes open
/// only where a value begins.
fn open_quote_in_line(line: &str) -> Option<usize> {
    let (mut open, mut last_sign) = (None, ':');
    let mut signs = line.chars().enumerate().peekable();
    while let Some((at, it)) = signs.next() {
        match open {
            None if matches!(it, '"' | '\'') && ":-?[{,".contains(last_sign) => {
                open = Some((at, it));
            }
            Some((_, '"')) if it == '\\' => drop(signs.next()),
            Some((_, quote)) if it == quote => {
                // Two single quotes stand for one.
                let is_escaped = quote == '\'' && signs.next_if(|(_, it)| *it == quote).is_some();
                open = open.filter(|_| is_escaped);
            }
            None | Some(_) => {}
        }
        if it != ' ' {
            last_sign = it;
        }
    }
    open.map(|(at, _)| at)
}

/// Returns a hint about missing or superfluous quotes.
fn quoting_hint(kind: &ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::MappingValueNotAllowed => {
            "a text that contains `: ` needs quotes; a key begins in the column of its neighbours"
        }
        ErrorKind::UnknownAnchor => "a text that begins with `*` needs quotes",
        ErrorKind::MappingKeyNotAllowed => "a text that begins with `? ` needs quotes",
        ErrorKind::UnexpectedCharacter { character: '@' | '`' | '%' } => {
            "a text that begins with this character needs quotes"
        }
        ErrorKind::UnknownQuotedScalarEscape => {
            "write `\\\\` for a backslash, or use single quotes"
        }
        ErrorKind::InvalidQuotedScalarIndent | ErrorKind::UnclosedQuotedScalar => {
            "close the quotes on the line where they open, or indent the lines that follow"
        }
        ErrorKind::InvalidTrailingSingleQuotedScalar => {
            "quote the whole text, and write `''` for an apostrophe in it"
        }
        ErrorKind::InvalidTrailingDoubleQuotedScalar => {
            "quote the whole text, and write `\\\"` for a quotation mark in it"
        }
        ErrorKind::UnclosedFlowCollection { .. } => "close the bracket, or quote the text",
        ErrorKind::MisplacedFlowCollectionEnd => "open the bracket, or quote the text",
        ErrorKind::BlockSequenceEntryNotAllowed => {
            "a list begins on the line below its key; a text that begins with `- ` needs quotes"
        }
        _ => return None,
    })
}

/// Returns a hint about indentation.
fn indentation_hint(kind: &ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabInPlainScalar
        | ErrorKind::TabAtBlockScalarStart => "indent with spaces",
        ErrorKind::UnexpectedCharacter { .. } => "remove the character",
        ErrorKind::InvalidBlockScalarHeader => "the text begins on the line below `|` or `>`",
        ErrorKind::InvalidIndentation | ErrorKind::ExpectedBlockMappingKey => {
            "keys of one mapping begin in the same column"
        }
        ErrorKind::ExpectedBlockSequenceEntry => "each item of a list begins with `- `",
        ErrorKind::SimpleKeyExpected => {
            "write `key: value`; the lines of a long text are indented, below `key: |`"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::yaml::parse_yaml;

    #[test]
    fn quotes_are_left_open_where_a_value_begins() {
        let closed =
            ["a: \"b\"", "- 'it''s'", "a: it's", "a: x \"y", "[\"a\", 'b']", "a: \"\\\"\"", "-"];
        for line in closed {
            assert_eq!(open_quote_in_line(line), None, "{line}");
        }
        for (line, at) in [
            ("a: \"b", 3),
            ("  - 'it''s", 4),
            ("[\"a\", 'b]", 6),
            ("\"a", 0),
            ("a: \"\\\"", 3),
            ("é: \"b", 3),
        ] {
            assert_eq!(open_quote_in_line(line), Some(at), "{line}");
        }
    }

    #[test]
    fn a_missing_quote_is_reported_where_the_other_one_is() {
        for (text, line, column) in [
            ("a: x\nb: y\nc: \"z\nd: x\ne: \"y\"\n", 3, 4),
            ("a: x\nb:\n- 'z\n- x\n", 3, 3),
            ("a: x\nb:\n- c: \"z\n  d: x\n", 3, 6),
            ("a: x\nb: y\nc: \"z", 3, 4),
            ("a: x\nb: y\nc: [x, \"z]\nd: x\n", 3, 8),
            ("a: x\nb: y\nc: 'z\n   and more\nd: x\n", 3, 4),
        ] {
            let error = parse_yaml(text).unwrap_err();
            assert_eq!(error.at, Position { line, column }, "{text}: {}", error.message);
        }
    }
}
