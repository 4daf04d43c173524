//! `config`: every setting and where its value came from.

use std::process::ExitCode;

use surehand_session::Fault;

use crate::config::{Effective, keys, user_file};
use crate::printer::Printer;

pub(super) fn run(config: &Effective, printer: &Printer) -> Result<ExitCode, Fault> {
    let width = keys().map(str::len).max().unwrap_or_default();
    let mut lines = Vec::new();
    let mut data = serde_json::Map::new();
    for key in keys() {
        let found = config.values.get(key);
        let value = found.map(|(value, _)| serde_json::to_value(value).unwrap_or_default());
        let source = found.map_or_else(|| "default".to_owned(), |(_, source)| source.to_string());
        lines.push(format!(
            "{key:width$}  {}  ({source})",
            value.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string)
        ));
        data.insert(key.to_owned(), serde_json::json!({ "value": value, "source": source }));
    }
    if let Some(path) = user_file() {
        lines.push(format!("\nyour own file: {}", path.display()));
    }
    Ok(printer.result(&data.into(), &lines.join("\n")))
}
