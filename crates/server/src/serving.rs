//! A web server for the time of a run: the files of a directory on loopback, or a command that serves something itself.
//! It ends when it is dropped, and so does everything that the command started.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use axum::Router;
use axum::handler::HandlerWithoutStateExt;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::Html;
use process_wrap::tokio::{ChildWrapper, CommandWrap};
use surehand_session::{Fault, Kind};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tower_http::services::ServeDir;
use tower_http::set_header::SetResponseHeaderLayer;

/// See the module.
#[derive(Debug)]
pub struct Serving {
    address: String,
    _what: What,
}

#[derive(Debug)]
enum What {
    Directory(#[expect(dead_code, reason = "it ends when this is dropped")] OnDrop),
    Command(#[expect(dead_code, reason = "it ends when this is dropped")] Started),
}

/// A command and everything that it started.
#[derive(Debug)]
struct Started(Box<dyn ChildWrapper>);

impl Drop for Started {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.start_kill();
    }
}

#[derive(Debug)]
struct OnDrop(AbortHandle);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// How often a command is asked whether it answers yet.
const LOOK: Duration = Duration::from_millis(50);

impl Serving {
    /// Serves the files below a directory on a port that the system chooses.
    pub async fn directory(directory: &Path) -> Result<Self, Fault> {
        if !directory.is_dir() {
            return Err(Fault::new(Kind::MissingFile, format!("{} is no directory", directory.display()))
                .hint("`serve` takes a directory, relative to the playbook"));
        }
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.map_err(crate::internal)?;
        let address = listener.local_addr().map_err(crate::internal)?;
        // A page that was changed between two runs must not come from a cache.
        let fresh =
            SetResponseHeaderLayer::overriding(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        let files = ServeDir::new(directory).not_found_service(missing.into_service());
        let app = Router::new().fallback_service(files).layer(fresh);
        let serving = tokio::spawn(async move {
            // It ends with the run, not by itself.
            let _ = axum::serve(listener, app).await;
        });
        let what = What::Directory(OnDrop(serving.abort_handle()));
        Ok(Self { address: format!("http://{address}"), _what: what })
    }

    /// Runs a command line in a directory until it answers at an address.
    pub async fn command(line: &str, directory: &Path, url: &str, limit: Duration) -> Result<Self, Fault> {
        let place = host_and_port(url)?;
        if TcpStream::connect(&place).await.is_ok() {
            return Err(Fault::new(
                Kind::EndpointUnreachable,
                format!("something else answers at {url} already"),
            )
            .hint("end it, or choose another port"));
        }
        let mut child = spawn(line, directory).map(Started).map_err(|error| {
            Fault::new(Kind::EndpointUnreachable, format!("`{line}` cannot be started: {error}"))
        })?;
        let began = Instant::now();
        loop {
            if TcpStream::connect(&place).await.is_ok() {
                let address = url.trim_end_matches('/').to_owned();
                return Ok(Self { address, _what: What::Command(child) });
            }
            if let Ok(Some(status)) = child.0.try_wait() {
                return Err(Fault::new(
                    Kind::EndpointUnreachable,
                    format!("`{line}` ended before it answered: {status}"),
                )
                .hint("run it by itself and see what it says"));
            }
            if began.elapsed() > limit {
                let waited = limit.as_millis();
                return Err(Fault::new(
                    Kind::EndpointUnreachable,
                    format!("`{line}` does not answer at {url} after {waited} ms"),
                )
                .hint("check the address, or give it more time with `timeout`"));
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Where it answers, without a slash at the end.
    pub fn address(&self) -> &str {
        &self.address
    }
}

/// A page that says what is missing: an answer without a body is none to a browser, and what led there would fail.
async fn missing(uri: Uri) -> (StatusCode, Html<String>) {
    let path = uri.path().replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    let page = format!("<!doctype html><title>404 Not Found</title><h1>404 Not Found</h1><p>{path}</p>\n");
    (StatusCode::NOT_FOUND, Html(page))
}

/// The shell reads the line, as a person's would; what it starts is one group.
fn spawn(line: &str, directory: &Path) -> std::io::Result<Box<dyn ChildWrapper>> {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut command = CommandWrap::with_new(shell, |command| {
        command.arg(flag).arg(line).current_dir(directory);
        // Standard output belongs to the report.
        command.stdin(Stdio::null()).stdout(Stdio::null());
    });
    #[cfg(unix)]
    command.wrap(process_wrap::tokio::ProcessGroup::leader());
    command.wrap(process_wrap::tokio::KillOnDrop);
    command.spawn()
}

fn host_and_port(url: &str) -> Result<SocketAddr, Fault> {
    let bad = || {
        Fault::new(Kind::BadUrl, format!("{url:?} is no address on this machine with a port"))
            .hint("e.g. http://127.0.0.1:3000")
    };
    let rest = url.strip_prefix("http://").ok_or_else(bad)?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let authority = authority.replace("localhost", "127.0.0.1");
    let address: SocketAddr = authority.parse().map_err(|_| bad())?;
    if address.ip().is_loopback() { Ok(address) } else { Err(bad()) }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    async fn get(address: &str, path: &str) -> String {
        let mut stream = TcpStream::connect(address.strip_prefix("http://").unwrap()).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        text
    }

    #[tokio::test]
    async fn files_are_served_and_nothing_above_them() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join("site")).unwrap();
        fs_err::write(folder.path().join("site/index.html"), "<h1>Hi</h1>").unwrap();
        fs_err::write(folder.path().join("secret.txt"), "s3cret").unwrap();
        let serving = Serving::directory(&folder.path().join("site")).await.unwrap();
        let page = get(serving.address(), "/").await;
        assert!(
            page.contains("text/html") && page.contains("no-store") && page.ends_with("<h1>Hi</h1>"),
            "{page}"
        );
        for outside in ["/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt"] {
            assert!(!get(serving.address(), outside).await.contains("s3cret"), "{outside}");
        }
        let missing = get(serving.address(), "/a&b.html").await;
        assert!(missing.starts_with("HTTP/1.1 404") && missing.contains("text/html"), "{missing}");
        assert!(missing.contains("<p>/a&amp;b.html</p>"), "{missing}");
        assert!(Serving::directory(&folder.path().join("none")).await.is_err());
    }

    #[tokio::test]
    async fn a_command_that_does_not_serve_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let long = Duration::from_secs(20);
        let ended = Serving::command("exit 3", folder.path(), "http://127.0.0.1:9", long).await.unwrap_err();
        assert!(ended.message.contains("ended before it answered"), "{ended:?}");
        let short = Duration::from_millis(100);
        let late =
            Serving::command("sleep 30", folder.path(), "http://localhost:9", short).await.unwrap_err();
        assert_eq!(late.kind, Kind::EndpointUnreachable);
        assert!(late.message.contains("does not answer"), "{late:?}");
        for bad in ["ftp://x", "http://example.com:80", "http://127.0.0.1", "3000"] {
            assert_eq!(
                Serving::command("true", folder.path(), bad, long).await.unwrap_err().kind,
                Kind::BadUrl,
                "{bad}"
            );
        }
    }
}
