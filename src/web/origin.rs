//! Checks the `Host` and the `Origin` of requests, so that no other website reaches the server
//! through a browser, by DNS rebinding or otherwise (MCP specification, transports, security).

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// The names by which this server is reached.
#[derive(Clone, Debug)]
pub struct AllowedHosts(Arc<Vec<String>>);

impl AllowedHosts {
    /// Allows the address on which the server listens, `more`, and, if it listens on loopback, the
    /// names of loopback.
    pub fn new(listen: SocketAddr, more: &[String]) -> Self {
        let mut hosts: Vec<_> = more.iter().map(|it| it.to_lowercase()).collect();
        if !listen.ip().is_unspecified() {
            hosts.push(host_of_ip(listen.ip()));
        }
        if listen.ip().is_loopback() {
            hosts.extend(["localhost", "127.0.0.1", "[::1]"].map(str::to_owned));
        }
        Self(Arc::new(hosts))
    }

    fn contains(&self, host: &str) -> bool {
        self.0.iter().any(|it| it.eq_ignore_ascii_case(host))
    }

    /// Checks the headers of a request; the error is what is wrong with them.
    fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), &'static str> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let authority = match (uri.authority(), hosts.next(), hosts.next()) {
            (_, _, Some(_)) => None,
            (Some(authority), ..) => Some(authority.as_str()),
            (None, host, None) => host.and_then(|it| it.to_str().ok()),
        };
        let Some(authority) = authority else { return Err("the request names no host") };
        if !host_of(authority).is_some_and(|it| self.contains(it)) {
            return Err("this host is not served here; `--allow-host NAME` allows it");
        }
        if is_from_elsewhere(headers) {
            return Err("requests from other websites are refused");
        }
        let origins = headers.get_all(header::ORIGIN).iter();
        for origin in origins {
            let from = origin.to_str().ok().and_then(authority_of_origin);
            let is_own = from.is_some_and(|it| it.eq_ignore_ascii_case(authority));
            if !is_own {
                return Err("requests from other websites are refused");
            }
        }
        Ok(())
    }
}

/// Refuses requests that are for other hosts, or from other websites.
pub(super) async fn check_host_and_origin(
    State(allowed): State<AllowedHosts>,
    request: Request,
    next: Next,
) -> Response {
    match allowed.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(why) => (StatusCode::FORBIDDEN, format!("{why}\n")).into_response(),
    }
}

/// Returns whether a browser says that a page of another website, or of another port, has made the
/// request (Fetch Metadata, W3C). A link that a person follows is no such request.
fn is_from_elsewhere(headers: &HeaderMap) -> bool {
    let has = |name: &str, values: &[&[u8]]| {
        headers.get(name).is_some_and(|it| values.contains(&it.as_bytes()))
    };
    has("sec-fetch-site", &[b"cross-site", b"same-site"]) && !has("sec-fetch-mode", &[b"navigate"])
}

/// Returns the host in `host:port`; `None` if it is not of that form.
fn host_of(authority: &str) -> Option<&str> {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port),
        _ => (authority, "0"),
    };
    let is_port = !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit());
    (is_port && !host.is_empty()).then_some(host)
}

/// Returns `host:port` of `http://host:port`.
fn authority_of_origin(origin: &str) -> Option<&str> {
    origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))
}

fn host_of_ip(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(host: Option<&str>, origin: Option<&str>) -> bool {
        let allowed = AllowedHosts::new(([127, 0, 0, 1], 7227).into(), &["Keep.example".into()]);
        let mut headers = HeaderMap::new();
        headers.extend(host.map(|it| (header::HOST, it.parse().unwrap())));
        headers.extend(origin.map(|it| (header::ORIGIN, it.parse().unwrap())));
        allowed.check(&Uri::from_static("/mcp"), &headers).is_ok()
    }

    #[test]
    fn only_the_hosts_of_this_server_are_allowed() {
        for host in ["localhost", "LOCALHOST:7227", "127.0.0.1:1", "[::1]:80", "keep.example"] {
            assert!(check(Some(host), None), "{host}");
        }
        let wrong = ["evil.example", "localhost.evil.example", "localhost:", ":80", "", "10.0.0.1"];
        for host in wrong.into_iter().chain(["localhost:80@evil.example", "[::2]:80"]) {
            assert!(!check(Some(host), None), "{host}");
        }
        assert!(!check(None, None));
    }

    #[test]
    fn only_the_own_origin_is_allowed() {
        assert!(check(Some("localhost:7227"), Some("http://localhost:7227")));
        assert!(check(Some("keep.example"), Some("https://keep.example")));
        let wrong =
            ["http://localhost:3000", "null", "http://evil.example", "file://localhost:7227"];
        for origin in wrong.into_iter().chain(["http://localhost", "localhost:7227"]) {
            assert!(!check(Some("localhost:7227"), Some(origin)), "{origin}");
        }
    }

    #[test]
    fn what_a_page_of_another_website_loads_is_refused() {
        let request = |site: &'static str, mode: &'static str| {
            let headers = [("sec-fetch-site", site), ("sec-fetch-mode", mode)];
            let headers =
                headers.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
            is_from_elsewhere(&HeaderMap::from_iter(headers))
        };
        assert!(request("cross-site", "no-cors") && request("same-site", "no-cors"));
        assert!(!request("cross-site", "navigate") && !request("none", "navigate"));
        assert!(!request("same-origin", "cors"));
        assert!(!is_from_elsewhere(&HeaderMap::new()), "clients of MCP send no such headers");
    }

    #[test]
    fn an_address_for_all_interfaces_is_no_name() {
        let allowed = AllowedHosts::new(([0, 0, 0, 0], 7227).into(), &["keep.example".into()]);
        assert!(allowed.contains("keep.example"));
        assert!(!allowed.contains("0.0.0.0") && !allowed.contains("localhost"));
    }
}
