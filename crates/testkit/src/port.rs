//! A port where nobody listens, for as long as a test needs it to be so.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};

/// A loopback port that refuses connections. One that was merely free a moment ago may be somebody's by the time it is
/// used: this one is the near end of a connection, so nobody else is given it, and nobody listens there.
#[derive(Debug)]
pub struct ClosedPort {
    address: SocketAddr,
    _ends: (TcpStream, TcpStream),
}

impl ClosedPort {
    /// Takes a port; it is given back when this is dropped.
    pub fn new() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let near = TcpStream::connect(listener.local_addr()?)?;
        let (far, _) = listener.accept()?;
        Ok(Self { address: near.local_addr()?, _ends: (near, far) })
    }

    /// `127.0.0.1:PORT`.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its number.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_listens_there_and_nobody_can() {
        let closed = ClosedPort::new().unwrap();
        let error = TcpStream::connect(closed.address()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        let error = TcpListener::bind(closed.address()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    }
}
