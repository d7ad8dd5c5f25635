//! Which project is meant, and where does it start?
//!
//! People name a project by what they have at hand: URLs to start from, files with URLs, a project
//! file, or the name of a project that is there.

use crate::{ProjectError, SeedText, Settings};
use orb_store::Home;
use orb_urls::{Address, Canonicaliser, NewsReference};
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
    /// Newsgroups whose server nobody names are on `news_server`, and the settings then say so.
    pub fn of(
        home: &Home,
        given: &[String],
        name: Option<&str>,
        news_server: Option<&str>,
    ) -> Result<Self, ProjectError> {
        let GivenWords { mut settings, name, file, urls } = GivenWords::sorted(home, given, name)?;
        let recalled = |name: &str| -> Result<Option<Settings>, ProjectError> {
            match home.find(name) {
                Ok(project) if file.is_none() => Ok(Settings::kept(&project)?),
                _ => Ok(None),
            }
        };
        let server_of = |settings: &Settings| settings.nntp.server.clone().or_else(|| news_server.map(str::to_owned));
        if let Some(kept) = name.as_deref().map(recalled).transpose()?.flatten() {
            settings = kept;
        }
        let mut typed = SeedReader::new(&settings, server_of(&settings));
        let mut seeds = typed.addresses(&urls)?;
        let name = match name {
            Some(name) => name,
            None => {
                let way = || urls.iter().find_map(|seed| way_name(seed));
                let name = seeds.first().map(name_of).or_else(way).unwrap_or_default();
                settings = recalled(&name)?.unwrap_or(settings);
                name
            }
        };
        let listed = settings.seeds.clone();
        let mut kept = SeedReader::new(&settings, server_of(&settings));
        let known: HashSet<&Address> = seeds.iter().collect();
        let more: Vec<Address> = kept.addresses(&listed)?.into_iter().filter(|a| !known.contains(a)).collect();
        seeds.extend(more);
        if typed.has_asked_server || kept.has_asked_server {
            settings.nntp.server = server_of(&settings);
        }
        settings.seeds.extend(urls.into_iter().filter(|url| !listed.contains(url)));
        settings.name = Some(name.clone());
        if seeds.is_empty() && !leads_anywhere(&settings) {
            let what = if name.is_empty() { given.join(" ") } else { format!("project {name}") };
            return Err(ProjectError::Malformed(format!("{what} has no seeds; give a URL")));
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
        let seeds = SeedReader::of(&settings)?;
        if seeds.is_empty() && !leads_anywhere(&settings) {
            return Err(refused("seeds", "gives it some"));
        }
        Ok(Self { name: name.to_owned(), settings, seeds, file: None })
    }

    /// A project whose settings are kept elsewhere.
    pub fn with(name: &str, settings: Settings) -> Result<Self, ProjectError> {
        let seeds = SeedReader::of(&settings)?;
        Ok(Self { name: name.to_owned(), settings, seeds, file: None })
    }
}

/// What somebody named, sorted by what it is.
struct GivenWords {
    settings: Settings,
    name: Option<String>,
    file: Option<PathBuf>,
    urls: Vec<String>,
}

impl GivenWords {
    fn sorted(home: &Home, given: &[String], name: Option<&str>) -> Result<Self, ProjectError> {
        let mut sorted =
            Self { settings: Settings::default(), name: name.map(str::to_owned), file: None, urls: Vec::new() };
        for seed in given {
            if seed.ends_with(".toml") && !seed.contains("://") {
                sorted.settings = Settings::read(Path::new(seed))?;
                sorted.name = sorted.name.or_else(|| sorted.settings.name.clone()).or_else(|| stem(seed));
                sorted.file = Some(PathBuf::from(seed));
            } else if !seed.contains("://")
                && home.find(seed).is_ok()
                && sorted.name.as_ref().is_none_or(|name| name == seed)
            {
                sorted.name = Some(seed.clone());
            } else {
                sorted.urls.push(seed.clone());
            }
        }
        Ok(sorted)
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

/// Reads seeds as people write them.
struct SeedReader {
    canonical: Canonicaliser,
    /// Where newsgroups are that name no server.
    news_server: Option<String>,
    /// Whether a seed needed to know.
    has_asked_server: bool,
}

impl SeedReader {
    fn new(settings: &Settings, news_server: Option<String>) -> Self {
        Self { canonical: Canonicaliser::new(settings.urls), news_server, has_asked_server: false }
    }

    /// The seeds of these settings.
    fn of(settings: &Settings) -> Result<Vec<Address>, ProjectError> {
        Self::new(settings, settings.nntp.server.clone()).addresses(&settings.seeds)
    }

    /// Seeds as given: URLs, newsgroups, or `@file` with one of them per line.
    fn addresses(&mut self, given: &[String]) -> Result<Vec<Address>, ProjectError> {
        let mut out: Vec<Address> = Vec::new();
        let mut known: HashSet<Address> = HashSet::new();
        let mut add = |address: Address| {
            if known.insert(address.clone()) {
                out.push(address);
            }
        };
        for seed in given {
            let file = match SeedText::of(seed) {
                SeedText::Url(_) | SeedText::News(_) => {
                    add(self.address(seed, "")?);
                    continue;
                }
                // Passed through by steps of its own.
                SeedText::Phrase(_) | SeedText::FollowOnly(..) => continue,
                SeedText::File(file) => file,
            };
            let text = std::fs::read_to_string(file).map_err(ProjectError::io("read the seeds in", Path::new(file)))?;
            // Editors on Windows put a byte order mark there.
            for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
                let line = line.trim();
                if !line.is_empty() && !line.starts_with('#') {
                    add(self.address(line, &format!("{file}:{}: ", number + 1))?);
                }
            }
        }
        Ok(out)
    }

    /// The address that one seed names.
    fn address(&mut self, text: &str, place: &str) -> Result<Address, ProjectError> {
        let news = NewsReference::of(text);
        self.has_asked_server |= news.is_some_and(|news| news.server.is_none());
        let url = match (news, &self.news_server) {
            (None, _) => text.into(),
            (Some(news), Some(server)) => news.on(server),
            (Some(news), None) if news.server.is_some() => news.on(""),
            (Some(_), None) => {
                let how = "set server in [nntp] of the project, or NNTPSERVER in the environment of orb crawl";
                return Err(ProjectError::Malformed(format!("{place}'{}' names no news server; {how}", quoted(text))));
            }
        };
        self.canonical.parse_seed(&url).map_err(|e| {
            let hint = if Path::new(text).is_file() { "; @FILE reads URLs from a file" } else { "" };
            ProjectError::Malformed(format!("{place}'{}' is not a URL to start from: {e}{hint}", quoted(text)))
        })
    }
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
        AskedProject::of(home, &given.iter().map(|&seed| seed.to_owned()).collect::<Vec<_>>(), None, None)
    }

