//! Where are projects that several machines share?

use crate::failure::CommandFailure;
use clap::Args;
use orb_crawl::{S3Options, SharedAddress};
use std::path::PathBuf;

/// A variable of the environment that says something.
fn from(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// How the environment says that S3 is reached.
pub(crate) fn s3_options() -> S3Options {
    S3Options {
        endpoint: from("AWS_ENDPOINT_URL_S3").or_else(|| from("AWS_ENDPOINT_URL")),
        region: from("AWS_REGION").or_else(|| from("AWS_DEFAULT_REGION")),
        key_id: from("AWS_ACCESS_KEY_ID"),
        secret: from("AWS_SECRET_ACCESS_KEY"),
        token: from("AWS_SESSION_TOKEN"),
    }
}

/// A shared store.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct StoreArgs {
    /// The database of shared projects, postgres://user@host/database [default: $ORB_STORE]
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// The archive of shared projects, file:///directory or s3://bucket/prefix [default:
    /// $ORB_ARCHIVE]
    #[arg(long, value_name = "URL")]
    pub(crate) archive: Option<String>,
}

impl StoreArgs {
    /// The shared store that was named on the command line; with `required`, also the one that the
    /// environment names. Passwords and keys come from the environment alone.
    pub(crate) fn address(&self, required: bool) -> Result<Option<SharedAddress>, CommandFailure> {
        let Some(postgres) = self.store.clone().or_else(|| from("ORB_STORE").filter(|_| required)) else {
            return match required {
                true => Err(CommandFailure::Usage("no shared store: name one with --store or ORB_STORE".to_owned())),
                false => Ok(None),
            };
        };
        let Some(archive) = self.archive.clone().or_else(|| from("ORB_ARCHIVE")) else {
            return Err(CommandFailure::Usage("no archive: name one with --archive or ORB_ARCHIVE".to_owned()));
        };
        Ok(Some(reached(postgres, archive)))
    }

    /// The database alone, for what needs no archive.
    pub(crate) fn database(&self) -> Result<SharedAddress, CommandFailure> {
        let Some(postgres) = self.store.clone().or_else(|| from("ORB_STORE")) else {
            return Err(CommandFailure::Usage("no shared store: name one with --store or ORB_STORE".to_owned()));
        };
        Ok(reached(postgres, self.archive.clone().or_else(|| from("ORB_ARCHIVE")).unwrap_or_default()))
    }

    /// The database that the environment names, for what needs no archive.
    pub(crate) fn named_database(&self) -> Option<SharedAddress> {
        let archive = self.archive.clone().or_else(|| from("ORB_ARCHIVE")).unwrap_or_default();
        from("ORB_STORE").map(|postgres| reached(postgres, archive))
    }

    /// The shared store that the environment names, for a project that is not in the home.
    pub(crate) fn elsewhere(&self) -> Result<Option<SharedAddress>, CommandFailure> {
        if from("ORB_STORE").is_some() { self.address(true) } else { Ok(None) }
    }
}

/// A store and how the environment says that it is reached.
fn reached(postgres: String, archive: String) -> SharedAddress {
    let (password, authorities) = (from("PGPASSWORD"), from("PGSSLROOTCERT").map(PathBuf::from));
    SharedAddress { postgres, password, authorities, archive, s3: s3_options() }
}
