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
