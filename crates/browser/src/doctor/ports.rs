//! Can we listen on loopback, and who is on the port where people start debuggable browsers.

use std::{
    io::{self, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    time::{Duration, Instant},
};

use super::{Check, Status};
use crate::attach;

const USUAL: u16 = 9222;
const LONGEST: Duration = Duration::from_secs(1);

pub(super) fn check() -> Vec<Check> {
    let mut checks = vec![loopback()];
    checks.extend(listener(USUAL));
    checks
}

fn loopback() -> Check {
    match TcpListener::bind((Ipv4Addr::LOCALHOST, 0)) {
        Ok(_) => Check::new("ports", Status::Ok, "loopback ports can be opened"),
        Err(error) => {
            Check::new("ports", Status::Fail, format!("no port can be opened on 127.0.0.1: {error}"))
                .fix("bring the loopback interface up (ip link set lo up)")
        }
    }
}

/// Who listens on a port, if anybody.
fn listener(port: u16) -> Option<Check> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_millis(300)).ok()?;
    let answer = ask(&mut stream, port).unwrap_or_default();
    Some(match attach::read_answer(&address.to_string(), &answer) {
        Ok(version) => Check::new("ports", Status::Ok, format!("{} listens on {port}", version.browser))
            .fix(format!("surehand connect {port} attaches to it")),
        Err(_) => {
            Check::new("ports", Status::Ok, format!("something that is not a browser listens on {port}"))
        }
    })
}

fn ask(stream: &mut TcpStream, port: u16) -> io::Result<Vec<u8>> {
    let deadline = Instant::now() + LONGEST;
    stream.write_all(attach::request(attach::VERSION, port).as_bytes())?;
    let mut answer = Vec::new();
    let mut chunk = [0; 4096];
    while !attach::is_enough(&answer, attach::LARGEST) || answer.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut chunk)? {
            0 => break,
            n => answer.extend_from_slice(&chunk[..n]),
        }
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_that_is_no_browser_is_said_to_be_none() {
        let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = server.local_addr().unwrap().port();
        let talk = std::thread::spawn(move || server.accept().unwrap().0.write_all(b"220 mail\r\n").unwrap());
        let check = listener(port).unwrap();
        assert!(check.message.contains("not a browser"), "{check:?}");
        talk.join().unwrap();
        assert_eq!(listener(port), None);
    }
}
