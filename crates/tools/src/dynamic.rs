//! `toolsets`: a client chooses its sets of tools while it runs, so that it reads only the lists that it needs.
//!
//! Which sets a client has is known only to the server that it talks to: that one calls [`Toolsets::choose`].

use schemars::JsonSchema;
use serde::Deserialize;
use surehand_session::{Fault, Kind};

use crate::{Answer, Hints, Tool, ToolContext, Toolset};

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Toolsets {
    /// Sets to offer from now on: page, direct, verbs
    #[serde(default)]
    enable: Vec<String>,
    /// Sets to take away
    #[serde(default)]
    disable: Vec<String>,
}

impl Tool for Toolsets {
    const NAME: &'static str = "toolsets";
    const DESCRIPTION: &'static str = "Offer or take away sets of tools; the list of tools changes. Without arguments, tells which are offered.";
    const HINTS: Hints = Hints::SETS;

    async fn call(self, _: &ToolContext) -> Result<Answer, Fault> {
        Err(Fault::new(Kind::Usage, "there is no list of tools to change here")
            .hint("a client of an MCP server with the set dynamic has one"))
    }
}

impl Toolsets {
    /// Reads the arguments of a call.
    pub fn read(arguments: serde_json::Value) -> Result<Self, Fault> {
        crate::tool::read(arguments)
    }

    /// The sets that a client has after this. It keeps this tool, so that it can change its mind.
    pub fn choose(&self, offered: &[Toolset]) -> Result<Vec<Toolset>, Fault> {
        let (enabled, disabled) = (named(&self.enable)?, named(&self.disable)?);
        if disabled.contains(&Toolset::Dynamic) {
            return Err(Fault::new(Kind::Usage, "dynamic stays: without it nothing could be offered again")
                .hint("take away another set"));
        }
        let mut chosen = offered.to_vec();
        chosen.retain(|set| !disabled.contains(set));
        for set in enabled {
            if !chosen.contains(&set) {
                chosen.push(set);
            }
        }
        Ok(chosen)
    }
}

fn named(names: &[String]) -> Result<Vec<Toolset>, Fault> {
    names.iter().map(|name| Toolset::named(name)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn choose(arguments: serde_json::Value) -> Result<Vec<Toolset>, Fault> {
        Toolsets::read(arguments)?.choose(&[Toolset::Page, Toolset::Dynamic])
    }

    #[test]
    fn sets_come_and_go() {
        let chosen = choose(json!({ "enable": ["verbs", "page"], "disable": ["page"] })).unwrap();
        assert_eq!(chosen, [Toolset::Dynamic, Toolset::Verbs, Toolset::Page]);
        assert_eq!(choose(json!({})).unwrap(), [Toolset::Page, Toolset::Dynamic]);
    }

    #[test]
    fn what_is_no_set_is_refused_by_name() {
        assert!(choose(json!({ "enable": ["verb"] })).unwrap_err().message.contains("\"verb\""));
        assert!(choose(json!({ "disable": ["dynamic"] })).is_err());
        assert!(choose(json!({ "on": [] })).is_err());
    }
}
