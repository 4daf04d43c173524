//! Pictures of a tab: what is in view, the whole page, or one element.

use base64::Engine;
use serde_json::json;
use surehand_cdp::protocol::page as cdp;

use crate::page::Page;
use crate::pointer::{Cut, Prepared};
use crate::read::BoxRect;
use crate::{Deadline, Error, Locator, Result};

/// File formats that the browser can write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ImageFormat {
    /// Exact.
    #[default]
    Png,
    /// Small, for photographs.
    Jpeg,
    /// Smaller.
    Webp,
}

impl ImageFormat {
    fn name(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpeg",
            Self::Webp => "webp",
        }
    }
}

/// What to take a picture of, and how.
#[derive(Debug, Clone, Default)]
pub struct ScreenshotOptions {
    /// The whole page instead of what is in view.
    pub full: bool,
    /// Only this element.
    pub element: Option<Locator>,
    /// Only this part: of what is in view, or of the whole page.
    pub clip: Option<BoxRect>,
    /// File format.
    pub format: ImageFormat,
    /// 0 to 100, for JPEG and WebP.
    pub quality: Option<u8>,
}

/// What a picture will show: everything is scrolled to its place already.
#[derive(Debug, Clone)]
pub struct Picture {
    /// In pixels of the page; `None` for what is in view.
    clip: Option<cdp::Viewport>,
}

impl Picture {
    /// What it shows of a box that other elements hold.
    pub(crate) fn cut(&self) -> Cut {
        if self.clip.is_some() { Cut::Holders } else { Cut::View }
    }
}

/// Beyond this the browser's compositor gives up or returns an empty picture.
const LONGEST_EDGE: f64 = 16_384.0;

impl Page {
    /// Takes a picture and returns the bytes of the file.
    pub async fn screenshot(&self, options: &ScreenshotOptions, deadline: &Deadline) -> Result<Vec<u8>> {
        let picture = self.set_up_picture(options, deadline).await?;
        self.take_picture(&picture, options, deadline).await
    }

    /// Brings into view what a picture is to show, and measures it.
    pub async fn set_up_picture(&self, options: &ScreenshotOptions, deadline: &Deadline) -> Result<Picture> {
        let clip = match (&options.element, options.clip) {
            (Some(locator), _) => Some(self.element_area(locator, deadline).await?),
            (None, Some(part)) => Some(self.part_area(part, options.full, deadline).await?),
            (None, None) if options.full => Some(self.whole_area(deadline).await?),
            (None, None) => None,
        };
        Ok(Picture { clip })
    }

    /// Takes a picture of what was set up for it.
    pub async fn take_picture(
        &self,
        picture: &Picture,
        options: &ScreenshotOptions,
        deadline: &Deadline,
    ) -> Result<Vec<u8>> {
        let clip = picture.clip.clone();
        let capture = cdp::CaptureScreenshot {
            format: Some(options.format.name().to_owned()),
            quality: options.quality.map(i64::from),
            capture_beyond_viewport: Some(clip.is_some()),
            clip,
            ..Default::default()
        };
        let taken = self.unless_blocked(deadline, async { Ok(self.session().call(&capture).await?) }).await?;
        decoded(&taken.data)
    }

    /// The page as it would be printed: the bytes of a PDF.
    pub async fn pdf(&self, landscape: bool, background: bool, deadline: &Deadline) -> Result<Vec<u8>> {
        let print = cdp::PrintToPdf {
            landscape: Some(landscape),
            print_background: Some(background),
            ..Default::default()
        };
        let printed = self.unless_blocked(deadline, async { Ok(self.session().call(&print).await?) }).await?;
        decoded(&printed.data)
    }

    /// How high and wide the whole page is, where a picture of it would be cut off.
    pub async fn too_large_for_a_picture(&self, deadline: &Deadline) -> Result<Option<(u64, u64)>> {
        let size = self.layout(deadline).await?.css_content_size;
        let is_too_large = size.width > LONGEST_EDGE || size.height > LONGEST_EDGE;
        Ok(is_too_large.then_some((size.width as u64, size.height as u64)))
    }

