//! How much does resolving a link cost? Each figure is for the forty links of one page.

use divan::{Bencher, black_box};
use orb_urls::{Address, Canonicaliser, Mode, Scope, ScopeRule, ScopeSpec, surt};

fn main() {
    divan::main();
}

const BASE: &str = "https://www.example.com/docs/guide/intro.html";

/// Forty links in the proportions of real pages: mostly relative and plain, some with fragments,
/// queries and percent escapes.
fn hrefs() -> Vec<String> {
    let kinds: [fn(usize) -> String; 10] = [
        |i| format!("chapter{i}.html"),
        |i| format!("../reference/section-{i}/index.html"),
        |i| format!("/news/2024/05/{i}/a-longer-title-with-words"),
        |i| format!("#part{i}"),
        |i| format!("chapter{i}.html#part{i}"),
        |i| format!("https://www.example.com/shop/item?id={i}&lang=en"),
        |i| format!("https://other{i}.example.org/about"),
        |i| format!("/wiki/Stra%C3%9Fe_{i}"),
        |i| format!("/search?q=some+words&page={i}&sort=asc"),
        |i| format!("//cdn.example.net/assets/{i}/app.min.js"),
    ];
    (0..40).map(|i| kinds[i % kinds.len()](i)).collect()
}

fn addresses() -> Vec<Address> {
    let (canonicaliser, base) = reader();
    hrefs().iter().filter_map(|href| canonicaliser.resolve(&base, href).ok()).collect()
}

fn reader() -> (Canonicaliser, Address) {
    let canonicaliser = Canonicaliser::default();
    let Ok(base) = canonicaliser.parse(BASE) else { unreachable!() };
    (canonicaliser, base)
}

#[divan::bench]
fn join_alone(bencher: Bencher<'_, '_>) {
    let Ok(base) = url::Url::parse(BASE) else { unreachable!() };
    let hrefs = hrefs();
    bencher.bench_local(|| hrefs.iter().filter(|h| black_box(base.join(h)).is_ok()).count());
}

#[divan::bench]
fn resolve(bencher: Bencher<'_, '_>) {
    let ((canonicaliser, base), hrefs) = (reader(), hrefs());
    bencher.bench_local(|| hrefs.iter().filter(|h| black_box(canonicaliser.resolve(&base, h)).is_ok()).count());
}

#[divan::bench]
fn resolve_what_must_be_respelt(bencher: Bencher<'_, '_>) {
    let (canonicaliser, base) = reader();
    let hrefs: Vec<String> = (0..40).map(|i| format!("/%7euser/{i}/a;jsessionid=1234?b=%c3%a4&&c=1")).collect();
    bencher.bench_local(|| hrefs.iter().filter(|h| black_box(canonicaliser.resolve(&base, h)).is_ok()).count());
}

fn judge(bencher: Bencher<'_, '_>, spec: &ScopeSpec) {
    let ((_, base), addresses) = (reader(), addresses());
    let Ok(scope) = Scope::new(spec, std::slice::from_ref(&base)) else { unreachable!() };
    bencher.bench_local(|| addresses.iter().filter(|a| scope.judge(a, Some(&base)).is_in()).count());
}

#[divan::bench(args = Mode::ALL)]
fn judge_by_mode(bencher: Bencher<'_, '_>, mode: &Mode) {
    judge(bencher, &ScopeSpec { mode: *mode, ..ScopeSpec::default() });
}

#[divan::bench(args = [1, 4, 8, 16, 17, 64])]
fn judge_by_rules(bencher: Bencher<'_, '_>, rules: usize) {
    let shapes = [r"\.pdf$", r"/calendar/\d{4}/", r"[?&]print=1", r"^https?://ads\.", "/(login|logout)"];
    let rules = (0..rules)
        .map(|i| ScopeRule::Deny(format!("{}{i}?", shapes[i % shapes.len()].trim_end_matches('$'))))
        .collect();
    judge(bencher, &ScopeSpec { mode: Mode::Any, rules, ..ScopeSpec::default() });
}

#[divan::bench]
fn judge_by_half_a_million_domains(bencher: Bencher<'_, '_>) {
    let domains = (0..500_000).map(|i| format!("site{i}.example")).collect();
    judge(bencher, &ScopeSpec { mode: Mode::Any, domains, ..ScopeSpec::default() });
}

#[divan::bench]
fn judge_by_surts(bencher: Bencher<'_, '_>) {
    let surts = (0..1000).map(|i| format!("http://(org,other{i},)/")).collect();
    judge(bencher, &ScopeSpec { mode: Mode::Any, surts, ..ScopeSpec::default() });
}

#[divan::bench]
fn cdx_keys(bencher: Bencher<'_, '_>) {
    let addresses = addresses();
    bencher.bench_local(|| addresses.iter().map(|a| surt::cdx_key(a.as_str()).len()).sum::<usize>());
}
