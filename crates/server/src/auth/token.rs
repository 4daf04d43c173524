//! Tokens: what they say, how they are made, and whether they are to be believed.

use std::time::Duration;

use aws_lc_rs::rand;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Header, Validation};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use surehand_guard::vault::LOCAL;

use super::keys::{KeyError, KeyRing};
use super::scope::Scopes;
use super::{AUDIENCE, ISSUER, now};

/// Clocks of two machines may differ by this many seconds.
const LEEWAY: u64 = 30;

/// What a token says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Claims {
    /// Who issued it.
    pub iss: String,
    /// For whom it is.
    pub aud: Value,
    /// Who shows it.
    pub sub: String,
    /// Until when it counts, in seconds of the epoch.
    #[serde(deserialize_with = "whole_seconds")]
    pub exp: u64,
    /// When it was made.
    #[serde(default, deserialize_with = "whole_seconds")]
    pub iat: u64,
    /// Its own name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jti: Option<String>,
    /// What a person calls the subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The program that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// What it allows.
    #[serde(default)]
    scopes: Scopes,
    /// The same as one text, as OAuth writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
}

impl Claims {
    /// What it allows, however it is written.
    pub fn scopes(&self) -> Scopes {
        let spaced = self.scope.iter().flat_map(|text| text.split_ascii_whitespace());
        Scopes::new(self.scopes.iter().chain(spaced).map(ToOwned::to_owned))
    }
}

/// Times may have fractions (RFC 7519); what is behind the point does not count.
fn whole_seconds<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    f64::deserialize(deserializer).map(|seconds| seconds as u64)
}

/// Why a token is not believed.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// It is none.
    #[error("this is no token")]
    Malformed,
    /// It names a key that is not here, or says that it was signed in another way.
    #[error("no key of this service signed it")]
    UnknownKey,
    /// It was changed, or somebody else signed it.
    #[error("its signature is wrong")]
    BadSignature,
    /// It is too old.
    #[error("it has expired")]
    Expired,
    /// It is not time yet.
    #[error("it is not valid yet")]
    TooEarly,
    /// It is somebody else's.
    #[error("its issuer or audience is another")]
    NotForUs,
    /// Something that must be there is not.
    #[error("the claim {0:?} is missing or has another form")]
    Missing(String),
    /// The keys cannot be read.
    #[error(transparent)]
    Keys(#[from] KeyError),
}

/// What to write into a new token.
#[derive(Debug, Clone)]
pub struct Mint {
    /// Who will show it.
    pub subject: String,
    /// What a person calls them.
    pub name: Option<String>,
    /// The program that will show it.
    pub client: Option<String>,
    /// What it allows.
    pub scopes: Scopes,
    /// How long it counts.
    pub lifetime: Duration,
    /// The key that signs it; the newest if none is named.
    pub kid: Option<String>,
}

impl KeyRing {
    /// Makes a token.
    pub fn mint(&self, mint: &Mint) -> Result<String, TokenError> {
        let (key, signing) = self.signing(mint.kid.as_deref())?;
        let mut id = [0; 12];
        rand::fill(&mut id).map_err(|_| KeyError::NoRandom)?;
        let claims = Claims {
            iss: ISSUER.to_owned(),
            aud: AUDIENCE.into(),
            sub: mint.subject.clone(),
            exp: now().saturating_add(mint.lifetime.as_secs()),
            iat: now(),
            jti: Some(BASE64_URL_SAFE_NO_PAD.encode(id)),
            name: mint.name.clone(),
            client: mint.client.clone(),
            scopes: mint.scopes.clone(),
            scope: None,
        };
        let header = Header { kid: Some(key.kid), ..Header::new(key.algorithm.jwt()) };
        jsonwebtoken::encode(&header, &claims, &signing).map_err(|error| believed(&error))
    }

