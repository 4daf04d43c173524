//! `eval`: run JavaScript in the page.

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use surehand_session::{Fault, Kind};

use crate::{Context, Effect, Flaw, Report, Verb};

/// Run JavaScript in the page and print its result as JSON
///
/// Promises are awaited, and `await` works at the top level.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand eval 'document.links.length'\n  echo 'document.title' | surehand eval --stdin")]
pub struct Eval {
    /// The script; without one it is read from standard input
    #[arg(allow_hyphen_values = true, conflicts_with = "stdin")]
    pub script: Option<String>,
    /// Read the script from standard input
    #[arg(long)]
    #[serde(default)]
    pub stdin: bool,
}

/// A script's result.
#[derive(Debug, Serialize)]
pub struct Evaluated {
    result: Box<RawValue>,
    origin: String,
}

impl Report for Evaluated {
    fn text(&self) -> String {
        // A string is printed bare, so that it can be used in a shell.
        serde_json::from_str::<String>(self.result.get()).unwrap_or_else(|_| self.result.get().to_owned())
    }
}

impl Verb for Eval {
    const EFFECT: Effect = Effect::Acts;
    type Output = Evaluated;

    fn flaws(&self) -> Vec<Flaw> {
        let is_empty = self.script.as_ref().is_none_or(|script| script.trim().is_empty());
        is_empty.then(|| Flaw::new("/script", "there is no script")).into_iter().collect()
    }

    async fn run(self, cx: &Context) -> Result<Evaluated, Fault> {
        let script = self.script.ok_or_else(|| Fault::new(Kind::Usage, "there is no script")
            .hint("give it as an argument, or on standard input"))?;
        if script.trim().is_empty() {
            return Err(Fault::new(Kind::Usage, "the script is empty").hint("give it as an argument, or on standard input"));
        }
        let (_, tab) = cx.tab().await?;
        let evaluated = tab.page.evaluate_in_scope(&script, &cx.deadline()).await?;
        Ok(Evaluated { result: evaluated.result, origin: tab.page.url() })
    }

    fn wants_stdin(&self) -> bool {
        self.script.is_none()
    }

    fn take_stdin(&mut self, text: String) {
        self.script = Some(text);
    }
}
