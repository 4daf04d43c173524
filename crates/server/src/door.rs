//! Who may come in: under which names the server answers, for pages of which origins, and with which token.

use std::net::SocketAddr;

use surehand_session::{Fault, Kind};

use crate::mcp::HttpOptions;

/// A token that is shorter can be guessed where others can reach the server.
const SHORTEST_TOKEN: usize = 16;

/// Is the door safe where it stands?
pub(crate) fn check(http: &HttpOptions) -> Result<(), Fault> {
    let HttpOptions { address, token, allowed_hosts } = http;
    if let Some(token) = token {
        check_token(token)?;
    }
    allowed_hosts.iter().try_for_each(|host| check_host(host))?;
    if address.ip().is_loopback() {
        return Ok(());
    }
    let usage = |message: String| Fault::new(Kind::Usage, message);
    match token {
        None => Err(usage(format!("others can reach {address}: a token is needed"))
            .hint("give one with SUREHAND_MCP_TOKEN, or listen on 127.0.0.1")),
        Some(token) if token.len() < SHORTEST_TOKEN => Err(usage(format!(
            "others can reach {address}: a token of at least {SHORTEST_TOKEN} characters is needed"
        ))
        .hint("make one with `openssl rand -hex 16`, or listen on 127.0.0.1")),
        Some(_) if address.ip().is_unspecified() && allowed_hosts.is_empty() => Err(usage(format!(
            "{address} is every address of this machine, but not a name that clients could use"
        ))
        .hint("name it as clients do: --allow-host build.example or --allow-host 192.168.1.5")),
        Some(_) => Ok(()),
    }
}

/// What cannot stand in a header can never be shown.
fn check_token(token: &str) -> Result<(), Fault> {
    if !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(());
    }
    Err(Fault::new(Kind::Usage, "SUREHAND_MCP_TOKEN is blank, or has characters that no header can carry")
        .hint("use letters, digits and punctuation, without blanks"))
}

pub(crate) fn check_host(host: &str) -> Result<(), Fault> {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
    let name = split_port(host).0;
    if !name.is_empty() && name.chars().all(fine) {
        return Ok(());
    }
    Err(Fault::new(Kind::Usage, format!("{host:?} is no host"))
        .hint("--allow-host takes a name or an address, with or without a port: build.example:8931"))
}

/// Under which names the server answers, and pages of which origins may ask it. A page in somebody's browser must not
/// reach it under a name that somebody else chose.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Names {
    pub hosts: Vec<String>,
    pub origins: Vec<String>,
}

impl Names {
    pub fn of(bound: SocketAddr, allowed: &[String]) -> Self {
        let mut hosts = vec![bound.to_string(), bound.ip().to_string()];
        if bound.ip().is_loopback() || bound.ip().is_unspecified() {
            hosts.extend(["localhost", "127.0.0.1", "::1"].map(str::to_owned));
        }
        let mut origins: Vec<String> = hosts.iter().map(|host| origin("http", host, bound.port())).collect();
        for host in allowed {
            // Somebody may stand in front of it and speak TLS.
            origins.extend(["http", "https"].map(|scheme| origin(scheme, host, bound.port())));
            hosts.push(host.clone());
        }
        Self { hosts, origins }
    }

    /// And where others reach it, if somebody stands in front of it.
    pub fn and_public(mut self, public: &PublicUrl) -> Self {
        self.origins.push(origin(&public.scheme, &public.host, public.usual_port()));
        self.hosts.push(public.host.clone());
        self
    }
}

/// The beginning of the addresses under which others reach a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PublicUrl {
    scheme: String,
    /// With a port only if it is not the usual one: nobody names that in a `Host`.
    host: String,
    path: String,
}

