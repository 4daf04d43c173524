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

/// Devices that have a word of the name, those with the most words first.
fn near(name: &str) -> Vec<&'static str> {
    const SHOWN: usize = 5;
    let words: Vec<String> = name.split_whitespace().map(str::to_lowercase).collect();
    let score = |device: &Device| {
        let own = device.name.to_lowercase();
        words.iter().filter(|word| own.contains(word.as_str())).count()
    };
    let mut near: Vec<_> = devices().iter().filter(|device| score(device) > 0).collect();
    near.sort_by_key(|device| std::cmp::Reverse(score(device)));
    near.iter().take(SHOWN).map(|device| device.name.as_str()).collect()
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
    }
}
