//! A suite as one HTML page that needs nothing else: no server, no network, no framework.
//!
//! What pages said is only ever text of elements and attributes, which the template escapes; no script and no style
//! holds any of it. The page's own policy allows the one style and the one script below and pictures from `data:`,
//! and nothing else, so that even a mistake here could not run or load anything.

mod axis;
mod fold;
mod view;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value, context};
use sha2::{Digest, Sha256};

use crate::error::RenderError;
use crate::suite::SuiteReport;

const TEMPLATE: &str = include_str!("html/page.html");
const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/script.js");

/// The suite as one page.
pub fn html_page(suite: &SuiteReport) -> Result<String, RenderError> {
    let (style, script) = (with_plain_line_ends(STYLE), with_plain_line_ends(SCRIPT));
    let page = environment()?.get_template("page.html")?.render(context! {
        policy => policy(&style, &script),
        style => Value::from_safe_string(style),
        script => Value::from_safe_string(script),
        report => view::report(suite),
    })?;
    Ok(page)
}

fn environment() -> Result<Environment<'static>, RenderError> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    // A name that the view does not have is a mistake here, not an empty place in the page.
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.add_template("page.html", TEMPLATE)?;
    Ok(environment)
}

fn policy(style: &str, script: &str) -> String {
    format!(
        "default-src 'none'; img-src data:; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
        digest(style),
        digest(script)
    )
}

/// The digest by which a policy allows an inline style or script.
fn digest(source: &str) -> String {
    format!("sha256-{}", BASE64.encode(Sha256::digest(source)))
}

/// A checkout may have other line ends, but a browser counts the digest with these.
fn with_plain_line_ends(source: &str) -> String {
    source.replace("\r\n", "\n")
}

#[cfg(test)]
#[path = "html_tests.rs"]
mod tests;
