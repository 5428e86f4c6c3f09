//! Messages over standard input and output: the base protocol of LSP 3.18.
//!
//! A message that cannot be read is answered with an error, and the next one is read.

use std::io::{self, BufRead, Read as _, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use lsp_server::{Connection, ErrorCode, Message};
use serde_json::{Value, json};

use palazzo_core::model::replace_lone_surrogates;

/// Longer messages are skipped.
const MAX_MESSAGE_BYTES: u64 = 64 * 1024 * 1024;

/// Of a longer line of a header, the rest counts as the next line.
const MAX_HEADER_BYTES: u64 = 8 * 1024;

/// The body of a message.
enum Body {
    Read(Vec<u8>),
    TooLong,
}

/// Returns a connection over an input and an output, and the thread that writes: it ends after the
/// connection was dropped.
pub fn connect(
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> (Connection, JoinHandle<io::Result<()>>) {
    let (server_side, client_side) = Connection::memory();
    let output = Arc::new(Mutex::new(output));
    let (sender, receiver) = (client_side.sender, client_side.receiver);
    let errors = output.clone();
    thread::spawn(move || {
        let mut input = input;
        while let Ok(Some(body)) = read_body(&mut input) {
            let parsed = match body {
                Body::Read(mut body) => parse_message(&mut body),
                Body::TooLong => Err(Some(error_response(
                    &Value::Null,
                    ErrorCode::ParseError,
                    "longer than 64 MiB",
                ))),
            };
            let sent = match parsed {
                Ok(message) => sender.send(message).is_ok(),
                Err(None) => true,
                Err(Some(error)) => write_body(&errors, &error.to_string()).is_ok(),
            };
            if !sent {
                return;
            }
        }
    });
    let writer = thread::spawn(move || {
        for message in receiver {
            let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
            message.write(&mut *output)?;
        }
        Ok(())
    });
    (server_side, writer)
}

/// Reads the body of the next message, or skips it; `None` at the end of the input.
fn read_body(input: &mut impl BufRead) -> io::Result<Option<Body>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(MAX_HEADER_BYTES).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        match (line.trim().split_once(':'), length) {
            (Some((name, value)), _) if name.eq_ignore_ascii_case("Content-Length") => {
                length = value.trim().parse::<u64>().ok();
            }
            (None, Some(length)) if line.trim().is_empty() => {
                if length > MAX_MESSAGE_BYTES {
                    io::copy(&mut input.by_ref().take(length), &mut io::sink())?;
                    return Ok(Some(Body::TooLong));
                }
                let mut body = Vec::new();
                input.by_ref().take(length).read_to_end(&mut body)?;
                return Ok(Some(Body::Read(body)));
            }
            // Other headers do not matter, and what is no header is skipped.
            _ => {}
        }
    }
}

/// Parses a message; else returns the error that answers it, or `None` if it is a response, which is
/// not answered.
fn parse_message(body: &mut [u8]) -> Result<Message, Option<Value>> {
    replace_lone_surrogates(body);
    let value: Value = match serde_json::from_slice(body) {
        Ok(value) => value,
        Err(err) => {
            return Err(Some(error_response(
                &Value::Null,
                ErrorCode::ParseError,
                &err.to_string(),
            )));
        }
    };
    let (id, is_response) = (value["id"].clone(), value.is_object() && value["method"].is_null());
    match serde_json::from_value(value) {
        Ok(message) => Ok(message),
        Err(_) if is_response => Err(None),
        Err(err) => Err(Some(error_response(&id, ErrorCode::InvalidRequest, &err.to_string()))),
    }
}

/// Returns the error that answers a message which cannot be read.
fn error_response(id: &Value, code: ErrorCode, why: &str) -> Value {
    let error = json!({ "code": code as i32, "message": format!("the message is ignored: {why}") });
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

fn write_body(output: &Mutex<impl Write>, body: &str) -> io::Result<()> {
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    write!(output, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    /// An output that several owners can read.
    #[derive(Clone, Default)]
    struct SharedOutput(Arc<Mutex<Vec<u8>>>);

    impl Write for SharedOutput {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns the methods of the messages that arrive, and what is answered at once.
    fn exchange(input: String) -> (Vec<String>, String) {
        let output = SharedOutput::default();
        let (connection, writer) = connect(io::Cursor::new(input), output.clone());
        let methods = connection.receiver.iter().map(|it| match it {
            Message::Notification(it) => it.method,
            Message::Request(it) => it.method,
            Message::Response(it) => format!("response {}", it.id),
        });
        let methods = methods.collect();
        drop(connection);
        writer.join().unwrap().unwrap();
        let said = output.0.lock().unwrap().clone();
        (methods, String::from_utf8(said).unwrap())
    }

    #[test]
    fn a_faulty_message_is_answered_and_the_next_one_read() {
        let next = framed(r#"{"jsonrpc":"2.0","method":"next"}"#);
        for (faulty, answer) in [
            ("{", r#""code":-32700"#),
            ("[1]", r#""code":-32600"#),
            (r#"{"id":7,"method":5}"#, r#""code":-32600"#),
            (r#"{"id":null,"result":1}"#, ""),
            ("", r#""code":-32700"#),
        ] {
            let (methods, said) = exchange(framed(faulty) + &next);
            assert_eq!(methods, ["next"], "{faulty}");
            assert!(said.contains(answer), "{faulty}: {said}");
            assert_eq!(said.is_empty(), answer.is_empty(), "{faulty}: {said}");
        }
    }

    #[test]
    fn headers_may_be_odd_and_half_an_emoji_is_replaced() {
        let body = r#"{"method":"half \ud83d"}"#;
        let input = format!("noise\r\nX: 1\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        assert_eq!(exchange(input).0, ["half \u{fffd}"]);
        let (methods, said) = exchange("Content-Length: 99999999999999\r\n\r\n{}".to_owned());
        assert!(methods.is_empty() && said.contains("longer than 64 MiB"), "{said}");
        assert_eq!(exchange("Content-Length: many\r\n\r\n".to_owned() + &framed(body)).0.len(), 1);
    }
}
