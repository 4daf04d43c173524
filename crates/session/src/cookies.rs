//! The cookies of a session: all of its context, whichever tab is active.

use std::time::Duration;

use serde::Serialize;
use surehand_cdp::protocol::{network, storage};
use surehand_page::Deadline;

use crate::{Fault, Session};

/// A cookie, as a listing shows it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cookie {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Which host gets it.
    pub domain: String,
    /// Which paths get it.
    pub path: String,
    /// Seconds since 1970; -1 for one that ends with the session.
    pub expires: f64,
    /// Hidden from scripts?
    pub http_only: bool,
    /// Only over TLS?
    pub secure: bool,
    /// `Strict`, `Lax` or `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_site: Option<String>,
}

/// A cookie to set.
pub type NewCookie = network::CookieParam;

/// The browser answers these at once.
const ANSWER_TIME: Duration = Duration::from_secs(10);

impl Session {
    /// All cookies.
    pub async fn cookies(&self) -> Result<Vec<Cookie>, Fault> {
        let get = storage::GetCookies { browser_context_id: self.context_id() };
        let deadline = Deadline::after(ANSWER_TIME);
        let answer = deadline.run("the cookies", self.link.connection.browser().call(&get)).await??;
        Ok(answer.cookies.into_iter().map(Cookie::from).collect())
    }

    /// Sets a cookie.
    pub async fn set_cookie(&self, cookie: NewCookie) -> Result<(), Fault> {
        let set = storage::SetCookies { cookies: vec![cookie], browser_context_id: self.context_id() };
        let deadline = Deadline::after(ANSWER_TIME);
        deadline.run("the cookie", self.link.connection.browser().call(&set)).await??;
        Ok(())
    }

    /// Forgets all cookies.
    pub async fn clear_cookies(&self) -> Result<(), Fault> {
        let clear = storage::ClearCookies { browser_context_id: self.context_id() };
        let deadline = Deadline::after(ANSWER_TIME);
        deadline.run("the cookies to go", self.link.connection.browser().call(&clear)).await??;
        Ok(())
    }
}

impl From<network::Cookie> for Cookie {
    fn from(cookie: network::Cookie) -> Self {
        Self {
            name: cookie.name,
            value: cookie.value,
            domain: cookie.domain,
            path: cookie.path,
            expires: cookie.expires,
            http_only: cookie.http_only,
            secure: cookie.secure,
            same_site: cookie.same_site,
        }
    }
}
