//! Do our index keys equal those of the web archives' tools?
//!
//! `data/cdx_keys.tsv` holds their answers, recorded by `data/cdx_keys.py`.

use orb_urls::surt::cdx_key;

#[test]
fn index_keys_agree_with_those_of_cdxj_indexer() {
    let mut wrong = Vec::new();
    let table = include_str!("data/cdx_keys.tsv");
    for line in table.lines() {
        let (url, key) = line.split_once('\t').unwrap();
        let (url, key): (String, String) = (serde_json::from_str(url).unwrap(), serde_json::from_str(key).unwrap());
        let ours = cdx_key(&url);
        if ours != key {
            wrong.push(format!("{url:?}: theirs {key:?}, ours {ours:?}"));
        }
    }
    assert!(table.lines().count() > 100);
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
