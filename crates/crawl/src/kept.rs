//! How are a project's settings kept?
//!
//! In its `project.toml`, replaced whole, with a last line that says so: TOML cut off between two lines is still TOML, and a crawl must not
//! go on with half of its settings.

use crate::settings::{Settings, SettingsError};
use orb_store::{ProjectDir, StoreError, replace};

/// The last line of the file.
const END: &str = "# end of the settings";

impl Settings {
    /// Keeps them as the settings the project runs with. A file that says the same already stays as a person wrote it.
    pub fn keep(&self, project: &ProjectDir) -> Result<(), StoreError> {
        if matches!(Self::kept(project), Ok(Some(kept)) if kept == *self) {
            return Ok(());
        }
        Self::keep_text(project, &self.to_toml())
    }

    /// Keeps a text, which must be that of settings, as it is.
    pub fn keep_text(project: &ProjectDir, text: &str) -> Result<(), StoreError> {
        let end = if text.trim_end().ends_with(END) { String::new() } else { format!("\n{END}\n") };
        let text = format!("{text}{end}");
        replace(&project.settings(), text.as_bytes(), ["settings-written", "settings-kept"])
    }

    /// The settings the project runs with, where any were kept.
    pub fn kept(project: &ProjectDir) -> Result<Option<Self>, SettingsError> {
        let path = project.settings();
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(SettingsError::Read { path, source }),
        };
        let settings = Self::parse(&text, &path)?;
        if !text.trim_end().ends_with(END) {
            return Err(SettingsError::CutOff { path, end: END });
        }
        Ok(Some(settings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orb_store::Home;

    #[test]
    fn settings_are_kept_whole_or_told_to_be_cut_off() {
        let tmp = tempfile::tempdir().unwrap();
        let project = Home::open(tmp.path()).unwrap().project("p").unwrap();
        assert_eq!(Settings::kept(&project).unwrap(), None);
        let settings = Settings { seeds: vec!["http://a/".into()], ..Settings::default() };
        settings.keep(&project).unwrap();
        assert_eq!(Settings::kept(&project).unwrap(), Some(settings));
        let whole = std::fs::read(project.settings()).unwrap();
        for length in 0..whole.len() - 1 {
            std::fs::write(project.settings(), &whole[..length]).unwrap();
            assert!(Settings::kept(&project).is_err(), "cut to {length} of {}", whole.len());
        }
    }
}
