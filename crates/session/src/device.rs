//! The list of devices that a page can be made to believe in. The list itself is data, see `data/devices.LICENSE`.

use std::sync::LazyLock;

use serde::Deserialize;
use surehand_page::{Agent, Screen};

use crate::{Fault, Kind};

/// A device.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Device {
    /// What people call it.
    pub name: String,
    user_agent: String,
    width: u32,
    height: u32,
    scale: f64,
    mobile: bool,
    touch: bool,
}

impl Device {
    /// Its screen.
    pub fn screen(&self) -> Screen {
        Screen {
            width: self.width,
            height: self.height,
            scale: self.scale,
            mobile: self.mobile,
            touch: self.touch,
        }
    }

    /// What its browser says it is.
    pub fn agent(&self) -> Agent {
        Agent { user_agent: self.user_agent.clone(), mobile: self.mobile }
    }
}

/// All devices.
pub fn devices() -> &'static [Device] {
    static DEVICES: LazyLock<Vec<Device>> = LazyLock::new(|| {
        // A test reads it: it cannot fail elsewhere.
        serde_json::from_str(include_str!("../data/devices.json")).unwrap_or_default()
    });
    &DEVICES
}

/// The device of that name; case does not matter.
pub fn device(name: &str) -> Result<&'static Device, Fault> {
    let found = devices().iter().find(|device| device.name.eq_ignore_ascii_case(name.trim()));
    found.ok_or_else(|| {
        let fault = Fault::new(Kind::BadSetting, format!("there is no device called {name:?}"));
        let near = near(name);
        let fault =
            if near.is_empty() { fault } else { fault.hint(format!("did you mean {}?", near.join(", "))) };
        fault.hint("see all of them with `surehand set device`")
    })
}

/// Devices that are called alike, the nearest first.
fn near(name: &str) -> Vec<&'static str> {
    const SHOWN: usize = 5;
    let name = name.trim().to_lowercase();
    let words: Vec<&str> = name.split_whitespace().collect();
    let scored = devices().iter().map(|device| {
        let own = device.name.to_lowercase();
        let shared = words.iter().filter(|word| own.contains(**word)).count();
        (shared, strsim::jaro_winkler(&own, &name), device.name.as_str())
    });
    let mut near: Vec<_> = scored.filter(|(shared, likeness, _)| *shared > 0 || *likeness > 0.85).collect();
    near.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)));
    near.iter().take(SHOWN).map(|(_, _, name)| *name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_read_and_devices_are_found_by_name() {
        assert!(devices().len() > 100);
        let phone = device("iphone 15").unwrap();
        assert!(phone.screen().mobile && phone.screen().touch);
        let fault = device("iPhone 999").unwrap_err();
        assert!(fault.hints[0].contains("iPhone"), "{fault:?}");
        for misspelt in ["Pixl 7", "Pixel7", "pixel  7"] {
            let fault = device(misspelt).unwrap_err();
            assert!(fault.hints[0].starts_with("did you mean Pixel 7"), "{fault:?}");
        }
    }
}
