//! Who may use the server: clients of MCP with the token, and browsers with the cookie that a
//! one-time link has set.

use std::collections::VecDeque;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Redirect, Response};
use chrono::{DateTime, Utc};
use subtle::ConstantTimeEq as _;

use crate::web::rate_limit::{RequestLimit, refuse_request};
use palazzo_keeper::{self as keeper, HttpAccess};

/// Returns the current time.
pub(super) type Clock = fn() -> DateTime<Utc>;

/// The cookie of a browser. Cookies do not know ports, so servers on other ports have other names.
const COOKIE_PREFIX: &str = "palazzo_";

/// Maximum number of browsers; the first one must open another link then.
const MAX_BROWSERS: usize = 64;

/// How long a browser may stay: a month, in seconds.
const COOKIE_SECONDS: u32 = 30 * 24 * 60 * 60;

/// How many wrong codes of links are tried a second at most.
const WRONG_LINKS_PER_SECOND: NonZeroU32 = NonZeroU32::MIN.saturating_add(9);

/// The rules of access.
#[derive(Clone)]
pub(super) struct Access(Option<Arc<Rules>>);

struct Rules {
    token: String,
    links: HttpAccess,
    clock: Clock,
    cookie_name: String,
    /// The cookies of the browsers that have opened a link.
    cookies: Mutex<VecDeque<String>>,
    /// Counts the wrong codes of links.
    wrong_links: RequestLimit,
}

impl Access {
    /// Allows everything.
    pub(super) fn for_everybody() -> Self {
        Self(None)
    }

    /// Allows clients with `token`, and browsers that open a link of `links`.
    pub(super) fn with_token(token: String, links: HttpAccess, clock: Clock, port: u16) -> Self {
        let cookie_name = format!("{COOKIE_PREFIX}{port}");
        let wrong_links = RequestLimit::new(Some(WRONG_LINKS_PER_SECOND));
        let cookies = Mutex::default();
        Self(Some(Arc::new(Rules { token, links, clock, cookie_name, cookies, wrong_links })))
    }
}

impl Rules {
    fn has_token(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(header::AUTHORIZATION).and_then(|it| it.to_str().ok());
        let token = given.and_then(|it| {
            let (scheme, token) = it.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        });
        token.is_some_and(|it| is_same_secret(it, &self.token))
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let known = self.cookies.lock().unwrap_or_else(PoisonError::into_inner);
        let given = headers.get_all(header::COOKIE).iter().filter_map(|it| it.to_str().ok());
        given.flat_map(|it| it.split(';')).any(|it| {
            let value =
                it.trim().strip_prefix(&self.cookie_name).and_then(|it| it.strip_prefix('='));
            value.is_some_and(|it| known.iter().any(|cookie| is_same_secret(it, cookie)))
        })
    }

    /// Makes the cookie of a browser.
    fn add_cookie(&self) -> Result<String, getrandom::Error> {
        let mut bits = [0; 16];
        getrandom::fill(&mut bits)?;
        let cookie = format!("{:032x}", u128::from_ne_bytes(bits));
        let mut known = self.cookies.lock().unwrap_or_else(PoisonError::into_inner);
        known.push_back(cookie.clone());
        if known.len() > MAX_BROWSERS {
            known.pop_front();
        }
        Ok(cookie)
    }
}

