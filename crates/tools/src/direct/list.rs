//! `browser_list`

use schemars::JsonSchema;
use serde::Deserialize;
use surehand_session::{BorrowedTarget, Fault};

use super::failure;
use crate::{Answer, Hints, Tool, ToolContext};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct List {
    /// Debugging address of the browser, e.g. http://127.0.0.1:9222
    browser_url: String,
}

impl Tool for List {
    const NAME: &'static str = "browser_list";
    const DESCRIPTION: &'static str = "List the page targets (tabs, windows) of a browser that was started with remote debugging, with their target ids.";
    const HINTS: Hints = Hints::READS;

    async fn call(self, cx: &ToolContext) -> Result<Answer, Fault> {
        let pages = cx.borrowed.pages(&self.browser_url).await;
        failure::told(pages.map(|pages| Answer::text(listing(&pages))), None)
    }
}

fn listing(pages: &[BorrowedTarget]) -> String {
    if pages.is_empty() {
        return "No page targets found.".to_owned();
    }
    let one = |page: &BorrowedTarget| {
        let first = format!("[{}] {}", page.id, page.title);
        format!("{}\n  {}", first.trim_end(), page.url)
    };
    pages.iter().map(one).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_listed_with_a_blank_line_between() {
        let page = |id: &str| BorrowedTarget {
            id: id.into(),
            kind: "page".into(),
            title: format!("Title {id}"),
            url: format!("http://h/{id}"),
        };
        assert_eq!(
            listing(&[page("A"), page("B")]),
            "[A] Title A\n  http://h/A\n\n[B] Title B\n  http://h/B"
        );
        assert_eq!(listing(&[]), "No page targets found.");
    }
}
