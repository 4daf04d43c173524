//! `token`: tokens for the service, and the keys that sign them.

use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use surehand_server::Home;
use surehand_server::auth::{Algorithm, KeyRing, Mint, Scopes, TokenError, inspect, is_scope};
use surehand_session::{Fault, Kind};

use crate::printer::Printer;

/// Arguments.
#[derive(Debug, Args)]
pub(crate) struct Token {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Make a token
    Mint(MintArgs),
    /// Show what a token says, and whether the service would believe it
    Inspect {
        /// The token
        token: String,
    },
    /// List the keys
    Keys,
    /// Make a key; tokens are signed with the newest
    NewKey {
        /// How it signs
        #[arg(long, value_enum, default_value_t = Signs::Hs256)]
        algorithm: Signs,
        /// Its name in tokens
        #[arg(long, value_name = "NAME")]
        kid: Option<String>,
    },
    /// Believe tokens that somebody else signs, by their Ed25519 public key in base64url
    Trust {
        /// Its name in tokens
        kid: String,
        /// The public key
        // One in 64 begins with a dash.
        #[arg(allow_hyphen_values = true)]
        public: String,
    },
    /// Take a key away: its tokens count no more
    RemoveKey {
        /// Its name
        kid: String,
    },
}

#[derive(Debug, Args)]
struct MintArgs {
    /// Who will show it
    #[arg(long, value_name = "SUBJECT")]
    sub: String,
    /// What it allows, e.g. packs:browser.interact, packs:*, vault:read, admin; may be given several times
    #[arg(long, value_name = "SCOPE", required = true, value_delimiter = ',')]
    scope: Vec<String>,
    /// How long it counts: 30m, 24h, 7d
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = lifetime)]
    ttl: Duration,
    /// What a person calls the subject
    #[arg(long)]
    name: Option<String>,
    /// The program that will show it
    #[arg(long)]
    client: Option<String>,
    /// The key that signs it [default: the newest]
    #[arg(long, value_name = "NAME")]
    kid: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Signs {
    Hs256,
    Eddsa,
}

/// Nobody means to wait longer for a token to die.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);

fn lifetime(text: &str) -> Result<Duration, String> {
    let (number, unit) = text.split_at(text.len() - text.chars().last().map_or(0, char::len_utf8));
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 24 * 3600,
        _ => return Err("write it like 30m, 24h or 7d".to_owned()),
    };
    let number: u64 = number.parse().map_err(|_| "write it like 30m, 24h or 7d".to_owned())?;
    let time = Duration::from_secs(number.saturating_mul(seconds));
    match time {
        Duration::ZERO => Err("it would be over at once".to_owned()),
        time if time > LONGEST => Err("a year is the longest".to_owned()),
        time => Ok(time),
    }
}

impl Token {
    pub fn run(self, printer: &Printer) -> Result<ExitCode, Fault> {
        let secret = std::env::var("SUREHAND_JWT_SECRET").ok().filter(|secret| !secret.is_empty());
        let keys =
            KeyRing::open(&Home::from_env()?.keys(), secret.as_deref()).map_err(|e| fault(e.into()))?;
        match self.action {
            Action::Mint(mint) => mint.run(&keys, printer),
            Action::Inspect { token } => {
                let inspected = inspect(&keys, token.trim()).map_err(fault)?;
                let value = serde_json::to_value(&inspected).map_err(crate::internal)?;
                printer.result(&value, &format!("{value:#}"));
                // Scripts ask whether it is good.
                Ok(if inspected.valid { ExitCode::SUCCESS } else { ExitCode::from(1) })
            }
            Action::Keys => {
                let infos = keys.infos().map_err(|e| fault(e.into()))?;
                let lines: Vec<String> = infos
                    .iter()
                    .map(|key| {
                        let algorithm = json!(key.algorithm);
                        let use_of = if key.signs { "signs" } else { "only checks" };
                        format!("{}  {}  {use_of}", key.kid, algorithm.as_str().unwrap_or_default())
                    })
                    .collect();
                Ok(printer.result(&json!({ "keys": infos }), &lines.join("\n")))
            }
            Action::NewKey { algorithm, kid } => {
                let algorithm = match algorithm {
                    Signs::Hs256 => Algorithm::Hs256,
                    Signs::Eddsa => Algorithm::EdDsa,
                };
                let path = keys.make(algorithm, kid.as_deref()).map_err(|e| fault(e.into()))?;
                Ok(printer.result(&json!({ "path": path }), &format!("made {}", path.display())))
            }
            Action::Trust { kid, public } => {
                let path = keys.trust(&kid, &public).map_err(|e| fault(e.into()))?;
                Ok(printer.result(&json!({ "path": path }), &format!("tokens of {kid} count from now on")))
            }
            Action::RemoveKey { kid } => {
                keys.remove(&kid).map_err(|e| fault(e.into()))?;
                Ok(printer.result(&json!({ "removed": kid }), &format!("removed {kid}")))
            }
        }
    }
}

impl MintArgs {
    fn run(self, keys: &KeyRing, printer: &Printer) -> Result<ExitCode, Fault> {
        if let Some(odd) = self.scope.iter().find(|scope| !is_scope(scope)) {
            return Err(Fault::new(Kind::Usage, format!("{odd:?} is no scope")).hint(
                "scopes are packs:NAME, packs:*, sessions:read, sessions:write, vault:read, vault:write, audit:read, mcp:use, admin",
            ));
        }
        if self.sub.trim().is_empty() || self.sub == surehand_guard::vault::LOCAL {
            return Err(Fault::new(Kind::Usage, format!("{:?} cannot be the subject of a token", self.sub))
                .hint("give the one who will show it a name: --sub ci"));
        }
        if !keys.can_sign().map_err(|e| fault(e.into()))? {
            keys.make(Algorithm::Hs256, None).map_err(|e| fault(e.into()))?;
        }
        let token = keys
            .mint(&Mint {
                subject: self.sub,
                name: self.name,
                client: self.client,
                scopes: Scopes::new(self.scope),
                lifetime: self.ttl,
                kid: self.kid,
            })
            .map_err(fault)?;
        Ok(printer.result(&json!({ "token": token }), &token))
    }
}

fn fault(error: TokenError) -> Fault {
    Fault::new(Kind::Usage, error.to_string())
}
