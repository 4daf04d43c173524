//! What the tests have in common: a proxy, a server that remembers, a client that hides nothing, a scripted resolver.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use surehand_guard::egress::{EgressPolicy, Limits, Otherwise, Proxy, Resolve, Resolving};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Longer than anything here takes; a test that hangs is to fail.
const LONG: Duration = Duration::from_secs(20);

pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LONG, future).await.unwrap_or_else(|_| panic!("{what} takes too long"))
}

/// Looks again and again until it is so.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LONG, "{what} does not come about");
        tokio::task::yield_now().await;
    }
}

/// Answers of a name, one after another; the last one stays.
#[derive(Debug, Default)]
pub struct Script {
    answers: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    pub asked: Mutex<Vec<String>>,
}

impl Script {
    pub fn of(names: &[(&str, &[&[&str]])]) -> Arc<Self> {
        let address = |text: &&str| text.parse::<IpAddr>().expect("an address");
        let answers = names.iter().map(|(name, answers)| {
            let answers = answers.iter().rev().map(|answer| answer.iter().map(address).collect()).collect();
            ((*name).to_owned(), answers)
        });
        Arc::new(Self { answers: Mutex::new(answers.collect()), asked: Mutex::default() })
    }
}

impl Resolve for Script {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a> {
        self.asked.lock().unwrap().push(name.to_owned());
        let mut answers = self.answers.lock().unwrap();
        let answer = match answers.get_mut(name) {
            None => Err(io::Error::new(io::ErrorKind::NotFound, "no such name")),
            Some(left) if left.len() > 1 => Ok(left.pop().unwrap()),
            Some(left) => Ok(left[0].clone()),
        };
        Box::pin(async move { answer })
    }
}

pub async fn proxy(allow: &[&str]) -> Proxy {
    proxy_with(allow, Script::of(&[]), Limits::default()).await
}

pub async fn proxy_with(allow: &[&str], resolver: Arc<Script>, limits: Limits) -> Proxy {
    let policy = EgressPolicy::parse(allow, [""; 0], Otherwise::Allow).expect("a policy");
    Proxy::start_within(policy, resolver, limits).await.expect("a proxy")
}

/// A server. Each connection is given to a function; what it hears is kept.
pub struct Origin {
    pub address: SocketAddr,
    pub heard: Arc<Mutex<Vec<String>>>,
    pub connections: Arc<Mutex<usize>>,
    _tasks: JoinSet<()>,
}

/// A connection of the server or of a client.
#[derive(Debug)]
pub struct Line {
    pub stream: BufReader<TcpStream>,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Origin {
    pub async fn start<F, R>(serve: F) -> Self
    where
        F: Fn(Line) -> R + Send + Sync + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        Self::start_at("127.0.0.1:0", serve).await
    }

    pub async fn start_at<F, R>(address: &str, serve: F) -> Self
    where
        F: Fn(Line) -> R + Send + Sync + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind(address).await.expect("a listener");
        let address = listener.local_addr().unwrap();
        let (heard, connections) = (Arc::<Mutex<Vec<String>>>::default(), Arc::<Mutex<usize>>::default());
        let (keep, count) = (heard.clone(), connections.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut serving = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                *count.lock().unwrap() += 1;
                serving.spawn(serve(Line { stream: BufReader::new(stream), heard: keep.clone() }));
            }
        });
        Self { address, heard, connections, _tasks: tasks }
    }

    /// Answers every request with the same, and keeps the connection.
    pub async fn saying(answer: &'static str) -> Self {
        Self::start(move |mut line| async move {
            while line.request().await.is_some() {
                line.send(answer).await;
            }
        })
        .await
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }

    pub fn connections(&self) -> usize {
        *self.connections.lock().unwrap()
    }
}

pub const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// What came back.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
    /// Whether the body ended as its head said it would.
    pub whole: bool,
}

impl Reply {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }

    /// Whether the proxy said this itself.
    pub fn is_denied(&self) -> bool {
        self.status == 403 && self.header("x-surehand-egress") == Some("denied")
    }
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let lines = head.lines().filter_map(|line| line.split_once(':'));
    lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next()
}