impl PublicUrl {
    pub fn parse(url: &str) -> Result<Self, Fault> {
        let wrong = || {
            Fault::new(Kind::Usage, format!("{url:?} is nothing that an address could begin with")).hint(
                "--public-url takes a scheme and a host, and what comes behind: https://browser.example",
            )
        };
        let (scheme, rest) = url.split_once("://").ok_or_else(wrong)?;
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let scheme = scheme.to_ascii_lowercase();
        let fine = matches!(scheme.as_str(), "http" | "https")
            && path.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'?' | b'#'));
        if !fine || check_host(host).is_err() {
            return Err(wrong());
        }
        let mut public = Self { scheme, host: host.to_owned(), path: path.trim_end_matches('/').to_owned() };
        if let (name, Some(port)) = split_port(host)
            && port == public.usual_port()
        {
            public.host = name.to_owned();
        }
        Ok(public)
    }

    fn usual_port(&self) -> u16 {
        if self.scheme == "https" { 443 } else { 80 }
    }
}

impl std::fmt::Display for PublicUrl {
    /// Without a slash at its end.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.host, self.path)
    }
}

impl Names {
    /// Is it a name of this server? With another port it is somebody else's.
    pub fn has_host(&self, host: &str) -> bool {
        let (name, _) = split_port(host);
        let name = name.trim_start_matches('[').trim_end_matches(']');
        let known = |known: &String| {
            known.eq_ignore_ascii_case(host)
                || (split_port(known).1.is_none()
                    && known.trim_matches(['[', ']']).eq_ignore_ascii_case(name))
        };
        self.hosts.iter().any(known)
    }

    /// May a page of this origin ask? Browsers leave out the port that a scheme has anyway.
    pub fn has_origin(&self, origin: &str) -> bool {
        let usual = match origin.split_once("://") {
            Some((scheme, host)) if split_port(host).1.is_none() => {
                let port = if scheme.eq_ignore_ascii_case("https") { 443 } else { 80 };
                Some(format!("{origin}:{port}"))
            }
            _ => None,
        };
        let origin = usual.as_deref().unwrap_or(origin);
        self.origins.iter().any(|known| known.eq_ignore_ascii_case(origin))
    }
}

fn origin(scheme: &str, host: &str, usual_port: u16) -> String {
    let (name, port) = split_port(host);
    let name =
        if name.contains(':') && !name.starts_with('[') { format!("[{name}]") } else { name.to_owned() };
    format!("{scheme}://{name}:{}", port.unwrap_or(usual_port))
}

/// The port behind a name or an address; an IPv6 address without brackets has none.
fn split_port(host: &str) -> (&str, Option<u16>) {
    match host.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') || name.ends_with(']') => match port.parse() {
            Ok(port) => (name, Some(port)),
            Err(_) => (host, None),
        },
        _ => (host, None),
    }
}

/// Does the header show the token? The name of the scheme may be written in any way.
pub(crate) fn shows(header: Option<&str>, token: &str) -> bool {
    let Some((scheme, given)) = header.and_then(|header| header.split_once(' ')) else { return false };
    scheme.eq_ignore_ascii_case("bearer") && same(given.trim().as_bytes(), token.as_bytes())
}

