use super::*;
use crate::Canonicaliser;
use std::io::Write;

fn at(url: &str) -> Address {
    Canonicaliser::default().parse(url).unwrap()
}

fn scope(toml: &str, seeds: &[&str]) -> Scope {
    let seeds: Vec<Address> = seeds.iter().map(|s| at(s)).collect();
    Scope::new(&toml::from_str(toml).unwrap(), &seeds).unwrap()
}

fn ins(scope: &Scope, urls: &[&str]) {
    for url in urls {
        assert_eq!(scope.judge(&at(url), None), Judgement::In, "{url}");
    }
}

fn outs(scope: &Scope, reason: OutOfScope, urls: &[&str]) {
    for url in urls {
        assert_eq!(scope.judge(&at(url), None), Judgement::Out(reason), "{url}");
    }
}

#[test]
fn host_keeps_to_the_hosts_of_the_seeds_under_both_schemes() {
    let scope = scope("", &["http://a.example/x", "http://b.example:8080/"]);
    ins(&scope, &["http://a.example/", "https://a.example/y", "http://b.example:8080/z", "https://b.example:8080/"]);
    outs(
        &scope,
        OutOfScope::Area,
        &["http://www.a.example/", "http://a.example:81/", "http://b.example/", "http://c.example/"],
    );
    assert!(scope.is_seed_host(&at("https://a.example/")) && !scope.is_seed_host(&at("http://c.example/")));
}

#[test]
fn domain_takes_every_host_of_the_registrable_domain() {
    let scope = scope("mode = 'domain'", &["http://www.a.co.uk/", "http://127.0.0.1:9/"]);
    ins(&scope, &["https://a.co.uk/", "http://x.y.a.co.uk:81/", "http://127.0.0.1/"]);
    outs(&scope, OutOfScope::Area, &["http://b.co.uk/", "http://co.uk/", "http://10.0.0.1/"]);
}

#[test]
fn prefix_keeps_to_the_directories_of_the_seeds() {
    let scope = scope("mode = 'prefix'", &["http://a.example/docs/intro.html?x=/y/", "http://a.example/man/de/"]);
    ins(&scope, &["https://a.example/docs/", "http://a.example/docs/b/c", "http://a.example/man/de/1"]);
    outs(
        &scope,
        OutOfScope::Area,
        &["http://a.example/", "http://a.example/docs", "http://a.example/man/", "http://b.example/docs/"],
    );
}

#[test]
fn neighbours_are_reached_from_the_seeds_hosts_and_no_further() {
    let scope = scope("mode = 'neighbours'", &["http://a.example/"]);
    let (inside, neighbour) = (at("http://a.example/p"), at("http://b.example/q"));
    assert_eq!(scope.judge(&neighbour, Some(&inside)), Judgement::In);
    assert_eq!(scope.judge(&at("http://b.example/r"), Some(&neighbour)), Judgement::Out(OutOfScope::Area));
    assert_eq!(scope.judge(&neighbour, None), Judgement::Out(OutOfScope::Area));
    assert_eq!(scope.judge(&inside, Some(&neighbour)), Judgement::In);
}

#[test]
fn what_is_drawn_around_web_seeds_holds_no_other_service_of_their_hosts() {
    crate::scheme::register("x-files", crate::scheme::Manners { port: 70, robots: false, resolve: true }).unwrap();
    let (files, web) = ("x-files://a.example/d/f", "http://a.example/d/f");
    for mode in ["host", "domain", "prefix", "neighbours"] {
        let mode = format!("mode = '{mode}'\n");
        let other = format!("{mode}domains = ['a.example']");
        outs(&scope(&other, &["https://a.example/d/"]), OutOfScope::Area, &[files]);
        outs(&scope(&mode, &["x-files://a.example/d/"]), OutOfScope::Area, &[web]);
        ins(&scope(&mode, &["x-files://a.example/d/"]), &[files, "x-files://a.example/d/e/"]);
        ins(&scope(&mode, &["x-files://a.example/d/", "http://a.example/d/"]), &[files, web]);
        ins(&scope(&format!("{mode}surts = ['x-files://a.example/']"), &["http://b.example/"]), &[files]);
    }
    let neighbours = scope("mode = 'neighbours'", &["http://a.example/"]);
    assert_eq!(neighbours.judge(&at(files), Some(&at(web))), Judgement::In, "a page of a seed's host links to it");
    ins(&scope("mode = 'any'", &["http://b.example/"]), &[files]);
    ins(&scope("domains = ['a.example']", &["x-files://b.example/"]), &[files, web]);
}

#[test]
fn lists_widen_a_mode_and_are_the_area_of_any() {
    let lists = "tlds = ['.it']\ndomains = ['list.example']\nsurts = ['http://(org,surt,)/x/', 'plain.org']";
    let listed = ["http://x.it/", "http://www.list.example/", "https://surt.org/x/y", "http://a.plain.org:8/"];
    let unlisted = ["http://x.de/", "http://surt.org/y", "http://a.surt.org/x/"];
    for mode in ["host", "any"] {
        let scope = scope(&format!("mode = '{mode}'\n{lists}"), &["http://seed.example/"]);
        ins(&scope, &listed);
        ins(&scope, &["http://seed.example/"]);
        outs(&scope, OutOfScope::Area, &unlisted);
    }
    let anywhere = scope("mode = 'any'", &[]);
    ins(&anywhere, &unlisted);
}

