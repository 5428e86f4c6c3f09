//! What can be told of a message that cannot be read.

use serde_json::{Value, json};

use crate::mcp::lines::UNREAD;

/// How much of a message is kept.
const MOST: usize = 4096;

/// A message without what its parts hold: `{"id":1,"params":{}}`.
#[derive(Default)]
pub(super) struct Outline {
    kept: Vec<u8>,
    depth: usize,
    is_quoted: bool,
    is_escaped: bool,
}

impl Outline {
    /// Draws the outline of a message, or of its beginning.
    pub(super) fn of(said: &[u8]) -> Self {
        let mut outline = Self::default();
        outline.add(said);
        outline
    }

    /// Goes on with what comes next.
    pub(super) fn add(&mut self, said: &[u8]) {
        for it in said {
            let above = self.depth;
            match it {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.is_quoted => self.is_escaped = true,
                b'"' => self.is_quoted = !self.is_quoted,
                b'{' | b'[' if !self.is_quoted => self.depth += 1,
                b'}' | b']' if !self.is_quoted => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            if above.min(self.depth) <= 1 && self.kept.len() < MOST {
                self.kept.push(*it);
            }
        }
    }

    /// Makes a request under the same `id`, in a line, that says `why` this one cannot
    /// be read; `None`: this is none, or its `id` cannot be told.
    pub(super) fn refused(&self, why: &str) -> Option<Vec<u8>> {
        let message: Value = serde_json::from_slice(&self.kept).ok()?;
        let id = message.get("id").filter(|it| it.is_number() || it.is_string())?;
        message.get("method")?;
        let params = json!({ "why": why });
        let asked = json!({ "jsonrpc": "2.0", "id": id, "method": UNREAD, "params": params });
        Some(format!("{asked}\n").into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(said: &str) -> Option<Value> {
        let refused = Outline::of(said.as_bytes()).refused("")?;
        let refused: Value = serde_json::from_slice(&refused).unwrap();
        Some(refused["id"].clone())
    }

    #[test]
    fn a_message_is_known_by_its_id_whatever_it_holds() {
        let deep = "[".repeat(9_999) + &"]".repeat(9_999);
        for params in [&deep, "[1e999]", "{\"id\":7,\"}\":[\"\\\"]\"]}", "[\u{7f} nonsense]"] {
            let first = format!(r#"{{"id":1,"method":"m","params":{params}}}"#);
            let last = format!(r#"{{"params":{params},"method":"m","id":"one"}}"#);
            assert_eq!((id(&first), id(&last)), (Some(json!(1)), Some(json!("one"))), "{params}");
        }
        let text = "x".repeat(MOST);
        assert_eq!(id(&format!(r#"{{"id":1,"method":"m","text":"{text}"}}"#)), None);
        for other in ["", "}", r#"{"id":1,"result":[1e999]}"#, r#"{"method":"m","params":[1e999]}"#]
        {
            assert_eq!(id(other), None, "{other}");
        }
    }
}
