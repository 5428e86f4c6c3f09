//! Parses lines of input as JSON-RPC messages.
//!
//! A client waits for an answer under each `id` that it sends. So an invalid message is
//! answered here, under its `id` if that can be read; rmcp gets only valid messages.
//! Lone surrogates (`\ud83d`), which programs write that cut texts in UTF-16, are
//! replaced.

use rmcp::RoleServer;
use rmcp::model::{ErrorCode, RequestId};
use rmcp::service::RxJsonRpcMessage;
use serde::Deserialize as _;
use serde_json::{Map, Value, json};
use tokio::io::{self, AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _};

use crate::mcp::reply::shorten_long_lines;
use palazzo_core::model::{escape_unprintable_in_lines, replace_lone_surrogates};

/// Longer lines are rejected.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// A valid message, or the error that answers an invalid one.
pub(crate) type DecodeResult = Result<Box<RxJsonRpcMessage<RoleServer>>, InvalidMessageError>;

/// The error that answers an invalid message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct InvalidMessageError {
    /// The `id` of the message; null if it cannot be read.
    pub(crate) id: Value,
    /// The JSON-RPC error code.
    pub(crate) code: ErrorCode,
    /// The reason, for the client.
    pub(crate) message: String,
}

impl InvalidMessageError {
    /// The error for an invalid request with this `id`.
    pub(crate) fn invalid_request(id: Value, message: &str) -> Self {
        Self { id, code: ErrorCode::INVALID_REQUEST, message: message.to_owned() }
    }

    fn invalid_params(id: Value, message: &str) -> Self {
        Self { id, code: ErrorCode::INVALID_PARAMS, message: message.to_owned() }
    }

    fn parse_error(id: Value, why: &str) -> Self {
        let message = format!("the message cannot be parsed: {why}");
        Self { id, code: ErrorCode::PARSE_ERROR, message }
    }

    /// Returns the error as a line of output.
    pub(crate) fn error_line(&self) -> Vec<u8> {
        let message = shorten_long_lines(&escape_unprintable_in_lines(&self.message));
        let error = json!({ "code": self.code.0, "message": message });
        format!("{}\n", json!({ "jsonrpc": "2.0", "id": self.id, "error": error })).into_bytes()
    }
}

/// Maximum number of bytes kept from a line.
const MAX_KEPT_BYTES: usize = 64 * 1024;

/// A line without the contents of its parameters: `{"id":1,"params":{}}`.
#[derive(Default)]
struct IdScanner {
    kept_bytes: Vec<u8>,
    depth: usize,
    is_quoted: bool,
    is_escaped: bool,
    /// The depth of a message's fields: 1, or 2 in a batch.
    message_depth: Option<usize>,
}

/// The parts of one message that could be read.
#[derive(Default)]
struct ScannedMessage {
    ids: Vec<Value>,
    is_request: bool,
    is_response: bool,
}

impl IdScanner {
    /// Scans a line, or its beginning.
    fn from_line(line: &[u8]) -> Self {
        let mut outline = Self::default();
        outline.feed(line);
        outline
    }

