//! Who is believed to be who they say: those whom Mozilla believes, and those whom this machine does.
//!
//! A bare machine has no list of its own, and a browser must be had there, too. A company's own authority is only in the
//! list of the machine, or in `SSL_CERT_FILE` or `SSL_CERT_DIR`, which stand for that list as they do for OpenSSL.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};

pub(crate) fn config() -> Result<ClientConfig, rustls::Error> {
    // Named here, so that nothing depends on which provider was installed first in the process.
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(config.with_root_certificates(roots()).with_no_client_auth())
}

fn roots() -> RootCertStore {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let own = rustls_native_certs::load_native_certs();
    for error in own.errors {
        tracing::warn!(target: "outbound", %error, "certificates of this machine that cannot be read");
    }
    roots.add_parsable_certificates(own.certs);
    roots
}
