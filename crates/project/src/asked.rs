//! Which project is meant, and where does it start?
//!
//! People name a project by what they have at hand: URLs to start from, files with URLs, a project
//! file, or the name of a project that is there.

use crate::{ProjectError, SeedText, Settings};
use orb_store::Home;
use orb_urls::{Address, Canonicaliser};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Maximum characters of a seed that an error quotes.
const QUOTED: usize = 100;

/// A project that somebody asked for.
#[derive(Clone, Debug)]
pub struct AskedProject {
    /// Its name.
    pub name: String,
    /// Its settings, with the seeds that were given.
    pub settings: Settings,
    /// Its seeds: first the given ones, then those of its settings.
    pub seeds: Vec<Address>,
    /// The project file that was given.
    pub file: Option<PathBuf>,
}

impl AskedProject {
    /// What is meant by a list of URLs, `@file`s with one URL per line, project files (`.toml`) and
    /// names of projects. Without a name, the project is called after its file or its first host.
    pub fn of(home: &Home, given: &[String], name: Option<&str>) -> Result<Self, ProjectError> {
        let mut settings = Settings::default();
        let mut name = name.map(str::to_owned);
        let (mut known, mut file) = (false, None);
        let mut urls: Vec<String> = Vec::new();
        for seed in given {
            if seed.ends_with(".toml") && !seed.contains("://") {
                settings = Settings::read(Path::new(seed))?;
                name = name.or_else(|| settings.name.clone()).or_else(|| stem(seed));
                known = true;
                file = Some(PathBuf::from(seed));
            } else if !seed.contains("://") && home.find(seed).is_ok() && name.as_ref().is_none_or(|n| n == seed) {
                name = Some(seed.clone());
            } else {
                urls.push(seed.clone());
            }
        }
        let canonical = Canonicaliser::new(settings.urls);
        let mut seeds = addresses(&canonical, &urls)?;
        let name = match name {
            Some(name) => name,
            None => {
                seeds.first().map(name_of).or_else(|| urls.iter().find_map(|seed| way_name(seed))).unwrap_or_default()
            }
        };
        if let Ok(project) = home.find(&name)
            && !known
            && let Some(kept) = Settings::kept(&project)?
        {
            settings = kept;
        }
        let listed = settings.seeds.clone();
        let typed: HashSet<&Address> = seeds.iter().collect();
        let more: Vec<Address> = addresses(&canonical, &listed)?.into_iter().filter(|a| !typed.contains(a)).collect();
        seeds.extend(more);
        settings.seeds.extend(urls.into_iter().filter(|url| !listed.contains(url)));
        settings.name = Some(name.clone());
        if seeds.is_empty() && !leads_anywhere(&settings) {
            return Err(ProjectError::Malformed(format!("project {name} has no seeds; give a URL")));
        }
        Ok(Self { name, settings, seeds, file })
    }

    /// What a project does by itself: what its file says.
    pub fn kept(home: &Home, name: &str) -> Result<Self, ProjectError> {
        let project = home.find(name)?;
        let refused = |what: &str, how: &str| {
            ProjectError::Refused(format!("project {name} has no {what}; orb project edit {name} {how}"))
        };
        let settings = Settings::kept(&project)?.ok_or_else(|| refused("settings", "writes them"))?;
        let seeds = addresses(&Canonicaliser::new(settings.urls), &settings.seeds)?;
        if seeds.is_empty() && !leads_anywhere(&settings) {
            return Err(refused("seeds", "gives it some"));
        }
        Ok(Self { name: name.to_owned(), settings, seeds, file: None })
    }

    /// A project whose settings are kept elsewhere.
    pub fn with(name: &str, settings: Settings) -> Result<Self, ProjectError> {
        let seeds = addresses(&Canonicaliser::new(settings.urls), &settings.seeds)?;
        Ok(Self { name: name.to_owned(), settings, seeds, file: None })
    }
}

/// The default name of a project: the seed's host, with its port if it is not the default.
fn name_of(seed: &Address) -> String {
    let port = seed.unusual_port().map(|p| format!("-{p}")).unwrap_or_default();
    let name = format!("{}{port}", seed.host()).replace(':', "-");
    name.trim_start_matches(['-', '.']).chars().take(64).collect()
}

