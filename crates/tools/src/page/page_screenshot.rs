//! `page_screenshot`: a picture, to a file or to look at.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_page::{BoxRect, ImageFormat, ScreenshotOptions};
use surehand_session::{Fault, Kind, Tab};

use super::ACTION_TIMEOUT;
use crate::picture::Dimensions;
use crate::{Answer, Hints, Image, Misfit, Tool, ToolContext, label};

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PageScreenshot {
    /// File to write; without one the picture is in the answer
    path: Option<PathBuf>,
    #[serde(default)]
    full_page: bool,
    format: Option<Format>,
    /// Not for png
    #[schemars(range(max = 100))]
    quality: Option<u8>,
    clip: Option<Clip>,
    /// Only this element: label, reference or selector
    #[serde(rename = "ref")]
    reference: Option<String>,
    tab_id: Option<String>,
}

/// A part of the picture.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Clip {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    Png,
    Jpeg,
    Webp,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Taken {
    tab_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<PathBuf>,
    format: Format,
    #[serde(rename = "sizeKB")]
    size_kb: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<Dimensions>,
    /// So many fields are covered: a secret stands in them.
    #[serde(skip_serializing_if = "is_none")]
    covered: usize,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

impl Tool for PageScreenshot {
    const NAME: &'static str = "page_screenshot";
    const DESCRIPTION: &'static str = "Take a picture of the page or an element, to a file or to look at.";
    // A file of that name is written over.
    const HINTS: Hints = Hints::REPLACES;
    const STRUCTURED: bool = true;
    const IS_STEP: bool = false;

    fn misfits(&self) -> Vec<Misfit> {
        let mut misfits = Vec::new();
        match self.quality {
            Some(_) if self.kind() == Format::Png => {
                misfits.push(Misfit::idle("quality", "a png has none; choose format jpeg or webp"));
            }
            Some(101..) => misfits.push(Misfit::value("/quality".to_owned(), "is 0 to 100".to_owned())),
            _ => {}
        }
        if self.reference.is_some() {
            let others = [("clip", self.clip.is_some()), ("fullPage", self.full_page)];
            let idle = others.iter().filter(|(_, given)| *given);
            misfits.extend(idle.map(|(name, _)| Misfit::idle(name, "the picture is of ref alone")));
        }
        misfits
    }

    fn doubts(&self) -> Vec<Misfit> {
        self.reference.iter().filter_map(|reference| label::doubt("/ref", reference)).collect()
    }

    async fn call(self, cx: &ToolContext) -> Result<Answer, Fault> {
        let path = self.path.as_deref().map(|path| place(cx, path)).transpose()?;
        let format = self.kind();
        if let Some(clip) = self.clip
            && !(clip.x >= 0.0 && clip.y >= 0.0 && clip.width >= 1.0 && clip.height >= 1.0)
        {
            return Err(Fault::new(Kind::BadNumber, "clip is no part of a page")
                .hint("x and y are 0 or more, width and height 1 or more"));
        }
        let (session, tab) = cx.tab(self.tab_id.as_deref()).await?;
        cx.refuse_dialog(&tab)?;
        let element =
            self.reference.as_deref().map(|name| label::actionable(&session, &tab, name)).transpose()?;
        let clip = self.clip.map(|Clip { x, y, width, height }| BoxRect { x, y, width, height });
        let options = ScreenshotOptions {
            full: self.full_page,
            element,
            clip,
            format: format.into(),
            quality: self.quality,
        };
        let (bytes, covered) = take(cx, &tab, &options).await?;
        if let Some(path) = &path {
            cx.verbs.write_file(path, &bytes)?;
        }
        let size_kb = (bytes.len() as u64).div_ceil(1024);
        let dimensions = Dimensions::of(&bytes);
        let image = path.is_none().then_some(Image { bytes, mime_type: format.mime_type().into() });
        let taken = Taken { tab_id: tab.id(), path, format, size_kb, dimensions, covered };
        Ok(Answer { image, ..Answer::json(&taken)? })
    }
}

/// Takes the picture, without what stands in fields and the caller must not see; says how many are covered.
async fn take(cx: &ToolContext, tab: &Tab, options: &ScreenshotOptions) -> Result<(Vec<u8>, usize), Fault> {
    let deadline = cx.deadline(None, ACTION_TIMEOUT);
    if cx.secrets.names().next().is_none() {
        return Ok((tab.page.screenshot(options, &deadline).await?, 0));
    }
    let is_secret = |text: &str| matches!(cx.secrets.mask(text), Cow::Owned(_));
    let picture = tab.page.set_up_picture(options, &deadline).await?;
    let covered = tab.page.cover(is_secret, &picture, &deadline).await?;
    let taken = tab.page.take_picture(&picture, options, &deadline).await;
    if covered > 0 {
        tab.page.end_annotation(&deadline.with_grace()).await?;
    }
    Ok((taken?, covered))
}

impl PageScreenshot {
    /// As it says, else as the name of the file says.
    fn kind(&self) -> Format {
        self.format.or_else(|| self.path.as_deref().and_then(Format::of)).unwrap_or(Format::Png)
    }
}

impl Format {
    fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "png" => Some(Format::Png),
            "jpg" | "jpeg" => Some(Format::Jpeg),
            "webp" => Some(Format::Webp),
            _ => None,
        }
    }

    fn mime_type(self) -> &'static str {
        match self {
            Format::Png => "image/png",
            Format::Jpeg => "image/jpeg",
            Format::Webp => "image/webp",
        }
    }
}

impl From<Format> for ImageFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Png => ImageFormat::Png,
            Format::Jpeg => ImageFormat::Jpeg,
            Format::Webp => ImageFormat::Webp,
        }
    }
}

/// Folders in which a picture has no business, whoever asks.
const PRIVATE: [&str; 3] = [".ssh", ".gnupg", ".aws"];

fn place(cx: &ToolContext, path: &Path) -> Result<PathBuf, Fault> {
    let home = std::env::home_dir();
    let path = match (path.strip_prefix("~"), &home) {
        (Ok(rest), Some(home)) => cx.verbs.path(&home.join(rest))?,
        _ => cx.verbs.path(path)?,
    };
    let is_private = path.components().any(|part| PRIVATE.iter().any(|name| part.as_os_str() == *name));
    if is_private {
        return Err(Fault::new(Kind::UnwritablePath, format!("no picture is written to {}", path.display()))
            .hint("choose another folder"));
    }
    Ok(path)
}
