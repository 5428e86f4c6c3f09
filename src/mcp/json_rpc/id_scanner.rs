//! Finds the ids of messages that are not valid JSON.

use serde_json::Value;

/// Maximum number of bytes kept from a line.
const MAX_KEPT_BYTES: usize = 64 * 1024;

/// A line without the contents of its parameters: `{"id":1,"params":{}}`.
#[derive(Default)]
pub(crate) struct IdScanner {
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
    pub(crate) fn from_line(line: &[u8]) -> Self {
        let mut outline = Self::default();
        outline.feed(line);
        outline
    }

    /// Scans the next part of the line.
    pub(crate) fn feed(&mut self, line: &[u8]) {
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
    pub(crate) fn ids_to_answer(&self) -> Vec<Value> {
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
