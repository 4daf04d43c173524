//! `screenshot`: a picture of the page or of an element.

use std::path::{Path, PathBuf};

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surehand_page::{ImageFormat, ScreenshotOptions};
use surehand_session::{Fault, Kind};

use crate::{Context, Effect, Report, Verb};

/// Take a picture of what is in view, of the whole page or of an element
///
/// The format follows the file name: .png, .jpg, .jpeg or .webp. Without a path, screenshot-N.png in the current folder
/// is written.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(after_help = "Example:\n  surehand screenshot page.png\n  surehand screenshot --full page.png\n  surehand screenshot @e3 button.png")]
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
}

/// Where the picture is.
#[derive(Debug, Serialize)]
pub struct Taken {
    path: PathBuf,
}

impl Report for Taken {
    fn text(&self) -> String {
        self.path.display().to_string()
    }
}

impl Verb for Screenshot {
    const EFFECT: Effect = Effect::Reads;
    type Output = Taken;

    async fn run(self, cx: &Context) -> Result<Taken, Fault> {
        let (selector, path) = split(&self.what);
        let (session, tab) = cx.tab().await?;
        let path = match path {
            Some(path) => cx.path(path.as_ref()),
            None => unused_path(cx),
        };
        let options = ScreenshotOptions {
            full: self.full,
            element: selector.map(|selector| session.locator(selector, &tab)).transpose()?,
            format: format_of(&path)?,
            quality: self.quality,
        };
        let bytes = tab.page.screenshot(&options, &cx.deadline()).await?;
        cx.write_file(&path, &bytes)?;
        Ok(Taken { path })
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

fn unused_path(cx: &Context) -> PathBuf {
    let numbered = (1..).map(|n| cx.path(format!("screenshot-{n}.png").as_ref()));
    numbered.into_iter().find(|path| !path.exists()).unwrap_or_default()
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
