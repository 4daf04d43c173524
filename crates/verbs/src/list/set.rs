//! `set`: how the pages of the session see the world around them.

mod media;

use std::collections::BTreeMap;

use clap::{Args, Subcommand, ValueEnum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use surehand_guard::{SecretPlaces, Writing};
use surehand_page::{AskedBy, Aspect, Login, Place, Screen, Surroundings};
use surehand_session::{Fault, Kind, Session, device, devices};

use crate::{Context, Effect, Flaw, Hints, Report, Verb};

/// Change how the pages of the session see the world around them: now, and in tabs still to come
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
#[command(
    after_help = "Example:\n  surehand set viewport 1280 720\n  surehand set device 'iPhone 15'\n  surehand set geo 47.37 8.54\n  surehand set media dark\n  surehand set reset"
)]
pub struct Set {
    /// What to change
    #[command(subcommand)]
    pub what: What,
}

/// What to change.
#[derive(Debug, Clone, Subcommand, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// The size of the page in CSS pixels
    Viewport(Viewport),
    /// Screen, touch and user agent of a device; without a name, list all devices
    Device {
        /// Its name, e.g. 'Pixel 8'
        name: Option<String>,
    },
    /// Where on earth, and that pages may know it
    Geo(Geo),
    /// Cut the network off, or not
    Offline {
        /// On or off
        #[arg(value_enum, default_value_t)]
        #[serde(default)]
        state: Switch,
    },
    /// Headers that every request carries, as a JSON object; {} for none
    Headers {
        /// E.g. '{"X-Trace": "1"}'
        #[arg(value_name = "JSON")]
        headers: String,
    },
    /// The name and the password for servers that ask for them (HTTP authentication)
    Credentials(Credentials),
    /// What style sheets are asked about
    Media {
        /// Everything else is as it usually is
        #[arg(value_enum, required = true)]
        words: Vec<media::Word>,
    },
    /// The time zone, e.g. Europe/Zurich
    Timezone {
        /// Its name
        name: String,
    },
    /// The language, e.g. de-CH
    Locale {
        /// Its tag
        tag: String,
    },
    /// Put settings back as they were at first
    Reset {
        /// Which; all of them without one
        #[arg(value_enum)]
        #[serde(default)]
        settings: Vec<Setting>,
    },
}

/// The size of the page.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
pub struct Viewport {
    /// Width
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub width: u32,
    /// Height
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub height: u32,
    /// Device pixels per CSS pixel
    #[arg(default_value_t = 1.0, value_parser = finite)]
    #[serde(default = "one")]
    pub scale: f64,
}

/// A place on earth.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
pub struct Geo {
    /// Degrees north, -90 to 90
    #[arg(allow_negative_numbers = true, value_parser = finite)]
    pub latitude: f64,
    /// Degrees east, -180 to 180
    #[arg(allow_negative_numbers = true, value_parser = finite)]
    pub longitude: f64,
    /// How sure that is, in metres
    #[arg(long, default_value_t = 1.0, value_parser = finite)]
    #[serde(default = "one")]
    pub accuracy: f64,
}

/// What [`Viewport::scale`] and [`Geo::accuracy`] are if nothing is said.
fn one() -> f64 {
    1.0
}

/// A number that can be sent to the daemon: JSON knows no infinity.
fn finite(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| "give a plain number".to_owned())
}

/// On or off.
#[derive(Debug, Clone, Copy, Default, PartialEq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    /// Yes
    #[default]
    On,
    /// No
    Off,
}

/// A name and a password.
#[derive(Debug, Clone, Args, Serialize, Deserialize, JsonSchema)]
pub struct Credentials {
    /// The name
    pub user: String,
    /// The password; without one it is read from standard input, where other users of the machine cannot see it
    #[arg(allow_hyphen_values = true)]
    pub password: Option<String>,
    /// Only the server of this origin gets them, e.g. https://example.com
    #[arg(long)]
    pub origin: Option<String>,
}

/// A setting that can be put back.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Setting {
    /// The size of the page
    Viewport,
    /// Screen, touch and user agent
    Device,
    /// The place
    Geo,
    /// The network
    Offline,
    /// The headers
    Headers,
    /// Name and password
    Credentials,
    /// What style sheets are asked about
    Media,
    /// The time zone
    Timezone,
    /// The language
    Locale,
}

