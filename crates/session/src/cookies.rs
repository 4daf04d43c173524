//! The cookies of a session: all of its context, whichever tab is active.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use surehand_cdp::protocol::{network, storage};
use surehand_page::Deadline;

use crate::{Fault, Session};

/// A cookie, as a listing shows it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cookie {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Which host gets it.
    pub domain: String,
    /// Which paths get it.
    #[serde(default = "root")]
    pub path: String,
    /// Seconds since 1970; -1 for one that ends with the session.
    #[serde(default = "session_cookie")]
    pub expires: f64,
    /// Hidden from scripts?
    #[serde(default)]
    pub http_only: bool,
    /// Only over TLS?
    #[serde(default)]
    pub secure: bool,
    /// `Strict`, `Lax` or `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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

    /// Sets cookies.
    pub async fn set_cookies(&self, cookies: Vec<NewCookie>) -> Result<(), Fault> {
        let set = storage::SetCookies { cookies, browser_context_id: self.context_id() };
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

fn session_cookie() -> f64 {
    -1.0
}

fn root() -> String {
    "/".to_owned()
}

impl From<Cookie> for NewCookie {
    fn from(cookie: Cookie) -> Self {
        Self {
            name: cookie.name,
            value: cookie.value,
            domain: Some(cookie.domain),
            path: Some(cookie.path),
            expires: (cookie.expires >= 0.0).then_some(cookie.expires),
            http_only: Some(cookie.http_only),
            secure: Some(cookie.secure),
            same_site: cookie.same_site,
            ..Default::default()
        }
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
