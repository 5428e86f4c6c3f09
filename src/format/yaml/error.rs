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

/// Converts an error of the parser.
pub(crate) fn error_from_scanner(err: &ScanError) -> YamlError {
    let marker = err.marker();
    let at = Position { line: marker.line().max(1), column: marker.col() + 1 };
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