/// What was changed.
#[derive(Debug, Serialize)]
pub struct Changed {
    #[serde(flatten)]
    now: Value,
    #[serde(skip)]
    text: String,
}

impl Report for Changed {
    fn text(&self) -> String {
        self.text.clone()
    }
}

fn changed(now: Value, text: impl Into<String>) -> Result<Changed, Fault> {
    Ok(Changed { now, text: text.into() })
}

impl Verb for Set {
    const EFFECT: Effect = Effect::Manages;
    const SECRETS: SecretPlaces = &[(&["**", "password"], Writing::Plain)];
    const HINTS: Hints = Hints::SETS;
    type Output = Changed;

    fn flaws(&self) -> Vec<Flaw> {
        let flaw = match &self.what {
            What::Viewport(size) => size.flaw(),
            What::Device { name: Some(name) } => Flaw::of("/what/device/name", device(name)),
            What::Geo(geo) => Flaw::of("/what/geo", on_earth(geo)),
            What::Headers { headers } => Flaw::of("/what/headers/headers", read_headers(headers)),
            What::Credentials(Credentials { origin: Some(origin), .. }) => {
                Flaw::of("/what/credentials/origin", origin_of(origin))
            }
            What::Timezone { name } if name.is_empty() => Some(Flaw::new("/what/timezone/name", "it is empty")),
            What::Locale { tag } if tag.is_empty() => Some(Flaw::new("/what/locale/tag", "it is empty")),
            _ => None,
        };
        flaw.into_iter().collect()
    }

    async fn run(self, cx: &Context) -> Result<Changed, Fault> {
        match self.what {
            What::Viewport(size) => viewport(cx, size).await,
            What::Device { name: None } => {
                let names: Vec<_> = devices().iter().map(|device| device.name.as_str()).collect();
                changed(json!({ "devices": names }), names.join("\n"))
            }
            What::Device { name: Some(name) } => be_device(cx, &name).await,
            What::Geo(geo) => be_at(cx, &geo).await,
            What::Offline { state } => {
                let offline = state == Switch::On;
                surround(cx, Aspect::Network, move |now| now.offline = offline).await?;
                changed(json!({ "offline": offline }), if offline { "off line" } else { "on line" })
            }
            What::Headers { headers } => carry_headers(cx, &headers).await,
            What::Credentials(credentials) => log_in_as(cx, credentials).await,
            What::Media { words } => {
                let media = media::of(&words);
                surround(cx, Aspect::Media, move |now| now.media = media).await?;
                changed(json!({ "media": words }), words.iter().map(|word| word.name()).collect::<Vec<_>>().join(" "))
            }
            What::Timezone { name } => {
                let zone = Some(name.clone());
                let refused = naming(&name, "a time zone", "Europe/Zurich");
                if name.is_empty() {
                    return Err(refused(Fault::new(Kind::BadSetting, "it is empty")));
                }
                surround(cx, Aspect::Timezone, move |now| now.timezone = zone).await.map_err(refused)?;
                changed(json!({ "timezone": name }), name)
            }
            What::Locale { tag } => speak(cx, tag).await,
            What::Reset { settings } => reset(cx, settings).await,
        }
    }

    fn wants_stdin(&self) -> bool {
        matches!(&self.what, What::Credentials(Credentials { password: None, .. }))
    }

    fn take_stdin(&mut self, text: String) {
        if let What::Credentials(credentials) = &mut self.what {
            credentials.password = Some(text.trim_end_matches(['\r', '\n']).to_owned());
        }
    }
}

/// Settings make sense before the first page, too: a session is made if there is none.
async fn session(cx: &Context) -> Result<std::sync::Arc<Session>, Fault> {
    let session = cx.open_session().await?;
    session.some_tab().await?;
    Ok(session)
}

async fn surround(cx: &Context, aspect: Aspect, change: impl FnOnce(&mut Surroundings)) -> Result<(), Fault> {
    session(cx).await?.surround(aspect, change, &cx.deadline()).await
}

impl Viewport {
    /// The command line has its limits in its grammar; a mapping has none.
    fn flaw(&self) -> Option<Flaw> {
        let sides = [("width", self.width), ("height", self.height)];
        let wrong = sides.iter().find(|(_, pixels)| !(1..=10_000).contains(pixels));
        match wrong {
            Some((side, pixels)) => {
                Some(Flaw::new(format!("/what/viewport/{side}"), format!("{pixels} is not in 1..=10000")))
            }
            None => Flaw::of("/what/viewport/scale", check_scale(self.scale)),
        }
    }
}

