//! How pages see the world around them: screen, user agent, language, place, network. All tabs of a session see the
//! same; a tab takes it over before its first script runs, and so do its frames in other processes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use surehand_cdp::protocol::{emulation, fetch, network};
use surehand_cdp::{Call, Empty, Session};

use crate::page::Page;
use crate::{Deadline, Error, Result};

/// See the module.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Surroundings {
    /// The size of the page; `None` lets it follow its window.
    pub screen: Option<Screen>,
    /// What the browser says it is; `None` for the truth.
    pub agent: Option<Agent>,
    /// A language such as `de-CH`.
    pub locale: Option<String>,
    /// A time zone such as `Europe/Zurich`.
    pub timezone: Option<String>,
    /// Where on earth.
    pub place: Option<Place>,
    /// Is the network cut off?
    pub offline: bool,
    /// Headers that every request carries.
    pub headers: BTreeMap<String, String>,
    /// What style sheets are asked about.
    pub media: Media,
    /// Who to be when a server or a proxy asks for a name and a password.
    pub logins: Vec<Login>,
}

/// A screen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Screen {
    /// In CSS pixels.
    pub width: u32,
    /// In CSS pixels.
    pub height: u32,
    /// Device pixels per CSS pixel.
    pub scale: f64,
    /// Does the page's `<meta name=viewport>` count?
    pub mobile: bool,
    /// Does it feel fingers?
    pub touch: bool,
}

impl Screen {
    /// A screen as desktops have.
    pub fn desktop(width: u32, height: u32, scale: f64) -> Self {
        Self { width, height, scale, mobile: false, touch: false }
    }
}

/// What a browser says it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// The header of that name.
    pub user_agent: String,
    /// Is it one of a phone?
    pub mobile: bool,
}

/// A place on earth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east.
    pub longitude: f64,
    /// Metres.
    pub accuracy: f64,
}

/// What style sheets are asked about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Media {
    /// `screen` or `print`.
    pub kind: Option<&'static str>,
    /// `prefers-color-scheme` and the like.
    pub features: BTreeMap<&'static str, &'static str>,
}

/// A name and a password, and who may ask for them.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// The name.
    pub user: String,
    /// The password.
    pub password: String,
    /// Who may ask.
    pub asked_by: AskedBy,
}

/// Who may ask for a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskedBy {
    /// The proxy.
    Proxy,
    /// Any server.
    AnyServer,
    /// Only the server of this origin.
    Origin(String),
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Login({} for {:?})", self.user, self.asked_by)
    }
}

impl Login {
    /// Is this the one that is asked for?
    pub(crate) fn suits(&self, challenge: &fetch::AuthChallenge) -> bool {
        let by_proxy = challenge.source.as_deref() == Some("Proxy");
        match &self.asked_by {
            AskedBy::Proxy => by_proxy,
            AskedBy::AnyServer => !by_proxy,
            AskedBy::Origin(origin) => !by_proxy && challenge.origin.trim_end_matches('/') == origin,
        }
    }
}

/// The surroundings of a session, shared by its tabs.
#[derive(Debug, Clone, Default)]
pub struct SharedSurroundings(Arc<Mutex<Surroundings>>);

impl SharedSurroundings {
    /// What is set at first.
    pub fn new(surroundings: Surroundings) -> Self {
        Self(Arc::new(Mutex::new(surroundings)))
    }

    /// To look at or to change; tabs see a change with [`Page::apply`].
    pub fn lock(&self) -> MutexGuard<'_, Surroundings> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A part of the surroundings that is set on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aspect {
    /// Size, scale, touch.
    Screen,
    /// User agent and the languages that pages are asked for in.
    Agent,
    /// The language of dates and numbers.
    Locale,
    /// The time zone.
    Timezone,
    /// The place.
    Place,
    /// On line or off line.
    Network,
    /// Headers of every request.
    Headers,
    /// Media and its features.
    Media,
    /// Names and passwords.
    Logins,
}

impl Aspect {
    const ALL: [Aspect; 9] = [
        Aspect::Screen,
        Aspect::Agent,
        Aspect::Locale,
        Aspect::Timezone,
        Aspect::Place,
        Aspect::Network,
        Aspect::Headers,
        Aspect::Media,
        Aspect::Logins,
    ];

    /// Some are held by the whole process of a page: it must let the old one go before it takes a new one.
    fn is_of_process(self) -> bool {
        matches!(self, Aspect::Locale | Aspect::Timezone)
    }
}

impl Surroundings {
    /// Sends what differs from a plain browser to a session whose page does not run yet.
    pub(crate) fn prepare(&self, session: &Session, is_main: bool) {
        let plain = Surroundings::default();
        for aspect in Aspect::ALL {
            if self.differs(&plain, aspect) {
                drop(self.send(aspect, session, is_main));
            }
        }
    }

    fn differs(&self, other: &Self, aspect: Aspect) -> bool {
        match aspect {
            Aspect::Screen => self.screen != other.screen,
            Aspect::Agent => self.agent != other.agent || self.locale != other.locale,
            Aspect::Locale => self.locale != other.locale,
            Aspect::Timezone => self.timezone != other.timezone,
            Aspect::Place => self.place != other.place,
            Aspect::Network => self.offline != other.offline,
            Aspect::Headers => self.headers != other.headers,
            Aspect::Media => self.media != other.media,
            Aspect::Logins => self.logins != other.logins,
        }
    }

