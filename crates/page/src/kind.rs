//! What became of a page, and what did a run see of it?

use serde::{Deserialize, Serialize};

macro_rules! names {
    ($(#[$doc:meta])* $ty:ident { $($(#[$vdoc:meta])* $variant:ident = $code:literal => $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[repr(u8)]
        pub enum $ty { $($(#[$vdoc])* #[serde(rename = $name)] $variant = $code,)* }

        impl $ty {
            /// All variants, in the order of their codes.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The number stored for it.
            pub const fn code(self) -> u8 { self as u8 }

            /// Its name in output.
            pub const fn name(self) -> &'static str { match self { $(Self::$variant => $name,)* } }

            /// The variant with this code.
            pub fn from_code(code: u8) -> Option<Self> { Self::ALL.iter().copied().find(|m| m.code() == code) }

            /// The variant with this name.
            pub fn from_name(name: &str) -> Option<Self> { Self::ALL.iter().copied().find(|m| m.name() == name) }
        }

        impl std::fmt::Display for $ty {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str(self.name()) }
        }
    };
}
pub(crate) use names;

names! {
    /// What a page is, as far as known.
    PageKind {
        /// Discovered, to be fetched.
        Frontier = 0 => "FRONTIER",
        /// Fetched, HTML.
        Html = 1 => "HTML",
        /// Fetched, anything but HTML, or too large to fetch completely.
        Binary = 2 => "BINARY",
        /// Fetched, with the same content as an earlier page; or not fetched, because it is another
        /// address of a known page.
        Duplicate = 3 => "DUPLICATE",
        /// Not fetched because robots.txt disallows it.
        Disallowed = 4 => "DISALLOWED",
        /// The host could not be resolved or reached.
        DomainError = 5 => "DOMAIN_ERROR",
        /// The host did not respond in time.
        Timeout = 6 => "TIMEOUT",
        /// The browser failed on it.
        BrowserError = 7 => "BROWSER_ERROR",
        /// A status of 400 or above, or not valid HTTP at all.
        HttpError = 8 => "HTTP_ERROR",
        /// Known from links, never to be fetched.
        Outside = 9 => "OUTSIDE",
        /// A response that points elsewhere; the target is a page of its own.
        Redirect = 10 => "REDIRECT",
        /// The listing of a directory: links, but no document of its own.
        Listing = 11 => "LISTING",
    }
}

impl PageKind {
    /// The kinds of pages that could not be fetched.
    pub const FAILED: &'static [Self] = &[Self::DomainError, Self::Timeout, Self::BrowserError, Self::HttpError];
}

names! {
    /// How a page compares with the last time.
    Flag {
        /// Seen for the first time.
        New = 0 => "NEW",
        /// The same as before.
        Same = 1 => "SAM",
        /// Updated.
        Updated = 2 => "UPD",
        /// Gone: the server says so.
        Missing = 3 => "MIS",
        /// Could not be fetched this time.
        Error = 4 => "ERR",
    }
}
