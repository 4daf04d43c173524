//! `wait`: wait for time, an element, a text, an address or a load state.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_page::{ElementState, Request, UrlPattern};
use surehand_session::{Fault, Kind};

use super::download::{Kept, keep};
use super::network::{line, without_secret_parameters};
use super::open::Until;
use crate::{Context, Effect, Flaw, Hints, Report, Verb};

/// Wait for an element, a text, an address, a load state, a download, a request, or some milliseconds
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand wait '#result'\n  surehand wait '#spinner' --state hidden\n  surehand wait --text 'Thank you'\n  surehand wait --url '**/done'\n  surehand wait --download report.pdf\n  surehand wait 500")]
#[command(group = clap::ArgGroup::new("condition").required(true).args(["target", "text", "url", "load", "function", "download", "request"]))]
pub struct Wait {
    /// Milliseconds, or a selector: @eN, CSS, xpath=…, text=…, role=…, label=… …
    #[arg(allow_negative_numbers = true)]
    pub target: Option<String>,
    /// What the element must be
    #[arg(long, value_enum, requires = "target")]
    pub state: Option<State>,
    /// A text that the page must show
    #[arg(short, long)]
    pub text: Option<String>,
    /// An address: a glob, a part of it, or /a regex/
    #[arg(short, long, value_name = "PATTERN")]
    pub url: Option<String>,
    /// How far the page must have come
    #[arg(short, long, value_enum)]
    pub load: Option<Until>,
    /// A JavaScript expression or function that must become true
    #[arg(short, long = "fn", value_name = "JS", allow_hyphen_values = true)]
    #[serde(rename = "fn")]
    pub function: Option<String>,
    /// A download since the last action, complete: kept at PATH, a file or a folder, or here under the server's name
    #[arg(short, long, value_name = "PATH", num_args = 0..=1, default_missing_value = ".")]
    pub download: Option<PathBuf>,
    /// A request since the last action, answered: a glob, a part of the address, or /a regex/
    #[arg(short, long, value_name = "PATTERN")]
    pub request: Option<String>,
}

/// What an element must be.
#[derive(Debug, Clone, Copy, Default, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// There, and to be seen
    #[default]
    Visible,
    /// Not to be seen: hidden or not there
    Hidden,
    /// In the document
    Attached,
    /// Not in the document
    Detached,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            State::Visible => "visible",
            State::Hidden => "hidden",
            State::Attached => "attached",
            State::Detached => "detached",
        }
    }
}

/// What was waited for.
#[derive(Debug, Serialize)]
#[serde(tag = "waited", rename_all = "lowercase")]
pub enum Waited {
    /// Some time.
    Timeout {
        /// Milliseconds.
        ms: u64,
    },
    /// An element.
    Selector {
        /// Which.
        selector: String,
        /// What it is now.
        state: State,
    },
    /// A text.
    Text {
        /// Which.
        text: String,
    },
    /// An address.
    Url {
        /// The one that matched.
        url: String,
    },
    /// A condition.
    Fn {
        /// What it gave.
        result: Box<serde_json::value::RawValue>,
    },
    /// A download.
    Download {
        /// The file.
        #[serde(flatten)]
        file: Kept,
    },
    /// A request.
    Request {
        /// What was asked, and the answer.
        request: Box<Request>,
    },
    /// A load state.
    Load {
        /// Which.
        state: Until,
    },
}

impl Report for Waited {
    fn text(&self) -> String {
        match self {
            Waited::Timeout { ms } => format!("waited {ms} ms"),
            Waited::Selector { selector, state } => format!("{selector} is {}", state.word()),
            Waited::Text { text } => format!("the page shows {text:?}"),
            Waited::Url { url } => url.clone(),
            Waited::Fn { result } => result.get().to_owned(),
            Waited::Download { file } => file.text(),
            Waited::Request { request } => line(request),
            Waited::Load { state } => format!("the page is there ({})", state.word()),
        }
    }
}

/// Nobody means to wait longer than a day.
const LONGEST_MS: u64 = 24 * 3600 * 1000;

