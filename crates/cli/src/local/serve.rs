//! `serve`: the HTTP service.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use surehand_server::Home;
use surehand_server::http::{Capacity, Limits, ServiceOptions, serve};
use surehand_session::{Egress, Fault, SessionOptions};

use crate::config::Effective;

/// Arguments.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Where to listen
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:3000")]
    listen: SocketAddr,
    /// Let callers reach it under this name, too; may be given several times
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// Where callers reach it if another server stands in front, such as `https://browser.example`: addresses of files
    /// begin with it, and it is answered to as with --allow-host
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Sessions at once
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..))]
    max_sessions: u16,
    /// Requests that wait for a session
    #[arg(long, value_name = "N", default_value_t = 64)]
    queue: u16,
    /// How long a request waits for a session, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 60_000)]
    queue_timeout: u64,
    /// How long a session lives, and so a call, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 300_000, value_parser = clap::value_parser!(u64).range(1_000..=86_400_000))]
    session_timeout: u64,
    /// How long an action waits for its element, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(100..=3_600_000))]
    action_timeout: u64,
    /// How long work that is under way may take to end after SIGTERM, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 30_000)]
    drain_timeout: u64,
    /// Connections at once; more wait until one is closed
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u16).range(1..))]
    max_connections: u16,
    /// How long a caller may take to send the head of a request, its body, or another request on the same connection, and
    /// to take a part of an answer, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 30_000, value_parser = clap::value_parser!(u64).range(100..=3_600_000))]
    request_timeout: u64,
    /// How many bytes the pages of one session may load and send
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 30)]
    max_bytes: u64,
}

impl Serve {
    pub fn run(self, config: &Effective) -> Result<ExitCode, Fault> {
        let settings = config.settings()?;
        let guarded = !config.is_false("egress");
        let egress = guarded.then(|| Egress {
            max_bytes: Some(self.max_bytes),
            ..settings.options.egress.clone().unwrap_or_default()
        });
        serve(ServiceOptions {
            home: Home::from_env()?,
            address: self.listen,
            allowed_hosts: self.allow_host,
            public_url: self.public_url,
            egress,
            capacity: Capacity { sessions: self.max_sessions.into(), waiting: self.queue.into() },
            limits: Limits {
                connections: self.max_connections.into(),
                time: Duration::from_millis(self.request_timeout),
            },
            queue_time: Duration::from_millis(self.queue_timeout),
            session_time: Duration::from_millis(self.session_timeout),
            action_time: Duration::from_millis(self.action_timeout),
            drain_time: Duration::from_millis(self.drain_timeout),
            jwt_secret: std::env::var("SUREHAND_JWT_SECRET").ok().filter(|secret| !secret.is_empty()),
            log: std::env::var("SUREHAND_LOG").ok().filter(|wanted| !wanted.is_empty()),
            browser: SessionOptions { egress: None, ..settings.options },
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
