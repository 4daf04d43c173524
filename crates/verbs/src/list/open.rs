//! `open`: go to an address.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_page::{Dialog, LoadState, Navigated};
use surehand_session::{Fault, Kind};

use crate::target::dialogs_text;
use crate::{Context, Effect, Flaw, Report, Verb};

/// Open an address and wait until the page is there
///
/// Without a scheme, http is used for localhost and IP addresses and https for everything else; a path that starts with
/// / or . opens a file. A page that answers 404 or 500 was opened all the same: its status is told.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(visible_aliases = ["goto", "navigate"], after_help = "Example:\n  surehand open 127.0.0.1:8000")]
pub struct Open {
    /// The address; without one, only the browser is started
    pub url: Option<String>,
    /// How far the page must have come
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    pub load: Until,
}

/// How far a page must have come.
#[derive(Debug, Clone, Copy, Default, clap::ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[value(rename_all = "lower")]
pub enum Until {
    /// The document and what it refers to are there
    #[default]
    Load,
    /// The document is parsed
    DomContentLoaded,
    /// Nothing was requested for half a second
    NetworkIdle,
}

impl Until {
    /// As it is written.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Until::Load => "load",
            Until::DomContentLoaded => "domcontentloaded",
            Until::NetworkIdle => "networkidle",
        }
    }
}

impl From<Until> for LoadState {
    fn from(load: Until) -> Self {
        match load {
            Until::Load => LoadState::Load,
            Until::DomContentLoaded => LoadState::DomContentLoaded,
            Until::NetworkIdle => LoadState::NetworkIdle,
        }
    }
}

/// Where a navigation led.
#[derive(Debug, Serialize)]
pub struct Arrived {
    url: String,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<i64>,
    #[serde(flatten)]
    said: Said,
}

/// What a page said and asked while it loaded.
#[derive(Debug, Default, Serialize)]
pub struct Said {
    /// A dialog that now waits for an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    dialog: Option<Dialog>,
    /// Dialogs that asked nothing and were accepted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    accepted: Vec<Dialog>,
}

impl Said {
    /// From what a page told.
    pub(crate) fn new(navigated: &Navigated) -> Self {
        Self { dialog: navigated.dialog.clone(), accepted: navigated.accepted.clone() }
    }

    /// To be written after where the page is.
    pub(crate) fn text(&self) -> String {
        dialogs_text(&self.accepted, self.dialog.as_ref())
    }
}

impl From<Navigated> for Arrived {
    fn from(navigated: Navigated) -> Self {
        let said = Said::new(&navigated);
        Self { url: navigated.url, title: navigated.title, status: navigated.status, said }
    }
}

impl Report for Arrived {
    fn text(&self) -> String {
        let title = if self.title.is_empty() { "(no title)" } else { &self.title };
        let status = match self.status {
            Some(status) if status >= 400 => format!("\nnote: the server answered with status {status}"),
            _ => String::new(),
        };
        format!("{title}\n{}{status}{}", self.url, self.said.text())
    }
}

impl Verb for Open {
    const EFFECT: Effect = Effect::Navigates;
    type Output = Arrived;

    fn flaws(&self) -> Vec<Flaw> {
        self.url.iter().filter_map(|url| Flaw::of("/url", checked_address(url))).collect()
    }

    async fn run(self, cx: &Context) -> Result<Arrived, Fault> {
        let url = match &self.url {
            Some(url) => full_address(url, cx)?,
            None => "about:blank".to_owned(),
        };
        let session = cx.open_session().await?;
        let going = session.going_to(&url)?;
        let tab = session.some_tab().await?;
        session.tabs().switch_to(&tab);
        let opened = tab.page.open(&url, self.load.into(), &cx.navigation_deadline()).await;
        Ok(going.arrived(&tab, opened.map_err(Fault::from))?.into())
    }
}

/// Makes a full address of what people type.
pub fn full_address(text: &str, cx: &Context) -> Result<String, Fault> {
    match checked_address(text)? {
        Some(address) => Ok(address),
        None => file_address(text.trim(), cx),
    }
}

