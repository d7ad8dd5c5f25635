//! Listings as servers write them.

use super::*;
use proptest::prelude::*;

/// 2026-11-17 06:30.
fn now() -> Moment {
    Moment::from_civil((2026, 11, 17), (6, 30, 0)).unwrap()
}

fn read(listing: &str, form: ListingForm) -> String {
    let shown = |found: FtpEntry| {
        let size = found.entry.size.map_or("-".to_owned(), |size| size.to_string());
        let at = found.stamp.map_or("-".to_owned(), |stamp| stamp.modified.seconds());
        format!("{} {size} {at}", found.entry.reference)
    };
    entries(listing.as_bytes(), form, now()).into_iter().map(shown).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_listing_for_machines() {
    let listing = "type=cdir;modify=20261101000000; .\r\n\
        type=pdir;modify=20261101000000; ..\r\n\
        Type=file;Size=12;Modify=20261117060708;UNIX.mode=0644; b name.txt\r\n\
        type=dir;modify=20261101000000; sub\r\n\
        type=file;size=3;modify=20261117060708.250; a\r\n\
        type=OS.unix=slink:/etc;size=3; link\r\n\
        type=OS.unix=chr; device\r\n\
        type=file;size=1;modify=20269917060708; c\r\n\
        type=file;size=1; ../../etc/passwd\r\n\
        nonsense\r\n";
    assert_eq!(
        read(listing, ListingForm::Machine),
        "a 3 2026-11-17T06:07:08Z\nb%20name.txt 12 2026-11-17T06:07:08Z\nc 1 -\nlink 3 -\nsub/ - -"
    );
    let exact = entries(listing.as_bytes(), ListingForm::Machine, now());
    assert_eq!(exact[0].stamp.map(|stamp| (stamp.grain, stamp.modified.0 % 1_000)), Some((1, 250)));
    assert_eq!(exact[1].stamp.map(|stamp| stamp.grain), Some(SECOND));
}

#[test]
fn a_listing_of_unix() {
    let listing = "total 12\n\
        drwxr-xr-x    2 ftp      ftp          4096 Nov 16 23:00 pub\n\
        -rw-r--r--    1 1000     domain users   12 Nov 17 06:07  two  spaces\n\
        -rw-r--r--    1 ftp        ftp         120 Dec 30 12:00 last year.txt\n\
        -rw-r--r--    1 ftp        ftp           0 Jan 02  2019 old\n\
        lrwxrwxrwx    1 ftp        ftp          11 Nov 17 06:07 latest -> pub/v1.2\n\
        crw-rw-rw-    1 root     root       1,   3 Nov 17 06:07 null\n\
        -rw-r--r--    1 ftp        ftp           5 Nov 17 06:07 ..\n\
        ?????????? nonsense\n";
    assert_eq!(
        read(listing, ListingForm::People),
        "%20two%20%20spaces 12 2026-11-17T06:07:00Z\nlast%20year.txt 120 2025-12-30T12:00:00Z\nlatest - -\n\
         old 0 2019-01-02T00:00:00Z\npub/ - -"
    );
}

#[test]
fn a_listing_whose_dates_are_written_otherwise() {
    let listing = "-rw-r--r-- 1 ftp ftp 12 2026-11-17 06:07 iso.txt\n\
        -rw-r--r-- 1 ftp ftp 13 2026-11-16 06:07:08.123456789 +0100 full iso\n\
        -rw-r--r-- 1 ftp ftp 14 17 Nov 06:07 day first\n\
        -rw-r--r-- 1 ftp ftp 15 M\u{e4}r 03 2019 maerz\n\
        drwxr-xr-x 2 ftp ftp 4096 D\u{e9}c. 24 18:00 d\u{e9}cembre\n\
        -rw-r--r-- 1 ftp ftp 16 11\u{6708} 17\u{65e5} 06:07 japanese\n\
        -rw-r--r-- 1 ftp ftp 17 Feb 30 2020 no such day\n\
        -rw-r--r-- 1 ftp ftp 18 17. Okt 2019 mit punkt\n";
    assert_eq!(
        read(listing, ListingForm::People),
        "d%C3%A9cembre/ - -\nday%20first 14 2026-11-17T06:07:00Z\nfull%20iso 13 2026-11-16T06:07:08Z\n\
         iso.txt 12 2026-11-17T06:07:00Z\njapanese 16 -\nmaerz 15 -\nmit%20punkt 18 -\nno%20such%20day 17 -"
    );
}

#[test]
fn a_listing_that_is_easily_parsed() {
    let listing =
        "+i8388621.48594,m825718503,r,s280,\tdjb.html\r\n+i8388621.50690,m824255907,/,\t514\r\n+up644,\tneither\r\n";
    assert_eq!(read(listing, ListingForm::People), "514/ - -\ndjb.html 280 1996-03-01T22:15:03Z");
}

#[test]
fn a_listing_of_dos() {
    let listing = "11-17-26  06:07AM       <DIR>          My Files\r\n\
        11-16-2026  11:59PM                 1234 a b.txt\r\n\
        12-31-98  12:00AM                    1 old.txt\r\n\
        nonsense\r\n";
    assert_eq!(
        read(listing, ListingForm::People),
        "My%20Files/ - -\na%20b.txt 1234 2026-11-16T23:59:00Z\nold.txt 1 1998-12-31T00:00:00Z"
    );
}

#[test]
fn names_alone() {
    assert_eq!(read("b\r\n/pub/a\r\n..\r\n", ListingForm::Names), "a - -\nb - -");
}

#[test]
fn an_answer_about_one_file() {
    let (is_directory, stamp) = facts_of(b"type=file;size=7;modify=20261117060708; /a/b").unwrap();
    assert_eq!((is_directory, stamp.and_then(|stamp| stamp.size)), (false, Some(7)));
    assert_eq!(facts_of(b"type=dir;modify=20261117060708; /a").map(|(is_directory, _)| is_directory), Some(true));
}

proptest! {
    #[test]
    fn no_listing_leads_out_of_its_directory(body: Vec<u8>, form in 0..3) {
        let form = [ListingForm::Machine, ListingForm::People, ListingForm::Names][form as usize];
        for found in entries(&body, form, now()) {
            let name = found.entry.reference.strip_suffix('/').unwrap_or(&found.entry.reference).to_owned();
            prop_assert!(!name.is_empty() && !name.contains('/') && name != ".." && name != ".");
        }
    }
}
