//! Where are secrets that somebody typed into a browser?
//!
//! Not in the project's file, which everybody who may edit the project can read, but in
//! `secrets.toml` beside it, which only the owner of the home can. Settings refer to a secret by
//! its name, `{ secret = "name" }`, and nothing shows its value again.
//!
//! A secret is for one site. Whoever may edit the steps of a project could otherwise have it sent
//! to a form of their own.

use crate::examine::Wrong;
use crate::settings::Settings;
use crate::steps::{FieldValue, SecretSource, StepSettings, is_telltale};
use crate::{ProjectError, SettingsError};
use orb_store::{ProjectDir, SettingsLock};
use orb_urls::{Address, Canonicaliser};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// The most secrets of a project, and the longest.
const MOST: usize = 200;
const LONGEST: usize = 8_000;

/// The first lines of the file.
const HEAD: &str = "# Secrets that were typed into a browser; project.toml refers to them by name. Each is\n\
                    # sent to its site alone. Keep this file to yourself.\n";

/// A secret without its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KeptSecret {
    /// Its name.
    pub name: String,
    /// The site it is for, such as `https://example.org`.
    pub site: String,
}

/// A secret that somebody has typed.
pub struct TypedSecret {
    /// Its name.
    pub name: String,
    /// The site it is for.
    pub site: String,
    /// The secret.
    pub value: String,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretFile {
    #[serde(default)]
    secret: Vec<SecretRow>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretRow {
    name: String,
    site: String,
    value: String,
}

/// The secrets of a project, without their values.
pub fn kept_secrets(project: &ProjectDir) -> Result<Vec<KeptSecret>, ProjectError> {
    Ok(read(project)?.secret.into_iter().map(|row| KeptSecret { name: row.name, site: row.site }).collect())
}

/// Keeps a secret; one of the same name is replaced.
pub fn keep_secret(project: &ProjectDir, typed: &TypedSecret) -> Result<(), ProjectError> {
    let TypedSecret { name, site, value } = typed;
    let refused = |why: &str| Err(ProjectError::Malformed(why.to_owned()));
    let is_name = !name.is_empty() && name.chars().count() <= 200 && !name.chars().any(char::is_control);
    if !is_name {
        return refused("a secret has a name of 1 to 200 characters");
    }
    if value.is_empty() || value.len() > LONGEST {
        return refused("a secret has 1 to 8000 bytes");
    }
    let site = site_of(site)
        .ok_or_else(|| ProjectError::Malformed(format!("'{site}' is no site; write it like https://example.org")))?;
    let _lock = SettingsLock::take(project)?;
    let mut file = read(project)?;
    file.secret.retain(|row| row.name != *name);
    if file.secret.len() >= MOST {
        return refused("a project has at most 200 secrets");
    }
    file.secret.push(SecretRow { name: name.clone(), site, value: value.clone() });
    write(project, &file)
}

/// Removes a secret; `false` if there is none of this name.
pub fn forget_secret(project: &ProjectDir, name: &str) -> Result<bool, ProjectError> {
    let _lock = SettingsLock::take(project)?;
    let mut file = read(project)?;
    let before = file.secret.len();
    file.secret.retain(|row| row.name != name);
    let is_gone = file.secret.len() < before;
    if is_gone {
        write(project, &file)?;
    }
    Ok(is_gone)
}

/// The site of an address, such as `https://example.org`.
fn site_of(address: &str) -> Option<String> {
    Canonicaliser::default().parse_seed(address).ok().filter(is_web).map(|address| address.origin().to_string())
}

fn is_web(address: &Address) -> bool {
    matches!(address.scheme(), "http" | "https")
}

fn place(project: &ProjectDir) -> PathBuf {
    project.dir.join("secrets.toml")
}

fn read(project: &ProjectDir) -> Result<SecretFile, ProjectError> {
    let path = place(project);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(SecretFile::default()),
        Err(e) => return Err(ProjectError::io("read", &path)(e)),
    };
    // What is wrong is told without what stands there.
    let wrong = |_| ProjectError::Refused(format!("{} is not as orb has written it", path.display()));
    toml::from_str(&text).map_err(wrong)
}

/// Replaces the file. It is never readable for others, not even while it is written.
fn write(project: &ProjectDir, file: &SecretFile) -> Result<(), ProjectError> {
    let (path, unfinished) = (place(project), project.dir.join("secrets.toml.new"));
    let text = toml::to_string(file).map_err(|e| ProjectError::Refused(e.to_string()))?;
    let text = format!("{HEAD}{text}");
    // One that a crash has left may have been made with other rights.
    let _ = fs::remove_file(&unfinished);
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished);
    let written = opened.and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_data()));
    written.and_then(|()| fs::rename(&unfinished, &path)).map_err(ProjectError::io("write", &path))
}

