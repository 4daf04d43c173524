//! What a site answers, and to which path: the builder and the choice of a route.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::serve::Origins;
use super::{Request, Response, Site};

type Handler = Arc<dyn Fn(&Request) -> Response + Send + Sync>;

/// The routes of a site that is not running yet.
///
/// A path is matched without its query. One that ends in `*` matches everything that begins with the rest; the
/// exact path goes first, then the longest beginning. Anything else is a 404.
#[derive(Default)]
pub struct SiteBuilder {
    exact: HashMap<String, Handler>,
    beginnings: Vec<(String, Handler)>,
    guarded: Vec<Guarded>,
}

struct Guarded {
    beginning: String,
    authorization: String,
}

impl SiteBuilder {
    /// An HTML page. `{{origin}}` and `{{cross}}` in it become the site's two origins.
    #[must_use]
    pub fn page(self, path: &str, html: impl Into<String>) -> Self {
        let html = html.into();
        self.route(path, move |request| {
            let origins = request.origins();
            Response::html(html.replace("{{origin}}", &origins.main).replace("{{cross}}", &origins.cross))
        })
    }

    /// Bytes with a content type.
    #[must_use]
    pub fn file(self, path: &str, content_type: &str, bytes: impl Into<Vec<u8>>) -> Self {
        let response = Response::bytes(content_type, bytes);
        self.fixed(path, response)
    }

    /// A download named `name`.
    #[must_use]
    pub fn attachment(self, path: &str, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.fixed(path, Response::attachment(name, bytes))
    }

    /// A 302 to `location`.
    #[must_use]
    pub fn redirect(self, path: &str, location: &str) -> Self {
        self.fixed(path, Response::redirect(302, location))
    }

    /// An HTML page that is sent after `delay`.
    #[must_use]
    pub fn slow(self, path: &str, delay: Duration, html: &str) -> Self {
        self.fixed(path, Response::html(html).delay(delay))
    }

    /// An HTML page whose end never comes.
    #[must_use]
    pub fn endless(self, path: &str, html: &str) -> Self {
        self.fixed(path, Response::html(html).never_ending())
    }

    /// The same response every time.
    #[must_use]
    pub fn fixed(self, path: &str, response: Response) -> Self {
        self.route(path, move |_| response.clone())
    }

    /// Whatever `handler` makes of the request. It runs on the connection's thread.
    #[must_use]
    pub fn route(
        mut self,
        path: &str,
        handler: impl Fn(&Request) -> Response + Send + Sync + 'static,
    ) -> Self {
        let handler: Handler = Arc::new(handler);
        match path.strip_suffix('*') {
            Some(beginning) => self.beginnings.push((beginning.to_owned(), handler)),
            None => drop(self.exact.insert(path.to_owned(), handler)),
        }
        self
    }

    /// Asks for a name and a password (basic authentication) for every path that begins with `beginning`.
    #[must_use]
    pub fn basic_auth(mut self, beginning: &str, user: &str, password: &str) -> Self {
        let authorization = format!("Basic {}", STANDARD.encode(format!("{user}:{password}")));
        self.guarded.push(Guarded { beginning: beginning.to_owned(), authorization });
        self
    }

    /// Binds two loopback ports and serves until the [`Site`] is dropped.
    pub fn start(self) -> io::Result<Site> {
        Site::start(self)
    }

    pub(super) fn respond(&self, request: &Request) -> Response {
        let path = request.path.as_str();
        let guard = self.guarded.iter().find(|guard| path.starts_with(&guard.beginning));
        if guard.is_some_and(|guard| request.header("authorization") != Some(&guard.authorization)) {
            return Response::text("unauthorized")
                .status(401)
                .header("WWW-Authenticate", "Basic realm=\"surehand\"");
        }
        let longest = || {
            let fitting = self.beginnings.iter().filter(|(beginning, _)| path.starts_with(beginning));
            fitting.max_by_key(|(beginning, _)| beginning.len()).map(|(_, handler)| handler)
        };
        match self.exact.get(path).or_else(longest) {
            Some(handler) => handler(request),
            None => Response::text(format!("no such page: {path}")).status(404),
        }
    }
}

impl fmt::Debug for SiteBuilder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("SiteBuilder").field("exact", &self.exact.keys()).finish_non_exhaustive()
    }
}

impl Request {
    /// `http://127.0.0.1:PORT` and `http://localhost:PORT2` of the site that got this request.
    pub(super) fn origins(&self) -> &Origins {
        &self.origins
    }

    /// The site's main origin, `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origins.main
    }

    /// The site's other origin, `http://localhost:PORT2`.
    #[must_use]
    pub fn cross_origin(&self) -> &str {
        &self.origins.cross
    }
}
