//! Puts the routes together, and serves them until the server is stopped.

use std::io;
use std::num::NonZeroU32;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::mcp::{Server, http_route};
use crate::web::access::{
    Access, Clock, close_connection_unless_allowed, open_link, require_cookie, require_token,
};
use crate::web::connections::{ConnectionLimits, serve_connections};
use crate::web::origin::{AllowedHosts, check_host_and_origin};
use crate::web::pages::{PageServer, asset_routes, page_routes};
use crate::web::rate_limit::{RequestLimit, limit_requests};
use palazzo_keeper::{Caller, HttpAccess};

/// How long the server waits for the requests under way when it is stopped.
const STOP_LIMIT: Duration = Duration::from_secs(5);

/// How the server is reached.
pub struct WebOptions {
    /// The hosts for which requests are answered.
    pub allowed_hosts: AllowedHosts,
    /// The token of clients, and the links to the page; `None`: everybody may use the server.
    pub access: Option<(String, HttpAccess)>,
    /// Maximum number of requests a second; `None`: any number.
    pub rate: Option<NonZeroU32>,
    /// Returns the current time.
    pub clock: Clock,
    /// Returns the person who reads the pages.
    pub reader: fn() -> Caller,
}

/// Serves requests on `listener` until `stop` is ready; requests that have begun by then are
/// finished, for a few seconds at most.
pub async fn serve(
    listener: TcpListener,
    server: Server,
    options: WebOptions,
    stop: impl Future<Output: Send> + Send + 'static,
) -> io::Result<()> {
    let server = server.over_http();
    server.start();
    let port = listener.local_addr()?.port();
    let access = match options.access {
        Some((token, links)) => Access::with_token(token, links, options.clock, port),
        None => Access::for_everybody(),
    };
    let (mcp, end_streams) = http_route(server.clone());
    let (stopped, stop_signal) = watch::channel(false);
    let pages =
        PageServer { server: server.clone(), reader: options.reader, stopped: stop_signal.clone() };
    // Only those who may be here use up the rate: others are refused at once.
    let limit = |rate| from_fn_with_state(RequestLimit::new(rate), limit_requests);
    let mcp = mcp.layer(limit(options.rate));
    let pages = page_routes(pages).layer(limit(options.rate));
    let open = get(open_link).head(async || StatusCode::METHOD_NOT_ALLOWED);
    let open = Router::new().route("/open/{code}", open).with_state(access.clone());
    let routes = mcp
        .layer(from_fn_with_state(access.clone(), require_token))
        .merge(pages.layer(from_fn_with_state(access, require_cookie)))
        .merge(open)
        .merge(asset_routes())
        .merge(oauth_routes())
        .route("/healthz", get(report_health))
        .layer(from_fn_with_state(options.allowed_hosts, check_host_and_origin))
        .layer(from_fn(add_security_headers))
        .layer(from_fn(close_connection_unless_allowed));
    let calls = server.clone();
    let ended = async move {
        stop.await;
        stopped.send_replace(true);
        calls.finish_calls().await;
        end_streams();
    };
    let limits = ConnectionLimits::for_this_process();
    let served = serve_connections(listener, routes, limits, ended);
    limit_after_stop(served, stop_signal).await;
    server.shut_down().await;
    Ok(())
}

/// Waits for `served`; a few seconds at most once the server is stopped.
async fn limit_after_stop(served: impl Future<Output = ()>, mut stop: watch::Receiver<bool>) {
    tokio::pin!(served);
    tokio::select! {
        () = &mut served => {}
        _ = stop.wait_for(|is_stopped| *is_stopped) => {
            timeout(STOP_LIMIT, served).await.unwrap_or_default();
        }
    }
}

/// Answers that the server runs.
async fn report_health() -> ([(header::HeaderName, &'static str); 1], String) {
    let health = json!({ "status": "ok", "name": "palazzo", "version": env!("CARGO_PKG_VERSION") });
    ([(header::CONTENT_TYPE, "application/json")], health.to_string())
}

/// Adds the headers that keep other websites away from answers.
async fn add_security_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let no_store = HeaderValue::from_static("no-store");
    headers.entry(header::CACHE_CONTROL).or_insert(no_store);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    let policy = HeaderValue::from_static(
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
         img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    );
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

/// Where clients look for the metadata of an OAuth server (RFC 8414, RFC 9728, `OpenID` Connect
/// Discovery), before or behind the path of MCP, and where they register themselves (RFC 7591).
const DISCOVERY_PATHS: [&str; 2] = ["/.well-known/{*name}", "/mcp/.well-known/{*name}"];

/// Returns routes that answer with JSON: clients parse the answer, whatever its status.
fn oauth_routes() -> Router {
    let routes = Router::new().route("/register", any(report_no_oauth));
    DISCOVERY_PATHS.iter().fold(routes, |it, path| it.route(path, any(report_no_oauth)))
}

async fn report_no_oauth() -> Response {
    let answer = json!({
        "error": "not_found",
        "error_description": "This server has no OAuth: `palazzo setup --print --http` prints the \
                              token for the header `Authorization: Bearer TOKEN`.",
    });
    let json = [(header::CONTENT_TYPE, "application/json")];
    (StatusCode::NOT_FOUND, json, answer.to_string()).into_response()
}