    /// What a token says, if it is to be believed.
    pub fn verify(&self, token: &str) -> Result<Claims, TokenError> {
        let header = jsonwebtoken::decode_header(token).map_err(|_| TokenError::Malformed)?;
        // What must be understood and is not makes the token none (RFC 7515); nothing of that kind is understood here.
        if part(token.split('.').next()).is_none_or(|header| header.get("crit").is_some()) {
            return Err(TokenError::Malformed);
        }
        let mut failure = TokenError::UnknownKey;
        for (key, checking) in self.candidates(header.kid.as_deref())? {
            // What the token says about its algorithm never chooses how a key is used.
            if key.algorithm.jwt() != header.alg {
                continue;
            }
            let mut validation = Validation::new(key.algorithm.jwt());
            validation.set_issuer(&[ISSUER]);
            validation.set_audience(&[AUDIENCE]);
            validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
            validation.validate_nbf = true;
            validation.leeway = LEEWAY;
            match jsonwebtoken::decode::<Claims>(token, &checking, &validation) {
                // Nobody from elsewhere is the user of this machine.
                Ok(data) if matches!(data.claims.sub.as_str(), "" | LOCAL) => {
                    return Err(TokenError::Missing("sub".to_owned()));
                }
                Ok(data) => return Ok(data.claims),
                Err(error) => failure = believed(&error),
            }
        }
        Err(failure)
    }
}

fn believed(error: &jsonwebtoken::errors::Error) -> TokenError {
    match error.kind() {
        ErrorKind::InvalidSignature => TokenError::BadSignature,
        ErrorKind::ExpiredSignature => TokenError::Expired,
        ErrorKind::ImmatureSignature => TokenError::TooEarly,
        ErrorKind::InvalidIssuer | ErrorKind::InvalidAudience => TokenError::NotForUs,
        ErrorKind::MissingRequiredClaim(name) | ErrorKind::InvalidClaimFormat(name) => {
            TokenError::Missing(name.clone())
        }
        ErrorKind::Json(_) => TokenError::Missing("sub, iss, aud, exp or iat".to_owned()),
        _ => TokenError::Malformed,
    }
}

/// An object that is a part of a token.
fn part(text: Option<&str>) -> Option<Value> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(text?).ok()?;
    serde_json::from_slice(&bytes).ok().filter(Value::is_object)
}

/// What stands in a token, believed or not.
#[derive(Debug, Serialize)]
pub struct Inspected {
    /// How it says that it was signed, and with which key.
    pub header: Value,
    /// What it says.
    pub claims: Value,
    /// Is it to be believed here and now?
    pub valid: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Reads a token without believing it, and says whether the service would.
pub fn inspect(ring: &KeyRing, token: &str) -> Result<Inspected, TokenError> {
    let mut parts = token.split('.');
    let (header, claims) = (part(parts.next()), part(parts.next()));
    let (Some(header), Some(claims)) = (header, claims) else { return Err(TokenError::Malformed) };
    let problem = ring.verify(token).err().map(|error| error.to_string());
    Ok(Inspected { header, claims, valid: problem.is_none(), problem })
}

#[cfg(test)]
mod tests {
    use super::super::Algorithm;
    use super::*;

    const SECRET: &str = "0123456789abcdef0123456789abcdef";

    fn ring(folder: &std::path::Path) -> KeyRing {
        KeyRing::open(&folder.join("keys"), None).unwrap()
    }

    fn mint(subject: &str) -> Mint {
        Mint {
            subject: subject.to_owned(),
            name: None,
            client: Some("ci".to_owned()),
            scopes: Scopes::new(["packs:*".to_owned()]),
            lifetime: Duration::from_secs(60),
            kid: None,
        }
    }

    #[test]
    fn both_algorithms_sign_what_is_believed() {
        for algorithm in [Algorithm::Hs256, Algorithm::EdDsa] {
            let folder = tempfile::tempdir().unwrap();
            let ring = ring(folder.path());
            ring.make(algorithm, None).unwrap();
            let claims = ring.verify(&ring.mint(&mint("ada")).unwrap()).unwrap();
            assert_eq!((claims.sub.as_str(), claims.client.as_deref()), ("ada", Some("ci")));
            assert!(claims.scopes().allow("packs:web.scrape"));
        }
    }

