//! The member list (`crates/cdp/protocol/members.txt`): which commands and events Surehand uses.
//!
//! One entry per line, `#` starts a comment:
//! - `Page.navigate`: a command or event with all its fields;
//! - `Page.navigate{url,frameId}`: only these parameters (of a command) or fields (of an event);
//! - `Page.navigate -> {loaderId}`: only these fields of the answer; both forms combine;
//! - `type Network.Request{url,method}`: only these fields of a type, wherever it is reached;
//! - `type Network.Headers = serde_json::Value`: this Rust type instead of a generated one.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};

#[derive(Debug, Default, PartialEq)]
pub struct Members {
    /// By `Domain.name`.
    pub members: BTreeMap<String, Member>,
    /// By `Domain.Type`.
    pub types: BTreeMap<String, TypeRule>,
}

/// `None` keeps every field.
#[derive(Debug, Default, PartialEq)]
pub struct Member {
    pub fields: Option<Vec<String>>,
    pub returns: Option<Vec<String>>,
}

#[derive(Debug, PartialEq)]
pub enum TypeRule {
    Only(Vec<String>),
    Rust(String),
}

impl Members {
    pub fn parse(text: &str) -> Result<Self> {
        let mut list = Self::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if !line.is_empty() {
                list.add(line).with_context(|| format!("members.txt:{}: `{line}`", index + 1))?;
            }
        }
        Ok(list)
    }

    fn add(&mut self, line: &str) -> Result<()> {
        let fresh = if let Some(rule) = line.strip_prefix("type ") {
            let (name, rule) = type_rule(rule)?;
            self.types.insert(name, rule).is_none()
        } else {
            let (head, returns) = match line.split_once("->") {
                Some((head, returns)) => (head, Some(braced(returns.trim())?)),
                None => (line, None),
            };
            let (name, fields) = restricted(head)?;
            self.members.insert(name, Member { fields, returns }).is_none()
        };
        ensure!(fresh, "listed twice");
        Ok(())
    }
}

fn type_rule(rule: &str) -> Result<(String, TypeRule)> {
    if let Some((name, rust)) = rule.split_once('=') {
        return Ok((qualified(name)?, TypeRule::Rust(rust.trim().to_owned())));
    }
    match restricted(rule)? {
        (name, Some(fields)) => Ok((name, TypeRule::Only(fields))),
        (_, None) => bail!("a type needs `{{fields}}` or `= RustType`; without either the line says nothing"),
    }
}

fn restricted(text: &str) -> Result<(String, Option<Vec<String>>)> {
    match text.find('{') {
        Some(at) => Ok((qualified(&text[..at])?, Some(braced(text[at..].trim())?))),
        None => Ok((qualified(text)?, None)),
    }
}

fn braced(text: &str) -> Result<Vec<String>> {
    let inner = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).context("expected `{a,b}`")?;
    Ok(inner.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect())
}

fn qualified(name: &str) -> Result<String> {
    let name = name.trim();
    let plain = |part: &str| !part.is_empty() && part.chars().all(|char| char.is_ascii_alphanumeric());
    ensure!(
        name.split_once('.').is_some_and(|(domain, member)| plain(domain) && plain(member)),
        "expected `Domain.member`"
    );
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        let list = Members::parse(
            "# navigation\n\
             Page.enable\n\
             Page.navigate{url, frameId} -> {loaderId}  # trimmed\n\
             type Network.Request{url}\n\
             type Network.Headers = Vec<(String, String)>\n",
        )
        .unwrap();
        assert_eq!(list.members["Page.enable"], Member::default());
        let navigate = &list.members["Page.navigate"];
        assert_eq!(navigate.fields.as_deref(), Some(&["url".to_owned(), "frameId".to_owned()][..]));
        assert_eq!(navigate.returns.as_deref(), Some(&["loaderId".to_owned()][..]));
        assert_eq!(list.types["Network.Request"], TypeRule::Only(vec!["url".to_owned()]));
        assert_eq!(list.types["Network.Headers"], TypeRule::Rust("Vec<(String, String)>".to_owned()));
    }

    #[test]
    fn mistakes_name_their_line() {
        for text in ["Page", "Page.a{b", "type Page.Frame", "Page.a\nPage.a", "Page.a -> b"] {
            let error = format!("{:#}", Members::parse(text).unwrap_err());
            assert!(error.starts_with("members.txt:"), "{text}: {error}");
        }
    }
}
