//! How to point at an element: what click, dblclick, hover, tap, check and uncheck have in common.

use std::collections::BTreeMap;

use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_page::{Acted, ClickOptions, Modifier};
use surehand_session::{Fault, Kind, Session};

use crate::target::Hit;
use crate::{Flaw, Report};

/// How to point at an element.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Pointing {
    /// Keys to hold meanwhile, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KEYS")]
    pub modifiers: Vec<Held>,
    /// Where in the element, from its top left corner: X,Y in pixels
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true)]
    pub position: Option<String>,
    /// Without waiting until it is ready for that
    #[arg(long)]
    pub force: bool,
    /// Only wait until it could be done
    #[arg(long)]
    pub trial: bool,
}

/// A key that is held meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Held {
    /// Alt, on a Mac Option
    Alt,
    /// Control
    Control,
    /// Meta, on a Mac Command
    Meta,
    /// Shift
    Shift,
}

impl From<Held> for Modifier {
    fn from(held: Held) -> Self {
        match held {
            Held::Alt => Modifier::Alt,
            Held::Control => Modifier::Control,
            Held::Meta => Modifier::Meta,
            Held::Shift => Modifier::Shift,
        }
    }
}

impl Pointing {
    /// As the page wants it: with the left button, once.
    pub fn options(&self) -> Result<ClickOptions, Fault> {
        Ok(ClickOptions {
            modifiers: Modifier::bits(self.modifiers.iter().copied().map(Modifier::from)),
            position: self.position.as_deref().map(point).transpose()?,
            force: self.force,
            trial: self.trial,
            ..Default::default()
        })
    }

    /// What is wrong with how it is pointed.
    pub(crate) fn flaws(&self) -> Vec<Flaw> {
        self.position.iter().filter_map(|position| Flaw::of("/position", point(position))).collect()
    }

    /// The report of a verb that pointed at what `selector` means.
    pub(crate) fn report(&self, words: Words, session: &Session, selector: String, acted: Acted) -> Pointed {
        let hit = Hit::new(session, acted);
        let done = match (self.trial, hit.is_unclicked()) {
            (true, _) => words.possible,
            (false, true) => "pressed",
            (false, false) => words.done,
        };
        let verb = BTreeMap::from([(words.field, selector)]);
        Pointed { verb, trial: self.trial, verified: None, hit, done, wanted: "" }
    }

    /// The report of a verb that clicked to bring about a state. A page that asks something or goes elsewhere has not shown
    /// that state: then only the click is told.
    pub(crate) fn report_state(
        &self,
        words: Words,
        session: &Session,
        selector: String,
        acted: Acted,
    ) -> Pointed {
        if !acted.after.moved_on() {
            return self.report(words, session, selector, acted);
        }
        const CLICKED: Words = Words { field: "clicked", done: "clicked", possible: "could click" };
        Pointed {
            verified: Some(false),
            wanted: words.done,
            ..self.report(CLICKED, session, selector, acted)
        }
    }
}

/// How a verb that points speaks of what it did.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words {
    /// The member of its JSON that holds the selector.
    pub field: &'static str,
    /// That it was done.
    pub done: &'static str,
    /// That it could be done.
    pub possible: &'static str,
}

/// What a verb that points reports.
#[derive(Debug, Serialize)]
pub struct Pointed {
    /// One member, named after what was done: the selector.
    #[serde(flatten)]
    verb: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    trial: bool,
    /// `false` where the state that was wanted could not be looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    verified: Option<bool>,
    #[serde(flatten)]
    hit: Hit,
    #[serde(skip)]
    done: &'static str,
    /// The state that was wanted.
    #[serde(skip)]
    wanted: &'static str,
}

impl Pointed {
    /// Tabs that opened.
    pub(crate) fn opened(&self) -> &[String] {
        self.hit.opened()
    }
}

impl Report for Pointed {
    fn text(&self) -> String {
        let done = self.hit.text(self.done);
        match self.verified {
            Some(false) => format!("{done}\nwhether it is {} could not be verified", self.wanted),
            _ => done,
        }
    }
}

fn point(text: &str) -> Result<(f64, f64), Fault> {
    let parsed =
        text.split_once(',').and_then(|(x, y)| Some((x.trim().parse().ok()?, y.trim().parse().ok()?)));
    parsed.filter(|(x, y): &(f64, f64)| x.is_finite() && y.is_finite()).ok_or_else(|| {
        Fault::new(Kind::BadNumber, format!("{text:?} is no position")).hint("write it like --position 10,20")
    })
}