    #[test]
    fn keys_change_while_tokens_are_about() {
        let folder = tempfile::tempdir().unwrap();
        let ring = ring(folder.path());
        ring.make(Algorithm::Hs256, Some("old")).unwrap();
        let old = ring.mint(&mint("ada")).unwrap();
        ring.make(Algorithm::EdDsa, Some("new")).unwrap();
        let new = ring.mint(&Mint { kid: Some("new".to_owned()), ..mint("ada") }).unwrap();
        assert!(ring.verify(&old).is_ok() && ring.verify(&new).is_ok());
        ring.remove("old").unwrap();
        assert!(matches!(ring.verify(&old), Err(TokenError::UnknownKey)));
        assert!(ring.verify(&new).is_ok());
    }

    #[test]
    fn a_public_half_checks_but_does_not_sign() {
        let (theirs, ours) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (theirs, ours) = (ring(theirs.path()), ring(ours.path()));
        theirs.make(Algorithm::EdDsa, Some("issuer")).unwrap();
        let public = theirs.infos().unwrap()[0].public.clone().unwrap();
        ours.trust("issuer", &public).unwrap();
        assert!(ours.verify(&theirs.mint(&mint("ada")).unwrap()).is_ok());
        assert!(!ours.can_sign().unwrap() && ours.mint(&mint("ada")).is_err());
    }

    /// Each of these must not be believed.
    #[test]
    fn what_is_not_in_order_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let ring = KeyRing::open(folder.path(), Some(SECRET)).unwrap();
        let signing = jsonwebtoken::EncodingKey::from_secret(SECRET.as_bytes());
        let good = serde_json::json!({
            "iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "exp": now() + 60, "scopes": ["admin"],
        });
        let sign = |change: &dyn Fn(&mut Value)| {
            let mut claims = good.clone();
            change(&mut claims);
            jsonwebtoken::encode(&Header::new(jsonwebtoken::Algorithm::HS256), &claims, &signing).unwrap()
        };
        assert!(ring.verify(&sign(&|_| {})).is_ok());
        let expired = sign(&|claims| claims["exp"] = (now() - 3600).into());
        assert!(matches!(ring.verify(&expired), Err(TokenError::Expired)));
        let early = sign(&|claims| claims["nbf"] = (now() + 3600).into());
        assert!(matches!(ring.verify(&early), Err(TokenError::TooEarly)));
        for (claim, value) in [("iss", "other"), ("aud", "other")] {
            let token = sign(&|claims| claims[claim] = value.into());
            assert!(matches!(ring.verify(&token), Err(TokenError::NotForUs)), "{claim}");
        }
        for claim in ["iss", "aud", "sub", "exp"] {
            let token = sign(&|claims| _ = claims.as_object_mut().unwrap().shift_remove(claim));
            assert!(matches!(ring.verify(&token), Err(TokenError::Missing(_))), "{claim}");
        }
        let good = sign(&|_| {});
        let (head, rest) = good.split_once('.').unwrap();
        let (body, signature) = rest.split_once('.').unwrap();
        let none = BASE64_URL_SAFE_NO_PAD.encode(r#"{"alg":"none","typ":"JWT"}"#);
        let other = Header { kid: Some("missing".into()), ..Header::default() };
        let other = jsonwebtoken::encode(&other, &serde_json::json!({}), &signing).unwrap();
        for token in [
            format!("{head}.{body}."),
            format!("{none}.{body}."),
            format!("{none}.{body}.{signature}"),
            format!("{head}.{body}.{}", signature.chars().rev().collect::<String>()),
            other,
            String::new(),
            "a.b.c".to_owned(),
        ] {
            assert!(ring.verify(&token).is_err(), "{token}");
        }
    }

    #[test]
    fn a_short_secret_and_an_open_file_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(KeyRing::open(folder.path(), Some("short")), Err(KeyError::ShortSecret(5))));
        let path = ring(folder.path()).make(Algorithm::Hs256, Some("k")).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs_err::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
            let opened = KeyRing::open(&folder.path().join("keys"), None);
            assert!(matches!(opened, Err(KeyError::Readable(_))), "{opened:?}");
        }
    }
}
