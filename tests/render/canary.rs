//! Can a page reach anything but through our proxy?

use super::harness::orb::Home;
use super::harness::script::{Script, absent, page};
use super::{html, rendered, site};

/// A page that tries every way out to an address inside, each with its number.
const WAYS: &str = r#"<!doctype html><title>ways</title>
<link rel="stylesheet" href="http://CANARY/1-css"><link rel="prefetch" href="http://CANARY/1-prefetch">
<link rel="preconnect" href="http://CANARY"><link rel="dns-prefetch" href="http://CANARY">
<style>@font-face { font-family: f; src: url(http://CANARY/2-font) } body { font-family: f; background: url(http://CANARY/2-background) }</style>
<img src="http://CANARY/3-img"><script src="http://CANARY/4-script"></script>
<iframe src="http://CANARY/5-frame"></iframe><object data="http://CANARY/6-object"></object><embed src="http://CANARY/6-embed">
<video src="http://CANARY/7-video" autoplay></video><audio src="http://CANARY/7-audio" preload="auto"></audio>
<form id="form" action="http://CANARY/8-form" method="post" target="frame"><input name="a" value="b"></form><iframe name="frame"></iframe>
<a id="ping" href="javascript:void 0" ping="http://CANARY/9-ping">x</a>
<p id="done">no</p>
<script>
const quietly = (what) => { try { const made = what(); if (made && made.catch) made.catch(() => {}); } catch {} };
quietly(() => fetch('http://CANARY/10-fetch', { mode: 'no-cors' }));
quietly(() => { const x = new XMLHttpRequest(); x.open('GET', 'http://CANARY/10-xhr'); x.send(); });
quietly(() => navigator.sendBeacon('http://CANARY/10-beacon', 'x'));
quietly(() => new WebSocket('ws://CANARY/11-socket'));
quietly(() => new EventSource('http://CANARY/11-events'));
quietly(() => new WebTransport('https://CANARY/11-transport'));
quietly(() => { const peer = new RTCPeerConnection({ iceServers: [{ urls: ['stun:CANARY', 'turn:CANARY?transport=tcp'], username: 'u', credential: 'p' }] });
  peer.createDataChannel('x'); return peer.createOffer().then((offer) => peer.setLocalDescription(offer)); });
quietly(() => new Worker(URL.createObjectURL(new Blob(["importScripts('http://CANARY/12-worker')"], { type: 'text/javascript' }))));
quietly(() => new Worker(URL.createObjectURL(new Blob(["fetch('http://CANARY/12-worker-fetch', { mode: 'no-cors' })"], { type: 'text/javascript' }))));
quietly(() => navigator.serviceWorker.register('/worker.js'));
quietly(() => window.open('http://CANARY/13-window'));
quietly(() => document.getElementById('form').submit());
quietly(() => document.getElementById('ping').click());
quietly(() => import('http://CANARY/4-import'));
setTimeout(() => { document.getElementById('done').textContent = 'all ways tried'; location.href = 'http://CANARY/13-location'; }, 200);
</script>"#;

#[test]
fn a_page_reaches_nothing_inside_by_any_way() {
    let canary = Script::serve(|_| page(["/secret"]));
    // Addresses, a name that browsers resolve themselves, and a name that only we resolve.
    for inside in ["127.0.0.1", "localhost", "[::1]", "inside.localhost"] {
        let text = WAYS.replace("CANARY", &format!("{inside}:{}", canary.port()));
        let site = site(move |heard| match heard.target.as_str() {
            "/" => html(&text),
            _ => absent(),
        });
        let home = Home::new();
        rendered(&home, &site, "always", "frontier.depth = 0");
        let rows =
            home.catalogue().rows("SELECT kind, coalesce(problem, '') FROM page WHERE url LIKE '%site.test%/' LIMIT 1");
        assert_eq!(rows[0][0], "HTML", "{inside}: {rows:?}");
        assert!(rows[0][1].contains("by the address guard"), "the page tried nothing: {rows:?}");
        let shown = home.orb(&["cat", "p", &format!("http://site.test:{}/", site.port())]);
        assert!(shown.text().contains("all ways tried"), "{inside}: {shown}");
        assert_eq!(canary.connections(), 0, "{inside}: {:?}", canary.heard());
    }
}
