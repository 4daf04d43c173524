//! Addresses of pages and requests, checked as far as that goes without asking a resolver.

use url::Url;

use super::denied::{Denied, Reason};
use super::host::Host;
use super::policy::EgressPolicy;

/// Where an address leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// The address as a browser would write it.
    pub url: String,
    /// Its host.
    pub host: Host,
    /// Its port, also where it is not written.
    pub port: u16,
}

impl EgressPolicy {
    /// Whether a page may be opened: an absolute http or https address whose name is not denied, or whose address is
    /// allowed. What a name resolves to is for [`admit`](super::admit), and for the proxy in any case.
    pub fn check_url(&self, url: &str) -> Result<Destination, Denied> {
        self.check(url, &["http", "https"])
    }

    /// The same for a request that a page makes: WebSockets count, too.
    pub fn check_request(&self, url: &str) -> Result<Destination, Denied> {
        self.check(url, &["http", "https", "ws", "wss"])
    }

    fn check(&self, text: &str, schemes: &[&str]) -> Result<Destination, Denied> {
        let url = Url::parse(text).map_err(|error| Denied::malformed(error.to_string()))?;
        if !schemes.contains(&url.scheme()) {
            let reason = Reason::Scheme(url.scheme().to_owned());
            return Err(Denied { host: String::new(), port: 0, address: None, reason });
        }
        let host = Host::parse(url.host_str().unwrap_or_default())?;
        let port = url.port_or_known_default().unwrap_or_default();
        if port == 0 {
            return Err(Denied::malformed("port 0 cannot be connected to"));
        }
        self.judge_name(&host, port)?;
        Ok(Destination { url: url.into(), host, port })
    }
}
