//! Failures as these tools tell them: a plain text that speaks of these tools, not of the command line.

use surehand_session::{Fault, Kind};

use crate::Answer;

/// Turns the failure of a call on a target into an answer.
pub(super) fn told(called: Result<Answer, Fault>, target_id: Option<&str>) -> Result<Answer, Fault> {
    Ok(called.unwrap_or_else(|mut fault| {
        if let (Kind::TabClosed, Some(id)) = (fault.kind, target_id) {
            fault.message = format!("target {id:?} was closed");
        }
        answer(&fault)
    }))
}

/// A failure as an answer.
pub(super) fn answer(fault: &Fault) -> Answer {
    let mut fault = fault.clone();
    fault.hints = hints(&fault);
    let text = match fault.message.starts_with("Error: ") {
        true => fault.message.clone(),
        false => format!("Error: {}", fault.message),
    };
    let text = fault.hints.iter().fold(text, |text, hint| format!("{text}\n{hint}"));
    Answer { text, ..Answer::failure(&fault) }
}

fn hints(fault: &Fault) -> Vec<String> {
    let hint = match fault.kind {
        // These speak of nothing that is not here.
        Kind::Usage
        | Kind::BadUrl
        | Kind::MissingFile
        | Kind::UnwritablePath
        | Kind::UnknownHost
        | Kind::UnreachableHost
        | Kind::NavigationAborted
        | Kind::NotJson
        | Kind::NoOption
        | Kind::BadValue => return fault.hints.clone(),
        Kind::StaleRef if fault.message.contains("browser_snapshot") => return Vec::new(),
        Kind::StaleRef | Kind::Detached | Kind::NavigatedAway | Kind::FrameGone => {
            "Take a new browser_snapshot and use its UIDs."
        }
        Kind::NotVisible => "Make it visible first (open its menu or dialog), or choose another UID.",
        Kind::NotStable => "Wait until the page is at rest, then try again.",
        Kind::Covered => "Close or wait for what is in the way, then try again.",
        Kind::Disabled | Kind::NotEditable => "Do first what enables it, or choose another UID.",
        Kind::WrongElement => {
            "browser_fill is for text fields, editors and lists (a list takes the label of one of its options); \
             browser_click is for boxes, buttons and links."
        }
        Kind::DialogOpen => {
            "A person at the browser can answer it; browser_navigate dismisses it and goes elsewhere."
        }
        Kind::PageUnresponsive => "Try again later, or lead the tab elsewhere with browser_navigate.",
        Kind::PageCrashed => "Load it again with browser_navigate.",
        Kind::TlsError => "If the server speaks plain HTTP write http://…",
        Kind::NoTab | Kind::TabClosed | Kind::BrowserGone => "See what is open with browser_list.",
        Kind::EndpointUnreachable | Kind::NotABrowser => {
            "The browser must be started with --remote-debugging-port=PORT; browser_url is then http://127.0.0.1:PORT."
        }
        _ => return Vec::new(),
    };
    vec![hint.to_owned()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_plain_texts_without_the_command_line() {
        for kind in Kind::ALL.iter().copied() {
            let answer = answer(&Fault::new(kind, "it failed"));
            assert!(answer.is_error && answer.text.starts_with("Error: it failed"), "{}", answer.text);
            assert!(!answer.text.contains("surehand "), "{}", answer.text);
        }
        let twice = answer(&Fault::new(Kind::ScriptError, "Error: boom"));
        assert_eq!(twice.text, "Error: boom");
    }
}