/// The same without looking at files: nothing for the path of one.
pub fn checked_address(text: &str) -> Result<Option<String>, Fault> {
    let text = text.trim();
    let bad = |why: &str| {
        Fault::new(Kind::BadUrl, format!("{text:?} is no address: {why}"))
            .hint("write it like http://127.0.0.1:8000/page")
    };
    if text.is_empty() {
        return Err(bad("it is empty"));
    }
    if text.contains(char::is_whitespace) && !text.starts_with("data:") && !is_path(text) {
        return Err(bad("it contains a space"));
    }
    if is_path(text) {
        return Ok(None);
    }
    if has_scheme(text) {
        return check_full(text).map(|()| Some(text.to_owned())).map_err(bad);
    }
    let host = text.split(['/', '?', '#']).next().unwrap_or_default();
    if host.is_empty() {
        return Err(bad("it has no host"));
    }
    let scheme = if is_local(host) { "http" } else { "https" };
    Ok(Some(format!("{scheme}://{text}")))
}

/// Schemes that lead to a page.
const SCHEMES: [&str; 10] =
    ["http", "https", "file", "about", "data", "blob", "chrome", "chrome-extension", "view-source", "devtools"];

/// What the browser would refuse, or do without a page coming of it.
fn check_full(text: &str) -> Result<(), &'static str> {
    let (scheme, rest) = text.split_once(':').unwrap_or_default();
    let scheme = scheme.to_ascii_lowercase();
    if !SCHEMES.contains(&scheme.as_str()) {
        return Err("no page has an address of that kind");
    }
    if scheme != "http" && scheme != "https" {
        return Ok(());
    }
    let host = rest.trim_start_matches('/').split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    let (name, port) = match host.strip_prefix('[') {
        Some(v6) => v6.split_once(']').ok_or("a bracket is not closed")?,
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    if name.is_empty() {
        return Err("it has no host");
    }
    let port = port.strip_prefix(':').unwrap_or_default();
    if !port.is_empty() && port.parse::<u16>().is_err() {
        return Err("its port is no number from 0 to 65535");
    }
    Ok(())
}

fn is_path(text: &str) -> bool {
    text.starts_with('/') || text.starts_with("./") || text.starts_with("../")
}

fn file_address(text: &str, cx: &Context) -> Result<String, Fault> {
    let path = cx.path(text.as_ref())?;
    let path = fs_err::canonicalize(&path).map_err(|error| {
        Fault::new(Kind::MissingFile, error.to_string()).hint("check the path; web addresses start with http:// or https://")
    })?;
    let encoded: String = path.to_string_lossy().chars().map(encode_path_character).collect();
    Ok(format!("file://{encoded}"))
}

fn encode_path_character(character: char) -> String {
    match character {
        '%' | '?' | '#' | ' ' | '"' | '<' | '>' => format!("%{:02X}", u32::from(character)),
        other => other.to_string(),
    }
}

/// `host:80` has no scheme, `mailto:x` and `http://x` have one.
fn has_scheme(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let well_formed = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-'));
    let is_port = rest.split(['/', '?', '#']).next().is_some_and(|port| port.parse::<u16>().is_ok());
    well_formed && (rest.starts_with("//") || !is_port)
}

fn is_local(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.to_ascii_lowercase().ends_with(".localhost")
        || name.parse::<std::net::IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_lead_nowhere_are_refused() {
        for good in ["http://a", "https://[::1]:8/x", "http://u:p@h:80/", "about:blank", "data:,x", "file:///a"] {
            assert!(check_full(good).is_ok(), "{good}");
        }
        for bad in ["http://", "http://:80", "http://a:99999/", "http://[::1", "javascript:alert(1)", "ftp://a"] {
            assert!(check_full(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn schemes_are_guessed_the_way_people_mean_them() {
        for (text, scheme) in [
            ("127.0.0.1:8000", false),
            ("localhost:3000/a:b", false),
            ("example.com", false),
            ("http://a", true),
            ("about:blank", true),
            ("data:text/html,x", true),
            ("view-source:http://a", true),
        ] {
            assert_eq!(has_scheme(text), scheme, "{text}");
        }
        for (host, local) in [("127.0.0.1:80", true), ("[::1]:80", true), ("localhost", true), ("example.com", false)] {
            assert_eq!(is_local(host), local, "{host}");
        }
    }
}
