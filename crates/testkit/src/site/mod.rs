//! A web site on loopback, built from routes, served by plain threads.
//!
//! Every route is reachable under two origins: [`Site::url`] (`http://127.0.0.1:PORT`) and [`Site::cross_url`]
//! (`http://localhost:PORT2`), which is another site for the browser, so that its frames get a process of their
//! own. Dropping the [`Site`] closes its listeners and every connection.

mod message;
mod routes;
mod serve;

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

pub use message::{Request, Response};
pub use routes::SiteBuilder;
pub use serve::{Listener, Logged};
use serve::{Origins, Shared};

/// A running site.
#[derive(Debug)]
pub struct Site {
    shared: Arc<Shared>,
    listeners: Vec<(SocketAddr, JoinHandle<()>)>,
}

impl Site {
    /// An empty site; add routes, then [`SiteBuilder::start`].
    #[must_use]
    pub fn builder() -> SiteBuilder {
        SiteBuilder::default()
    }

    /// `path` under the main origin.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.shared.origins.main)
    }

    /// `path` under the other origin.
    #[must_use]
    pub fn cross_url(&self, path: &str) -> String {
        format!("{}{path}", self.shared.origins.cross)
    }

    /// Every request so far, in order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<Logged> {
        self.shared.requests()
    }

    /// The requests so far for `path` (without its query).
    #[must_use]
    pub fn requests_to(&self, path: &str) -> Vec<Logged> {
        let mut requests = self.shared.requests();
        requests.retain(|each| each.path == path);
        requests
    }

    /// Forgets the requests so far.
    pub fn clear_requests(&self) {
        self.shared.clear_requests();
    }

    fn start(routes: SiteBuilder) -> io::Result<Self> {
        let main = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let (cross, cross6) = on_localhost()?;
        let origins = Origins {
            main: format!("http://127.0.0.1:{}", main.local_addr()?.port()),
            cross: format!("http://localhost:{}", cross.local_addr()?.port()),
        };

        let mut site = Self { shared: Arc::new(Shared::new(routes, origins)), listeners: vec![] };
        site.listen(main, Listener::Main)?;
        site.listen(cross, Listener::Cross)?;
        if let Some(listener) = cross6 {
            site.listen(listener, Listener::Cross)?;
        }
        Ok(site)
    }

    fn listen(&mut self, listener: TcpListener, name: Listener) -> io::Result<()> {
        let address = listener.local_addr()?;
        let shared = Arc::clone(&self.shared);
        let thread = thread::Builder::new()
            .name(format!("site-{}", address.port()))
            .spawn(move || serve::accept(&listener, name, &shared))?;
        self.listeners.push((address, thread));
        Ok(())
    }
}

/// `localhost` is also ::1, which browsers try first, so a port is taken where both are free: somebody else would answer
/// there otherwise. Where there is no IPv6 they fall back.
fn on_localhost() -> io::Result<(TcpListener, Option<TcpListener>)> {
    let mut taken = vec![];
    loop {
        let four = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        match TcpListener::bind((Ipv6Addr::LOCALHOST, four.local_addr()?.port())) {
            // Kept until another is found, which is another one then.
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && taken.len() < 50 => taken.push(four),
            six => return Ok((four, six.ok())),
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.shared.stop();
        for (address, thread) in self.listeners.drain(..) {
            // Wakes the thread out of `accept`; it then sees that it must stop.
            if TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok() {
                let _ = thread.join();
            }
        }
        self.shared.wait_for_connections(Duration::from_secs(10));
    }
}
