//! The nine tools that playbooks call.

mod act;
mod fill_form;
mod interact;
mod javascript_tool;
mod navigate;
mod oc_assert;
mod page_screenshot;
mod read_page;
mod wait_for;

use std::time::Duration;

use surehand_session::{Fault, Kind};
use surehand_verbs::checked_address;

use crate::check::cut;
use crate::tool::Entry;

pub(crate) const TOOLS: &[Entry] = &[
    Entry::of::<navigate::Navigate>(),
    Entry::of::<interact::Interact>(),
    Entry::of::<act::Act>(),
    Entry::of::<fill_form::FillForm>(),
    Entry::of::<wait_for::WaitFor>(),
    Entry::of::<page_screenshot::PageScreenshot>(),
    Entry::of::<read_page::ReadPage>(),
    Entry::of::<javascript_tool::JavascriptTool>(),
    Entry::of::<oc_assert::OcAssert>(),
];

/// For navigation, waits and scripts.
const TIMEOUT: Duration = Duration::from_secs(30);

/// For everything that is done to an element.
const ACTION_TIMEOUT: Duration = Duration::from_secs(5);

/// Where these tools may go: to web pages. Files and the browser's own pages are a person's.
pub(crate) fn web_address(text: &str) -> Result<String, Fault> {
    let refused = |what: &str| {
        Fault::new(Kind::BadUrl, format!("{:?} is {what}; only web pages are opened", cut(text)))
            .hint("write it like http://127.0.0.1:8000/page")
    };
    // Not even whether a file is there is told.
    let Some(address) = checked_address(text)? else { return Err(refused("a file")) };
    let scheme = address.split(':').next().unwrap_or_default().to_ascii_lowercase();
    match scheme.as_str() {
        "http" | "https" => Ok(address),
        "about" if address.eq_ignore_ascii_case("about:blank") => Ok(address),
        _ => Err(refused(&format!("an address with {scheme}:"))),
    }
}
