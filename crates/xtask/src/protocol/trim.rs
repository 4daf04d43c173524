//! Cuts a protocol down to the member list and the types that its members reach. Cutting what is already
//! cut changes nothing, so the committed copy can be checked against the list without a browser.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};

use super::members::{Members, TypeRule};
use super::reach::Reach;
use super::schema::{Command, Domain, Event, Field, Protocol, Type};

pub fn trim(source: &Protocol, members: &Members) -> Result<Protocol> {
    let mut cut = Cut { source, members, domains: BTreeMap::new(), open: Vec::new() };
    for name in members.members.keys() {
        cut.member(name).with_context(|| format!("member `{name}`"))?;
    }
    let reached = cut.types()?;
    for name in members.types.keys() {
        ensure!(reached.contains(name), "type `{name}` has a rule, but no member reaches it");
    }
    let mut domains: Vec<Domain> = cut.domains.into_values().collect();
    for domain in &mut domains {
        domain.types.sort_by(|a, b| a.id.cmp(&b.id));
    }
    let trimmed = Protocol { browser: source.browser.clone(), domains };
    for name in Reach::of(&trimmed).sent {
        let fields = |protocol: &Protocol| protocol.find_type(name).map(|found| found.properties.clone());
        let (whole, kept) = (fields(source).unwrap_or_default(), fields(&trimmed).unwrap_or_default());
        required_are_kept(&whole, &kept).with_context(|| format!("type `{name}`"))?;
    }
    Ok(trimmed)
}

struct Cut<'a> {
    source: &'a Protocol,
    members: &'a Members,
    domains: BTreeMap<String, Domain>,
    /// Types that were met and not looked at yet.
    open: Vec<String>,
}

impl Cut<'_> {
    fn member(&mut self, qualified: &str) -> Result<()> {
        let (domain, name) = qualified.split_once('.').context("expected `Domain.member`")?;
        let rule = self.members.members.get(qualified).context("not in the list")?;
        let source = self.source;
        let found = source.domain(domain).context("no such domain")?;
        let (fields, returns) = (rule.fields.as_deref(), rule.returns.as_deref());
        if let Some(command) = found.commands.iter().find(|command| command.name == name) {
            let parameters = self.fields(domain, &command.parameters, fields)?;
            required_are_kept(&command.parameters, &parameters)?;
            let returns = self.fields(domain, &command.returns, returns)?;
            self.domain(domain).commands.push(Command { name: name.to_owned(), parameters, returns });
        } else {
            let event = found.events.iter().find(|event| event.name == name);
            let event = event.context("no such command or event")?;
            ensure!(returns.is_none(), "an event has no answer");
            let parameters = self.fields(domain, &event.parameters, fields)?;
            self.domain(domain).events.push(Event { name: name.to_owned(), parameters });
        }
        Ok(())
    }

    /// Follows references until nothing new turns up; answers every type that was reached.
    fn types(&mut self) -> Result<BTreeSet<String>> {
        let mut reached = BTreeSet::new();
        while let Some(qualified) = self.open.pop() {
            if !reached.insert(qualified.clone()) {
                continue;
            }
            let only = match self.members.types.get(&qualified) {
                Some(TypeRule::Rust(_)) => continue,
                Some(TypeRule::Only(fields)) => Some(fields.as_slice()),
                None => None,
            };
            let (domain, id) = qualified.split_once('.').context("expected `Domain.Type`")?;
            let source = self.source;
            let found = source.find_type(&qualified).with_context(|| format!("no type `{qualified}`"))?;
            let properties = self
                .fields(domain, &found.properties, only)
                .with_context(|| format!("type `{qualified}`"))?;
            let shape = found.shape.qualified(domain);
            self.open.extend(shape.target().map(str::to_owned));
            self.domain(domain).types.push(Type { id: id.to_owned(), shape, properties });
        }
        Ok(reached)
    }

    fn fields(&mut self, domain: &str, fields: &[Field], only: Option<&[String]>) -> Result<Vec<Field>> {
        for name in only.unwrap_or_default() {
            ensure!(has(fields, name), "no field `{name}`");
        }
        let kept = fields.iter().filter(|field| only.is_none_or(|only| only.contains(&field.name)));
        let kept: Vec<Field> =
            kept.map(|field| Field { shape: field.shape.qualified(domain), ..field.clone() }).collect();
        self.open.extend(kept.iter().filter_map(|field| field.shape.target()).map(str::to_owned));
        Ok(kept)
    }

    fn domain(&mut self, name: &str) -> &mut Domain {
        let fresh = || Domain { name: name.to_owned(), ..Domain::default() };
        self.domains.entry(name.to_owned()).or_insert_with(fresh)
    }
}

