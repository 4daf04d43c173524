//! `javascript_tool`: run JavaScript in the page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use surehand_guard::{SecretPlaces, Writing};
use surehand_page::Error;
use surehand_session::{Fault, Kind};

use super::TIMEOUT;
use crate::{Answer, Hints, Misfit, Tool, ToolContext};

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct JavascriptTool {
    /// An expression or statements; the last value counts, promises are awaited
    #[serde(alias = "text")]
    code: String,
    tab_id: Option<String>,
    /// Milliseconds, default 30000
    timeout: Option<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Evaluated {
    tab_id: String,
    result: Box<RawValue>,
}

impl Tool for JavascriptTool {
    const NAME: &'static str = "javascript_tool";
    const DESCRIPTION: &'static str = "Run JavaScript in the page and return its value as JSON.";
    const HINTS: Hints = Hints::ACTS;
    const SECRETS: SecretPlaces = &[(&["code"], Writing::JavaScript), (&["text"], Writing::JavaScript)];

    fn doubts(&self) -> Vec<Misfit> {
        let empty = || Misfit::value("/code".to_owned(), "is empty".to_owned());
        self.code.trim().is_empty().then(empty).into_iter().collect()
    }

    async fn call(self, cx: &ToolContext) -> Result<Answer, Fault> {
        if self.code.trim().is_empty() {
            return Err(Fault::new(Kind::Usage, "code is empty").hint("give an expression or statements"));
        }
        let (_, tab) = cx.tab(self.tab_id.as_deref()).await?;
        cx.refuse_dialog(&tab)?;
        tab.page.begin_action();
        let deadline = cx.deadline(self.timeout, TIMEOUT);
        let value = match tab.page.evaluate_in_scope(&self.code, &deadline).await {
            Err(Error::Script { message }) if is_function_body(&message) => {
                let wrapped = format!("(async () => {{ {}\n }})()", self.code);
                tab.page.evaluate_in_scope(&wrapped, &deadline).await?
            }
            other => other?,
        };
        // Text and structure would say the same, perhaps large, thing twice: text alone.
        let text = serde_json::to_string(&Evaluated { tab_id: tab.id(), result: value.result })
            .map_err(|error| Fault::new(Kind::Internal, error.to_string()))?;
        Ok(Answer::text(text))
    }
}

/// A `return` outside of a function: the caller thinks of the code as a function's body. It was not run yet.
fn is_function_body(message: &str) -> bool {
    message.starts_with("SyntaxError: Illegal return statement")
}
