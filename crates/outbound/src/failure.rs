//! What an error of the client means.

use std::error::Error;
use std::io;

use rustls::CertificateError;

/// What went wrong at the bottom of it: the layers above only say that something below did.
pub fn innermost(error: &(dyn Error + 'static)) -> String {
    layers(error).last().unwrap_or(error).to_string()
}

/// Why the other side's certificate was refused, if that is what happened.
pub fn distrust(error: &(dyn Error + 'static)) -> Option<String> {
    layers(error).find_map(refused_certificate).map(|why| match why {
        CertificateError::UnknownIssuer => {
            "nobody whom this machine trusts vouches for its certificate".into()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "its certificate is for another name".into()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "its certificate has expired".into()
        }
        CertificateError::Other(other) => format!("its certificate was refused: {}", innermost(&*other.0)),
        other => format!("its certificate was refused: {other}"),
    })
}

fn layers<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| (*error).source())
}

fn refused_certificate<'a>(layer: &'a (dyn Error + 'static)) -> Option<&'a CertificateError> {
    // An I/O error speaks for what it wraps, and leaves it out when it is asked for its source.
    if let Some(error) = layer.downcast_ref::<io::Error>() {
        return refused_certificate(error.get_ref()?);
    }
    match layer.downcast_ref()? {
        rustls::Error::InvalidCertificate(why) => Some(why),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_certificate_is_found_inside_io_errors() {
        let refused = rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer);
        let error = io::Error::other(io::Error::other(refused));
        assert!(distrust(&error).is_some_and(|why| why.contains("vouches")), "{error}");
        assert_eq!(distrust(&io::Error::other("refused")), None);
    }
}