    /// Scans the next part of the line.
    fn feed(&mut self, line: &[u8]) {
        for it in line {
            if self.message_depth.is_none() && !it.is_ascii_whitespace() {
                self.message_depth = Some(if *it == b'[' { 2 } else { 1 });
            }
            let above = self.depth;
            match it {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.is_quoted => self.is_escaped = true,
                b'"' => self.is_quoted = !self.is_quoted,
                b'{' | b'[' if !self.is_quoted => self.depth += 1,
                b'}' | b']' if !self.is_quoted => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            if above.min(self.depth) <= self.message_depth()
                && self.kept_bytes.len() < MAX_KEPT_BYTES
            {
                self.kept_bytes.push(*it);
            }
        }
    }

    /// Returns the `id` of each message that must be answered, or a single null if none
    /// can be read. A message with two different ids counts as having none.
    fn ids_to_answer(&self) -> Vec<Value> {
        if self.is_notification() {
            return Vec::new();
        }
        let (answered, other): (Vec<_>, Vec<_>) =
            self.scan_messages().into_iter().partition(|it| it.is_request || !it.is_response);
        let is_response = answered.is_empty() && !other.is_empty();
        let ids: Vec<_> = answered.into_iter().filter_map(ScannedMessage::unambiguous_id).collect();
        match ids.is_empty() && !is_response {
            true => vec![Value::Null],
            false => ids,
        }
    }

    /// Returns true if everything except the contents of parameters is valid, and there
    /// is no `id`.
    fn is_notification(&self) -> bool {
        let message = serde_json::from_slice::<Value>(&self.kept_bytes).unwrap_or_default();
        message.get("method").is_some_and(Value::is_string) && message.get("id").is_none()
    }

    fn scan_messages(&self) -> Vec<ScannedMessage> {
        let (mut members, mut depth, mut key) = (Vec::<ScannedMessage>::new(), 0_usize, None);
        let mut rest = self.kept_bytes.as_slice();
        while let Some(first) = rest.first() {
            let (token, after) = rest.split_at(first_json_token_length(rest));
            rest = after;
            match first {
                b'{' | b'[' => {
                    depth += 1;
                    key = None;
                    if *first == b'{' && depth == self.message_depth() {
                        members.push(ScannedMessage::default());
                    }
                }
                b'}' | b']' => (depth, key) = (depth.saturating_sub(1), None),
                b',' => key = None,
                b'"' if after.trim_ascii_start().starts_with(b":") => {
                    key = serde_json::from_slice::<String>(token).ok();
                    if let (Some(member), Some(key)) = (members.last_mut(), &key) {
                        member.is_request |= key == "method";
                        member.is_response |= key == "result" || key == "error";
                    }
                }
                it if it.is_ascii_whitespace() || *it == b':' => {}
                // A number at the very end may be truncated.
                _ if after.is_empty() && *first != b'"' => {}
                _ => {
                    let value = serde_json::from_slice::<Value>(token);
                    let id = value.ok().filter(|it| it.is_number() || it.is_string());
                    if let (Some(member), Some("id"), Some(id)) =
                        (members.last_mut(), key.as_deref(), id)
                    {
                        member.ids.push(id);
                    }
                }
            }
        }
        members
    }

    fn message_depth(&self) -> usize {
        self.message_depth.unwrap_or(1)
    }
}

impl ScannedMessage {
    fn unambiguous_id(self) -> Option<Value> {
        let mut ids = self.ids.into_iter();
        let first = ids.next()?;
        ids.all(|it| it == first).then_some(first)
    }
}

/// Reads a line and decodes its messages: none, one, or several in a batch. Returns
/// `None` at the end of the input.
pub(crate) async fn read_messages(
    input: &mut (impl AsyncBufRead + Unpin),
) -> io::Result<Option<Vec<DecodeResult>>> {
    let mut line = read_line(input).await?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.len() < MAX_LINE_BYTES {
        return Ok(Some(decode_line(&mut line)));
    }
    let mut outline = IdScanner::from_line(&line);
    while !line.is_empty() && !line.ends_with(b"\n") {
        line = read_line(input).await?;
        outline.feed(&line);
    }
    Ok(Some(errors_for_unparsable_line(&outline, "the line is longer than 16 MiB")))
}

async fn read_line(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    input.take(MAX_LINE_BYTES as u64).read_until(b'\n', &mut line).await?;
    Ok(line)
}

/// Decodes the messages of a line. Each member of a batch is decoded and answered like
/// a line of its own: MCP has no batches since 2025-06-18.
fn decode_line(line: &mut [u8]) -> Vec<DecodeResult> {
    replace_lone_surrogates(line);
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Vec::new();
    }
    match serde_json::from_slice(line) {
        Ok(Value::Array(members)) if !members.is_empty() => {
            members.into_iter().filter_map(decode_message).collect()
        }
        Ok(value) => decode_message(value).into_iter().collect(),
        Err(err) => errors_for_unparsable_line(&IdScanner::from_line(line), &err.to_string()),
    }
}

/// Rejects a line that is not JSON, with an error for each `id` that can still be read.
fn errors_for_unparsable_line(outline: &IdScanner, why: &str) -> Vec<DecodeResult> {
    outline
        .ids_to_answer()
        .into_iter()
        .map(|id| Err(InvalidMessageError::parse_error(id, why)))
        .collect()
}

