//! The words of `set media`, and what style sheets make of them.

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_page::Media;

/// One thing that style sheets ask about.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// Dark colours are preferred
    Dark,
    /// Light colours are preferred
    Light,
    /// The page is shown on a screen
    Screen,
    /// The page is printed
    Print,
    /// Less motion is preferred
    ReducedMotion,
    /// More contrast is preferred
    MoreContrast,
    /// The system chooses the colours
    ForcedColors,
}

impl Word {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Word::Dark => "dark",
            Word::Light => "light",
            Word::Screen => "screen",
            Word::Print => "print",
            Word::ReducedMotion => "reduced-motion",
            Word::MoreContrast => "more-contrast",
            Word::ForcedColors => "forced-colors",
        }
    }
}

/// What style sheets are to be told.
pub fn of(words: &[Word]) -> Media {
    let mut media = Media::default();
    for word in words {
        let (feature, value) = match word {
            Word::Dark => ("prefers-color-scheme", "dark"),
            Word::Light => ("prefers-color-scheme", "light"),
            Word::ReducedMotion => ("prefers-reduced-motion", "reduce"),
            Word::MoreContrast => ("prefers-contrast", "more"),
            Word::ForcedColors => ("forced-colors", "active"),
            Word::Screen | Word::Print => {
                media.kind = Some(word.name());
                continue;
            }
        };
        media.features.insert(feature, value);
    }
    media
}