impl Settings {
    /// Looks up the secrets that are kept beside the project's file.
    pub fn reveal_kept(&mut self, project: &ProjectDir) -> Result<(), ProjectError> {
        let mut sources: Vec<&mut SecretSource> = self.steps.iter_mut().flat_map(named_secrets).collect();
        if sources.is_empty() {
            return Ok(());
        }
        let kept = read(project)?.secret;
        for source in &mut sources {
            if let Some(row) = kept.iter().find(|row| Some(&row.name) == source.secret.as_ref()) {
                (source.found, source.site) = (Some(row.value.clone()), Some(row.site.clone()));
            }
        }
        Ok(())
    }

    /// Takes out the passwords that were typed into forms since `before`, and refers to each by a
    /// name instead.
    pub fn take_typed_secrets(&mut self, before: &Self) -> Vec<TypedSecret> {
        let seeds = self.seeds.clone();
        let mut taken = Vec::new();
        for step in &mut self.steps {
            let start = step.start.first().or(seeds.first()).cloned().unwrap_or_default();
            let old = before.steps.iter().find(|old| old.name == step.name).and_then(|old| old.form.as_ref());
            let Some(form) = &mut step.form else { continue };
            let Some(site) = form_site(form.action.as_deref(), &start) else { continue };
            for (name, value) in &mut form.fields {
                let (typed, site) = match value {
                    FieldValue::Text(text) if is_telltale(name) && text != "***" => (text.clone(), &site),
                    FieldValue::Hidden(SecretSource { found: Some(text), site: other, .. }) => {
                        (text.clone(), other.as_ref().unwrap_or(&site))
                    }
                    _ => continue,
                };
                let site = site.clone();
                if old.is_some_and(|old| old.fields.get(name) == Some(value)) {
                    continue;
                }
                let secret = format!("{}: {name}", step.name);
                taken.push(TypedSecret { name: secret.clone(), site, value: typed });
                *value = FieldValue::Hidden(SecretSource { secret: Some(secret), ..SecretSource::default() });
            }
        }
        taken
    }
}

/// What a step refers to by name.
fn named_secrets(step: &mut StepSettings) -> impl Iterator<Item = &mut SecretSource> {
    let values = step.form.iter_mut().flat_map(|form| form.fields.values_mut());
    values.filter_map(|value| match value {
        FieldValue::Hidden(source) if source.secret.is_some() => Some(source),
        _ => None,
    })
}

/// The site that a form is sent to: its action, if that names one, or the page it stands on.
pub fn form_site(action: Option<&str>, page: &str) -> Option<String> {
    let reader = Canonicaliser::default();
    let page = reader.parse_seed(page).ok();
    let absolute = || action.and_then(|action| reader.parse(action).ok());
    let target = match (&page, action) {
        (Some(page), Some(action)) => reader.resolve(page, action).ok(),
        (Some(_), None) => page,
        (None, _) => absolute(),
    };
    target.filter(is_web).map(|address| address.origin().to_string())
}

/// Says that a secret is not there.
pub(crate) fn unknown_secret(key: &str, name: &str) -> Wrong {
    Wrong::new(key, format!("there is no secret '{name}'; whoever may edit the project sets it in the browser"))
}