fn check_scale(scale: f64) -> Result<(), Fault> {
    if (0.1..=10.0).contains(&scale) {
        return Ok(());
    }
    Err(Fault::new(Kind::BadNumber, format!("{scale} is no scale")).hint("give 0.1 to 10"))
}

async fn viewport(cx: &Context, Viewport { width, height, scale }: Viewport) -> Result<Changed, Fault> {
    check_scale(scale)?;
    surround(cx, Aspect::Screen, |now| {
        // A phone stays a phone when it is turned.
        let before = now.screen.unwrap_or(Screen::desktop(width, height, scale));
        now.screen = Some(Screen { width, height, scale, ..before });
    })
    .await?;
    changed(
        json!({ "width": width, "height": height, "deviceScaleFactor": scale }),
        format!("{width} x {height}"),
    )
}

async fn be_device(cx: &Context, name: &str) -> Result<Changed, Fault> {
    let device = device(name)?;
    let screen = device.screen();
    let session = session(cx).await?;
    let agent = Some(device.agent());
    session.surround(Aspect::Agent, |now| now.agent = agent, &cx.deadline()).await?;
    session.surround(Aspect::Screen, |now| now.screen = Some(screen), &cx.deadline()).await?;
    changed(
        json!({ "device": device.name, "width": screen.width, "height": screen.height, "deviceScaleFactor": screen.scale, "mobile": screen.mobile, "touch": screen.touch }),
        format!("{}: {} x {}; a page that is open learns of touch when it is loaded anew: `surehand reload`", device.name, screen.width, screen.height),
    )
}

fn on_earth(geo: &Geo) -> Result<(), Fault> {
    let Geo { latitude, longitude, accuracy } = *geo;
    let on_earth = (-90.0..=90.0).contains(&latitude) && (-180.0..=180.0).contains(&longitude);
    if !on_earth {
        return Err(Fault::new(Kind::BadNumber, format!("{latitude}, {longitude} is no place on earth"))
            .hint("latitude is -90 to 90, longitude -180 to 180"));
    }
    if accuracy < 0.0 {
        return Err(Fault::new(Kind::BadNumber, format!("{accuracy} m is no accuracy"))
            .hint("accuracy is 0 or more metres"));
    }
    Ok(())
}

async fn be_at(cx: &Context, geo: &Geo) -> Result<Changed, Fault> {
    on_earth(geo)?;
    let Geo { latitude, longitude, accuracy } = *geo;
    let session = session(cx).await?;
    let place = Some(Place { latitude, longitude, accuracy });
    session.grant_geolocation(true).await?;
    session.surround(Aspect::Place, |now| now.place = place, &cx.deadline()).await?;
    let place = json!({ "latitude": latitude, "longitude": longitude, "accuracy": accuracy });
    changed(json!({ "geo": place }), format!("{latitude}, {longitude}"))
}

fn read_headers(json: &str) -> Result<BTreeMap<String, String>, Fault> {
    let wrong = |why: String| {
        Fault::new(Kind::BadSetting, format!("these are no headers: {why}"))
            .hint("write a JSON object of strings, e.g. '{\"X-Trace\": \"1\"}'")
    };
    let headers: BTreeMap<String, String> =
        serde_json::from_str(json).map_err(|error| wrong(error.to_string()))?;
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if let Some(name) = headers.keys().find(|name| name.is_empty() || !name.chars().all(is_token)) {
        return Err(wrong(format!("{name:?} is no name of a header")));
    }
    if let Some((name, _)) = headers.iter().find(|(_, value)| value.contains(['\r', '\n', '\0'])) {
        return Err(wrong(format!("the value of {name} has more than one line")));
    }
    Ok(headers)
}

async fn carry_headers(cx: &Context, json: &str) -> Result<Changed, Fault> {
    let headers = read_headers(json)?;
    let names: Vec<String> = headers.keys().cloned().collect();
    surround(cx, Aspect::Headers, |now| now.headers = headers).await?;
    let text = if names.is_empty() { "no headers".to_owned() } else { names.join(", ") };
    changed(json!({ "headers": names }), text)
}