    /// Sends one aspect to a session.
    fn send(&self, aspect: Aspect, session: &Session, is_main: bool) -> Vec<Call<Empty>> {
        match aspect {
            Aspect::Screen => self.send_screen(session, is_main),
            Aspect::Agent => vec![session.call(&self.agent_override())],
            Aspect::Locale => {
                vec![session.call(&emulation::SetLocaleOverride { locale: self.locale.clone() })]
            }
            Aspect::Timezone => {
                let timezone_id = self.timezone.clone().unwrap_or_default();
                vec![session.call(&emulation::SetTimezoneOverride { timezone_id })]
            }
            // A tab has one place. A frame that set it would take it away for the whole tab when it goes.
            Aspect::Place if !is_main => vec![],
            Aspect::Place => vec![self.send_place(session)],
            Aspect::Network => vec![session.call(&network::EmulateNetworkConditions {
                offline: self.offline,
                download_throughput: -1.0,
                upload_throughput: -1.0,
                ..Default::default()
            })],
            Aspect::Headers => {
                vec![session.call(&network::SetExtraHttpHeaders { headers: self.headers.clone() })]
            }
            Aspect::Media => vec![session.call(&self.media.command())],
            Aspect::Logins => vec![self.send_logins(session)],
        }
    }

    fn send_screen(&self, session: &Session, is_main: bool) -> Vec<Call<Empty>> {
        let touch = self.screen.is_some_and(|screen| screen.touch);
        let feel = emulation::SetTouchEmulationEnabled {
            enabled: touch,
            max_touch_points: touch.then_some(FINGERS),
        };
        let mut calls = vec![session.call(&feel)];
        // A frame has no size of its own.
        if is_main {
            calls.push(match self.screen {
                Some(screen) => session.call(&screen.metrics()),
                None => session.call(&emulation::ClearDeviceMetricsOverride {}),
            });
        }
        calls
    }

    fn agent_override(&self) -> emulation::SetUserAgentOverride {
        let agent = self.agent.as_ref();
        emulation::SetUserAgentOverride {
            // Empty: the browser's own.
            user_agent: agent.map(|agent| agent.user_agent.clone()).unwrap_or_default(),
            accept_language: self.locale.clone(),
            user_agent_metadata: agent.map(Agent::metadata),
            ..Default::default()
        }
    }

    fn send_place(&self, session: &Session) -> Call<Empty> {
        match self.place {
            Some(place) => session.call(&emulation::SetGeolocationOverride {
                latitude: Some(place.latitude),
                longitude: Some(place.longitude),
                accuracy: Some(place.accuracy),
                ..Default::default()
            }),
            None => session.call(&emulation::ClearGeolocationOverride {}),
        }
    }

    /// The browser asks us for logins only where it lets us see every request.
    fn send_logins(&self, session: &Session) -> Call<Empty> {
        if self.logins.is_empty() {
            return session.call(&fetch::Disable {});
        }
        let everything = fetch::RequestPattern { url_pattern: Some("*".to_owned()), ..Default::default() };
        session.call(&fetch::Enable { patterns: Some(vec![everything]), handle_auth_requests: Some(true) })
    }
}

/// As many as phones feel.
const FINGERS: i64 = 5;

impl Screen {
    fn metrics(self) -> emulation::SetDeviceMetricsOverride {
        let lying = self.width > self.height;
        let orientation = emulation::ScreenOrientation {
            r#type: if lying { "landscapePrimary" } else { "portraitPrimary" }.to_owned(),
            angle: if lying { 90 } else { 0 },
        };
        emulation::SetDeviceMetricsOverride {
            width: self.width.into(),
            height: self.height.into(),
            device_scale_factor: self.scale,
            mobile: self.mobile,
            screen_orientation: self.mobile.then_some(orientation),
            ..Default::default()
        }
    }
}

impl Agent {
    /// What scripts are told in parts; a user agent alone would contradict it.
    fn metadata(&self) -> emulation::UserAgentMetadata {
        let agent = &self.user_agent;
        let platform = [
            ("Android", "Android"),
            ("iPhone", "iOS"),
            ("iPad", "iOS"),
            ("Windows", "Windows"),
            ("Mac OS X", "macOS"),
        ];
        let platform =
            platform.iter().find(|(part, _)| agent.contains(part)).map_or("Linux", |(_, name)| name);
        emulation::UserAgentMetadata {
            platform: platform.to_owned(),
            mobile: self.mobile,
            ..Default::default()
        }
    }
}

impl Media {
    fn command(&self) -> emulation::SetEmulatedMedia {
        let feature = |(name, value): (&&str, &&str)| emulation::MediaFeature {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
        };
        emulation::SetEmulatedMedia {
            media: Some(self.kind.unwrap_or_default().to_owned()),
            features: Some(self.features.iter().map(feature).collect()),
        }
    }
}

impl Page {
    /// Takes over an aspect of the surroundings that was changed.
    pub async fn apply(&self, aspect: Aspect, deadline: &Deadline) -> Result<()> {
        let surroundings = self.0.surroundings.lock().clone();
        let main = self.session();
        let others: Vec<Session> = self.lock().frames.other_sessions();
        if aspect.is_of_process() {
            let plain = Surroundings::default();
            others.iter().chain([main]).for_each(|session| drop(plain.send(aspect, session, true)));
        }
        for session in &others {
            drop(surroundings.send(aspect, session, false));
        }
        let applying = async {
            for call in surroundings.send(aspect, main, true) {
                call.await.map(drop).or_else(held_by_neighbour)?;
            }
            Ok(())
        };
        self.unless_blocked(deadline, applying).await
    }
}

/// Two tabs in one process share what it holds: the other one has set it already.
fn held_by_neighbour(error: surehand_cdp::Error) -> Result<()> {
    match &error {
        surehand_cdp::Error::Refused { message, .. } if message.contains("already in effect") => Ok(()),
        surehand_cdp::Error::Refused { message, .. } if message.starts_with("Invalid") => {
            Err(Error::BadSetting { why: message.clone() })
        }
        _ => Err(error.into()),
    }
}
