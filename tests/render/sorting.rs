//! Are pages that need a browser told from pages that do not?
//!
//! Three hundred of each, every one on a host of its own, so that none is judged by its neighbours.
//! They are made here, from the habits of tools and people and with chance in every detail. The
//! rule (`extract/shell.rs`) was written without them, but it was changed after their first run:
//! forms, pictures and counters of visitors count since then. So these tell whether the rule still
//! does what it did; `families.rs` has pages that nothing was changed for. A page was rendered if
//! its script was asked for: nothing else asks for scripts at depth 0.

use super::harness::orb::Home;
use super::harness::scene::Dice;
use super::harness::script::{Script, absent, reply};
use super::html;
use std::collections::BTreeSet;

/// Pages of each kind.
const PAGES: usize = 300;

/// Mistakes of each kind that are allowed: one in this many pages.
const MISTAKES: usize = 50;

const WORDS: [&str; 16] = [
    "harbour", "letters", "the", "of", "winter", "a", "museum", "between", "rivers", "is", "open", "every", "small",
    "garden", "and", "station",
];
const HAN: &str = "春眠不覺曉處處聞啼鳥夜來風雨聲花落知多少白日依山盡黃河入海流欲窮千里目更上一層樓";
const NOSCRIPT: [&str; 8] = [
    "You need to enable JavaScript to run this app.",
    "We're sorry but shop doesn't work properly without JavaScript enabled. Please enable it to continue.",
    "Bitte aktivieren Sie JavaScript, um diese Seite zu sehen.",
    "Veuillez activer JavaScript pour utiliser cette application.",
    "Necesitas habilitar JavaScript para ejecutar esta aplicación.",
    "このアプリを実行するには JavaScript を有効にしてください。",
    "Для работы приложения включите JavaScript.",
    "<img height=1 width=1 src=\"/pixel.gif\">",
];

/// Chance, and what is made with it.
pub(super) struct PageMaker(Dice);

