//! A connection of a client of MCP, which costs little beside the server.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

/// A connection over HTTP/1.1 that stays open.
pub(crate) struct McpConnection {
    stream: BufReader<TcpStream>,
    address: String,
}

impl McpConnection {
    pub(crate) async fn open(address: &str) -> Self {
        let stream = TcpStream::connect(address).await.expect("the server listens");
        stream.set_nodelay(true).expect("the socket is open");
        Self { stream: BufReader::new(stream), address: address.to_owned() }
    }

    /// Calls a tool by the stateless protocol version; returns the answer as JSON, or the error.
    pub(crate) async fn call(&mut self, tool: &str, arguments: &Value) -> Result<String, String> {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
        });
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let body = body.to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAccept: application/json, text/event-stream\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\
             MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n\r\n\
             {body}",
            self.address,
            body.len()
        );
        let sent = self.stream.get_mut().write_all(request.as_bytes()).await;
        sent.map_err(|err| err.to_string())?;
        let (status, answer) = self.read_answer().await.map_err(|err| err.to_string())?;
        match status.contains(" 200 ") && answer.contains(r#""isError":false"#) {
            true => Ok(answer),
            false => Err(format!("{status}{answer}")),
        }
    }

    async fn read_answer(&mut self) -> std::io::Result<(String, String)> {
        let (mut status, mut length) = (String::new(), 0);
        self.stream.read_line(&mut status).await?;
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).await?;
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or_default();
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).await?;
        Ok((status, String::from_utf8_lossy(&body).into_owned()))
    }
}
