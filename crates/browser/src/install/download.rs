//! Downloads over HTTPS, with every wait bounded: a host that cannot be reached costs seconds, a stall is an error.

use std::{
    io::{Read, Write},
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use fs_err::File;
use ureq::{
    Agent, Proxy,
    tls::{TlsConfig, TlsProvider},
};

use crate::{Error, Machine, Notes};

const RESOLVE: Duration = Duration::from_secs(2);
const CONNECT: Duration = Duration::from_millis(2500);
const STALL: Duration = Duration::from_secs(20);
const WHOLE_DOWNLOAD: Duration = Duration::from_secs(30 * 60);
const LARGEST_INDEX: u64 = 16 << 20;

const NO_ADDRESS: &str = "its host name has no address here (no network, or a closed one)";

pub(super) struct Client {
    agent: Agent,
}

impl Client {
    pub(super) fn new(machine: &Machine) -> Result<Self, Error> {
        Self::with_stall(machine, STALL)
    }

    pub(super) fn with_stall(machine: &Machine, stall: Duration) -> Result<Self, Error> {
        let proxy = machine.proxy.as_deref().map(Proxy::new).transpose();
        let proxy = proxy.map_err(|error| failure(&machine.index_url, &error))?;
        let tls = TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
            .build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .proxy(proxy)
            // The index decides where the program comes from: never over a weaker line than its own.
            .https_only(machine.index_url.starts_with("https:"))
            .user_agent(concat!("surehand/", env!("CARGO_PKG_VERSION")))
            .timeout_resolve(Some(RESOLVE))
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(stall))
            .timeout_per_read(Some(stall))
            .timeout_recv_body(Some(WHOLE_DOWNLOAD))
            .build();
        Ok(Client { agent: config.into() })
    }

    pub(super) fn text(&self, url: &str) -> Result<String, Error> {
        let mut response = self.agent.get(url).call().map_err(|error| failure(url, &error))?;
        response
            .body_mut()
            .with_config()
            .limit(LARGEST_INDEX)
            .read_to_string()
            .map_err(|error| failure(url, &error))
    }

    /// Downloads into a new file and tells how far it is, a few times a second.
    pub(super) fn file(&self, url: &str, to: &Path, what: &str, notes: &dyn Notes) -> Result<(), Error> {
        let response = self.agent.get(url).call().map_err(|error| failure(url, &error))?;
        let total = response.body().content_length();
        let mut body = response.into_body().into_with_config().limit(u64::MAX).reader();
        let mut file = File::create(to).map_err(Error::io("cannot save the download"))?;
        let mut chunk = vec![0; 128 << 10];
        let mut done = 0;
        let mut told = Instant::now();
        notes.progress(what, 0, total);
        loop {
            let n = body.read(&mut chunk).map_err(|error| failure(url, &ureq::Error::from(error)))?;
            if n == 0 {
                break;
            }
            file.write_all(&chunk[..n]).map_err(Error::io("cannot save the download"))?;
            done += n as u64;
            if told.elapsed() > Duration::from_millis(100) {
                told = Instant::now();
                notes.progress(what, done, total);
            }
        }
        notes.progress(what, done, total);
        match total {
            Some(total) if total != done => Err(Error::Download {
                url: url.into(),
                why: format!("it broke off after {done} of {total} bytes"),
            }),
            _ => Ok(()),
        }
    }
}

fn failure(url: &str, error: &ureq::Error) -> Error {
    let why = match error {
        ureq::Error::HostNotFound => NO_ADDRESS.into(),
        // The system's resolver has no error kind of its own in the standard library.
        ureq::Error::Io(error) if error.to_string().contains("lookup address") => NO_ADDRESS.into(),
        ureq::Error::Timeout(ureq::Timeout::Resolve | ureq::Timeout::Connect) => {
            "its host cannot be reached within a few seconds".into()
        }
        ureq::Error::Timeout(_) => "the download stalled".into(),
        ureq::Error::StatusCode(code) => format!("the server answered {code}"),
        other => other.to_string(),
    };
    Error::Download { url: url.into(), why }
}