impl Verb for Wait {
    const EFFECT: Effect = Effect::Reads;
    // `--fn` runs code, and `--download` writes a file.
    const HINTS: Hints = Hints::ACTS;
    const PATHS: &'static [&'static str] = &["/download"];
    type Output = Waited;

    /// Without the wait, what comes after it would come too early.
    fn is_step(&self) -> bool {
        true
    }

    fn flaws(&self) -> Vec<Flaw> {
        let mut flaws = Vec::new();
        if let Some(target) = &self.target {
            match milliseconds(target) {
                Ok(None) => flaws.extend(Flaw::of_selector("/target", target)),
                Ok(Some(_)) if self.state.is_some() => {
                    flaws.push(Flaw::new("/state", "a time has no state"));
                }
                time => flaws.extend(Flaw::of("/target", time)),
            }
        }
        for (pointer, pattern) in [("/url", &self.url), ("/request", &self.request)] {
            flaws.extend(pattern.iter().filter_map(|one| Flaw::of(pointer, address_pattern(one))));
        }
        if self.text.as_ref().is_some_and(|text| text.trim().is_empty()) {
            flaws.push(Flaw::new("/text", "an empty text is on every page"));
        }
        flaws
    }

    async fn run(self, cx: &Context) -> Result<Waited, Fault> {
        if let Some(target) = self.target {
            return match milliseconds(&target)? {
                Some(_) if self.state.is_some() => Err(Fault::new(Kind::Usage, "a time has no state")
                    .hint("--state goes with a selector: surehand wait '#spinner' --state hidden")),
                Some(ms) => wait_for_time(cx, ms).await,
                None => wait_for_element(cx, target, self.state.unwrap_or_default()).await,
            };
        }
        let (session, tab) = cx.tab().await?;
        if let Some(path) = self.download {
            let download = tab.page.wait_for_download(&cx.deadline()).await?;
            return Ok(Waited::Download { file: keep(cx, &session, &tab.page, download, &path)? });
        }
        if let Some(pattern) = self.request {
            let request = tab.page.wait_for_request(&address_pattern(&pattern)?, &cx.deadline()).await?;
            return Ok(Waited::Request { request: Box::new(without_secret_parameters(request)) });
        }
        if let Some(text) = self.text {
            if text.trim().is_empty() {
                return Err(Fault::new(Kind::Usage, "an empty text is on every page")
                    .hint("give the text to wait for: surehand wait --text 'Thank you'"));
            }
            tab.page.wait_for_text(&text, &cx.deadline()).await?;
            return Ok(Waited::Text { text });
        }
        if let Some(pattern) = self.url {
            let url = tab.page.wait_for_url(&address_pattern(&pattern)?, &cx.deadline()).await?;
            return Ok(Waited::Url { url });
        }
        if let Some(function) = self.function {
            let value = tab.page.wait_for_function(&function, &cx.deadline()).await?;
            return Ok(Waited::Fn { result: value.result });
        }
        let state = self.load.unwrap_or_default();
        tab.page.wait_for_load(state.into(), &cx.navigation_deadline()).await?;
        Ok(Waited::Load { state })
    }
}

fn address_pattern(pattern: &str) -> Result<UrlPattern, Fault> {
    UrlPattern::parse(pattern).map_err(|why| {
        Fault::new(Kind::Usage, format!("{pattern:?} is no address pattern: {why}"))
            .hint("use a glob such as '**/done', a part of the address, or /a regex/")
    })
}

/// Time passes without a browser, too; but one that dies meanwhile is told.
async fn wait_for_time(cx: &Context, ms: u64) -> Result<Waited, Fault> {
    let passed = tokio::time::sleep(Duration::from_millis(ms));
    match cx.session().await {
        Ok(session) => tokio::select! {
            () = passed => {}
            gone = session.wait_gone() => return Err(gone),
        },
        Err(_) => passed.await,
    }
    Ok(Waited::Timeout { ms })
}

/// A number is a time; one that is out of range is an error, not a selector.
fn milliseconds(target: &str) -> Result<Option<u64>, Fault> {
    let looks_like_number = target.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        && target.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | '.' | 'e' | '+'));
    if !looks_like_number {
        return Ok(None);
    }
    match target.parse::<u64>() {
        Ok(ms) if ms <= LONGEST_MS => Ok(Some(ms)),
        _ => Err(Fault::new(Kind::BadNumber, format!("{target:?} is no time to wait"))
            .hint(format!("give whole milliseconds, 0 to {LONGEST_MS}"))),
    }
}

async fn wait_for_element(cx: &Context, selector: String, state: State) -> Result<Waited, Fault> {
    let (session, tab) = cx.tab().await?;
    let wanted = state;
    let state = match state {
        State::Visible => ElementState::Visible,
        State::Hidden => ElementState::Hidden,
        State::Attached => ElementState::Attached,
        State::Detached => ElementState::Detached,
    };
    let gone_is_fine = matches!(state, ElementState::Hidden | ElementState::Detached);
    match session.locator(&selector, &tab) {
        Ok(locator) => tab.page.wait_for_element(&locator, state, &cx.deadline()).await?,
        Err(fault) if fault.kind == Kind::StaleRef && gone_is_fine => {}
        Err(fault) => return Err(fault),
    }
    Ok(Waited::Selector { selector, state: wanted })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_times_and_absurd_ones_errors() {
        assert_eq!(milliseconds("500").unwrap(), Some(500));
        assert_eq!(milliseconds("#a").unwrap(), None);
        assert_eq!(milliseconds("e2e").unwrap(), None);
        for absurd in ["-1", "99999999999999999999", "1e9", "1.5"] {
            assert_eq!(milliseconds(absurd).unwrap_err().kind, Kind::BadNumber, "{absurd}");
        }
    }
}
