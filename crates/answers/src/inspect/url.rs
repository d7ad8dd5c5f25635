//! What is the canonical form of a URL, and which session ids does it contain?

use super::base;
use crate::Result;
use orb_urls::{Address, Canonicaliser, Refused, Rules, session, surt};
use schemars::JsonSchema;
use serde::Serialize;

/// A URL, taken apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InspectedUrl {
    /// The URL as given.
    pub given: String,
    /// Its canonical form.
    pub url: Option<String>,
    /// The same.
    pub canonical: Option<String>,
    /// Its SURT.
    pub surt: Option<String>,
    /// Its key in a CDX index.
    pub key: Option<String>,
    /// Its registrable domain.
    pub site: Option<String>,
    /// Its host.
    pub host: Option<String>,
    /// Its port.
    pub port: Option<u16>,
    /// The session ids in it.
    pub sessions: Vec<UrlSessionId>,
    /// Why it is no URL that could be fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// A session id in a URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UrlSessionId {
    /// The name of its parameter; may be empty.
    pub name: String,
    /// The id.
    pub value: String,
    /// Where in the URL it is.
    pub place: &'static str,
}

/// Takes URLs apart, resolved against another if one is given. Session ids are recognised by their
/// names and by what the URLs have in common.
pub fn inspect_urls(urls: &[String], against: Option<&str>) -> Result<Vec<InspectedUrl>> {
    let canonical = Canonicaliser::new(Rules::default());
    let against = against.map(|url| base(&canonical, url)).transpose()?;
    let site = session::one_session(&urls.iter().map(String::as_str).collect::<Vec<_>>());
    let inspected = |given: &String| {
        let address = match &against {
            Some(base) => canonical.resolve(base, given),
            None => canonical.parse_seed(given),
        };
        describe(given, address, &site)
    };
    Ok(urls.iter().map(inspected).collect())
}

/// The description of a URL; `site` knows the session ids that the given URLs share.
fn describe(given: &str, address: std::result::Result<Address, Refused>, site: &session::Site) -> InspectedUrl {
    let known = session::found(given);
    let shared = site.ids_in(given).into_iter().filter(|id| !known.iter().any(|known| known.value == *id));
    let shared = shared.filter_map(|id| {
        let rule = site.rules.iter().find(|rule| rule.ids.iter().any(|known| known == id))?;
        Some(UrlSessionId { name: rule.name.clone(), value: id.to_owned(), place: rule.place.name() })
    });
    let named =
        known.iter().map(|id| UrlSessionId { name: id.name.clone(), value: id.value.clone(), place: id.place.name() });
    let sessions = named.chain(shared).collect();
    let refused = address.as_ref().err().map(ToString::to_string);
    let address = address.ok();
    InspectedUrl {
        given: given.to_owned(),
        surt: address.as_ref().map(surt::surt),
        key: address.as_ref().map(|a| surt::cdx_key(a.as_str())),
        site: address.as_ref().map(|a| a.site().to_owned()),
        host: address.as_ref().map(|a| a.host().to_owned()),
        port: address.as_ref().map(Address::port),
        canonical: address.as_ref().map(|a| a.as_str().to_owned()),
        url: address.map(Address::into_string),
        sessions,
        refused,
    }
}
