//! Does a project file mean what it says, and is an error reported in one line?

use orb_fetch::{Proxy, Resolve};
use orb_project::Settings;
use orb_urls::{Canonicaliser, Scope};
use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

/// A project file.
pub fn settings(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let read = Settings::parse(&text, Path::new("p.toml"));
    let settings = match read {
        Ok(settings) => settings,
        Err(error) => return one_line(&error),
    };
    let written = settings.to_toml();
    let again = Settings::parse(&written, Path::new("p.toml")).unwrap_or_else(|e| panic!("{e}\n{written}"));
    assert_eq!(again, settings, "written and read again");
    let reader = Canonicaliser::new(settings.urls);
    let seeds: Vec<_> = settings.seeds.iter().filter_map(|seed| reader.parse_seed(seed).ok()).collect();
    if settings.scope.domains_file.is_none() {
        match Scope::new(&settings.scope, &seeds) {
            Ok(scope) => seeds.iter().for_each(|seed| assert!(scope.is_seed(seed), "{seed}")),
            Err(error) => one_line(&error),
        }
    }
    settings.fetch.proxy.iter().for_each(|proxy| parsed::<Proxy>(proxy));
    settings.fetch.resolve.iter().for_each(|resolve| parsed::<Resolve>(resolve));
}

fn one_line(error: &dyn Display) {
    assert!(!error.to_string().contains(['\n', '\r']), "{error}");
}

pub(crate) fn parsed<T: FromStr<Err: Display>>(text: &str) {
    if let Err(error) = text.parse::<T>() {
        // A value that spans several lines is quoted as it is.
        assert!(text.contains(['\n', '\r']) || !error.to_string().contains('\n'), "{error}");
    }
}
