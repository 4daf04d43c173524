//! `cookies`: show, set and forget the cookies of the session.

use clap::{Args, Subcommand, ValueEnum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_guard::{SecretPlaces, Writing};
use surehand_session::{Cookie, Fault, Kind, NewCookie};

use crate::{Context, Effect, Report, Verb};

/// Show, set and forget the cookies of the session
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand cookies\n  surehand cookies set theme dark\n  surehand cookies clear")]
pub struct Cookies {
    /// What to do; without anything, show
    #[command(subcommand)]
    pub action: Option<Action>,
}

/// What to do.
#[derive(Debug, Clone, Subcommand, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Show all cookies
    Get,
    /// Set a cookie; without --url or --domain, for the page that is open
    Set(SetCookie),
    /// Forget all cookies
    Clear,
}

/// A cookie to set.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
pub struct SetCookie {
    /// Its name
    pub name: String,
    /// Its value
    #[arg(allow_hyphen_values = true)]
    pub value: String,
    /// The address it belongs to
    #[arg(long)]
    pub url: Option<String>,
    /// The host it belongs to
    #[arg(long)]
    pub domain: Option<String>,
    /// The paths it belongs to
    #[arg(long)]
    pub path: Option<String>,
    /// Only over TLS
    #[arg(long)]
    #[serde(default)]
    pub secure: bool,
    /// Hidden from scripts
    #[arg(long, alias = "httpOnly")]
    #[serde(default)]
    pub http_only: bool,
    /// When other sites may send it
    #[arg(long, alias = "sameSite", value_enum, ignore_case = true)]
    pub same_site: Option<SameSite>,
    /// When it ends, in seconds since 1970
    #[arg(long)]
    pub expires: Option<f64>,
}

/// When other sites may send a cookie.
#[derive(Debug, Clone, Copy, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SameSite {
    /// Never
    Strict,
    /// With links only
    Lax,
    /// Always; needs --secure
    None,
}

/// What came of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase", untagged)]
pub enum CookieReport {
    /// All cookies.
    List {
        /// The cookies.
        cookies: Vec<Cookie>,
    },
    /// One was set.
    Set {
        /// Its name.
        set: String,
    },
    /// All were forgotten.
    Cleared {
        /// Always true.
        cleared: bool,
    },
}

impl Report for CookieReport {
    fn text(&self) -> String {
        match self {
            CookieReport::List { cookies } if cookies.is_empty() => "(no cookies)".to_owned(),
            CookieReport::List { cookies } => cookies.iter().map(line).collect::<Vec<_>>().join("\n"),
            CookieReport::Set { set } => format!("set {set}"),
            CookieReport::Cleared { .. } => "forgot all cookies".to_owned(),
        }
    }
}

fn line(cookie: &Cookie) -> String {
    format!("{}={} ({}{})", cookie.name, cookie.value, cookie.domain, cookie.path)
}

impl Verb for Cookies {
    const EFFECT: Effect = Effect::Manages;
    const SECRETS: SecretPlaces = &[(&["**", "value"], Writing::Plain)];
    // What a site keeps is a secret more often than not.
    const NOTED: bool = false;
    type Output = CookieReport;

    async fn run(self, cx: &Context) -> Result<CookieReport, Fault> {
        let session = cx.session().await?;
        match self.action {
            None | Some(Action::Get) => Ok(CookieReport::List { cookies: session.cookies().await? }),
            Some(Action::Clear) => {
                session.clear_cookies().await?;
                Ok(CookieReport::Cleared { cleared: session.cookies().await?.is_empty() })
            }
            Some(Action::Set(set)) => {
                set.refuse_unwritable()?;
                let name = set.name.clone();
                let page = session.active_tab()?.page.url();
                set.refuse_without_site(&page)?;
                session.set_cookies(vec![set.cookie(page)]).await?;
                // The browser drops a cookie that breaks its rules without a word.
                if !session.cookies().await?.iter().any(|cookie| cookie.name == name) {
                    return Err(Fault::new(Kind::BadValue, format!("the browser did not take the cookie {name:?}"))
                        .hint("check --url or --domain, --expires, and that SameSite=None has --secure"));
                }
                Ok(CookieReport::Set { set: name })
            }
        }
    }
}

impl SetCookie {
    /// What no cookie header can carry, the browser refuses without a reason.
    fn refuse_unwritable(&self) -> Result<(), Fault> {
        let is_bad_name = |c: char| c.is_control() || c.is_whitespace() || matches!(c, ';' | '=' | ',');
        if self.name.contains(is_bad_name) {
            let what = "the name of a cookie cannot hold spaces, `;`, `,`, `=` or control characters";
            return Err(Fault::new(Kind::Usage, format!("{what}: {:?}", self.name)));
        }
        if self.value.contains(|c: char| c == ';' || c.is_control()) {
            let what = "the value of a cookie cannot hold `;` or control characters";
            return Err(Fault::new(Kind::Usage, what).hint("write them as %3B and the like"));
        }
        Ok(())
    }

    /// A cookie belongs to a site: a page without one has none to give it to.
    fn refuse_without_site(&self, page: &str) -> Result<(), Fault> {
        let is_site = page.starts_with("http://") || page.starts_with("https://");
        if is_site || self.url.is_some() || self.domain.is_some() {
            return Ok(());
        }
        let what = format!("the page that is open keeps no cookies: {page}");
        Err(Fault::new(Kind::NoStorage, what).hint("open a page of the site first, or give --url or --domain"))
    }

    fn cookie(self, page: String) -> NewCookie {
        let url = self.url.or_else(|| self.domain.is_none().then_some(page));
        NewCookie {
            name: self.name,
            value: self.value,
            url,
            domain: self.domain,
            path: self.path,
            secure: self.secure.then_some(true),
            http_only: self.http_only.then_some(true),
            same_site: self.same_site.map(|same_site| format!("{same_site:?}")),
            expires: self.expires,
            ..Default::default()
        }
    }
}
