//! Serves one client over standard input and output.

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;
use tokio::sync::watch;

use crate::mcp::handler::PanicSafeServer;
use crate::mcp::server::Server;
use crate::mcp::stdio_transport::StdioTransport;

/// Serves a client over standard input and output until its input ends, or `stop` is
/// ready. Calls that have started by then are finished.
///
/// It is no error if a client only probes or sends nothing.
pub async fn serve(
    mut server: Server,
    stop: impl Future<Output: Send> + Send + 'static,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let (input, output) = stdio_pipes();
    let (closed_sender, input_closed) = watch::channel(false);
    server.input_closed = input_closed;
    let calls = server.calls.clone();
    let stop = async move {
        stop.await;
        calls.close_queue();
    };
    let connection = StdioTransport::new(input, output, stop, closed_sender);
    let served = match PanicSafeServer(server.clone()).serve(connection).await {
        Ok(running) => {
            tokio::spawn(server.clone().start_background_work());
            tokio::spawn(server.clone().send_notifications());
            running.waiting().await.map(drop).map_err(Into::into)
        }
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(err) => Err(err.into()),
    };
    server.calls.shut_down().await;
    served
}
