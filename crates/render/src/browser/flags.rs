//! Which flags make a browser a safe part of a crawler?
//!
//! Nothing may leave but through our proxy: not to loopback, not by WebRTC, not by QUIC, not by
//! name look-ups, not by the browser's own services. `tests/render` tries all ways; flags change
//! their names, and that test is the truth.

use crate::RenderConfig;

/// Flags that never differ.
const ALWAYS: &[&str] = &[
    "--headless",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-gpu",
    "--hide-scrollbars",
    "--mute-audio",
    "--window-size=1280,1024",
    // The way out.
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-client-side-phishing-detection",
    "--no-pings",
    "--dns-prefetch-disable",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--metrics-recording-only",
    "--password-store=basic",
    "--use-mock-keychain",
    // What nobody looks at must not be slower.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-ipc-flooding-protection",
    "--disable-hang-monitor",
    "--disable-popup-blocking",
    // One process for a page and its frames: contexts are thrown away, and hold nothing of ours.
    "--disable-site-isolation-trials",
    "--disable-dev-shm-usage",
    // A script that allocates without end ends itself.
    "--js-flags=--max-old-space-size=512",
];

/// Features that are switched off, in one flag: a second one would replace the first.
const FEATURES: &[&str] = &[
    "ServiceWorkerAutoPreload",
    "Translate",
    "OptimizationHints",
    "MediaRouter",
    "HttpsUpgrades",
    "HttpsFirstBalancedMode",
    "AutofillServerCommunication",
    "CertificateTransparencyComponentUpdater",
    "InterestFeedContentSuggestions",
    "Prerender2",
    "SpareRendererForSitePerProcess",
    "IsolateOrigins",
    "site-per-process",
    "DnsOverHttps",
    "AsyncDns",
    "WebTransport",
];

/// All flags; `closed` is the port of a proxy that answers nothing, `key` the hash of the key of
/// our certificate.
pub(super) fn flags(config: &RenderConfig, closed: u16, key: &str) -> Vec<String> {
    let mut flags: Vec<String> = ALWAYS.iter().map(|flag| (*flag).to_owned()).collect();
    flags.push(format!("--disable-features={}", FEATURES.join(",")));
    flags.push(format!("--proxy-server=http://127.0.0.1:{closed}"));
    flags.push(format!("--ignore-certificate-errors-spki-list={key}"));
    flags.push(format!("--user-agent={}", config.user_agent));
    if config.no_sandbox {
        flags.push("--no-sandbox".to_owned());
    }
    flags
}
