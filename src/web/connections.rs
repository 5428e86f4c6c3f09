//! Accepts connections, and serves requests on them, within limits.
//!
//! Anybody who reaches the server can open connections, before any token is checked. Each takes a
//! file descriptor, and the palaces need some too, so their number and the time for the header of
//! a request are limited.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_io_timeout::TimeoutStream;

use palazzo_keeper as keeper;

/// The maximum number of connections; others wait until one ends.
const MAX_CONNECTIONS: usize = 500;
/// How long the server waits if the system has no more descriptors.
const PAUSE_AFTER_ERROR: Duration = Duration::from_secs(1);

/// The limits of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConnectionLimits {
    /// How long a client may take to send the header of a request, and to begin the next one.
    pub(super) header_timeout: Duration,
    /// How long a client may take to receive a part of an answer.
    pub(super) write_timeout: Duration,
    /// The maximum number at a time.
    pub(super) connections: usize,
}

impl ConnectionLimits {
    /// Returns the limits of a server: half of the descriptors of the process remain for its files.
    pub(super) fn for_this_process() -> Self {
        let connections = keeper::max_open_files().map_or(MAX_CONNECTIONS, |it| it / 2);
        Self {
            header_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(30),
            connections: connections.clamp(1, MAX_CONNECTIONS),
        }
    }
}

/// Serves requests on `listener` until `stop` is ready, and returns when those that had begun by
/// then are finished.
pub(super) async fn serve_connections(
    listener: TcpListener,
    routes: Router,
    limits: ConnectionLimits,
    stop: impl Future<Output = ()>,
) {
    let permits = Arc::new(Semaphore::new(limits.connections));
    let (stopped, stop_signal) = watch::channel(false);
    let accept_all = async {
        loop {
            let Ok(permit) = permits.clone().acquire_owned().await else { return };
            let stream = accept_connection(&listener).await;
            let connection = serve_connection(stream, routes.clone(), limits, stop_signal.clone());
            tokio::spawn(hold_permit(permit, connection));
        }
    };
    tokio::select! {
        () = accept_all => {}
        () = stop => {}
    }
    drop(listener);
    stopped.send_replace(true);
    // Each connection holds a permit to its end.
    let all = u32::try_from(limits.connections).unwrap_or(u32::MAX);
    drop(permits.acquire_many(all).await);
}

/// Returns the next connection. Errors are those of one client, or pass when others disconnect.
async fn accept_connection(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(err) if is_error_of_client(&err) => {}
            Err(_) => tokio::time::sleep(PAUSE_AFTER_ERROR).await,
        }
    }
}

fn is_error_of_client(err: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(err.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Serves the requests of one connection; after `stop` only the one that has begun.
async fn serve_connection(
    stream: TcpStream,
    routes: Router,
    limits: ConnectionLimits,
    mut stop: watch::Receiver<bool>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.header_timeout);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(limits.write_timeout));
    let stream = TokioIo::new(Box::pin(stream));
    let connection = http.serve_connection(stream, TowerToHyperService::new(routes));
    tokio::pin!(connection);
    let stopped = async move { drop(stop.wait_for(|it| *it).await) };
    // An error is that of a client that has disconnected, or was too slow.
    tokio::select! {
        done = &mut connection => return drop(done),
        () = stopped => {}
    }
    connection.as_mut().graceful_shutdown();
    drop(connection.await);
}

async fn hold_permit(permit: OwnedSemaphorePermit, connection: impl Future<Output = ()>) {
    connection.await;
    drop(permit);
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::sync::oneshot;
    use tokio::task::JoinHandle;

    use super::*;

    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

    /// Starts a server that answers "here"; returns its address, its task, and what stops it.
    async fn start(
        header_timeout: Duration,
        connections: usize,
    ) -> (SocketAddr, JoinHandle<()>, oneshot::Sender<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let routes = Router::new().route("/", get(async || "here"));
        let (stop, stopped) = oneshot::channel::<()>();
        let write_timeout = header_timeout;
        let limits = ConnectionLimits { header_timeout, write_timeout, connections };
        let stop_signal = async { drop(stopped.await) };
        let server = tokio::spawn(serve_connections(listener, routes, limits, stop_signal));
        (address, server, stop)
    }

    /// Begins a request and does not end it.
    async fn begin_request(address: SocketAddr) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nX: ").await.unwrap();
        stream
    }

    async fn answer(address: SocketAddr) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(REQUEST).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        text
    }

    #[tokio::test]
    async fn half_requests_do_not_keep_others_out() {
        let (address, server, stop) = start(Duration::from_millis(50), 2).await;
        let mut half_requests = Vec::new();
        for _ in 0..5 {
            half_requests.push(begin_request(address).await);
        }
        assert!(answer(address).await.ends_with("here"), "their time is over");
        for mut stream in half_requests {
            let mut rest = Vec::new();
            // The end of the connection, or the error that it was reset.
            drop(stream.read_to_end(&mut rest).await);
            assert!(!String::from_utf8_lossy(&rest).contains("here"));
        }
        drop(stop);
        server.await.unwrap();
    }

    #[tokio::test]
    async fn a_client_that_reads_no_answers_does_not_keep_others_out() {
        let (address, server, stop) = start(Duration::from_millis(50), 1).await;
        let mut stream = TcpStream::connect(address).await.unwrap();
        let requests = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(1_000);
        // Until the answers fill the buffers of both sides, or the server has closed the connection.
        let send_all = async { while stream.write_all(&requests).await.is_ok() {} };
        tokio::select! {
            () = send_all => {}
            text = answer(address) => assert!(text.ends_with("here"), "{text}"),
        }
        assert!(answer(address).await.ends_with("here"));
        drop(stop);
        server.await.unwrap();
    }

    #[tokio::test]
    async fn connections_above_the_limit_wait_until_another_one_ends() {
        let (address, server, stop) = start(Duration::from_secs(3600), 1).await;
        let first = begin_request(address).await;
        let waiting = tokio::spawn(answer(address));
        // The answer to a later connection would come first if the first one did not count.
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(first);
        assert!(waiting.await.unwrap().ends_with("here"));
        drop(stop);
        server.await.unwrap();
    }

    #[tokio::test]
    async fn a_stop_ends_idle_connections() {
        let (address, server, stop) = start(Duration::from_secs(3600), 2).await;
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
        let mut begin = [0; 12];
        stream.read_exact(&mut begin).await.unwrap();
        assert_eq!(&begin, b"HTTP/1.1 200");
        drop(stop);
        server.await.unwrap();
        // The port is free now, and another test may listen there: only this connection tells.
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).await.unwrap();
        assert!(String::from_utf8_lossy(&rest).ends_with("here"));
    }

    #[test]
    fn descriptors_remain_for_files() {
        let limits = ConnectionLimits::for_this_process();
        assert_eq!(limits.header_timeout, Duration::from_secs(10));
        assert!((1..=MAX_CONNECTIONS).contains(&limits.connections));
        assert!(keeper::max_open_files().is_none_or(|it| it / 2 >= limits.connections || it < 2));
    }
}