impl PageMaker {
    pub(super) fn new(seed: u64) -> Self {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..20).for_each(|_| {
            dice.below(2);
        });
        Self(dice)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.0.below(end as u64)).unwrap()
    }

    pub(super) fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    pub(super) fn words(&mut self, least: usize, more: usize) -> String {
        let count = least + self.below(more);
        (0..count).map(|_| WORDS[self.below(WORDS.len())]).collect::<Vec<_>>().join(" ")
    }

    pub(super) fn paragraphs(&mut self, least: usize, more: usize) -> String {
        let count = least + self.below(more);
        (0..count).map(|_| format!("<p>{}.</p>\n", self.words(30, 60))).collect()
    }

    pub(super) fn links(&mut self, least: usize, more: usize) -> String {
        let count = least + self.below(more);
        (0..count).map(|n| format!("<li><a href=\"/{n}/{}\">{}</a>", self.below(99), self.words(1, 3))).collect()
    }

    /// What may stand in any head, and says nothing about the page.
    pub(super) fn head(&mut self) -> String {
        let mut head = format!("<meta charset=utf-8>\n<title>{}</title>", self.words(1, 12));
        if self.one_in(2) {
            head += &format!("<meta name=\"description\" content=\"{}\">\n", self.words(10, 40));
        }
        if self.one_in(3) {
            head += "<link rel=stylesheet href=/site.css><link rel=\"preconnect\" href=\"https://fonts.example\">";
        }
        if self.one_in(3) {
            head += &format!("<style>body > a{{color:red}} .x::after{{content:\"{}\"}}</style>", self.words(5, 30));
        }
        if self.one_in(4) {
            let text = self.words(40, 80);
            head += &format!("<script type=\"application/ld+json\">{{\"articleBody\":\"{text}\"}}</script>");
        }
        if self.one_in(4) {
            head += &format!("<!-- {} <a href=/old>old</a> -->", self.words(20, 60));
        }
        head
    }

    /// A page that is empty without `/app.js`, as its tool writes it.
    fn shell(&mut self) -> String {
        let script = [
            "<script src=/app.js></script>",
            "<script defer=\"defer\" src=\"/app.js\"></script>",
            "<script type=\"module\" crossorigin src='/app.js'></script>",
            "<SCRIPT TYPE=\"text/javascript\" SRC=\"/app.js\"></SCRIPT>",
            "<script>document.write('<script src=\"/app.js\"><\\/script>')</script>",
        ][self.below(5)];
        let (named, loading) = (self.below(20), ["", "Loading...", "Please wait", "Wird geladen …"][self.below(4)]);
        let body = match named {
            0 | 1 => "<div id=\"root\"></div>".to_owned(),
            2 => "<div id=\"root\"><!-- the page --></div>".to_owned(),
            3 | 4 => "<div id=app></div>\n<!-- built files will be auto injected -->".to_owned(),
            5 => format!("<app-root>{loading}</app-root>"),
            6 => format!("<div id=\"__next\"><div class=\"spinner\">{loading}</div></div>"),
            7 => "<div id=\"__nuxt\"></div><script>window.__NUXT__={config:{a:\"<a href='/x'>x</a>\"}}</script>".to_owned(),
            8 => format!("<div id=svelte></div><div class=splash><img src=logo.svg alt=''>{loading}</div>"),
            9 => "<div id=\"___gatsby\"><div style=\"outline:none\" tabindex=\"-1\" id=\"gatsby-focus-wrapper\"></div></div>"
                .to_owned(),
            10 => "<my-shell></my-shell>".to_owned(),
            11 => format!("<main id=\"content\" data-url=\"/api/page\">{loading}</main>"),
            12 => {
                let template = self.paragraphs(2, 3);
                format!("<section id=list></section><script type=\"text/x-template\" id=row>{template}<a href=/a>a</a></script>")
            }
            13 => {
                let template = self.paragraphs(2, 3);
                format!("<template id=row>{template}<a href=/a>a</a><a href=/b>b</a><a href=/c>c</a></template><main></main>")
            }
            14 => "<canvas id=view></canvas><flt-glass-pane></flt-glass-pane>".to_owned(),
            15 => format!("<div id=\"blazor-app\">{loading}</div><div id=\"blazor-error-ui\">An unhandled error has occurred. <a href=\"\">Reload</a></div>"),
            16 => "<iframe src=\"javascript:''\" id=\"__gwt_historyFrame\" style=\"width:0;height:0;border:0\"></iframe>".to_owned(),
            17 => format!("<header><img src=/logo.png><a href=/>{}</a></header><div id=\"app\"></div>", self.words(1, 3)),
            18 => {
                let (menu, foot) = (self.links(3, 4), self.words(20, 30));
                format!("<nav><ul>{menu}</ul></nav><div id='root'></div><footer>{foot}</footer>")
            }
            _ => format!("<body ng-app=\"shop\"><div ng-view></div><p ng-cloak>{loading}</p>"),
        };
        let mut page = if self.one_in(5) { String::new() } else { "<!doctype html>\n".to_owned() };
        page += &format!("<html lang=en><head>{}", self.head());
        let in_head = self.one_in(3);
        if in_head {
            page += script;
        }
        page += "</head>\n<body>";
        if self.one_in(2) {
            page += &format!("<noscript>{}</noscript>", NOSCRIPT[self.below(NOSCRIPT.len())]);
        }
        if self.one_in(6) {
            page += "<script async src=\"/matomo.js\"></script>";
        }
        page += &body;
        if !in_head {
            page += script;
        }
        page + "</body></html>"
    }

    /// A page that says everything by itself, and has scripts all the same.
    fn told(&mut self) -> String {
        let title = format!("<h1>{}</h1>", self.words(2, 6));
        let body = match self.below(15) {
            0..=3 => format!("{title}{}<ul>{}</ul>", self.paragraphs(3, 12), self.links(0, 6)),
            4 | 5 => format!("<nav><ul>{}</ul></nav><main>{title}{}</main>", self.links(8, 30), self.paragraphs(1, 6)),
            6 => format!("{title}<ul>{}</ul>", self.links(4, 80)),
            7 => {
                let rows = 5 + self.below(60);
                let cell = |n: usize| format!("<tr><td>{n}</td><td>{}</td></tr>", n * 7919 % 10_007);
                format!("{title}<table>{}</table>", (0..rows * 5).map(cell).collect::<String>())
            }
            8 => {
                let pictures = 9 + self.below(30);
                format!("{title}{}", (0..pictures).map(|n| format!("<img src=\"/p/{n}.jpg\" alt>")).collect::<String>())
            }
            9 => {
                let fields =
                    ["user", "password", "remember"].map(|name| format!("<label>{name}<input name={name}></label>"));
                format!(
                    "{title}<form method=post>{}<button>Sign in</button></form><a href=/lost>Lost?</a>",
                    fields.concat()
                )
            }
            10 => {
                let count = 130 + self.below(400);
                let han: Vec<char> = HAN.chars().collect();
                let text: String = (0..count).map(|_| han[self.below(han.len())]).collect();
                format!("<h1>{}</h1><p>{text}</p>", &HAN[..12])
            }
            11 => {
                // A short note, and nothing that could add to it but what counts visitors.
                let note = self.words(4, 12);
                return format!("<!doctype html>{}<p>{note}.</p><script src=/matomo.js></script>", self.head());
            }
            12 => format!("{title}<pre>{}</pre>", self.words(80, 300)),
            13 => {
                let comments = "<noscript>Please enable JavaScript to view the comments.</noscript>";
                format!("{title}{}<div id=comments></div>{comments}", self.paragraphs(5, 9))
            }
            _ => {
                // Rendered on the server: the mount point is there, and so is the page.
                let inside = self.paragraphs(2, 6);
                format!(
                    "<div id=\"__next\"><main>{title}{inside}</main></div><script id=\"__NEXT_DATA__\" type=\"application/json\">{{}}</script>"
                )
            }
        };
        let scripts = 1 + self.below(3);
        let script = (0..scripts).map(|n| format!("<script src=\"/site{n}.js\"></script>")).collect::<String>();
        let page = format!("<!DOCTYPE html><html><head>{}</head><body>{body}{script}</body></html>", self.head());
        if self.one_in(4) { page.replace('\n', "").replace("<p>", "<P>") } else { page }
    }
}