/// Whether a project without an address to start from has another way to its pages.
fn leads_anywhere(settings: &Settings) -> bool {
    !settings.steps.is_empty() || settings.seeds.iter().any(|seed| SeedText::of(seed).is_way())
}

/// The default name of a project that starts from a phrase or a directory.
fn way_name(seed: &str) -> Option<String> {
    let (SeedText::Phrase(words) | SeedText::FollowOnly(words, _)) = SeedText::of(seed) else { return None };
    let words = words.split_once("://").map_or(words, |(_, rest)| rest).to_lowercase();
    let plain = words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name: String = plain.collect::<Vec<_>>().join("-").chars().take(64).collect();
    (!name.is_empty()).then_some(name)
}

fn stem(file: &str) -> Option<String> {
    Path::new(file).file_stem().map(|s| s.to_string_lossy().to_lowercase())
}

/// Seeds as given: URLs, or `@file` with one URL per line.
fn addresses(canonical: &Canonicaliser, given: &[String]) -> Result<Vec<Address>, ProjectError> {
    let mut out: Vec<Address> = Vec::new();
    let mut known: HashSet<Address> = HashSet::new();
    let mut add = |text: &str, place: &str| {
        let address = canonical.parse_seed(text).map_err(|e| {
            ProjectError::Malformed(format!("{place}'{}' is not a URL to start from: {e}", quoted(text)))
        })?;
        if known.insert(address.clone()) {
            out.push(address);
        }
        Ok::<(), ProjectError>(())
    };
    for seed in given {
        let file = match SeedText::of(seed) {
            SeedText::Url(url) => {
                add(url, "")?;
                continue;
            }
            // Passed through by steps of its own.
            SeedText::Phrase(_) | SeedText::FollowOnly(..) => continue,
            SeedText::File(file) => file,
        };
        let text = std::fs::read_to_string(file).map_err(ProjectError::io("read the seeds in", Path::new(file)))?;
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                add(line, &format!("{file}:{}: ", number + 1))?;
            }
        }
    }
    Ok(out)
}

/// The beginning of a seed, with an ellipsis if it is longer.
fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(home: &Home, given: &[&str]) -> Result<AskedProject, ProjectError> {
        AskedProject::of(home, &given.iter().map(|&seed| seed.to_owned()).collect::<Vec<_>>(), None)
    }

    #[test]
    fn a_project_is_called_after_its_file_or_its_first_host() {
        let tmp = tempfile::tempdir().unwrap();
        let home = Home::open(tmp.path()).unwrap();
        let file = tmp.path().join("News.toml");
        std::fs::write(&file, "seeds = ['http://a.test/']").unwrap();
        assert_eq!(asked(&home, &["http://a.test/", "http://b.test/"]).unwrap().name, "a.test");
        assert_eq!(asked(&home, &["http://[::1]:8080/x"]).unwrap().name, "1-8080");
        assert_eq!(asked(&home, &[file.to_str().unwrap()]).unwrap().name, "news");
    }

    #[test]
    fn seeds_are_those_given_and_then_those_that_are_kept() {
        let tmp = tempfile::tempdir().unwrap();
        let home = Home::open(tmp.path()).unwrap();
        let kept = Settings { seeds: vec!["http://a.test/".into()], ..Settings::default() };
        kept.keep(&home.project("p").unwrap()).unwrap();
        let asked = AskedProject::of(&home, &["http://b.test/".into()], Some("p")).unwrap();
        assert_eq!(asked.seeds.iter().map(Address::as_str).collect::<Vec<_>>(), ["http://b.test/", "http://a.test/"]);
        assert_eq!(asked.settings.seeds, ["http://a.test/", "http://b.test/"]);
    }

    #[test]
    fn what_cannot_be_started_from_is_told() {
        let tmp = tempfile::tempdir().unwrap();
        let home = Home::open(tmp.path()).unwrap();
        home.project("p").unwrap();
        let said = |given: &[&str]| asked(&home, given).unwrap_err().to_string();
        assert_eq!(said(&["p"]), "project p has no seeds; give a URL");
        assert!(said(&["http://[/"]).starts_with("'http://[/' is not a URL to start from: "));
        assert_eq!(said(&["@nowhere"]), "cannot read the seeds in nowhere");
        let kept = AskedProject::kept(&home, "p").unwrap_err().to_string();
        assert_eq!(kept, "project p has no settings; orb project edit p writes them");
    }
}
