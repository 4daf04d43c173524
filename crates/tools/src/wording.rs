//! What a failure advises, in the words of who reads it: an agent has tools, not a shell.
//!
//! The engine advises commands. Which advice a kind of failure has for an agent is told here, once, for the page tools and for
//! the verbs as tools; the direct tools have their own.

use surehand_session::{Fault, Kind};

use crate::Toolset;

/// The same failure with advice for an agent that has this set of tools.
pub(crate) fn of(mut fault: Fault, set: Toolset) -> Fault {
    let shell = fault.hints.len();
    fault.hints.retain(|hint| !is_for_a_shell(hint));
    let lost = fault.hints.len() < shell;
    if (lost || fault.hints.is_empty())
        && let Some(advice) = advice(fault.kind, set)
    {
        fault.hints.push(advice.to_owned());
    }
    fault
}

/// Commands and their flags are of no use to who has no shell.
fn is_for_a_shell(hint: &str) -> bool {
    hint.contains("surehand ") || hint.contains("--") || hint.contains("for the shell")
}

fn advice(kind: Kind, set: Toolset) -> Option<&'static str> {
    let (page, verbs) = words(kind)?;
    Some(if set == Toolset::Verbs { verbs } else { page })
}

/// For the page tools, and for the verbs.
fn words(kind: Kind) -> Option<(&'static str, &'static str)> {
    Some(match kind {
        Kind::NotFound => ("look at the page with read_page", "look at the page with snapshot"),
        Kind::StaleRef | Kind::Detached | Kind::NavigatedAway => (
            "the page changed: take new references with read_page",
            "the page changed: take new references with snapshot",
        ),
        Kind::OtherTab => ("give that tab as tabId", "switch to that tab with tab"),
        Kind::BadSelector => same("a selector is a reference (e5), CSS, xpath=…, text=…, role=…, label=… …"),
        Kind::NotStable => (
            "wait until the animation is over, or give more time with timeout",
            "wait until the animation is over, then try again",
        ),
        Kind::Disabled => (
            "do first what enables it, or give more time with timeout",
            "do first what enables it, or wait for that",
        ),
        Kind::OutOfView => {
            ("give a point inside, or scroll first with act", "give a point inside, or scroll first")
        }
        Kind::WrongElement => (
            "look at what it is with read_page, and choose what fits it",
            "look at what it is with snapshot, and choose the verb that fits it",
        ),
        Kind::NotChanged => (
            "the page set it back or did not react: look with read_page",
            "the page set it back or did not react: look with snapshot",
        ),
        Kind::Timeout => (
            "look at the page with read_page, or give more time with timeout",
            "look at the page with snapshot, and wait for what is missing",
        ),
        Kind::PageUnresponsive => (
            "its own script holds it up: lead it elsewhere with navigate",
            "its own script holds it up: lead it elsewhere with open, or close it with tab",
        ),
        Kind::DialogOpen => (
            "answer it with act: \"accept the dialog\", \"dismiss the dialog\" or \"answer the dialog with TEXT\"",
            "answer it with dialog",
        ),
        Kind::NoDialog => same("alerts are accepted by themselves"),
        Kind::NoHistory => ("go to an address with navigate", "go to an address with open"),
        Kind::NoSession | Kind::BrowserGone => {
            ("start with navigate, which opens a new browser if there is none", "start with open")
        }
        Kind::NoTab | Kind::TabClosed => (
            "leave tabId out for the active tab, or use a tabId that a call answered",
            "see the open tabs with tab",
        ),
        Kind::PageCrashed => ("load it again: navigate to reload", "load it again with reload"),
        Kind::FrameGone => same("the frame went with its page: look at the page anew"),
        Kind::ScriptError => (
            "the script runs in the page: see what is there with read_page",
            "the script runs in the page: see what is there with snapshot",
        ),
        Kind::DownloadFailed | Kind::NavigationFailed => {
            ("try it again, or check the address", "see what the browser asked for with network")
        }
        Kind::UnreachableHost => same("check that the server runs, and its port"),
        Kind::TlsError => same("if the server speaks plain HTTP write http://…"),
        Kind::LoginNeeded => (
            "the server wants a name and a password: ask the person for them",
            "give a name and a password with set",
        ),
        Kind::NoItem => ("nothing is kept there", "see what is kept with storage"),
        Kind::NoRequest => ("old requests are forgotten", "see the requests with network"),
        Kind::BadSetting => same("the names are the browser's"),
        Kind::OptionConflict => same("the session was started with other options, which stay"),
        Kind::NoBrowser | Kind::BrowserFailed => {
            same("the person who runs this server can find out why with its command doctor")
        }
        Kind::EndpointUnreachable | Kind::NotABrowser => {
            same("the browser must have been started with an open debugging port")
        }
        _ => return None,
    })
}

fn same(words: &'static str) -> (&'static str, &'static str) {
    (words, words)
}

#[cfg(test)]
mod tests {
    use surehand_page::{Dialog, Error};

    use super::*;

    #[test]
    fn no_advice_names_the_command_line() {
        for kind in Kind::ALL.iter().copied() {
            for set in [Toolset::Page, Toolset::Verbs] {
                let shell = Fault::new(kind, "it failed").hint("try `surehand snapshot -i` or --timeout MS");
                let worded = of(shell, set);
                assert!(worded.hints.iter().all(|hint| !is_for_a_shell(hint)), "{:?}", worded.hints);
            }
        }
    }

    #[test]
    fn an_agent_is_told_what_it_has() {
        let text = || "x".to_owned();
        let dialog = Dialog { kind: "confirm".to_owned(), message: text(), default_prompt: None };
        for (error, page, verbs) in [
            (Error::NotFound { what: text() }, "read_page", "snapshot"),
            (Error::Stale { what: text() }, "read_page", "snapshot"),
            (Error::DialogOpen(dialog), "accept the dialog", "dialog"),
            (Error::TabClosed, "tabId", "tab"),
            (Error::NoHistory { direction: "back" }, "navigate", "open"),
        ] {
            let said = |set| of(Fault::from(error.clone()), set).hints.join("\n");
            assert!(said(Toolset::Page).contains(page), "{}", said(Toolset::Page));
            assert!(said(Toolset::Verbs).contains(verbs), "{}", said(Toolset::Verbs));
        }
    }

    #[test]
    fn advice_that_needs_no_shell_stays() {
        let fault = of(Fault::new(Kind::BadValue, "no").hint("give true or false"), Toolset::Page);
        assert_eq!(fault.hints, ["give true or false"]);
    }
}