async fn log_in_as(cx: &Context, credentials: Credentials) -> Result<Changed, Fault> {
    let Credentials { user, password, origin } = credentials;
    let password = password.ok_or_else(|| {
        Fault::new(Kind::Usage, "there is no password").hint("give it as an argument, or on standard input")
    })?;
    let origin = origin.as_deref().map(origin_of).transpose()?;
    let asked_by = origin.clone().map_or(AskedBy::AnyServer, AskedBy::Origin);
    let login = Login { user: user.clone(), password, asked_by };
    surround(cx, Aspect::Logins, |now| {
        now.logins.retain(|login| login.asked_by == AskedBy::Proxy);
        now.logins.push(login);
    })
    .await?;
    changed(json!({ "credentials": { "user": user, "origin": origin } }), format!("as {user}"))
}

/// As servers are told apart: scheme, host and port, as the browser writes them.
fn origin_of(address: &str) -> Result<String, Fault> {
    let bad = || {
        Fault::new(Kind::BadSetting, format!("{address:?} is no origin"))
            .hint("write it like https://example.com, with a port if it has one of its own")
    };
    let lower = address.trim().to_ascii_lowercase();
    let (scheme, rest) = lower.split_once("://").ok_or_else(bad)?;
    let usual_port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return Err(bad()),
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.strip_suffix(usual_port).unwrap_or(host);
    if host.is_empty() || host.contains(|c: char| c.is_whitespace() || c == '@') {
        return Err(bad());
    }
    Ok(format!("{scheme}://{host}"))
}

/// The browser says that it does not know something, but not what.
fn naming(value: &str, what: &str, example: &str) -> impl Fn(Fault) -> Fault {
    let message = format!("{value:?} is not {what}");
    let hint = format!("write it like {example}");
    move |fault| match fault.kind {
        Kind::BadSetting => Fault::new(Kind::BadSetting, message.clone()).hint(hint.clone()),
        _ => fault,
    }
}

async fn speak(cx: &Context, tag: String) -> Result<Changed, Fault> {
    let session = session(cx).await?;
    let locale = Some(tag.clone());
    let refused = naming(&tag, "a language", "de-CH");
    session.surround(Aspect::Locale, |now| now.locale = locale, &cx.deadline()).await.map_err(refused)?;
    session.surround(Aspect::Agent, |_| {}, &cx.deadline()).await?;
    changed(json!({ "locale": tag }), tag)
}

async fn reset(cx: &Context, settings: Vec<Setting>) -> Result<Changed, Fault> {
    let settings = if settings.is_empty() { Setting::value_variants().to_vec() } else { settings };
    let session = session(cx).await?;
    let usual = session.usual_screen();
    for setting in &settings {
        for aspect in setting.aspects() {
            session.surround(*aspect, |now| setting.put_back(now, usual), &cx.deadline()).await?;
        }
        if *setting == Setting::Geo {
            session.grant_geolocation(false).await?;
        }
    }
    changed(json!({ "reset": settings }), "as at first")
}

impl Setting {
    fn aspects(self) -> &'static [Aspect] {
        match self {
            Setting::Viewport => &[Aspect::Screen],
            Setting::Device => &[Aspect::Screen, Aspect::Agent],
            Setting::Geo => &[Aspect::Place],
            Setting::Offline => &[Aspect::Network],
            Setting::Headers => &[Aspect::Headers],
            Setting::Credentials => &[Aspect::Logins],
            Setting::Media => &[Aspect::Media],
            Setting::Timezone => &[Aspect::Timezone],
            Setting::Locale => &[Aspect::Locale, Aspect::Agent],
        }
    }

    fn put_back(self, now: &mut Surroundings, usual: Option<Screen>) {
        match self {
            Setting::Viewport => now.screen = usual,
            Setting::Device => {
                now.screen = usual;
                now.agent = None;
            }
            Setting::Geo => now.place = None,
            Setting::Offline => now.offline = false,
            Setting::Headers => now.headers.clear(),
            Setting::Credentials => now.logins.retain(|login| login.asked_by == AskedBy::Proxy),
            Setting::Media => now.media = Default::default(),
            Setting::Timezone => now.timezone = None,
            Setting::Locale => now.locale = None,
        }
    }
}
