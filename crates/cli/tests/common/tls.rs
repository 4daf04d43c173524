//! TLS in front of a server that does not speak it, with a certificate of its own that nobody has heard of.

use std::net::SocketAddr;
use std::sync::Arc;

use rcgen::CertifiedKey;
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;

/// Listens as long as it lives.
pub struct TlsFront {
    pub address: SocketAddr,
    /// What to believe in, as PEM.
    pub certificate: String,
    _runtime: Runtime,
}

impl TlsFront {
    /// Its certificate is for `name`; what is said to it is passed on to `behind`.
    pub fn start(name: &str, behind: SocketAddr) -> Self {
        let CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(signing_key.serialize_der().into());
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
        let runtime = Runtime::new().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        runtime.spawn(accept(listener, TlsAcceptor::from(Arc::new(config)), behind));
        Self { address, certificate: cert.pem(), _runtime: runtime }
    }
}

async fn accept(listener: TcpListener, acceptor: TlsAcceptor, behind: SocketAddr) {
    while let Ok((stream, _)) = listener.accept().await {
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            // A client that does not believe us hangs up here.
            let Ok(mut outside) = acceptor.accept(stream).await else { return };
            let mut inside = TcpStream::connect(behind).await.unwrap();
            let _ = tokio::io::copy_bidirectional(&mut outside, &mut inside).await;
        });
    }
}