#[test]
fn the_first_rule_that_matches_decides() {
    let scope = scope(
        r"rules = [{ deny = '/docs/old/' }, { allow = '/docs/' }, { deny = '\.pdf$' }, { deny = '/docs/x' }]",
        &["http://a.example/"],
    );
    ins(&scope, &["http://a.example/docs/x", "http://a.example/docs/y.pdf", "http://a.example/z"]);
    outs(&scope, OutOfScope::Rule, &["http://a.example/docs/old/x", "http://a.example/z.pdf"]);
}

#[test]
fn rules_that_only_allow_deny_the_rest_and_never_leave_the_area() {
    let only = scope("rules = [{ allow = '/docs/' }]", &["http://a.example/"]);
    ins(&only, &["http://a.example/docs/x"]);
    outs(&only, OutOfScope::Rule, &["http://a.example/x"]);
    outs(&only, OutOfScope::Area, &["http://b.example/docs/x"]);
    let open = scope("default = 'allow'\nrules = [{ allow = '/docs/' }]", &["http://a.example/"]);
    ins(&open, &["http://a.example/x"]);
    let closed = scope("default = 'deny'\nrules = [{ deny = 'x' }]", &["http://a.example/"]);
    outs(&closed, OutOfScope::Rule, &["http://a.example/y"]);
}

#[test]
fn a_long_list_of_rules_is_judged_like_a_short_one() {
    let rules: Vec<String> = (0..100).map(|i| format!("{{ deny = '/{i}$' }}, {{ allow = '/{i}$' }}")).collect();
    let scope = scope(&format!("default = 'allow'\nrules = [{}]", rules.join(",")), &["http://a.example/"]);
    outs(&scope, OutOfScope::Rule, &["http://a.example/0", "http://a.example/99"]);
    ins(&scope, &["http://a.example/100"]);
}

#[test]
fn a_seed_is_in_wherever_it_lies_unless_a_rule_denies_it() {
    let spec =
        "mode = 'any'\ntlds = ['it']\nextensions_deny = ['html']\npaths = ['/p']\nrules = [{ allow = '/docs/' }]";
    ins(&scope(spec, &["http://a.example/i.html"]), &["http://a.example/i.html"]);
    outs(
        &scope("rules = [{ deny = 'i\\.html' }]", &["http://a.example/i.html"]),
        OutOfScope::Rule,
        &["http://a.example/i.html"],
    );
}

#[test]
fn extensions_and_paths_narrow_the_area() {
    let scope = scope("extensions_deny = ['.PDF', '*.tar.gz', 'zip']\npaths = ['docs/', '/x']", &["http://a.example/"]);
    outs(
        &scope,
        OutOfScope::Extension,
        &["http://a.example/docs/a.pdf", "http://a.example/docs/a.Zip?x=1", "http://a.example/docs/a.tar.gz"],
    );
    ins(&scope, &["http://a.example/docs/pdf", "http://a.example/docs/a.gz", "http://a.example/xy?a.pdf"]);
    outs(&scope, OutOfScope::Path, &["http://a.example/y", "http://a.example/doc"]);
}

#[test]
fn where_a_seed_redirects_to_can_become_a_seed() {
    for mode in ["host", "domain", "prefix"] {
        let mut scope = scope(&format!("mode = '{mode}'"), &["http://a.example/"]);
        outs(&scope, OutOfScope::Area, &["https://www.b.example/x"]);
        scope.add_seed(&at("https://www.b.example/"));
        ins(&scope, &["https://www.b.example/x"]);
    }
}

#[test]
fn domains_are_read_from_a_file_and_its_faults_are_named_with_their_line() {
    let path = std::env::temp_dir().join(format!("orb-urls-domains-{}", std::process::id()));
    let write = |text: &str| std::fs::File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
    let spec = ScopeSpec { domains_file: Some(path.clone()), ..ScopeSpec::default() };
    write("\u{feff}# all\n\nOne.example\r\ntwo.example # second\n");
    let scope = Scope::new(&spec, &[]).unwrap();
    ins(&scope, &["http://www.one.example/", "http://two.example/"]);
    write("one.example\nno name\n");
    let error = Scope::new(&spec, &[]).unwrap_err().to_string();
    assert!(error.starts_with("line 2 of ") && error.ends_with("`no name` is not a domain name"), "{error}");
    std::fs::remove_file(&path).unwrap();
    let error = Scope::new(&spec, &[]).unwrap_err().to_string();
    assert!(error.starts_with("cannot read the domains in "), "{error}");
}

#[test]
fn what_cannot_be_understood_is_named() {
    let error = |toml: &str| Scope::new(&toml::from_str(toml).unwrap(), &[]).unwrap_err().to_string();
    assert_eq!(error("rules = [{ deny = '(' }]"), "the rule `(` is not a regular expression: unclosed group");
    assert!(error(r"rules = [{ deny = '\w{9999}{9}' }]").contains("size limit"));
    assert_eq!(error("tlds = ['i t']"), "`i t` is not a domain name");
    assert_eq!(error("surts = ['http://[']"), "`http://[` is neither a SURT prefix nor a URL");
    assert!("hosts".parse::<Mode>().unwrap_err().to_string().contains("`hosts`"));
    assert!(toml::from_str::<ScopeSpec>("modes = 'any'").is_err());
    for mode in Mode::ALL {
        assert_eq!(mode.name().parse::<Mode>().unwrap(), *mode);
        assert_eq!(toml::from_str::<ScopeSpec>(&format!("mode = '{mode}'")).unwrap().mode, *mode);
    }
}