/// Refuses requests without the token.
pub(super) async fn require_token(
    State(access): State<Access>,
    request: Request,
    next: Next,
) -> Response {
    match &access.0 {
        Some(rules) if !rules.has_token(request.headers()) => {
            let why = "`palazzo setup --print --http` prints the token for the header \
                       `Authorization: Bearer TOKEN`\n";
            let challenge = [(header::WWW_AUTHENTICATE, r#"Bearer error="invalid_token""#)];
            (StatusCode::UNAUTHORIZED, challenge, why).into_response()
        }
        _ => run_allowed(request, next).await,
    }
}

/// The mark of an answer to a request that was allowed.
#[derive(Clone, Copy)]
struct Allowed;

async fn run_allowed(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    response.extensions_mut().insert(Allowed);
    response
}

/// Ends the connection after an answer that everybody gets. Otherwise strangers could keep all connections
/// busy with such requests.
pub(super) async fn close_connection_unless_allowed(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    if response.extensions().get::<Allowed>().is_none() {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Refuses requests without the cookie or the token.
pub(super) async fn require_cookie(
    State(access): State<Access>,
    request: Request,
    next: Next,
) -> Response {
    let is_allowed = access.0.as_ref().is_none_or(|rules| {
        rules.has_cookie(request.headers()) || rules.has_token(request.headers())
    });
    if is_allowed {
        return run_allowed(request, next).await;
    }
    refuse_reader("This page opens from a link that `palazzo view` prints.")
}

/// Opens a one-time link: sets the cookie, and shows the page.
pub(super) async fn open_link(
    State(access): State<Access>,
    Path(code): Path<String>,
) -> Result<Response, Response> {
    let Some(rules) = access.0.clone() else { return Ok(Redirect::to("/").into_response()) };
    let now = (rules.clock)();
    let used = {
        let rules = rules.clone();
        tokio::task::spawn_blocking(move || rules.links.use_page_link(&code, now)).await
    };
    let is_used = used.map_err(to_error)?.map_err(to_error)?;
    if !is_used {
        // Right codes are not counted, so that nobody keeps a reader out by guessing.
        if !rules.wrong_links.allows_request() {
            return Err(refuse_request());
        }
        return Err(refuse_reader(
            "This link was opened before, or is older than five minutes. `palazzo view` prints \
             another one.",
        ));
    }
    let cookie = rules.add_cookie().map_err(to_error)?;
    let cookie = format!(
        "{}={cookie}; Path=/; Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Strict",
        rules.cookie_name
    );
    Ok(([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response())
}

/// Explains to a person why there is no page.
fn refuse_reader(why: &str) -> Response {
    (StatusCode::UNAUTHORIZED, Html(keeper::render_refusal_page("No access", why))).into_response()
}

/// Compares two secrets in a time that does not depend on where they differ.
fn is_same_secret(a: &str, b: &str) -> bool {
    a.as_bytes().ct_eq(b.as_bytes()).into()
}

fn to_error(err: impl fmt::Display) -> Response {
    (StatusCode::INTERNAL_SERVER_ERROR, format!("{err}\n")).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Rules {
        let access = Access::with_token(
            "secret".to_owned(),
            HttpAccess::new("nowhere".into()),
            || DateTime::UNIX_EPOCH,
            7,
        );
        Arc::into_inner(access.0.unwrap()).unwrap()
    }

    fn headers(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, value.parse().unwrap())])
    }

    #[test]
    fn only_the_whole_token_is_accepted() {
        let has = |value| rules().has_token(&headers(header::AUTHORIZATION, value));
        assert!(has("Bearer secret") && has("bearer  secret"));
        for wrong in ["Bearer secre", "Bearer secret1", "secret", "Basic secret", "Bearer ", ""] {
            assert!(!has(wrong), "{wrong}");
        }
        assert!(!rules().has_token(&HeaderMap::new()));
    }

    #[test]
    fn a_cookie_is_found_among_others() {
        let rules = rules();
        let cookie = rules.add_cookie().unwrap();
        let has = |value: &str| rules.has_cookie(&headers(header::COOKIE, value));
        assert!(has(&format!("a=b; palazzo_7={cookie}; c=d")));
        let others = ["palazzo_8=", "palazzo_7", "palazzo_7=x", "x=palazzo_7="];
        for wrong in others.map(|it| format!("{it}{cookie}")) {
            assert!(!has(&wrong), "{wrong}");
        }
        for _ in 0..MAX_BROWSERS {
            rules.add_cookie().unwrap();
        }
        assert!(!has(&format!("palazzo_7={cookie}")), "too many browsers came after it");
    }
}
