//! Pages that are empty without their scripts.

use crate::{Chance, Template};

pub(crate) const LOOKED_AT: &[Template] = &[create_react, vite_vue, angular, svelte_kit, with_header];

pub(crate) const HELD_OUT: &[Template] =
    &[nuxt, next_without_server, ember, flutter, loading, please_enable, module_map, with_footer];

fn head(chance: &mut Chance) -> String {
    let (title, about) = (chance.words(4), chance.words(20));
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{title}</title><meta name=\"description\" content=\"{about}\"><meta property=\"og:description\" content=\"{about}\">\
         <link rel=\"icon\" href=\"/favicon.ico\"><link rel=\"stylesheet\" href=\"/assets/index-{}.css\">",
        chance.hash()
    )
}

fn create_react(chance: &mut Chance) -> String {
    format!(
        "{}<script defer=\"defer\" src=\"/static/js/main.{}.js\"></script></head><body>\
         <noscript>You need to enable JavaScript to run this app.</noscript><div id=\"root\"></div>{}</body></html>",
        head(chance),
        chance.hash(),
        chance.trackers()
    )
}

fn vite_vue(chance: &mut Chance) -> String {
    format!(
        "{}<script type=\"module\" crossorigin src=\"/assets/index-{}.js\"></script></head>\n  <body>\n    <div id=\"app\"></div>\n  </body>\n</html>",
        head(chance),
        chance.hash()
    )
}

fn angular(chance: &mut Chance) -> String {
    format!(
        "{}<base href=\"/\"></head><body><app-root></app-root><script src=\"runtime.{}.js\" type=\"module\"></script>\
         <script src=\"polyfills.js\" type=\"module\"></script><script src=\"main.{}.js\" type=\"module\"></script></body></html>",
        head(chance),
        chance.hash(),
        chance.hash()
    )
}

fn svelte_kit(chance: &mut Chance) -> String {
    let hash = chance.hash();
    format!(
        "{}<link rel=\"modulepreload\" href=\"/_app/immutable/entry/start.{hash}.js\"></head><body data-sveltekit-preload-data=\"hover\">\
         <div style=\"display: contents\"><script>{{ __sveltekit_{hash} = {{ base: \"\" }}; const element = document.currentScript.parentElement; \
         import(\"/_app/immutable/entry/start.{hash}.js\").then((kit) => kit.start(element)); }}</script></div></body></html>",
        head(chance)
    )
}

fn with_header(chance: &mut Chance) -> String {
    let links = 4 + chance.below(8);
    format!(
        "{}</head><body><header><nav>{}</nav></header><div id=\"root\"></div><footer>© {}</footer>\
         <script src=\"/bundle.{}.js\"></script>{}</body></html>",
        head(chance),
        chance.links(links),
        chance.words(3),
        chance.hash(),
        chance.trackers()
    )
}

fn nuxt(chance: &mut Chance) -> String {
    format!(
        "{}</head><body><div id=\"__nuxt\"></div><div id=\"teleports\"></div><script type=\"application/json\" id=\"__NUXT_DATA__\">\
         [{{\"serverRendered\":1}},false]</script><script>window.__NUXT__={{}};window.__NUXT__.config={{public:{{}},app:{{baseURL:\"/\"}}}}</script>\
         <script type=\"module\" src=\"/_nuxt/{}.js\" crossorigin></script></body></html>",
        head(chance),
        chance.hash()
    )
}

fn next_without_server(chance: &mut Chance) -> String {
    format!(
        "{}<noscript data-n-css=\"\"></noscript></head><body><div id=\"__next\"></div><script id=\"__NEXT_DATA__\" type=\"application/json\">\
         {{\"props\":{{\"pageProps\":{{}}}},\"page\":\"/\",\"buildId\":\"{}\",\"nextExport\":true}}</script>\
         <script src=\"/_next/static/chunks/main-{}.js\" defer=\"\"></script></body></html>",
        head(chance),
        chance.hash(),
        chance.hash()
    )
}

fn ember(chance: &mut Chance) -> String {
    format!(
        "{}<meta name=\"shop/config/environment\" content=\"%7B%22modulePrefix%22%3A%22shop%22%7D\"></head><body>\
         <script src=\"/assets/vendor-{}.js\"></script><script src=\"/assets/shop-{}.js\"></script>\
         <div id=\"ember-basic-dropdown-wormhole\"></div></body></html>",
        head(chance),
        chance.hash(),
        chance.hash()
    )
}

fn flutter(chance: &mut Chance) -> String {
    format!(
        "{}<script>var serviceWorkerVersion = '{}';</script><script src=\"flutter.js\" defer></script></head><body>\
         <script>window.addEventListener('load', function (ev) {{ _flutter.loader.load(); }});</script></body></html>",
        head(chance),
        chance.hash()
    )
}

fn loading(chance: &mut Chance) -> String {
    let what = chance.one(&["Loading…", "Please wait", "Wird geladen …", "Chargement en cours", "読み込み中"]);
    format!(
        "{}</head><body class=\"loading\"><div class=\"splash\"><svg viewBox=\"0 0 50 50\"><circle cx=\"25\" cy=\"25\" r=\"20\"></circle></svg>\
         <p>{what}</p></div><script src=\"/app/{}.js\"></script></body></html>",
        head(chance),
        chance.hash()
    )
}

fn please_enable(chance: &mut Chance) -> String {
    let asks = chance.one(&[
        "We're sorry but this site doesn't work properly without JavaScript enabled. Please enable it to continue.",
        "Bitte aktivieren Sie JavaScript in Ihrem Browser, um diese Seite zu nutzen.",
        "Veuillez activer JavaScript pour utiliser ce site.",
        "Este sitio requiere JavaScript.",
        "このアプリを実行するには JavaScript を有効にする必要があります。",
    ]);
    format!(
        "{}</head><body><noscript><strong>{asks}</strong></noscript><div class=\"shell\"><div class=\"bar\">{}</div><main></main></div>\
         <script src=\"/dist/{}.bundle.js\"></script></body></html>",
        head(chance),
        chance.words(12),
        chance.hash()
    )
}

fn module_map(chance: &mut Chance) -> String {
    format!(
        "{}<script type=\"importmap\">{{ \"imports\": {{ \"lit\": \"/vendor/lit.js\" }} }}</script></head><body>\
         <my-application></my-application><script type=\"module\" src=\"/src/my-application.js\"></script></body></html>",
        head(chance)
    )
}

fn with_footer(chance: &mut Chance) -> String {
    let links = 3 + chance.below(20);
    format!(
        "{}</head><body><div id=\"app\"><!-- the application --></div><footer><p>{}</p>{}</footer>\
         <script type=\"module\" src=\"/js/{}.js\"></script></body></html>",
        head(chance),
        chance.words(15),
        chance.links(links),
        chance.hash()
    )
}