impl Line {
    pub async fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("a connection");
        Self { stream: BufReader::new(stream), heard: Arc::default() }
    }

    pub async fn send(&mut self, text: impl AsRef<[u8]>) {
        // The other side may have gone; what it said before counts.
        self.stream.write_all(text.as_ref()).await.ok();
    }

    /// The lines up to an empty one; nothing at the end of the connection.
    pub async fn head(&mut self) -> Option<String> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if soon("a head", self.stream.read_line(&mut head)).await.unwrap_or(0) == 0 {
                return None;
            }
        }
        Some(head)
    }

    /// A whole request; its head and body are kept.
    pub async fn request(&mut self) -> Option<String> {
        let head = self.head().await?;
        let (body, whole) = self.body(&head, false).await;
        let text = format!("{head}{}{}", String::from_utf8_lossy(&body), if whole { "" } else { "<cut>" });
        self.heard.lock().unwrap().push(text.clone());
        Some(text)
    }

    /// Says something where requests are kept.
    pub fn mark(&self, text: &str) {
        self.heard.lock().unwrap().push(text.to_owned());
    }

    /// A whole answer.
    pub async fn reply(&mut self) -> Option<Reply> {
        self.reply_to("GET").await
    }

    pub async fn reply_to(&mut self, method: &str) -> Option<Reply> {
        let head = self.head().await?;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let bare = status < 200 || status == 204 || status == 304 || method == "HEAD";
        let (body, whole) = if bare { (Vec::new(), true) } else { self.body(&head, true).await };
        Some(Reply { status, head, body, whole })
    }

    async fn body(&mut self, head: &str, is_reply: bool) -> (Vec<u8>, bool) {
        let mut body = Vec::new();
        if header(head, "transfer-encoding").is_some() {
            loop {
                let mut size = String::new();
                soon("a chunk", self.stream.read_line(&mut size)).await.ok();
                let Ok(size) = usize::from_str_radix(size.trim(), 16) else { return (body, false) };
                let mut chunk = vec![0; size + 2];
                if soon("a chunk", self.stream.read_exact(&mut chunk)).await.is_err() {
                    return (body, false);
                }
                body.extend(&chunk[..size]);
                if size == 0 {
                    return (body, true);
                }
            }
        } else if let Some(size) = header(head, "content-length") {
            let size: u64 = size.parse().expect("a length");
            soon("a body", (&mut self.stream).take(size).read_to_end(&mut body)).await.ok();
            let whole = body.len() as u64 == size;
            (body, whole)
        } else if is_reply {
            let whole = soon("a body", self.stream.read_to_end(&mut body)).await.is_ok();
            (body, whole)
        } else {
            (body, true)
        }
    }

    /// Exactly these bytes come next.
    pub async fn expect(&mut self, text: &str) {
        let mut found = vec![0; text.len()];
        soon(text, self.stream.read_exact(&mut found)).await.expect(text);
        assert_eq!(String::from_utf8_lossy(&found), text);
    }

    /// Nothing comes any more.
    pub async fn ended(&mut self) {
        let mut rest = Vec::new();
        soon("the end", self.stream.read_to_end(&mut rest)).await.ok();
        assert_eq!(String::from_utf8_lossy(&rest), "");
    }
}

/// One request on a connection of its own.
pub async fn ask(proxy: &Proxy, request: &str) -> Reply {
    let mut line = Line::to(proxy.address()).await;
    line.send(request).await;
    line.reply().await.unwrap_or_else(|| panic!("an answer to {request:?}"))
}

pub async fn get(proxy: &Proxy, url: &str) -> Reply {
    ask(proxy, &format!("GET {url} HTTP/1.1\r\nHost: whatever.example\r\n\r\n")).await
}

/// A tunnel, or the answer of the proxy that refuses it.
pub async fn connect(proxy: &Proxy, to: &str) -> Result<Line, Reply> {
    let mut line = Line::to(proxy.address()).await;
    line.send(format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\n")).await;
    let reply = line.head().await.expect("an answer");
    if reply.starts_with("HTTP/1.1 200 ") {
        return Ok(line);
    }
    let (body, whole) = line.body(&reply, true).await;
    Err(Reply { status: reply[9..12].parse().unwrap(), head: reply, body, whole })
}
