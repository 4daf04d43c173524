//! `web.login_and_fetch`: logs in with a credential of the vault, and reads a page behind the door.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_guard::vault::placeholders;
use surehand_session::{Fault, Kind};

use super::hands::{Blocked, Hands, web_address};
use super::pack::{Pack, PackContext, PackFailure, Steps};
use super::scrape::ScrapeFormat;
use crate::check::Misfit;

/// Input.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoginAndFetch {
    /// Absolute address of the page with the form
    login_url: String,
    /// Name of a login in the vault; it has a `username` and a `password`
    credential: String,
    /// Field of the user's name
    username_selector: String,
    /// Field of the password
    password_selector: String,
    /// What sends the form
    submit_selector: String,
    /// Text that is only on the page of who is logged in
    success_text: String,
    /// Absolute address of the page to read; without it the page after the login
    fetch_url: Option<String>,
    /// markdown, html or text
    #[serde(default = "markdown")]
    format: ScrapeFormat,
}

fn markdown() -> ScrapeFormat {
    ScrapeFormat::Markdown
}

/// Output.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Fetched {
    /// Where the page that was read is
    url: String,
    /// HTTP status of the page at `fetch_url`
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<i64>,
    /// Was the login observed? A call that could not observe it fails
    logged_in: bool,
    /// The page, in the format that was asked for
    content: String,
    /// Requests of the page that the egress guard refused
    #[serde(skip_serializing_if = "Vec::is_empty")]
    blocked_requests: Vec<Blocked>,
}

impl Pack for LoginAndFetch {
    const NAME: &'static str = "web.login_and_fetch";
    const TOOL: &'static str = "web_login_and_fetch";
    const DESCRIPTION: &'static str = "Log in with a credential of the vault, see that it worked, and read a page. The credential is never shown.";
    type Output = Fetched;

    fn misfits(&self) -> Vec<Misfit> {
        let mut misfits = Misfit::of_address("/login_url", web_address(&self.login_url));
        if let Some(url) = &self.fetch_url {
            misfits.extend(Misfit::of_address("/fetch_url", web_address(url)));
        }
        let texts = [
            ("credential", &self.credential),
            ("username_selector", &self.username_selector),
            ("password_selector", &self.password_selector),
            ("submit_selector", &self.submit_selector),
            ("success_text", &self.success_text),
        ];
        let empty = texts.iter().filter(|(_, text)| text.trim().is_empty());
        misfits.extend(empty.map(|(name, _)| Misfit::value(format!("/{name}"), "is empty".to_owned())));
        if placeholders(&self.secret("username")).is_err() {
            let message = format!("{:?} is no name of a credential", self.credential);
            misfits.push(Misfit::value("/credential".to_owned(), message));
        }
        misfits
    }

    async fn run(self, cx: &PackContext<'_>) -> Result<Fetched, PackFailure> {
        let hands = Hands::new(cx).await?;
        self.check(&hands).await?;
        let mut steps = Steps::new(cx);
        // Who may not use the credential does not even knock.
        let fill = async {
            let user = cx.filled(&self.secret("username")).await?;
            Ok((user, cx.filled(&self.secret("password")).await?))
        };
        let (user, password) = steps.take("credential", &self.credential, fill).await?;
        steps.take("open", &self.login_url, hands.open(&self.login_url)).await?;
        steps.take("assert_text", &self.success_text, self.is_outside(&hands)).await?;
        steps.take("type", &self.username_selector, hands.type_over(&self.username_selector, &user)).await?;
        steps
            .take("type", &self.password_selector, hands.type_over(&self.password_selector, &password))
            .await?;
        steps.take("click", &self.submit_selector, hands.click(&self.submit_selector)).await?;
        steps.take("assert_text", &self.success_text, self.is_inside(&hands)).await?;
        let mut status = None;
        if let Some(url) = &self.fetch_url {
            status = steps.take("open", url, self.fetch(&hands, url)).await?;
        }
        let formats = [self.format].into();
        let content = steps.take("extract", "page", hands.content(&formats)).await?;
        let (url, blocked_requests) = (content.final_url().to_owned(), hands.blocked());
        Ok(Fetched { url, status, logged_in: true, content: content.only(), blocked_requests })
    }
}

impl LoginAndFetch {
    /// The placeholder of a field of the credential.
    fn secret(&self, field: &str) -> String {
        format!("${{vault:{}#{field}}}", self.credential)
    }

    /// A credential is not typed for nothing: what can be known to fail is known before.
    async fn check(&self, hands: &Hands<'_>) -> Result<(), PackFailure> {
        for url in self.fetch_url.iter().chain([&self.login_url]) {
            hands.cx.session.going_to(url.trim())?;
        }
        let selectors = [&*self.username_selector, &*self.password_selector, &*self.submit_selector];
        match hands.unreadable(&selectors).await {
            Some((_, fault)) => Err(fault.into()),
            None => Ok(()),
        }
    }

    /// Opens the page behind the door. One that the server refuses to show was not fetched.
    async fn fetch(&self, hands: &Hands<'_>, url: &str) -> Result<Option<i64>, Fault> {
        match hands.open(url).await? {
            Some(status) if status >= 400 => {
                Err(Fault::new(Kind::NavigationFailed, format!("{url} was answered with status {status}")))
            }
            status => Ok(status),
        }
    }

    /// What stands there before anybody logged in proves nothing afterwards.
    async fn is_outside(&self, hands: &Hands<'_>) -> Result<(), Fault> {
        match hands.has_text(&self.success_text).await? {
            false => Ok(()),
            true => Err(Fault::new(
                Kind::NotChanged,
                format!("{:?} is on the login page already and would prove nothing", self.success_text),
            )),
        }
    }

    /// Waits for the text that only who is logged in can see.
    async fn is_inside(&self, hands: &Hands<'_>) -> Result<(), Fault> {
        match hands.wait_for_text(&self.success_text).await {
            Err(fault) if fault.kind == Kind::Timeout => Err(Fault::new(
                Kind::NotChanged,
                format!("the login was not observed: {:?} does not appear", self.success_text),
            )),
            other => other,
        }
    }
}