/// Decodes a value as a message. Returns `None` if it needs no answer and has no
/// effect: an invalid notification, or a response (the server sends no requests).
fn decode_message(value: Value) -> Option<DecodeResult> {
    let Value::Object(mut fields) = value else {
        return Some(Err(InvalidMessageError::invalid_request(
            Value::Null,
            "a message must be a JSON object",
        )));
    };
    let is_response = fields.contains_key("result") || fields.contains_key("error");
    let id = fields.remove("id");
    let reply_to = id.clone().filter(|it| it.is_number() || it.is_string()).unwrap_or_default();
    match (fields.get("method"), id) {
        (None, _) if is_response => None,
        (None, _) => {
            Some(Err(InvalidMessageError::invalid_request(reply_to, "a message needs a `method`")))
        }
        (Some(Value::String(_)), None) => {
            serde_json::from_value(Value::Object(fields)).ok().map(|it| Ok(Box::new(it)))
        }
        (Some(Value::String(_)), Some(_)) => Some(decode_request(reply_to, fields)),
        (Some(_), _) => {
            Some(Err(InvalidMessageError::invalid_request(reply_to, "`method` must be a string")))
        }
    }
}

fn decode_request(id: Value, mut fields: Map<String, Value>) -> DecodeResult {
    if RequestId::deserialize(&id).is_err() {
        let message = "`id` must be a string, or an integer of at most 64 bits";
        return Err(InvalidMessageError::invalid_request(id, message));
    }
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(InvalidMessageError::invalid_request(id, "`jsonrpc` must be \"2.0\""));
    }
    let mut request = json!({ "jsonrpc": "2.0", "id": id, "method": fields.remove("method") });
    match fields.remove("params") {
        None | Some(Value::Null) => {}
        Some(Value::Object(params)) if params.get("_meta").is_none_or(Value::is_object) => {
            request["params"] = params.into();
        }
        Some(Value::Object(_)) => {
            return Err(InvalidMessageError::invalid_params(
                id,
                "`params._meta` must be an object",
            ));
        }
        Some(_) => {
            return Err(InvalidMessageError::invalid_params(id, "`params` must be an object"));
        }
    }
    let parsed = serde_json::from_value(request);
    parsed.map(Box::new).map_err(|err| InvalidMessageError::invalid_params(id, &err.to_string()))
}

