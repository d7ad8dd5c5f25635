//! What do the views of problems mean, column by column?

use super::super::describe::Note;

type ColumnMeaning = (&'static str, &'static str);

const URL: ColumnMeaning = ("url", "its URL");
const PAGE: ColumnMeaning = ("page_id", "page.id");
const SINCE: ColumnMeaning = ("since", "the run since which it is so");
const SRC_URL: ColumnMeaning = ("src_url", "the URL of the page it stands on");
const DST_URL: ColumnMeaning = ("dst_url", "the URL it points to");
const KIND: ColumnMeaning = ("kind", "by what, as link.kind");
const ANCHOR: ColumnMeaning = ("anchor", "its words");
const SRC: ColumnMeaning = ("src", "page.id of the page it stands on");
const DST: ColumnMeaning = ("dst", "page.id of its target");
const ORIGINAL_URL: ColumnMeaning = ("original_url", "the URL of the earlier one");
const ORIGINAL: ColumnMeaning = ("duplicate_of", "page.id of the earlier one");
const LENGTH: ColumnMeaning = ("length", "bytes of the content");
const ID: ColumnMeaning = ("id", "page.id");

/// The views, in the order of their kinds.
pub(in crate::sqlite) const NOTES: &[Note] = &[
    (
        "broken_link",
        "A current link to a page that could not be fetched.",
        &[
            SRC_URL,
            DST_URL,
            KIND,
            ANCHOR,
            ("dst_kind", "HTTP_ERROR DOMAIN_ERROR TIMEOUT BROWSER_ERROR"),
            ("status", "the target's status code"),
            ("problem", "what went wrong, one line"),
            SRC,
            DST,
            SINCE,
        ],
    ),
    (
        "redirect_loop",
        "Redirects that lead back to where they began.",
        &[
            ("src_url", "a URL of the loop"),
            ("dst_url", "where it leads"),
            ("hops", "redirects until it is back"),
            ("src", "page.id of the one"),
            ("dst", "page.id of the other"),
            SINCE,
        ],
    ),
    (
        "mixed_content",
        "A part of an https page that is fetched by http.",
        &[SRC_URL, ("dst_url", "the URL of the part"), KIND, ANCHOR, SRC, DST, SINCE],
    ),
    (
        "redirect_chain",
        "A page that leads to another by several redirects in a row.",
        &[
            ("src_url", "the URL that leads away"),
            ("dst_url", "where it leads in the end"),
            ("hops", "redirects in a row"),
            ("src", "page.id of the one"),
            ("dst", "page.id of the other"),
            SINCE,
        ],
    ),
    ("missing_title", "An HTML page without a title.", &[URL, PAGE, SINCE]),
    (
        "equal_title",
        "An HTML page with the title of an earlier one of its host.",
        &[
            URL,
            ("title", "the title"),
            ("pages", "pages of the host with this title"),
            ORIGINAL_URL,
            ID,
            ORIGINAL,
            SINCE,
        ],
    ),
    (
        "duplicate",
        "A page with the content of an earlier one.",
        &[URL, ORIGINAL_URL, ("digest", "sha256 of the content"), LENGTH, ID, ORIGINAL, SINCE],
    ),
    (
        "missing_alt",
        "An image on a page without an alt attribute.",
        &[("url", "the URL of the page"), ("image_url", "where the image is"), PAGE],
    ),
    (
        "slow_page",
        "A page whose latest fetch took two seconds or more.",
        &[URL, ("elapsed_ms", "how long the fetch took, in milliseconds"), ("status", "status code"), PAGE, SINCE],
    ),
    ("large_page", "An HTML page of a million bytes or more.", &[URL, LENGTH, PAGE, SINCE]),
    (
        "orphan",
        "A fetched document that a sitemap lists and no other page links to.",
        &[URL, ("sitemap_url", "the sitemap that lists it"), PAGE, ("sitemap_id", "page.id of the sitemap"), SINCE],
    ),
    (
        "trap",
        "A URL that was not fetched because it looked like one of endlessly many.",
        &[
            URL,
            ("why", "the trap: trap-calendar trap-chain trap-query …"),
            ("found_on", "the URL of the page it was found on"),
            PAGE,
            ("found_on_id", "page.id of that page"),
            ("since", "the run that found it"),
        ],
    ),
    (
        "near_duplicate",
        "An HTML page with the text of an earlier one, by SimHash, and other bytes.",
        &[URL, ORIGINAL_URL, LENGTH, ID, ORIGINAL, SINCE],
    ),
    (
        "canonical_elsewhere",
        "A page that names another one as its canonical version.",
        &[
            ("src_url", "its URL"),
            ("dst_url", "the URL it names"),
            ("src", "page.id of the page"),
            ("dst", "page.id of the canonical one"),
            SINCE,
        ],
    ),
    (
        "disallowed_link",
        "A current link to a page that robots.txt disallows.",
        &[SRC_URL, DST_URL, KIND, ANCHOR, SRC, DST, SINCE],
    ),
    (
        "deep_page",
        "A fetched document six or more links away from the nearest seed.",
        &[URL, ("depth", "links from the nearest seed"), PAGE, ("since", "the run that found it")],
    ),
];