/// A browser refuses a call that lacks a required field; what it sends may be cut freely.
fn required_are_kept(whole: &[Field], kept: &[Field]) -> Result<()> {
    for field in whole.iter().filter(|field| !field.optional) {
        ensure!(has(kept, &field.name), "`{}` is required and cannot be left out", field.name);
    }
    Ok(())
}

fn has(fields: &[Field], name: &str) -> bool {
    fields.iter().any(|field| field.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(list: &str) -> Result<Protocol> {
        let source = serde_json::json!({"domains": [
            {"domain": "Page", "description": "dropped",
             "types": [
                {"id": "Frame", "type": "object", "properties": [
                    {"name": "id", "type": "string"}, {"name": "tree", "$ref": "Tree"}]},
                {"id": "Tree", "type": "object", "properties": [{"name": "depth", "type": "integer"}]},
                {"id": "Unused", "type": "object"}],
             "commands": [
                {"name": "show", "parameters": [
                    {"name": "frame", "$ref": "Frame"}, {"name": "fast", "type": "boolean", "optional": true}]},
                {"name": "other"}],
             "events": [
                {"name": "shown", "parameters": [
                    {"name": "frames", "type": "array", "items": {"$ref": "Frame"}}]}]},
            {"domain": "Unused"},
        ]});
        trim(&serde_json::from_value(source)?, &Members::parse(list)?)
    }

    fn error(list: &str) -> String {
        format!("{:#}", cut(list).unwrap_err())
    }

    #[test]
    fn only_what_is_reached_stays() {
        let cut = cut("Page.shown\ntype Page.Frame{id}").unwrap();
        assert_eq!(
            cut.to_text().unwrap().lines().collect::<Vec<_>>(),
            [
                r#"{"browser":"","domains":["#,
                r#"{"domain":"Page","types":["#,
                r#"{"id":"Frame","type":"object","properties":[{"name":"id","type":"string"}]}"#,
                r#"],"events":["#,
                r#"{"name":"shown","parameters":[{"name":"frames","type":"array","items":{"$ref":"Page.Frame"}}]}"#,
                r#"]}"#,
                r#"]}"#,
            ]
        );
    }

    #[test]
    fn cutting_twice_changes_nothing() {
        let list = "Page.show{frame}\nPage.shown";
        let once = cut(list).unwrap();
        let text = once.to_text().unwrap();
        assert_eq!(serde_json::from_str::<Protocol>(&text).unwrap(), once);
        assert_eq!(trim(&once, &Members::parse(list).unwrap()).unwrap(), once);
    }

    #[test]
    fn a_list_that_does_not_fit_is_refused() {
        assert!(error("Page.gone").contains("no such command or event"));
        assert!(error("Gone.show").contains("no such domain"));
        assert!(error("Page.shown{gone}").contains("no field `gone`"));
        assert!(error("Page.other\ntype Page.Tree{depth}").contains("no member reaches it"));
        assert!(error("Page.show{fast}").contains("`frame` is required"));
        assert!(error("Page.show\ntype Page.Frame{id}").contains("type `Page.Frame`: `tree` is required"));
        assert!(error("Page.shown -> {frames}").contains("an event has no answer"));
    }
}
