//! Where do passwords come from, and where do they not go?
//!
//! They may be in the project file, in an environment variable, in a separate file, or where those
//! are that were typed into a browser (`secret_file`). The latter three are looked up when a run
//! starts ([`Settings::reveal_kept`], then [`Settings::reveal`]), by the caller that may read the
//! environment. What is stored about a run contains none of them ([`without_secrets`]).

use super::{AuthSettings, FieldValue, StepSettings};
use crate::examine::Wrong;
use crate::secret_file::unknown_secret;
use crate::settings::Settings;
use orb_fetch::{Credential, Proof};
use std::path::Path;

/// Maximum length of a secret read from a file.
const LONGEST: usize = 64 << 10;

/// Fragments of field names that mark secrets.
const TELLTALE: [&str; 8] = ["pass", "pwd", "secret", "token", "pin", "otp", "key", "kennwort"];

impl Settings {
    /// Looks up the secrets that are stored elsewhere; `variable` returns the value of an
    /// environment variable.
    pub fn reveal(&mut self, variable: &dyn Fn(&str) -> Option<String>) -> Result<(), Wrong> {
        for (n, step) in self.steps.iter_mut().enumerate() {
            for (name, value) in step.form.iter_mut().flat_map(|form| &mut form.fields) {
                let FieldValue::Hidden(source) = value else { continue };
                let key = format!("steps[{n}].form.fields.{name}");
                if let Some(secret) = &source.secret {
                    source.found.as_ref().ok_or_else(|| unknown_secret(&key, secret))?;
                    continue;
                }
                source.found = Some(found(&key, source.env.as_deref(), source.file.as_deref(), variable)?);
            }
        }
        for (n, auth) in self.auth.iter_mut().enumerate() {
            let key = |name: &str| format!("auth[{n}].{name}");
            let AuthSettings { password_env, password_file, token_env, token_file, .. } = auth;
            let sources = [
                ("password", password_env.take(), password_file.take(), &mut auth.password),
                ("token", token_env.take(), token_file.take(), &mut auth.token),
            ];
            for (what, env, file, secret) in sources {
                if env.is_some() || file.is_some() {
                    let name = format!("{what}_{}", if env.is_some() { "env" } else { "file" });
                    *secret = Some(found(&key(&name), env.as_deref(), file.as_deref(), variable)?);
                }
            }
        }
        self.read_netrc(variable)
    }
}

/// A secret from where it is stored.
fn found(
    key: &str,
    env: Option<&str>,
    file: Option<&Path>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<String, Wrong> {
    if let Some(name) = env {
        return variable(name).ok_or_else(|| Wrong::new(key, format!("the environment variable {name} is not set")));
    }
    let path = file.unwrap_or(Path::new(""));
    let wrong = |why: &dyn std::fmt::Display| Wrong::new(key, format!("cannot read {}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|e| wrong(&e))?;
    if text.len() > LONGEST {
        return Err(wrong(&"it is too large for a password"));
    }
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

/// Whether the name of a field says that it holds a secret.
pub(crate) fn is_telltale(name: &str) -> bool {
    let name = name.to_lowercase();
    TELLTALE.iter().any(|word| name.contains(word))
}

/// Removes secrets from settings.
pub(crate) fn without_secrets(steps: &mut [StepSettings], auth: &mut [AuthSettings]) {
    for (name, value) in steps.iter_mut().filter_map(|s| s.form.as_mut()).flat_map(|form| &mut form.fields) {
        let telltale = is_telltale(name);
        match value {
            FieldValue::Hidden(source) => (source.found, source.site) = (None, None),
            FieldValue::Text(text) if telltale => "***".clone_into(text),
            FieldValue::Number(_) if telltale => *value = FieldValue::Text("***".to_owned()),
            _ => {}
        }
    }
    for auth in auth {
        (auth.password, auth.token) = (None, None);
    }
}

/// The credentials of `[[auth]]`, with their secrets looked up.
pub fn credentials(auth: &[AuthSettings]) -> Result<Vec<Credential>, Wrong> {
    auth.iter().enumerate().map(|(n, auth)| credential(n, auth)).collect()
}

fn credential(n: usize, auth: &AuthSettings) -> Result<Credential, Wrong> {
    let (user, password) = (auth.user.clone().unwrap_or_default(), auth.password.clone().unwrap_or_default());
    let proof = match (&auth.token, &auth.key_file) {
        (Some(token), _) => Proof::Token(token.clone()),
        (None, Some(file)) => Proof::Key { user, file: file.clone(), passphrase: password },
        (None, None) => Proof::Password { user, password },
    };
    Credential::new(&auth.host, auth.realm.as_deref(), proof)
        .map(|credential| credential.in_clear(auth.allow_plain))
        .map_err(|why| Wrong::new(format!("auth[{n}].host"), why.to_string()))
}

/// What is invalid in `[[auth]]`.
pub(crate) fn examine(auth: &[AuthSettings]) -> Vec<Wrong> {
    let mut wrongs = Vec::new();
    for (n, row) in auth.iter().enumerate() {
        let passwords = [row.password.is_some(), row.password_env.is_some(), row.password_file.is_some()];
        let tokens = [row.token.is_some(), row.token_env.is_some(), row.token_file.is_some()];
        let count = |given: [bool; 3]| given.iter().filter(|given| **given).count();
        let mut wrong = |key: &str, what: &str| wrongs.push(Wrong::new(format!("auth[{n}].{key}"), what));
        match (count(passwords), count(tokens)) {
            (_, 0) if row.key_file.is_some() && row.user.is_none() => wrong("key_file", "a key needs a user"),
            (0, 0) if row.key_file.is_some() => {}
            (_, 1..) if row.key_file.is_some() => wrong("key_file", "say a key or a token"),
            (0, 0) => wrong(
                "host",
                "who are we? Say user and password (password_env, password_file), or token (token_env, token_file)",
            ),
            (1, 0) if row.user.is_none() => wrong("password", "a password needs a user"),
            (0, 1) if row.user.is_some() => wrong("user", "a token has no user; say user and password, or token"),
            (1, 0) | (0, 1) => {}
            _ => wrong("host", "say one password or one token: in the file, in a variable or in a file of its own"),
        }
        let looked_up = AuthSettings { token: row.token.clone().or(tokens[1].then(|| "x".into())), ..row.clone() };
        wrongs.extend(credential(n, &looked_up).err());
    }
    wrongs
}
