//! Limits the rate of requests, so that a client in a loop leaves time for the others.

use std::num::NonZeroU32;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};

/// Allows a number of requests a second, and twice as many at once.
#[derive(Clone)]
pub(super) struct RequestLimit(Option<Arc<DefaultDirectRateLimiter>>);

impl RequestLimit {
    /// Allows `per_second` requests a second; `None`: any number.
    pub(super) fn new(per_second: Option<NonZeroU32>) -> Self {
        let limiter = |rate: NonZeroU32| {
            let burst = rate.saturating_mul(NonZeroU32::MIN.saturating_add(1));
            Arc::new(RateLimiter::direct(Quota::per_second(rate).allow_burst(burst)))
        };
        Self(per_second.map(limiter))
    }

    /// Counts a request; returns whether it is within the limit.
    pub(super) fn allows_request(&self) -> bool {
        self.0.as_ref().is_none_or(|it| it.check().is_ok())
    }
}

/// Refuses requests above the limit.
pub(super) async fn limit_requests(
    State(limit): State<RequestLimit>,
    request: Request,
    next: Next,
) -> Response {
    if limit.allows_request() {
        return next.run(request).await;
    }
    refuse_request()
}

/// Answers a request above the limit.
pub(super) fn refuse_request() -> Response {
    let retry = [(header::RETRY_AFTER, "1")];
    let why = "too many requests: try again in a second, or start the server with another --rate\n";
    (StatusCode::TOO_MANY_REQUESTS, retry, why).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_the_requests_of_a_second_are_allowed_at_once() {
        let limit = RequestLimit::new(NonZeroU32::new(5));
        assert_eq!((0..20).filter(|_| limit.allows_request()).count(), 10);
        assert!((0..1000).all(|_| RequestLimit::new(None).allows_request()));
    }
}
