//! `screenshot`: a picture of the page or of an element.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_page::{BoxRect, Deadline, ImageFormat, Labelled, Picture, ScreenshotOptions, SnapshotOptions};
use surehand_session::{Fault, Kind, Session, Tab};

use crate::{Context, Effect, Hints, Report, Verb};

/// Take a picture of what is in view, of the whole page or of an element
///
/// The format follows the file name: .png, .jpg, .jpeg or .webp. Without a path, screenshot-N.png in the current folder
/// is written.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand screenshot page.png\n  surehand screenshot --full page.png\n  surehand screenshot @e3 button.png\n  surehand screenshot --annotate map.png")]
pub struct Screenshot {
    /// [SELECTOR] [PATH]
    #[arg(num_args = 0..=2, value_names = ["SELECTOR", "PATH"])]
    #[serde(default)]
    pub what: Vec<String>,
    /// The whole page instead of what is in view
    #[arg(short, long)]
    #[serde(default)]
    pub full: bool,
    /// 0 to 100, for JPEG and WebP
    #[arg(long, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub quality: Option<u8>,
    /// Only a part of what is in view (of the page with --full): X,Y,WIDTH,HEIGHT
    #[arg(long, value_name = "X,Y,W,H", allow_hyphen_values = true, conflicts_with = "annotate")]
    pub clip: Option<String>,
    /// Frame what can be acted on and write its reference on it; `e7` is @e7
    #[arg(short, long)]
    #[serde(default)]
    pub annotate: bool,
}

/// Where the picture is.
#[derive(Debug, Serialize)]
pub struct Taken {
    path: PathBuf,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    annotations: Vec<Annotation>,
}

/// A label in the picture.
#[derive(Debug, Serialize)]
pub struct Annotation {
    #[serde(rename = "ref")]
    reference: String,
    role: String,
    name: String,
    #[serde(rename = "box")]
    place: BoxRect,
}

impl Report for Taken {
    fn text(&self) -> String {
        let mut lines = vec![self.path.display().to_string()];
        lines.extend(self.annotations.iter().map(|one| format!("{} {} {:?}", one.reference, one.role, one.name)));
        lines.join("\n")
    }
}

impl Verb for Screenshot {
    const EFFECT: Effect = Effect::Reads;
    // A file of that name is written over.
    const HINTS: Hints = Hints::REPLACES;
    type Output = Taken;

    async fn run(self, cx: &Context) -> Result<Taken, Fault> {
        let (selector, path) = split(&self.what);
        let (session, tab) = cx.tab().await?;
        let path = path.map(|path| cx.path(path.as_ref())).transpose()?;
        let options = ScreenshotOptions {
            full: self.full,
            element: selector.map(|selector| session.locator(selector, &tab)).transpose()?,
            clip: self.clip.as_deref().map(part).transpose()?,
            format: path.as_deref().map_or(Ok(ImageFormat::Png), format_of)?,
            quality: self.quality,
        };
        let deadline = cx.deadline();
        let picture = tab.page.set_up_picture(&options, &deadline).await?;
        let view_only = !self.full && options.element.is_none();
        let annotations =
            if self.annotate { annotate(&session, &tab, &picture, view_only, &deadline).await? } else { Vec::new() };
        let taken = tab.page.take_picture(&picture, &options, &deadline).await;
        if self.annotate {
            tab.page.end_annotation(&deadline.with_grace()).await?;
        }
        let picture = taken?;
        let path = match path {
            Some(path) => cx.write_file(&path, &picture).map(|()| path)?,
            None => cx.write_new_file((1..u32::MAX).map(|n| format!("screenshot-{n}.png")), &picture)?,
        };
        Ok(Taken { path, annotations })
    }
}

/// Labels what `snapshot -i` would give a reference to.
async fn annotate(
    session: &Session,
    tab: &Tab,
    picture: &Picture,
    view_only: bool,
    deadline: &Deadline,
) -> Result<Vec<Annotation>, Fault> {
    let options = SnapshotOptions { interactive: true, viewport: view_only, ..Default::default() };
    let snapshot = tab.page.snapshot(&options, deadline).await?;
    let mut known = HashMap::new();
    let mut labels = Vec::new();
    snapshot.walk(|node| {
        let Some(handle) = node.handle else { return };
        known.insert(handle, (node.role.to_owned(), node.name.to_owned()));
        labels.push((handle, format!("e{}", session.refs().number(handle))));
    });
    let shown = tab.page.annotate(labels, picture, deadline).await?;
    let annotation = |one: Labelled| {
        let (role, name) = known.remove(&one.handle).unwrap_or_default();
        Annotation { reference: format!("@{}", one.label), role, name, place: one.place }
    };
    Ok(shown.into_iter().map(annotation).collect())
}

/// `10,20,300,200`
fn part(text: &str) -> Result<BoxRect, Fault> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|number| number.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[x, y, width, height]) if x >= 0.0 && y >= 0.0 && width >= 1.0 && height >= 1.0 => {
            Ok(BoxRect { x, y, width, height })
        }
        _ => Err(Fault::new(Kind::BadNumber, format!("{text:?} is no part of a picture"))
            .hint("write it like --clip 0,0,300,200: from the left, from the top, width, height")),
    }
}

/// One word is a path if it looks like one, else a selector.
fn split(words: &[String]) -> (Option<&str>, Option<&str>) {
    match words {
        [] => (None, None),
        [one] if looks_like_path(one) => (None, Some(one)),
        [one] => (Some(one), None),
        [selector, path, ..] => (Some(selector), Some(path)),
    }
}

fn looks_like_path(word: &str) -> bool {
    let known = Path::new(word).extension().and_then(|e| e.to_str()).is_some_and(|e| format_named(e).is_some());
    // A picture of another format is meant as a file, too, and gets a clear answer.
    let known = known || [".gif", ".bmp", ".tif", ".tiff", ".svg", ".pdf", ".avif"].iter().any(|end| word.ends_with(end));
    let is_xpath = word.starts_with("//");
    known || (word.starts_with('/') && !is_xpath) || word.starts_with("./") || word.starts_with("../")
}

fn format_named(extension: &str) -> Option<ImageFormat> {
    match extension.to_ascii_lowercase().as_str() {
        "png" => Some(ImageFormat::Png),
        "jpg" | "jpeg" => Some(ImageFormat::Jpeg),
        "webp" => Some(ImageFormat::Webp),
        _ => None,
    }
}

fn format_of(path: &Path) -> Result<ImageFormat, Fault> {
    let Some(extension) = path.extension().and_then(|extension| extension.to_str()) else {
        return Ok(ImageFormat::Png);
    };
    format_named(extension).ok_or_else(|| {
        Fault::new(Kind::Usage, format!("no picture format has the ending .{extension}")).hint("use .png, .jpg or .webp")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_told_from_a_selector() {
        let words = |text: &str| text.split(' ').map(ToOwned::to_owned).collect::<Vec<_>>();
        assert_eq!(split(&words("page.png")), (None, Some("page.png")));
        assert_eq!(split(&words("@e3")), (Some("@e3"), None));
        assert_eq!(split(&words("#a.png")), (None, Some("#a.png")));
        assert_eq!(split(&words("//div")), (Some("//div"), None));
        assert_eq!(split(&words("/tmp/x")), (None, Some("/tmp/x")));
        assert_eq!(split(&words("#a out.jpg")), (Some("#a"), Some("out.jpg")));
    }
}