    #[test]
    fn a_project_is_called_after_its_file_or_its_first_host() {
        let tmp = tempfile::tempdir().unwrap();
        let home = Home::open(tmp.path()).unwrap();
        let file = tmp.path().join("News.toml");
        std::fs::write(&file, "seeds = ['http://a.test/']").unwrap();
        assert_eq!(asked(&home, &["http://a.test/", "http://b.test/"]).unwrap().name, "a.test");
        assert_eq!(asked(&home, &["http://[::1]:8080/x"]).unwrap().name, "1-8080");
        let list = tmp.path().join("list");
        std::fs::write(&list, "\u{feff}http://c.test/\r\n# not this one\r\n\r\n http://d.test/ \r\n").unwrap();
        let listed = asked(&home, &[&format!("@{}", list.display())]).unwrap();
        assert_eq!(listed.seeds.iter().map(Address::as_str).collect::<Vec<_>>(), ["http://c.test/", "http://d.test/"]);
        assert_eq!(asked(&home, &[file.to_str().unwrap()]).unwrap().name, "news");
    }

    #[test]
    fn seeds_are_those_given_and_then_those_that_are_kept() {
        let tmp = tempfile::tempdir().unwrap();
        let home = Home::open(tmp.path()).unwrap();
        let kept = Settings { seeds: vec!["http://a.test/".into()], ..Settings::default() };
        kept.keep(&home.project("p").unwrap()).unwrap();
        let asked = AskedProject::of(&home, &["http://b.test/".into()], Some("p"), None).unwrap();
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
        assert_eq!(said(&["@/dev/null"]), "@/dev/null has no seeds; give a URL");
        let list = tmp.path().join("list");
        std::fs::write(&list, "http://a.test/").unwrap();
        assert!(said(&[list.to_str().unwrap()]).ends_with("@FILE reads URLs from a file"));
        let kept = AskedProject::kept(&home, "p").unwrap_err().to_string();
        assert_eq!(kept, "project p has no settings; orb project edit p writes them");
    }

    #[test]
    fn newsgroups_are_on_the_server_of_the_settings_or_else_on_the_one_that_is_given() {
        let tmp = tempfile::tempdir().unwrap();
        let home = Home::open(tmp.path()).unwrap();
        let seeds = ["news:comp.*".to_owned(), "news:comp.lang.c".to_owned(), "news://b.test/x".to_owned()];
        let of = |server: Option<&str>| AskedProject::of(&home, &seeds, None, server);
        let told = of(None).unwrap_err().to_string();
        assert!(told.starts_with("'news:comp.*' names no news server") && told.contains("NNTPSERVER"), "{told}");
        let asked = of(Some("a.test:1119")).unwrap();
        let urls: Vec<&str> = asked.seeds.iter().map(Address::as_str).collect();
        assert_eq!(urls, ["nntp://a.test:1119/comp.*", "nntp://a.test:1119/comp.lang.c/", "nntp://b.test/x/"]);
        assert_eq!(asked.settings.nntp.server.as_deref(), Some("a.test:1119"), "later runs know it");
        asked.settings.keep(&home.project(&asked.name).unwrap()).unwrap();
        assert_eq!(AskedProject::kept(&home, &asked.name).unwrap().seeds, asked.seeds);
        let again = AskedProject::of(&home, std::slice::from_ref(&asked.name), None, Some("c.test")).unwrap();
        assert_eq!(again.seeds, asked.seeds, "the settings decide");
    }
}