    async fn whole_area(&self, deadline: &Deadline) -> Result<cdp::Viewport> {
        let metrics = self.layout(deadline).await?;
        let size = metrics.css_content_size;
        let (width, height) = (size.width.min(LONGEST_EDGE), size.height.min(LONGEST_EDGE));
        Ok(cdp::Viewport { x: 0.0, y: 0.0, width, height, scale: 1.0 })
    }

    async fn part_area(&self, part: BoxRect, of_page: bool, deadline: &Deadline) -> Result<cdp::Viewport> {
        let metrics = self.layout(deadline).await?;
        let view = metrics.css_visual_viewport;
        let (size, corner) = if of_page {
            ((metrics.css_content_size.width, metrics.css_content_size.height), (0.0, 0.0))
        } else {
            ((view.client_width, view.client_height), (view.page_x, view.page_y))
        };
        let is_inside = part.x < size.0 && part.y < size.1;
        if !is_inside {
            return Err(Error::OutOfView { x: part.x, y: part.y, width: size.0, height: size.1 });
        }
        let (width, height) = (part.width.min(size.0 - part.x), part.height.min(size.1 - part.y));
        Ok(cdp::Viewport { x: part.x + corner.0, y: part.y + corner.1, width, height, scale: 1.0 })
    }

    async fn element_area(&self, locator: &Locator, deadline: &Deadline) -> Result<cdp::Viewport> {
        let argument = |timeout: u64| {
            json!({
                "need": ["visible", "stable"],
                "timeout": timeout,
                "retarget": "none",
                "scroll": "auto",
            })
        };
        let (frame, target): (_, Prepared) = self.script_at(locator, "prepare", argument, deadline).await?;
        let world = self.world(&frame).await?;
        let element =
            Locator::handle(crate::Handle { world: world.id, element: target.id }, &locator.to_string());
        let reading = self.read(&element, "box", None, deadline).await?;
        let rect: BoxRect = serde_json::from_str(reading.value.get())
            .map_err(|error| Error::Script { message: format!("no box: {error}") })?;
        let (left, top) = corner(&self.layout(deadline).await?.css_visual_viewport);
        let (x, y) = (rect.x + left, rect.y + top);
        Ok(cdp::Viewport { x, y, width: rect.width, height: rect.height, scale: 1.0 })
    }

    /// What a picture shows, in the coordinates of the main frame.
    pub(crate) async fn seen_in(&self, picture: &Picture, deadline: &Deadline) -> Result<BoxRect> {
        let view = self.layout(deadline).await?.css_visual_viewport;
        let (left, top) = corner(&view);
        Ok(match &picture.clip {
            Some(clip) => {
                BoxRect { x: clip.x - left, y: clip.y - top, width: clip.width, height: clip.height }
            }
            None => {
                let (width, height) = (view.client_width, view.client_height);
                BoxRect { x: view.offset_x, y: view.offset_y, width, height }
            }
        })
    }

    /// How large what is in view is, in CSS pixels.
    pub(crate) async fn view_size(&self, deadline: &Deadline) -> Result<(f64, f64)> {
        let view = self.layout(deadline).await?.css_visual_viewport;
        Ok((view.client_width, view.client_height))
    }

    pub(crate) async fn layout(&self, deadline: &Deadline) -> Result<cdp::GetLayoutMetricsReturns> {
        self.unless_blocked(deadline, async { Ok(self.session().call(&cdp::GetLayoutMetrics {}).await?) })
            .await
    }
}

/// Where in the page the coordinates of the main frame begin: zoomed in, that is not where what is in view begins.
fn corner(view: &cdp::VisualViewport) -> (f64, f64) {
    (view.page_x - view.offset_x, view.page_y - view.offset_y)
}

fn decoded(data: &str) -> Result<Vec<u8>> {
    base64::engine::general_purpose::STANDARD
        .decode(data)
        .map_err(|error| Error::Script { message: format!("the browser sent a broken file: {error}") })
}