/// Takes the same time wherever they differ.
fn same(given: &[u8], wanted: &[u8]) -> bool {
    let differing = given.iter().zip(wanted).fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == wanted.len() && differing == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(address: &str, token: Option<&str>, hosts: &[&str]) -> Result<(), String> {
        let allowed_hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
        let token = token.map(str::to_owned);
        check(&HttpOptions { address: address.parse().unwrap(), token, allowed_hosts }).map_err(|f| f.message)
    }

    #[test]
    fn who_others_can_reach_is_protected() {
        let long = Some("0123456789abcdef");
        assert_eq!(checked("127.0.0.1:1", None, &[]), Ok(()));
        assert_eq!(checked("127.0.0.1:1", Some("short"), &["me.example"]), Ok(()));
        assert_eq!(checked("192.168.1.5:1", long, &[]), Ok(()));
        assert_eq!(checked("0.0.0.0:1", long, &["me.example"]), Ok(()));
        for (address, token, hosts, why) in [
            ("192.168.1.5:1", None, &[][..], "token"),
            ("192.168.1.5:1", Some("0123456789abcde"), &[], "16 characters"),
            ("192.168.1.5:1", Some("                    "), &[], "blank"),
            ("127.0.0.1:1", Some(" "), &[], "blank"),
            ("0.0.0.0:1", long, &[], "name"),
            ("[::]:1", long, &[], "name"),
            ("0.0.0.0:1", long, &["http://me.example"], "no host"),
            ("0.0.0.0:1", long, &["*"], "no host"),
            ("0.0.0.0:1", long, &[""], "no host"),
        ] {
            let message = checked(address, token, hosts).unwrap_err();
            assert!(message.contains(why), "{address} {token:?} {hosts:?}: {message}");
        }
    }

    #[test]
    fn names_are_its_own_and_those_that_were_allowed() {
        let names = |bound: &str, allowed: &[&str]| {
            let allowed: Vec<String> = allowed.iter().map(|host| (*host).to_owned()).collect();
            Names::of(bound.parse().unwrap(), &allowed)
        };
        let lan = names("192.168.1.5:8931", &[]);
        assert_eq!(lan.hosts, ["192.168.1.5:8931", "192.168.1.5"]);
        assert!(lan.origins.iter().all(|origin| origin == "http://192.168.1.5:8931"), "{lan:?}");
        let all = names("0.0.0.0:8931", &["me.example", "fe80::1", "proxy.example:443"]);
        assert!(all.hosts.contains(&"me.example".to_owned()) && all.hosts.contains(&"localhost".to_owned()));
        for origin in ["http://me.example:8931", "http://[fe80::1]:8931", "https://proxy.example:443"] {
            assert!(all.origins.contains(&origin.to_owned()), "{all:?}");
        }
        assert!(names("[::1]:80", &[]).origins.contains(&"http://[::1]:80".to_owned()));
    }

    #[test]
    fn a_public_address_is_a_name_as_well() {
        let names = |url: &str| {
            let public = PublicUrl::parse(url).unwrap_or_else(|fault| panic!("{url}: {fault}"));
            (Names::of("127.0.0.1:3000".parse().unwrap(), &[]).and_public(&public), public.to_string())
        };
        for url in ["https://me.example", "HTTPS://me.example/", "https://me.example:443"] {
            let (names, written) = names(url);
            assert!(names.has_host("me.example") && names.has_host("ME.example:443"), "{url}");
            assert!(names.has_origin("https://me.example") && names.has_origin("https://me.example:443"));
            assert!(!names.has_origin("http://me.example") && !names.has_origin("https://me.example:3000"));
            assert!(!names.has_host("other.example") && names.has_host("localhost"), "{url}");
            assert_eq!(written, "https://me.example");
        }
        let (names, written) = names("http://[fe80::1]:8080/browser/");
        assert!(names.has_host("[fe80::1]:8080") && !names.has_host("[fe80::1]"));
        assert!(names.has_origin("http://[fe80::1]:8080") && !names.has_origin("http://[fe80::1]"));
        assert_eq!(written, "http://[fe80::1]:8080/browser");
        for wrong in [
            "",
            "me.example",
            "ftp://me.example",
            "https://",
            "https:///x",
            "https://a b",
            "https://a@b",
            "https://a/?x",
            "https://a/#x",
        ] {
            assert!(PublicUrl::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_scheme_of_a_token_is_written_in_any_way() {
        for header in ["Bearer t0ken", "bearer t0ken", "BEARER  t0ken"] {
            assert!(shows(Some(header), "t0ken"), "{header}");
        }
        for header in [None, Some("t0ken"), Some("Basic t0ken"), Some("Bearer t0ke"), Some("Bearer")] {
            assert!(!shows(header, "t0ken"), "{header:?}");
        }
    }
}
