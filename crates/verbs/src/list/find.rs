//! `find`: act on an element found by what it means.

use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use surehand_session::{Fault, Kind};

use crate::list::Command;
use crate::parse::LineParser;
use crate::{Context, Effect, Flaw, Report, Verb};

/// Find an element by role, text, label … and act on it
///
/// The action is any verb that takes a selector, with its own arguments; without one, click.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand find role button click --name Save\n  surehand find label Email fill ada@example.com\n  surehand find nth 2 'li a' click")]
pub struct Find {
    /// How to find it
    #[arg(value_enum)]
    pub by: By,
    /// What to look for; for nth, which one (0 is the first)
    #[arg(allow_hyphen_values = true)]
    pub value: String,
    /// The action and its arguments; for nth, the selector first
    #[arg(allow_hyphen_values = true)]
    #[serde(default)]
    pub action: Vec<String>,
    /// The accessible name, with role
    #[arg(long)]
    pub name: Option<String>,
    /// The whole text, letter by letter
    #[arg(long)]
    #[serde(default)]
    pub exact: bool,
}

/// How to find an element.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// By ARIA role, and --name
    Role,
    /// By visible text
    Text,
    /// By the label of a field
    Label,
    /// By the placeholder of a field
    Placeholder,
    /// By the alternative text of a picture
    Alt,
    /// By the title
    Title,
    /// By data-testid
    Testid,
    /// The first match of a selector
    First,
    /// The last match of a selector
    Last,
    /// One of the matches of a selector
    Nth,
}

/// The result of the action.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Found {
    data: Box<RawValue>,
    #[serde(skip)]
    text: String,
}

impl Report for Found {
    fn text(&self) -> String {
        self.text.clone()
    }
}

impl Verb for Find {
    /// What it runs has an effect of its own.
    const EFFECT: Effect = Effect::Manages;
    const NOTED: bool = false;
    type Output = Found;

    fn flaws(&self) -> Vec<Flaw> {
        match self.clone().command() {
            // The words of an action are written in a list, and a selector of its own is what was looked for.
            Ok(command) => command.flaws().into_iter().map(|flaw| self.own(&flaw)).collect(),
            Err(fault) => Flaw::of("/action", Err::<(), _>(fault)).into_iter().collect(),
        }
    }

    async fn run(self, cx: &Context) -> Result<Found, Fault> {
        let command = self.command()?;
        let output = command.execute(cx).await?;
        let data = output.json().map_err(|error| Fault::new(Kind::Internal, error.to_string()))?;
        Ok(Found { data, text: output.text() })
    }
}

impl Find {
    fn own(&self, flaw: &Flaw) -> Flaw {
        let is_value = flaw.pointer.ends_with("/selector") && self.by != By::Nth;
        Flaw::new(if is_value { "/value" } else { "/action" }, flaw.message.clone())
    }

    /// The command line that this stands for: the action with a selector for what was found.
    fn command(self) -> Result<Command, Fault> {
        let mut action = self.action.clone();
        let selector = self.selector(&mut action)?;
        if action.is_empty() {
            action.push("click".to_owned());
        }
        // Readings have their selector after a word of their own: `get text SELECTOR`, `is visible SELECTOR`.
        let place = if matches!(action[0].as_str(), "get" | "is") { 2 } else { 1 };
        let readings = ["text", "html", "value", "count", "box"];
        if readings.contains(&action[0].as_str()) {
            action.insert(0, "get".to_owned());
        }
        let place = if action[0] == "get" { 2 } else { place };
        if action.len() < place {
            return Err(Fault::new(Kind::Usage, format!("{:?} needs one word more", action.join(" ")))
                .hint("e.g. `surehand find role heading get text`"));
        }
        action.insert(place, selector);
        match LineParser::new().parse(&action)?.command {
            Command::Find(_) | Command::Batch(_) => {
                Err(Fault::new(Kind::Usage, format!("{:?} is no action on an element", action[0]))
                    .hint("actions are click, fill, check, hover, get text …"))
            }
            command => Ok(command),
        }
    }

    fn selector(&self, action: &mut Vec<String>) -> Result<String, Fault> {
        let value = if self.exact { format!("\"{}\"", self.value) } else { self.value.clone() };
        let kind = match self.by {
            By::Role => {
                let name = self.name.as_ref().map(|name| if self.exact { format!("\"{name}\"") } else { name.clone() });
                let named = name.map(|name| format!("[name={name}]")).unwrap_or_default();
                return Ok(format!("role={}{named}", self.value));
            }
            By::First => return Ok(format!("{} >> nth=0", self.value)),
            By::Last => return Ok(format!("{} >> nth=-1", self.value)),
            By::Nth => {
                let wrong = |why: &str| Fault::new(Kind::Usage, why.to_owned()).hint("surehand find nth 2 'li a' click");
                let number: i64 = self.value.parse().map_err(|_| wrong("nth needs a whole number"))?;
                if action.is_empty() {
                    return Err(wrong("nth needs a selector"));
                }
                return Ok(format!("{} >> nth={number}", action.remove(0)));
            }
            By::Text => "text",
            By::Label => "label",
            By::Placeholder => "placeholder",
            By::Alt => "alt",
            By::Title => "title",
            By::Testid => return Ok(format!("testid={}", self.value)),
        };
        Ok(format!("{kind}={value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_line;

    fn meant(line: &[&str]) -> String {
        let words: Vec<String> = line.iter().map(|word| (*word).to_owned()).collect();
        let Command::Find(find) = parse_line(&words).unwrap() else { panic!("not a find") };
        serde_json::to_string(&find.command().unwrap()).unwrap()
    }

    #[test]
    fn flags_stand_anywhere_and_every_action_works() {
        let click = r#"{"click":{"selector":"role=button[name=Save]""#;
        assert!(meant(&["find", "role", "button", "click", "--name", "Save"]).starts_with(click));
        assert!(meant(&["find", "--name", "Save", "role", "button"]).starts_with(click));
        assert!(meant(&["find", "role", "button", "--name", "Save", "click"]).starts_with(click));
        let fill = meant(&["find", "label", "Email", "fill", "a@b"]);
        assert_eq!(fill, r#"{"fill":{"selector":"label=Email","value":"a@b"}}"#);
        let read = meant(&["find", "text", "Total", "--exact", "get", "text"]);
        assert_eq!(read, r#"{"get":{"what":{"text":{"selector":"text=\"Total\""}}}}"#);
        assert!(meant(&["find", "nth", "-1", "li a", "hover"]).contains("li a >> nth=-1"));
        for line in [
            &["find", "first", ".y", "click", "--button", "right"][..],
            &["find", "first", "--button", "right", ".y", "click"],
            &["find", "--button=right", "first", ".y", "click"],
        ] {
            assert!(meant(line).contains(r#""button":"right""#), "{line:?}");
        }
        assert!(meant(&["find", "label", "A", "type", "x", "--delay", "5"]).contains(r#""delay":5"#));
        assert!(meant(&["find", "label", "A", "fill", "-5"]).contains(r#""value":"-5""#));
        assert!(meant(&["find", "role", "button", "click", "--trial", "--name", "A"]).contains(r#""trial":true"#));
    }
}