/// Returns the length of the first token of `text`: a string with its quotes, a number
/// or word, or a single byte.
fn first_json_token_length(text: &[u8]) -> usize {
    let ends = |it: &u8| b"{}[],:\"".contains(it) || it.is_ascii_whitespace();
    match text.first() {
        Some(b'"') => {
            let mut is_escaped = false;
            let end = text.iter().skip(1).position(|it| {
                let is_end = *it == b'"' && !is_escaped;
                is_escaped = *it == b'\\' && !is_escaped;
                is_end
            });
            end.map_or(text.len(), |it| it + 2)
        }
        Some(it) if ends(it) => 1,
        _ => text.iter().position(ends).unwrap_or(text.len()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Decodes a line; returns for each message `Ok`, or the `id` and code of the
    /// error.
    fn decode_results(line: &[u8]) -> Vec<Result<(), (Value, i32)>> {
        let decoded = decode_line(&mut line.to_vec());
        decoded.into_iter().map(|it| it.map(drop).map_err(|it| (it.id, it.code.0))).collect()
    }

    #[test]
    fn an_invalid_request_is_refused_under_its_id() {
        for (line, id, code) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#, json!(1), -32602),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}"#, json!(1), -32602),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":7}}"#, json!(1), -32602),
            (r#"{"jsonrpc":"2.0","id":"a"}"#, json!("a"), -32600),
            (r#"{"jsonrpc":"2.0","id":"a","method":7}"#, json!("a"), -32600),
            (r#"{"id":1,"method":"ping"}"#, json!(1), -32600),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, json!(1), -32600),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, json!(1.5), -32600),
            (
                r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"ping"}"#,
                json!(u64::MAX),
                -32600,
            ),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Value::Null, -32600),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, Value::Null, -32600),
            (r#"{"jsonrpc":"2.0"}"#, Value::Null, -32600),
            (r#"{"method":7}"#, Value::Null, -32600),
            ("[]", Value::Null, -32600),
            ("7", Value::Null, -32600),
            ("not json", Value::Null, -32700),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1"#, json!(1), -32700),
        ] {
            assert_eq!(decode_results(line.as_bytes()), [Err((id, code))], "{line}");
        }
    }

    #[test]
    fn valid_messages_pass() {
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1.0,"method":"ping","params":null}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"no/such","params":{"a":[1]},"result":7}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        ] {
            assert_eq!(decode_results(line.as_bytes()), [Ok(())], "{line}");
        }
    }

    #[test]
    fn notifications_responses_and_blank_lines_are_never_answered() {
        for line in [
            "",
            " \r\n",
            r#"{"jsonrpc":"1.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"a":1e999}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"a":1e999}}"#,
            r#"{"id":1.5,"error":7}"#,
        ] {
            assert_eq!(decode_results(line.as_bytes()), [], "{line}");
        }
    }

    #[test]
    fn each_member_of_a_batch_is_decoded_separately() {
        let batch = br#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"id":2},7,[8],
            {"jsonrpc":"2.0","method":"notifications/initialized"}]"#;
        let refused = |id| Err((id, -32600));
        let null = || refused(Value::Null);
        assert_eq!(decode_results(batch), [Ok(()), refused(json!(2)), null(), null(), Ok(())]);
    }

    fn scan_ids(line: &[u8]) -> Vec<Value> {
        IdScanner::from_line(line).ids_to_answer()
    }

    #[test]
    fn the_id_is_read_whatever_the_parameters_contain() {
        let deep = "[".repeat(9_999) + &"]".repeat(9_999);
        for params in [&deep, "[1e999]", "{\"id\":7,\"}\":[\"\\\"]\"]}", "[\u{7f} nonsense]"] {
            let first = format!(r#"{{"id":1,"method":"m","params":{params}}}"#);
            let last = format!(r#"{{"params":{params},"method":"m","id":"one"}}"#);
            assert_eq!(scan_ids(first.as_bytes()), [json!(1)], "{params}");
            assert_eq!(scan_ids(last.as_bytes()), [json!("one")], "{params}");
        }
    }

    #[test]
    fn the_id_of_a_broken_message_is_read() {
        for line in [
            r#"{"id":1,"method":"m","params":{"a":"#,
            r#"{"id":1,"method":"m","params":{"a":[1,2}}"#,
            r#"{"params":{"a":[1,2}},"method":"m","id":1}"#,
            r#"{"params":{"a":1}},"method":"m","id":1}"#,
            r#"{"id":1,"method":"m",}"#,
            r#"{"id":1,"method":"m","params":{}"#,
            r#"{"id":1,"#,
            "{\0\"id\":1,\"method\":\"m\"}",
            r#"{"id":1,"id":1 "method":"m"}"#,
            r#"x {"id":1,"method":"m"}"#,
        ] {
            assert_eq!(scan_ids(line.as_bytes()), [json!(1)], "{line}");
        }
        assert_eq!(scan_ids(b"{\"id\":\"a\\\"b\",\"method\":\xff\"m\"}"), [json!("a\"b")]);
    }

    #[test]
    fn an_ambiguous_id_is_null() {
        for line in [
            r#"{"id":1"#,
            r#"{"id":"on"#,
            r#"{"id":1,"id":2,"method":}"#,
            r#"{"method":"m","params":{"id":1"#,
            r#"{"id":[1],"method":"m"#,
            "{\"id\":\"\u{0}\",",
            "",
            "}",
            "nonsense",
        ] {
            assert_eq!(scan_ids(line.as_bytes()), [Value::Null], "{line}");
        }
    }

    #[test]
    fn every_member_of_a_broken_batch_is_found() {
        let line = r#"[{"id":1,"method":"m"},{"method":"m"},{"id":2,"params":{"id":3}},{"id":4,"#;
        assert_eq!(scan_ids(line.as_bytes()), [json!(1), json!(2), json!(4)]);
        assert_eq!(
            scan_ids(br#"{"id":1,"method":"m"}{"id":2,"method":"m"}"#),
            [json!(1), json!(2)]
        );
    }

    #[test]
    fn notifications_and_responses_get_no_answer() {
        for line in [
            r#"{"method":"m","params":[1e999]}"#,
            r#"{"id":1,"result":[1e999]}"#,
            r#"{"id":1,"result":[1"#,
        ] {
            assert_eq!(scan_ids(line.as_bytes()), Vec::<Value>::new(), "{line}");
        }
    }
}
