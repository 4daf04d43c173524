//! Downloads over HTTPS, with every wait bounded: a host that cannot be reached costs seconds, a stall is an error.

use std::{
    io::Write,
    path::Path,
    time::{Duration, Instant},
};

use fs_err::File;
use surehand_outbound::reqwest::{self, Proxy, Response};
use tokio::runtime::{Builder, Runtime};

use crate::{Error, Machine, Notes};

/// From a name to a line over which can be spoken.
const CONNECT: Duration = Duration::from_millis(4500);
const STALL: Duration = Duration::from_secs(20);
const WHOLE_DOWNLOAD: Duration = Duration::from_secs(30 * 60);
const LARGEST_INDEX: usize = 16 << 20;

const NO_ADDRESS: &str = "its host name has no address here (no network, or a closed one)";

/// Blocking, because installing is; so it must not be used on a thread that runs async tasks.
pub(super) struct Client {
    http: reqwest::Client,
    /// Taken when it is dropped.
    runtime: Option<Runtime>,
}

impl Client {
    pub(super) fn new(machine: &Machine) -> Result<Self, Error> {
        Self::with_stall(machine, STALL)
    }

    pub(super) fn with_stall(machine: &Machine, stall: Duration) -> Result<Self, Error> {
        let unusable = |why: String| Error::Download { url: machine.index_url.clone(), why };
        let http = surehand_outbound::builder().map_err(|error| unusable(error.to_string()))?;
        // What the environment says of proxies is in `machine` already.
        let http = match &machine.proxy {
            Some(proxy) => {
                http.proxy(Proxy::all(proxy).map_err(|error| failure(&machine.index_url, &error))?)
            }
            None => http.no_proxy(),
        };
        let http = http
            // The index decides where the program comes from: never over a weaker line than its own.
            .https_only(machine.index_url.starts_with("https:"))
            .connect_timeout(CONNECT)
            .read_timeout(stall)
            .timeout(WHOLE_DOWNLOAD)
            .build()
            .map_err(|error| failure(&machine.index_url, &error))?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(Error::io("cannot prepare a download"))?;
        Ok(Client { http, runtime: Some(runtime) })
    }

    pub(super) fn text(&self, url: &str) -> Result<String, Error> {
        self.wait(url, async {
            let mut response = self.get(url).await?;
            let mut text = Vec::new();
            while let Some(chunk) = response.chunk().await.map_err(|error| failure(url, &error))? {
                text.extend_from_slice(&chunk);
                if text.len() > LARGEST_INDEX {
                    return Err(Error::Download { url: url.into(), why: "its answer is too large".into() });
                }
            }
            Ok(String::from_utf8_lossy(&text).into_owned())
        })
    }

    /// Downloads into a new file and tells how far it is, a few times a second.
    pub(super) fn file(&self, url: &str, to: &Path, what: &str, notes: &dyn Notes) -> Result<(), Error> {
        self.wait(url, async {
            let mut response = self.get(url).await?;
            let total = response.content_length();
            let mut file = File::create(to).map_err(Error::io("cannot save the download"))?;
            let mut done = 0;
            let mut told = Instant::now();
            notes.progress(what, 0, total);
            while let Some(chunk) =
                response.chunk().await.map_err(|error| cut_off(url, &error, done, total))?
            {
                file.write_all(&chunk).map_err(Error::io("cannot save the download"))?;
                done += chunk.len() as u64;
                if told.elapsed() > Duration::from_millis(100) {
                    told = Instant::now();
                    notes.progress(what, done, total);
                }
            }
            notes.progress(what, done, total);
            Ok(())
        })
    }

    fn wait<T>(&self, url: &str, download: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        match &self.runtime {
            Some(runtime) => runtime.block_on(download),
            None => Err(Error::Download { url: url.into(), why: "the client was closed".into() }),
        }
    }

    async fn get(&self, url: &str) -> Result<Response, Error> {
        let response = self.http.get(url).send().await.and_then(Response::error_for_status);
        response.map_err(|error| failure(url, &error))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The system's resolver cannot be interrupted; nobody waits for it.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Of what ends too early it is told how much there was.
fn cut_off(url: &str, error: &reqwest::Error, done: u64, total: Option<u64>) -> Error {
    match total {
        Some(total) if !error.is_timeout() => {
            Error::Download { url: url.into(), why: format!("it broke off after {done} of {total} bytes") }
        }
        _ => failure(url, error),
    }
}

fn failure(url: &str, error: &reqwest::Error) -> Error {
    let why = if let Some(status) = error.status() {
        format!("the server answered {}", status.as_u16())
    } else if error.is_timeout() && error.is_connect() {
        "its host cannot be reached within a few seconds".into()
    } else if error.is_timeout() {
        "the download stalled".into()
    } else if let Some(why) = surehand_outbound::distrust(error) {
        why
    } else {
        match surehand_outbound::innermost(error) {
            // The system's resolver has no error kind of its own in the standard library.
            why if why.contains("lookup address") => NO_ADDRESS.into(),
            why => why,
        }
    };
    Error::Download { url: url.into(), why }
}
