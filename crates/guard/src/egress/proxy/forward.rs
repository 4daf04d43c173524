//! Requests for http: sent on to the server that was judged, and its answer sent back while it comes.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http_body_util::{BodyExt, Either, Empty};
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1::SendRequest;
use hyper::header::{HOST, HeaderValue};
use hyper::http::uri::PathAndQuery;
use hyper::upgrade::OnUpgrade;
use hyper::{Method, Request, Response, StatusCode, Uri, Version};

use super::answer::{Body, Refusal};
use super::client::{Client, Target};
use super::headers;
use super::tunnel;
use super::upstream::{self, Kept, Outgoing};
use crate::egress::denied::{Denied, Reason};

/// Sends a request on and gives the answer back.
pub(super) async fn send(
    client: &Arc<Client>,
    mut request: Request<Incoming>,
) -> Result<Response<Body>, Refusal> {
    let target = Target::of(client, &request)?;
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let browser = hyper::upgrade::on(&mut request);
    let broken = Arc::new(AtomicBool::new(false));
    let (request, upgrading) = prepare(request, &target, &broken)?;

    let sent = exchange(client, &target, request).await;
    let (response, sender) = match sent {
        Ok(both) => both,
        // The browser's own body ended in the middle, or was no body.
        Err(_) if broken.load(Ordering::Relaxed) => return Err(Refusal::Bad("the body cannot be read")),
        Err(_) if client.shared.meter.is_spent() => {
            let host = target.host.to_string();
            let denied = Denied { host, port: target.port, address: None, reason: Reason::Budget };
            return Err(client.record(&method, &uri, denied));
        }
        Err(Refusal::Denied(denied)) => return Err(client.record(&method, &uri, *denied)),
        Err(other) => {
            if let Refusal::Unreachable(why) | Refusal::TooSlow(why) = &other {
                let url = format!("http://{}:{}{}", target.host, target.port, uri.path());
                client.shared.ledger.record_lost(&url, why);
            }
            return Err(other);
        }
    };
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        return switch(client, response, upgrading.then_some(browser));
    }
    *client.kept.lock().await = Some(Kept { target, sender });
    pass_on(response)
}

/// The request as the server gets it: a path instead of an address, the `Host` that was judged, nothing that was for us.
fn prepare(
    request: Request<Incoming>,
    target: &Target,
    broken: &Arc<AtomicBool>,
) -> Result<(Request<Outgoing>, bool), Refusal> {
    let (mut head, body) = request.into_parts();
    let path = head.uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
    head.uri = Uri::from(path);
    head.version = Version::HTTP_11;
    let upgrade = headers::clean_request(&mut head.headers);
    let upgrading = upgrade.is_some();
    if let Some(to) = upgrade {
        headers::ask_upgrade(&mut head.headers, to);
    }
    let Target { host, port } = target;
    let host = if *port == 80 { host.to_string() } else { format!("{host}:{port}") };
    let host = HeaderValue::try_from(host).map_err(|_| Refusal::Bad("a host that is none"))?;
    head.headers.insert(HOST, host);

    let broken = broken.clone();
    let body = body.map_err(move |error| {
        broken.store(true, Ordering::Relaxed);
        error
    });
    Ok((Request::from_parts(head, body.boxed_unsync()), upgrading))
}

type Exchanged = (Response<Incoming>, SendRequest<Outgoing>);

/// Sends it on the connection of the request before if that goes to the same server, else on a new one. A server may end
/// the former at any time: then a request that it did not see, or may see twice, is sent again.
async fn exchange(
    client: &Client,
    target: &Target,
    request: Request<Outgoing>,
) -> Result<Exchanged, Refusal> {
    let kept = client.kept.lock().await.take().filter(|kept| kept.target == *target);
    let mut request = request;
    if let Some(Kept { mut sender, .. }) = kept
        && !client.shared.meter.is_spent()
        && sender.ready().await.is_ok()
    {
        let again = repeatable(&request);
        match sender.try_send_request(request).await {
            Ok(response) => return Ok((response, sender)),
            Err(mut failed) => match failed.take_message().or(again) {
                Some(unsent) => request = unsent,
                None => return Err(failure(target, &failed.into_error())),
            },
        }
    }
    let mut sender = upstream::speak(&client.shared, target).await?;
    match sender.send_request(request).await {
        Ok(response) => Ok((response, sender)),
        Err(error) => Err(failure(target, &error)),
    }
}

/// A copy of a request that changes nothing and has no body.
fn repeatable(request: &Request<Outgoing>) -> Option<Request<Outgoing>> {
    let safe = [Method::GET, Method::HEAD, Method::OPTIONS].contains(request.method());
    if !safe || !request.body().is_end_stream() {
        return None;
    }
    let mut copy = Request::new(Empty::new().map_err(|never| match never {}).boxed_unsync());
    *copy.method_mut() = request.method().clone();
    *copy.uri_mut() = request.uri().clone();
    *copy.headers_mut() = request.headers().clone();
    *copy.extensions_mut() = request.extensions().clone();
    Some(copy)
}

fn failure(target: &Target, error: &hyper::Error) -> Refusal {
    let Target { host, port } = target;
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(one) = cause {
        if one.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::TimedOut) {
            return Refusal::TooSlow(format!("{host}:{port} did not answer in time"));
        }
        cause = one.source();
    }
    Refusal::Unreachable(format!("{host}:{port} gave no answer that can be understood: {error}"))
}

/// The answer as the browser gets it.
fn pass_on(response: Response<Incoming>) -> Result<Response<Body>, Refusal> {
    if response.status() == StatusCode::PROXY_AUTHENTICATION_REQUIRED {
        // The browser would take it for our own question.
        return Err(Refusal::Unreachable("the server asked for the password of a proxy".to_owned()));
    }
    let (mut head, body) = response.into_parts();
    headers::clean_response(&mut head.headers);
    head.version = Version::HTTP_11;
    Ok(Response::from_parts(head, Either::Left(body)))
}

/// The server agreed to speak something else, if it was asked to.
fn switch(
    client: &Arc<Client>,
    mut response: Response<Incoming>,
    browser: Option<OnUpgrade>,
) -> Result<Response<Body>, Refusal> {
    let Some(browser) = browser else {
        return Err(Refusal::Unreachable("the server changed the protocol unasked".to_owned()));
    };
    tunnel::upgrade(client, browser, hyper::upgrade::on(&mut response));
    let (mut head, _) = response.into_parts();
    if let Some(to) = headers::clean_response(&mut head.headers) {
        headers::ask_upgrade(&mut head.headers, to);
    }
    Ok(Response::from_parts(head, Either::Right(http_body_util::Full::default())))
}
