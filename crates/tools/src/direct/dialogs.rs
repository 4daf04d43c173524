//! Dialogs: there is no tool that answers them, so what a call left open is dismissed, as the browser itself does when
//! who opened it hangs up, and told.

use surehand_page::{Aftermath, Dialog, Error, Page};
use surehand_session::Fault;

/// A page that waits for an answer can do nothing else.
pub(super) fn refuse_if_asked(page: &Page) -> Result<(), Fault> {
    match page.dialog() {
        Some(dialog) => Err(Error::DialogOpen(dialog).into()),
        None => Ok(()),
    }
}

/// Dismisses the open dialog, if there is one, and says so.
pub(super) async fn dismiss(page: &Page) -> Option<String> {
    let dialog = page.dialog()?;
    if let Err(error) = page.answer_dialog(false, None).await {
        tracing::debug!("the dialog did not close: {error}");
        return Some(format!("{}; it is still open.", said(&dialog)));
    }
    let instead = match dialog.kind.as_str() {
        "prompt" => "window.prompt = () => 'answer'",
        _ => "window.confirm = () => true",
    };
    Some(format!(
        "{}; it was dismissed. To accept it, run {instead} with browser_eval before.",
        said(&dialog)
    ))
}

/// What followed an action, one line each. Addresses are left out: a form may have put into them what was typed.
pub(super) async fn told(first: String, after: &Aftermath, page: &Page) -> String {
    let mut lines = vec![first];
    lines.extend(after.accepted.iter().map(|dialog| format!("{} and was accepted.", said(dialog))));
    lines.extend(dismiss(page).await);
    if let Some(failed) = &after.failed {
        lines.push(format!("The page that it led to could not be opened: {}.", failed.error));
    }
    if after.navigated.is_some() {
        lines.push("The page went to another address.".to_owned());
    }
    if after.closed {
        lines.push("The page closed its tab.".to_owned());
    }
    lines.join("\n")
}

fn said(dialog: &Dialog) -> String {
    let article = if dialog.kind == "alert" { "An" } else { "A" };
    format!("{article} {} dialog said {:?}", dialog.kind, dialog.message)
}