/// What a text says without the secrets typed in it, which are returned beside it.
pub fn without_typed_secrets(before: &str, text: &str) -> Result<(String, Vec<TypedSecret>), SettingsError> {
    let shown = Path::new("project.toml");
    let mut settings = Settings::parse(text, shown)?;
    let kept = Settings::parse(before, shown).unwrap_or_default();
    let typed = settings.take_typed_secrets(&kept);
    let text = if typed.is_empty() { text.to_owned() } else { settings.amended(text) };
    Ok((text, typed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use orb_store::Home;
    use std::os::unix::fs::PermissionsExt as _;

    fn typed(name: &str, site: &str, value: &str) -> TypedSecret {
        TypedSecret { name: name.into(), site: site.into(), value: value.into() }
    }

    #[test]
    fn secrets_are_kept_for_their_site_and_for_nobody_elses_eyes() {
        let tmp = tempfile::tempdir().unwrap();
        let project = Home::open(tmp.path()).unwrap().project("p").unwrap();
        keep_secret(&project, &typed("a", "https://A.test/login?x", "one")).unwrap();
        keep_secret(&project, &typed("a", "https://a.test:8443", "two")).unwrap();
        keep_secret(&project, &typed("b", "http://b.test/", "three \"'\\\n")).unwrap();
        let mode = fs::metadata(place(&project)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let kept = kept_secrets(&project).unwrap();
        let shown: Vec<_> = kept.iter().map(|kept| (kept.name.as_str(), kept.site.as_str())).collect();
        assert_eq!(shown, [("a", "https://a.test:8443"), ("b", "http://b.test")]);
        for wrong in [typed("", "http://a.test", "x"), typed("a", "ftp://a.test", "x"), typed("a", "http://a.test", "")]
        {
            assert!(keep_secret(&project, &wrong).is_err(), "{} {}", wrong.name, wrong.site);
        }
        assert!(forget_secret(&project, "a").unwrap() && !forget_secret(&project, "a").unwrap());
        fs::write(place(&project), "hush = 'three'").unwrap();
        let told = kept_secrets(&project).unwrap_err().to_string();
        assert!(!told.contains("three"), "{told}");
    }

    #[test]
    fn passwords_that_were_typed_leave_the_file_and_come_back_when_a_run_begins() {
        let tmp = tempfile::tempdir().unwrap();
        let project = Home::open(tmp.path()).unwrap().project("p").unwrap();
        let step = "[[steps]]\nname = 'door'\nstart = ['https://a.test/in']\n";
        let before = format!("{step}form.fields = {{ old_pin = 'kept' }}\n");
        let text = format!(
            "# Ours.\nseeds = ['https://a.test/']\n{step}form.fields = {{ old_pin = 'kept', password = 'hush', user = 'me' }}\n"
        );
        let (text, typed) = without_typed_secrets(&before, &text).unwrap();
        assert!(text.contains("# Ours.") && text.contains("kept") && !text.contains("hush"), "{text}");
        assert_eq!(typed.len(), 1);
        assert_eq!((typed[0].name.as_str(), typed[0].site.as_str()), ("door: password", "https://a.test"));
        let mut settings = Settings::parse(&text, Path::new("p")).unwrap();
        assert_eq!(settings.examine(), Ok(()));
        settings.reveal_kept(&project).unwrap();
        let told = settings.clone().reveal(&|_| None).unwrap_err().to_string();
        assert!(told.contains("there is no secret 'door: password'"), "{told}");
        keep_secret(&project, &typed[0]).unwrap();
        settings.reveal_kept(&project).unwrap();
        settings.reveal(&|_| None).unwrap();
        let Some(FieldValue::Hidden(source)) = settings.steps[0].form.as_ref().unwrap().fields.get("password") else {
            panic!("{text}")
        };
        assert_eq!((source.found.as_deref(), source.site.as_deref()), (Some("hush"), Some("https://a.test")));
        let stored = settings.without_passwords();
        assert!(!stored.to_toml().contains("hush") && stored.to_toml().contains("door: password"));
        assert_eq!(without_typed_secrets(&text, &text).unwrap().1.len(), 0);
    }
}
