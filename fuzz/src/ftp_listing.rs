//! Does a listing stay in its directory?

use orb_page::Listing;

/// A listing of an FTP server. Input: a byte that selects its form, and the listing.
pub fn ftp_listing(bytes: &[u8]) {
    let Some((form, body)) = bytes.split_first() else { return };
    let listing = orb_fetch::read_ftp_listing(*form, body);
    for entry in &listing.entries {
        let name = entry.reference.strip_suffix('/').unwrap_or(&entry.reference);
        assert!(!name.is_empty() && !name.contains('/') && name != ".." && name != ".", "{name}");
        assert!(name.is_ascii() && !name.contains(['\r', '\n', '\0', '\t']), "{name}");
    }
    assert!(listing.entries.windows(2).all(|pair| pair[0].reference < pair[1].reference), "sorted, each once");
    assert_eq!(Listing::parse(&listing.render()), (listing, 0));
}
