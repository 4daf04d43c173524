//! `read_page`: the page as a tree of roles and names, as HTML, or as text; never more than a model can read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_page::SnapshotOptions;
use surehand_session::{Fault, RenderedSnapshot};
use surehand_verbs::Flaw;

use super::ACTION_TIMEOUT;
use crate::{Answer, Hints, Misfit, Tool, ToolContext};

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadPage {
    /// ax: roles, names and references (default)
    #[serde(default)]
    mode: Mode,
    /// For ax: interactive for what can be acted on
    filter: Option<Filter>,
    /// For ax: levels
    depth: Option<u32>,
    /// Only this part: reference or selector
    #[serde(alias = "ref_id", alias = "refId")]
    selector: Option<String>,
    tab_id: Option<String>,
    /// Where to go on in a long page, in characters
    #[serde(default)]
    offset: usize,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    #[serde(alias = "dom")]
    Ax,
    Html,
    Text,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Filter {
    All,
    Interactive,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Read {
    tab_id: String,
    url: String,
    mode: Mode,
    content: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
}

/// More than this at once is not read by a model, only paid for.
const LONGEST: usize = 50_000;

impl Tool for ReadPage {
    const NAME: &'static str = "read_page";
    const DESCRIPTION: &'static str = "Read the page: ax (tree of roles and names with references like e5 to act on), html or text. Long pages come in parts: go on at nextOffset.";
    const HINTS: Hints = Hints::READS;

    fn misfits(&self) -> Vec<Misfit> {
        if self.mode == Mode::Ax {
            return Vec::new();
        }
        let given = [("filter", self.filter.is_some()), ("depth", self.depth.is_some())];
        given.iter().filter(|(_, given)| *given).map(|(name, _)| Misfit::idle(name, "it is for ax")).collect()
    }

    fn doubts(&self) -> Vec<Misfit> {
        let flaw = |selector: &String| Flaw::of_selector("/selector", selector).map(Misfit::from);
        self.selector.iter().filter_map(flaw).collect()
    }

    async fn call(self, cx: &ToolContext) -> Result<Answer, Fault> {
        let (session, tab) = cx.tab(self.tab_id.as_deref()).await?;
        cx.refuse_dialog(&tab)?;
        let deadline = cx.deadline(None, ACTION_TIMEOUT);
        let root = self.selector.as_deref().map(|selector| session.locator(selector, &tab)).transpose()?;
        let whole = match self.mode {
            Mode::Ax => {
                let interactive = self.filter == Some(Filter::Interactive);
                let options = SnapshotOptions { interactive, depth: self.depth, root, ..Default::default() };
                let snapshot = tab.page.snapshot(&options, &deadline).await?;
                RenderedSnapshot::new(&snapshot, &mut session.refs(), false).text
            }
            Mode::Html | Mode::Text => {
                let root = root.unwrap_or_else(|| surehand_page::Locator::parse("html"));
                let what = if self.mode == Mode::Html { "outer-html" } else { "text" };
                tab.page.read(&root, what, None, &deadline).await?.text()
            }
        };
        // Half a secret is none that could be recognised: it is masked before the text is cut.
        let whole = cx.secrets.mask(&whole);
        let (content, next_offset) = part(&whole, self.offset);
        let total = next_offset.map(|_| whole.chars().count());
        let read =
            Read { tab_id: tab.id(), url: tab.page.url(), mode: self.mode, content, next_offset, total };
        let answer = Answer::json(&read)?;
        // Text and structure would say the same large thing twice.
        Ok(Answer { structured: None, ..answer })
    }
}

/// A part of a text that is not too long, cut at a line if there is one, and where the next begins.
fn part(text: &str, offset: usize) -> (String, Option<usize>) {
    let rest: String = text.chars().skip(offset).collect();
    if rest.chars().count() <= LONGEST {
        return (rest, None);
    }
    let cut: String = rest.chars().take(LONGEST).collect();
    let cut = match cut.rfind('\n') {
        Some(end) if end > LONGEST / 2 => cut[..=end].to_owned(),
        _ => cut,
    };
    let next = offset + cut.chars().count();
    (cut, Some(next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_comes_in_parts_that_join_to_the_whole() {
        let text: String = (0..20_000).map(|n| format!("line {n} ä\n")).collect();
        let (mut joined, mut offset) = (String::new(), 0);
        loop {
            let (part, next) = part(&text, offset);
            assert!(part.chars().count() <= LONGEST);
            joined.push_str(&part);
            match next {
                Some(next) => offset = next,
                None => break,
            }
        }
        assert_eq!(joined, text);
    }
}
