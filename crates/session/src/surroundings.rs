//! Changing the surroundings of a session: in all its tabs at once, and in those still to come.

use std::time::Duration;

use surehand_cdp::protocol::browser as cdp;
use surehand_page::{AskedBy, Aspect, Deadline, Login, SharedSurroundings, Surroundings};

use crate::link::Link;
use crate::{Fault, Session, SessionOptions};

/// A browser grants a permission at once.
const GRANT_TIME: Duration = Duration::from_secs(10);

/// What a session begins with.
pub(crate) fn at_first(link: &Link, options: &SessionOptions) -> SharedSurroundings {
    let logins = options.proxy.as_deref().and_then(proxy_login).into_iter().collect();
    SharedSurroundings::new(Surroundings { screen: link.screen, logins, ..Default::default() })
}

/// The name and the password in a proxy's address: the browser cannot use them there, but asks for them.
fn proxy_login(proxy: &str) -> Option<Login> {
    let rest = proxy.split_once("://").map_or(proxy, |(_, rest)| rest);
    let (credentials, _) = rest.rsplit_once('@')?;
    let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
    let plain = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
    Some(Login { user: plain(user), password: plain(password), asked_by: AskedBy::Proxy })
}

impl Session {
    /// Changes an aspect of the surroundings. What the browser refuses is taken back.
    pub async fn surround(
        &self,
        aspect: Aspect,
        change: impl FnOnce(&mut Surroundings),
        deadline: &Deadline,
    ) -> Result<(), Fault> {
        let shared = self.tabs().surroundings();
        let before = {
            let mut surroundings = shared.lock();
            let before = surroundings.clone();
            change(&mut surroundings);
            before
        };
        let active = self.active_tab()?;
        if let Err(error) = active.page.apply(aspect, deadline).await {
            *shared.lock() = before;
            // It was like that before.
            let _ = active.page.apply(aspect, deadline).await;
            return Err(error.into());
        }
        let others = self.tabs().all().into_iter().filter(|tab| tab.number != active.number);
        // A tab that is stuck sees it when it goes on; nobody waits for it.
        let quick = deadline.at_most(Duration::from_secs(1));
        let applied = others.map(|tab| {
            let quick = &quick;
            async move { tab.page.apply(aspect, quick).await }
        });
        for result in futures_util::future::join_all(applied).await {
            if let Err(error) = result {
                tracing::debug!("a tab in the background did not take it over yet: {error}");
            }
        }
        Ok(())
    }

    /// The size that pages of this session have unless told otherwise.
    pub fn usual_screen(&self) -> Option<surehand_page::Screen> {
        self.link.screen
    }

    /// Lets pages ask where they are, or not any more.
    pub async fn grant_geolocation(&self, granted: bool) -> Result<(), Fault> {
        let browser = self.link.connection.browser();
        let deadline = Deadline::after(GRANT_TIME);
        let browser_context_id = self.context_id();
        if granted {
            let permissions = vec!["geolocation".to_owned()];
            let grant = cdp::GrantPermissions { permissions, browser_context_id, ..Default::default() };
            deadline.run("the permission", browser.call(&grant)).await??;
        } else {
            let reset = cdp::ResetPermissions { browser_context_id };
            deadline.run("the permission", browser.call(&reset)).await??;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxys_login_is_read_from_its_address() {
        let login = proxy_login("http://me:p%40ss@127.0.0.1:3128").unwrap();
        assert_eq!((login.user.as_str(), login.password.as_str()), ("me", "p@ss"));
        assert!(proxy_login("http://127.0.0.1:3128").is_none());
        assert_eq!(proxy_login("me:x@127.0.0.1:80").unwrap().user, "me");
    }
}
