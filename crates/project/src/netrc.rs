//! Which logins does the user keep in a netrc file?
//!
//! `ftp`, `curl` and `wget` read `~/.netrc`: machines with a login and a password each, written as
//! words in any layout (GNU inetutils, "The .netrc file"). With `fetch.netrc` so does a crawl, for
//! FTP only. What is there stands behind the rows of `[[auth]]`, and is never written anywhere.

use crate::examine::Wrong;
use crate::settings::Settings;
use crate::steps::AuthSettings;
use std::path::PathBuf;

/// Maximum size of a file, in bytes.
const MOST: u64 = 1 << 20;

impl Settings {
    /// Adds the logins of the netrc file, if the project says so. `variable` looks up an
    /// environment variable: `NETRC` names the file, otherwise it is in the directory `HOME`.
    pub fn read_netrc(&mut self, variable: &dyn Fn(&str) -> Option<String>) -> Result<(), Wrong> {
        if !self.fetch.netrc {
            return Ok(());
        }
        let wrong = |what: String| Wrong::new("fetch.netrc", what);
        let named = variable("NETRC").filter(|name| !name.is_empty()).map(PathBuf::from);
        let path = named
            .or_else(|| Some(PathBuf::from(variable("HOME")?).join(".netrc")))
            .ok_or_else(|| wrong("neither NETRC nor HOME says where the file is".to_owned()))?;
        let unreadable = |error: std::io::Error| wrong(format!("cannot read {}: {error}", path.display()));
        if std::fs::metadata(&path).map_err(unreadable)?.len() > MOST {
            return Err(wrong(format!("{} is too large for a netrc file", path.display())));
        }
        let text = std::fs::read_to_string(&path).map_err(unreadable)?;
        self.netrc_logins = logins(&text);
        Ok(())
    }
}

/// The logins of a netrc file. Its default is for machines that it does not name, which would send
/// a password to whatever server a crawl comes to; it is left out.
fn logins(text: &str) -> Vec<AuthSettings> {
    let mut found: Vec<AuthSettings> = Vec::new();
    let mut words = words(text).into_iter();
    let mut is_named = false;
    while let Some(word) = words.next() {
        match word {
            "machine" => {
                let host = words.next().map(|name| format!("ftp://{name}")).unwrap_or_default();
                found.push(AuthSettings { host, allow_plain: true, ..AuthSettings::default() });
                is_named = true;
            }
            "default" => is_named = false,
            "login" | "password" | "account" => {
                let value = words.next().map(str::to_owned);
                let Some(last) = found.last_mut().filter(|_| is_named) else { continue };
                match word {
                    "login" => last.user = value,
                    "password" => last.password = value,
                    _ => {}
                }
            }
            _ => {}
        }
    }
    found.retain(|login| login.user.is_some() && orb_fetch::Credential::new(&login.host, None, proof(login)).is_ok());
    found
}

fn proof(login: &AuthSettings) -> orb_fetch::Proof {
    let (user, password) = (login.user.clone().unwrap_or_default(), login.password.clone().unwrap_or_default());
    orb_fetch::Proof::Password { user, password }
}

/// The words of a file without its macros, which end at an empty line.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut is_macro = false;
    for line in text.lines() {
        is_macro &= !line.trim().is_empty();
        if is_macro || line.trim_start().starts_with('#') {
            continue;
        }
        let line = match line.split_once("macdef") {
            Some((before, _)) => {
                is_macro = true;
                before
            }
            None => line,
        };
        words.extend(line.split_ascii_whitespace());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_have_logins_in_any_layout_and_the_default_is_left_out() {
        let text = "# mine\nmachine a.test login ann password s3cret\nmachine b.test\n  login bob\n  account x\n\
            machine c.test password only\nmacdef init\nmachine evil.test login x\n\nmachine d.test login dan\n\
            default login anonymous password me@";
        let found = logins(text);
        let told: Vec<(&str, &str, Option<&str>)> = found
            .iter()
            .map(|l| (l.host.as_str(), l.user.as_deref().unwrap_or_default(), l.password.as_deref()))
            .collect();
        let wanted =
            [("ftp://a.test", "ann", Some("s3cret")), ("ftp://b.test", "bob", None), ("ftp://d.test", "dan", None)];
        assert_eq!(told, wanted);
    }

    #[test]
    fn the_file_is_read_only_if_the_project_says_so() {
        let tmp = tempfile::tempdir().unwrap();
        std::fs::write(tmp.path().join(".netrc"), "machine a.test login ann password x").unwrap();
        let home = tmp.path().to_str().unwrap().to_owned();
        let variable = |name: &str| (name == "HOME").then(|| home.clone());
        let mut settings = Settings::default();
        settings.read_netrc(&variable).unwrap();
        assert!(settings.netrc_logins.is_empty());
        settings.fetch.netrc = true;
        settings.read_netrc(&variable).unwrap();
        assert_eq!(settings.netrc_logins.len(), 1);
        assert!(!settings.to_toml().contains("ann"), "nothing of it is kept");
        let told = settings.read_netrc(&|name| (name == "NETRC").then(|| "/nowhere".to_owned())).unwrap_err();
        assert!(told.to_string().starts_with("fetch.netrc: cannot read /nowhere"), "{told}");
    }
}
