//! `get`: read something of the page or of an element.

use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use surehand_session::Fault;

use crate::{Context, Effect, Report, Verb};

/// Read something of the page or of an element
///
/// Where several elements match, the first visible one is read, and how many matched is told.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand get text h1\n  surehand get attr a.next href")]
pub struct Get {
    /// What to read
    #[command(subcommand)]
    pub what: What,
}

/// What to read.
#[derive(Debug, Clone, Subcommand, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// The text that an element shows
    Text(Element),
    /// The HTML inside an element
    Html(Element),
    /// The value of a field
    Value(Element),
    /// An attribute of an element
    Attr(Attribute),
    /// The title of the page
    Title,
    /// The address of the page
    Url,
    /// How many elements match
    Count(Element),
    /// Where an element is: x, y, width, height in CSS pixels
    Box(Element),
    /// How an element looks: its computed styles
    Styles(Styles),
    /// The address at which other programs reach the browser
    #[command(name = "cdp-url")]
    #[serde(rename = "cdp-url")]
    CdpUrl,
}

/// Which element.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
pub struct Element {
    /// @eN, CSS, xpath=…, text=…, role=…, label=… …
    pub selector: String,
}

/// Which attribute of which element.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
pub struct Attribute {
    /// @eN, CSS, xpath=…, text=…, role=…, label=… …
    pub selector: String,
    /// The attribute's name
    pub name: String,
}

/// Which styles of which element.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
pub struct Styles {
    /// @eN, CSS, xpath=…, text=…, role=…, label=… …
    pub selector: String,
    /// Their names, e.g. color; without any, the usual ones
    #[serde(default)]
    pub names: Vec<String>,
}

/// What was read.
#[derive(Debug, Serialize)]
pub struct Got {
    #[serde(flatten)]
    fields: Map<String, Value>,
    /// How many elements matched, if more than the one that was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    matches: Option<usize>,
    #[serde(skip)]
    text: String,
}

impl Report for Got {
    fn text(&self) -> String {
        self.text.clone()
    }

    fn note(&self) -> Option<String> {
        let count = self.matches?;
        Some(format!("note: {count} elements match; this is the first visible one"))
    }
}

impl Verb for Get {
    const EFFECT: Effect = Effect::Reads;
    // What a person read is what must be there again.
    const RESULT_NOTED: bool = true;
    type Output = Got;

    async fn run(self, cx: &Context) -> Result<Got, Fault> {
        match self.what {
            What::Url => {
                let (_, tab) = cx.tab().await?;
                Ok(Got::page("url", tab.page.url()))
            }
            What::Title => {
                let (_, tab) = cx.tab().await?;
                Ok(Got::page("title", tab.page.title(&cx.deadline()).await?))
            }
            What::CdpUrl => Ok(Got::page("cdpUrl", cx.session().await?.endpoint()?)),
            What::Styles(Styles { selector, names }) => {
                let names = (!names.is_empty()).then(|| names.join(" "));
                read(cx, &selector, "styles", names.as_deref()).await
            }
            What::Text(Element { selector }) => read(cx, &selector, "text", None).await,
            What::Html(Element { selector }) => read(cx, &selector, "html", None).await,
            What::Value(Element { selector }) => read(cx, &selector, "value", None).await,
            What::Count(Element { selector }) => read(cx, &selector, "count", None).await,
            What::Box(Element { selector }) => read(cx, &selector, "box", None).await,
            What::Attr(Attribute { selector, name }) => read(cx, &selector, "attr", Some(&name)).await,
        }
    }
}

impl Got {
    fn page(field: &str, text: String) -> Self {
        let fields = Map::from_iter([(field.to_owned(), Value::String(text.clone()))]);
        Self { fields, matches: None, text }
    }
}

async fn read(cx: &Context, selector: &str, what: &str, attribute: Option<&str>) -> Result<Got, Fault> {
    let (session, tab) = cx.tab().await?;
    let locator = session.locator(selector, &tab)?;
    let reading = tab.page.read(&locator, what, attribute, &cx.deadline()).await?;
    let value: Value = serde_json::from_str(reading.value.get()).unwrap_or_default();
    let text = match &value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Object(styles) if what == "styles" => lines(styles),
        Value::Object(rect) => {
            let side = |name: &str| format!("{name} {}", rect.get(name).cloned().unwrap_or_default());
            ["x", "y", "width", "height"].map(side).join("  ")
        }
        other => other.to_string(),
    };
    let mut fields = match value {
        Value::Object(rect) if what == "box" => rect,
        value => Map::from_iter([(field_of(what).to_owned(), value)]),
    };
    if what == "text" {
        fields.insert("origin".to_owned(), tab.page.url().into());
    }
    let matches = (reading.count > 1 && what != "count").then_some(reading.count);
    Ok(Got { fields, matches, text })
}

fn lines(styles: &Map<String, Value>) -> String {
    let line = |(name, value): (&String, &Value)| format!("{name}: {}", value.as_str().unwrap_or_default());
    styles.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn field_of(what: &str) -> &str {
    if what == "attr" { "value" } else { what }
}
