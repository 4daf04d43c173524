//! The demo's site: two pages on loopback, served by a thread.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

/// A running site. It ends with the process.
pub(super) struct Site {
    address: SocketAddr,
}

const PAGE: &str = include_str!("page.html");

impl Site {
    pub fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // One thread per connection: browsers open some in advance and say nothing on them.
                thread::spawn(move || drop(answer(stream)));
            }
        });
        Ok(Self { address })
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }
}

fn answer(stream: TcpStream) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut request = String::new();
    reader.read_line(&mut request)?;
    let mut header = String::new();
    while reader.read_line(&mut header)? > 2 {
        header.clear();
    }
    let found = request.starts_with("GET / ") || request.starts_with("GET /?");
    let (status, body) = if found { ("200 OK", PAGE) } else { ("404 Not Found", "nothing here") };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let mut stream = stream;
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}
