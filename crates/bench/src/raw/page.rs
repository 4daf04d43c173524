//! A tab in the raw browser: the fewest calls that bring a page to its load event and read it.

use anyhow::{Context, Result, bail};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::RawBrowser;

/// Reads tag, computed style, box and own text of every element and returns one line each. It is written to be
/// fast: it is what the product's snapshot is held against.
pub const WALK: &str = r"(() => {
    const lines = [];
    for (const element of document.querySelectorAll('*')) {
        const style = getComputedStyle(element);
        const box = element.getBoundingClientRect();
        let text = '';
        for (let node = element.firstChild; node; node = node.nextSibling)
            if (node.nodeType === 3) text += node.data;
        lines.push(`${element.tagName} ${style.display} ${style.visibility} ${style.cursor} ` +
            `${box.x},${box.y},${box.width},${box.height} ${text.trim()}`);
    }
    return lines.join('\n');
})()";

/// An attached tab.
#[derive(Debug)]
pub struct RawPage {
    context: Option<String>,
    target: String,
    session: String,
}

impl RawPage {
    /// A tab in the browser's default context.
    pub fn open(browser: &mut RawBrowser) -> Result<Self> {
        Self::in_context(browser, None)
    }

    /// A tab in a context of its own.
    pub fn open_isolated(browser: &mut RawBrowser) -> Result<Self> {
        let created = browser.wire()?.value(None, "Target.createBrowserContext", &json!({}))?;
        let context = text(&created, "browserContextId")?;
        Self::in_context(browser, Some(context))
    }

    fn in_context(browser: &mut RawBrowser, context: Option<String>) -> Result<Self> {
        let wire = browser.wire()?;
        let mut params = json!({"url": "about:blank"});
        if let Some(context) = &context {
            params["browserContextId"] = context.as_str().into();
        }
        let target = text(&wire.value(None, "Target.createTarget", &params)?, "targetId")?;
        let attach = json!({"targetId": target, "flatten": true});
        let session = text(&wire.value(None, "Target.attachToTarget", &attach)?, "sessionId")?;
        wire.call(Some(&session), "Page.enable", &json!({}))?;
        Ok(Self { context, target, session })
    }

    /// Navigates and waits for the load event.
    pub fn navigate(&self, browser: &mut RawBrowser, url: &str) -> Result<()> {
        let wire = browser.wire()?;
        // A late load event of the page before would end the wait too early.
        wire.forget_events();
        let answer = wire.value(Some(&self.session), "Page.navigate", &json!({"url": url}))?;
        if let Some(error) = answer["errorText"].as_str() {
            bail!("{url}: {error}");
        }
        wire.wait_for(&self.session, "Page.loadEventFired")
    }

    /// One `Runtime.evaluate`; the value.
    pub fn evaluate(&self, browser: &mut RawBrowser, expression: &str) -> Result<Value> {
        let params = json!({"expression": expression, "returnByValue": true});
        let mut answer = browser.wire()?.value(Some(&self.session), "Runtime.evaluate", &params)?;
        if answer.get("exceptionDetails").is_some() {
            bail!("{}", answer["exceptionDetails"]["exception"]["description"]);
        }
        Ok(answer["result"]["value"].take())
    }

    /// Moves the mouse to a point, presses and releases.
    pub fn click(&self, browser: &mut RawBrowser, (x, y): (f64, f64)) -> Result<()> {
        let wire = browser.wire()?;
        for (kind, button, count) in
            [("mouseMoved", "none", 0), ("mousePressed", "left", 1), ("mouseReleased", "left", 1)]
        {
            let event = json!({"type": kind, "x": x, "y": y, "button": button, "clickCount": count});
            wire.call(Some(&self.session), "Input.dispatchMouseEvent", &event)?;
        }
        Ok(())
    }

    /// The same in the middle of an element.
    pub fn click_on(&self, browser: &mut RawBrowser, selector: &str) -> Result<()> {
        let middle = format!(
            "(() => {{ const box = document.querySelector('{selector}').getBoundingClientRect(); \
            return [box.x + box.width / 2, box.y + box.height / 2] }})()"
        );
        let middle = self.evaluate(browser, &middle)?;
        let at = |index: usize| middle[index].as_f64().context("no point");
        self.click(browser, (at(0)?, at(1)?))
    }

    /// Types letters where the focus is, key by key.
    pub fn type_keys(&self, browser: &mut RawBrowser, text: &str) -> Result<()> {
        let wire = browser.wire()?;
        for letter in text.chars() {
            for kind in ["keyDown", "keyUp"] {
                let event = json!({"type": kind, "key": letter, "text": letter});
                wire.call(Some(&self.session), "Input.dispatchKeyEvent", &event)?;
            }
        }
        Ok(())
    }

    /// A PNG of what is in view, as it comes.
    pub fn screenshot(&self, browser: &mut RawBrowser) -> Result<Box<RawValue>> {
        browser.wire()?.call(Some(&self.session), "Page.captureScreenshot", &json!({"format": "png"}))
    }

    /// Inserts text where the focus is.
    pub fn insert_text(&self, browser: &mut RawBrowser, text: &str) -> Result<()> {
        let params = json!({"text": text});
        browser.wire()?.call(Some(&self.session), "Input.insertText", &params).map(drop)
    }

    /// The whole accessibility tree, not parsed.
    pub fn accessibility_tree(&self, browser: &mut RawBrowser) -> Result<Box<RawValue>> {
        browser.wire()?.call(Some(&self.session), "Accessibility.getFullAXTree", &json!({}))
    }

    /// Closes the tab, and its context.
    pub fn close(self, browser: &mut RawBrowser) -> Result<()> {
        let wire = browser.wire()?;
        match self.context {
            Some(context) => {
                wire.call(None, "Target.disposeBrowserContext", &json!({"browserContextId": context}))?
            }
            None => wire.call(None, "Target.closeTarget", &json!({"targetId": self.target}))?,
        };
        Ok(())
    }
}

fn text(answer: &Value, field: &str) -> Result<String> {
    answer[field].as_str().map(str::to_owned).with_context(|| format!("no {field} in {answer}"))
}