/// The number of a host.
pub(super) fn number_of(host: &str) -> usize {
    host.trim_start_matches('n').trim_end_matches(".test").parse().unwrap()
}

/// The page of a host: those with even numbers are shells.
fn page_of(host: &str) -> String {
    let number = number_of(host);
    let mut maker = PageMaker::new(number as u64 + 4_242);
    if number.is_multiple_of(2) { maker.shell() } else { maker.told() }
}

#[test]
fn shells_are_told_from_pages_that_say_something() {
    told_apart(page_of, PAGES);
}

/// Crawls the pages of so many hosts of each kind, and allows few mistakes.
pub(super) fn told_apart(page_of: fn(&str) -> String, pages: usize) {
    let site = Script::serve(move |heard| match heard.target.as_str() {
        "/" => html(&page_of(heard.host())),
        path if path.ends_with(".js") => {
            let program = "document.body.insertAdjacentHTML('beforeend', '<h2>drawn by a script</h2>')";
            reply("200 OK", "Content-Type: text/javascript\r\n", program)
        }
        _ => absent(),
    });
    let home = Home::new();
    let hosts: Vec<String> = (0..2 * pages).map(|n| format!("n{n}.test")).collect();
    home.crawl(&[&project(&home, &hosts, site.port()), "--no-index"]);
    let heard = site.heard();
    let asked = heard.iter().filter(|heard| heard.target.ends_with(".js")).map(|heard| heard.host().to_owned());
    let rendered: BTreeSet<String> = asked.collect();
    let wrong = |is_shell: bool| -> Vec<String> {
        let those = hosts.iter().skip(usize::from(!is_shell)).step_by(2);
        those
            .filter(|host| rendered.contains(*host) != is_shell)
            .map(|host| format!("{host}: {}", page_of(host)))
            .collect()
    };
    for (is_shell, name) in [(true, "shells that were not rendered"), (false, "others that were")] {
        let wrong = wrong(is_shell);
        println!("{} of {pages} {name}", wrong.len());
        assert!(wrong.len() <= pages / MISTAKES, "{} {name}: {wrong:#?}", wrong.len());
    }
    let drawn = home.catalogue().number("SELECT count(*) FROM page WHERE kind = 'HTML' AND status = 200");
    assert_eq!(drawn, i64::try_from(2 * pages).unwrap(), "every page was read");
}

/// A project whose seeds are the first pages of these hosts.
fn project(home: &Home, hosts: &[String], port: u16) -> String {
    let seeds: Vec<String> = hosts.iter().map(|host| format!("'http://{host}:{port}/'")).collect();
    let fixed: Vec<String> = hosts.iter().map(|host| format!("'{host}:{port}:127.0.0.1'")).collect();
    let file = home.beside("p.toml");
    let text = format!(
        "seeds = [{}]\nfetch.resolve = [{}]\nfrontier.delay = '0s'\nfrontier.depth = 0\nrender.when = 'auto'\nrender.no_sandbox = true\n",
        seeds.join(", "),
        fixed.join(", ")
    );
    std::fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}
