//! Words that say that something is a secret, in names of members and in what people read beside a field: the one list of
//! them.

/// A star stands for any letters: in `clientsecret` nobody put a space. What has none is a word of its own, because
/// `pin` is in `pinboard` and `otp` in `hotplug`; and none stands behind `token` and `secret`, because of `tokenize` and
/// `secretary`. Several words mean them in that order, one after the other.
const WORDS: &[&str] = &[
    // English, and what programs write.
    "*passw*",
    "*passphrase*",
    "pass phrase",
    "*passcode",
    "pwd",
    "pw",
    "*token",
    "*accesstoken*",
    "*sessiontoken*",
    "*secret",
    "secrets",
    "*clientsecret*",
    "*apikey*",
    "api key",
    "access key",
    "private key",
    "privatekey",
    "secretkey",
    "signing key",
    "encryption key",
    "ssh key",
    "recovery key",
    "license key",
    "licence key",
    "credential",
    "credentials",
    "pin",
    "otp",
    "totp",
    "2 fa",
    "2fa",
    "mfa",
    "bearer",
    "one time code",
    "access code",
    "auth code",
    "authentication code",
    "security code",
    "verification code",
    "recovery code",
    "backup code",
    "recovery phrase",
    "seed phrase",
    "mnemonic",
    "cvv",
    "cvc",
    "csc",
    "card number",
    "cardnumber",
    "ssn",
    "social security number",
    // German.
    "*kennwort",
    "*passwörter",
    "geheimnis",
    "geheimzahl",
    "*sicherheitscode",
    "*prüfziffer",
    "*prüfnummer",
    "kartennummer",
    "kreditkartennummer",
    "*zugangscode",
    "api schlüssel",
    "privater schlüssel",
    "tan",
    // French, Spanish, Portuguese, Italian. A letter and its accent may be two characters; the accent is dropped then.
    "mot de passe",
    "code secret",
    "clé api",
    "cle api",
    "clé privée",
    "contraseña",
    "contrasena",
    "clave secreta",
    "clave privada",
    "senha",
    "palavra passe",
    "parola d ordine",
    // Others.
    "wachtwoord",
    "*lösenord",
    "*losenord",
    "passord",
    "adgangskode",
    "kodeord",
    "salasana",
    "hasło",
    "haslo",
    "heslo",
    "jelszó",
    "jelszo",
    "şifre",
    "sifre",
    "пароль",
    "*密码*",
    "*密碼*",
    "*口令*",
    "*令牌*",
    "*パスワード*",
    "*暗証番号*",
    "*비밀번호*",
];

/// Words that mean a secret only where nothing stands beside them: there are boarding passes, too.
const ALONE: [&str; 1] = ["pass"];

/// Does a name or a label call what belongs to it a secret: `accessToken`, `API key`, `Mot de passe`?
pub fn names_a_secret(text: &str) -> bool {
    let words = words_of(text);
    let is_alone = matches!(words.as_slice(), [only] if ALONE.contains(&only.as_str()));
    is_alone || WORDS.iter().any(|phrase| is_said(phrase, &words))
}

fn is_said(phrase: &str, words: &[String]) -> bool {
    let length = phrase.split(' ').count();
    words.windows(length).any(|said| phrase.split(' ').zip(said).all(|(wanted, word)| fits(wanted, word)))
}

fn fits(wanted: &str, word: &str) -> bool {
    match (wanted.strip_prefix('*'), wanted.strip_suffix('*')) {
        (Some(_), Some(_)) => word.contains(wanted.trim_matches('*')),
        (Some(ending), None) => word.ends_with(ending),
        (None, Some(beginning)) => word.starts_with(beginning),
        (None, None) => word == wanted,
    }
}

/// The words of `accessToken`, `API_KEY`, `APIKey` and `One-time code 2`, in small letters.
fn words_of(text: &str) -> Vec<String> {
    let is_accent = |c: &char| ('\u{300}'..='\u{36f}').contains(c);
    let characters: Vec<char> = text.chars().filter(|c| !is_accent(c)).collect();
    let mut words = vec![String::new()];
    for (index, character) in characters.iter().enumerate() {
        let before = index.checked_sub(1).map(|at| characters[at]);
        let after = characters.get(index + 1).copied();
        if before.is_some_and(|before| is_border(before, *character, after)) {
            words.push(String::new());
        }
        if character.is_alphanumeric() {
            words.last_mut().into_iter().for_each(|word| word.extend(character.to_lowercase()));
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Does a word end between two characters?
fn is_border(before: char, here: char, after: Option<char>) -> bool {
    let is_next_word = here.is_uppercase() && before.is_uppercase() && after.is_some_and(char::is_lowercase);
    !before.is_alphanumeric()
        || !here.is_alphanumeric()
        || before.is_numeric() != here.is_numeric()
        || (before.is_lowercase() && here.is_uppercase())
        || is_next_word
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_told_apart() {
        for (text, words) in [
            ("accessToken", &["access", "token"][..]),
            ("API_KEY", &["api", "key"]),
            ("APIKey2", &["api", "key", "2"]),
            (" One-time  code:", &["one", "time", "code"]),
            ("", &[]),
            ("contrasen\u{303}a", &["contrasena"]),
        ] {
            assert_eq!(words_of(text), words, "{text}");
        }
    }

    #[test]
    fn secrets_are_known_by_what_they_are_called() {
        for name in [
            "token",
            "Access token",
            "accessToken",
            "authtoken",
            "Secret",
            "clientsecret",
            "Client secret *",
            "API key",
            "X-Api-Key",
            "your_api_key",
            "Passphrase",
            "PIN",
            "4-digit PIN",
            "cvv2",
            "CVC",
            "OTP code",
            "2FA code",
            "Pass phrase",
            "One-time code",
            "Passwort wiederholen",
            "Mot de passe",
            "Contraseña",
            "Private key",
            "Card number",
            "newpassword",
            "pass",
            "输入密码",
            "Пароль:",
        ] {
            assert!(names_a_secret(name), "{name}");
        }
        for name in [
            "pinboard",
            "Pinboard title",
            "Spinach",
            "tokenize",
            "Max tokens",
            "secretary",
            "keyboard",
            "Key",
            "Keyword",
            "compass",
            "Boarding pass",
            "passenger",
            "hotplug",
            "Titan",
            "Postcode",
            "Author",
            "E-mail",
            "",
        ] {
            assert!(!names_a_secret(name), "{name}");
        }
    }

    proptest! {
        #[test]
        fn a_word_counts_wherever_it_stands(before in "[a-z ]{0,12}", after in "[a-z ]{0,12}") {
            let text = format!("{before} API-Key {after}");
            prop_assert!(names_a_secret(&text));
        }

        #[test]
        fn any_text_has_an_answer(text in "\\PC{0,60}") {
            let _ = names_a_secret(&text);
        }
    }
}
