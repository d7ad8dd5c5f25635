//! What will a crawl take, before it is started?

use crate::fields::FormFields;
use crate::problem::{Handled, ProblemDetails};
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::shared::ServedHome;
use crate::view::{Frame, bytes};
use askama::Template;
use orb_answers::{Assumed, AssumptionSource, CrawlPlan, Wishes, grouped, plan};
use orb_project::free_space;
use orb_project::units::{Amount, ByteSize, HumanDuration, Rate};
use std::fmt::Display;
use std::str::FromStr;

pub(crate) const ROUTES: &[RouteRow] = &[RouteRow::get(
    "/plan",
    Right::Admin,
    |request| Box::pin(show(request)),
    "What a crawl of so many pages will take: disk, time, memory",
)];

/// The fields besides the pages: name, label, an example.
const FIELDS: &[(&str, &str, &str)] = &[
    ("hosts", "Hosts", "one per 500 pages"),
    ("delay", "Time between two requests to a host", "1s"),
    ("bandwidth", "Bandwidth", "20Mbit/s"),
    ("page_size", "Size of a page", "50kB"),
    ("links_per_page", "Links on a page", "54.5"),
    ("urls_per_page", "Known URLs per page", "2"),
];

#[derive(Template)]
#[template(path = "plan.html")]
struct PlanPage<'a> {
    frame: Frame,
    pages: &'a str,
    from: &'a str,
    projects: Vec<String>,
    fields: Vec<PlanField<'a>>,
    wrong: Option<String>,
    shown: Option<ShownPlan>,
}

struct PlanField<'a> {
    name: &'static str,
    label: &'static str,
    example: &'static str,
    value: &'a str,
}

/// An estimate in words.
struct ShownPlan {
    sum: String,
    ground: String,
    figures: Vec<(&'static str, String)>,
    disk: Vec<(&'static str, String, &'static str)>,
    assumed: Vec<(&'static str, String, &'static str)>,
    is_short: bool,
}

async fn show(request: AdmittedRequest) -> Handled {
    let query = request.query();
    let asked = wishes(&query);
    let from = query.one("from").map(str::to_owned);
    let (wish, wrong) = match asked {
        Ok(wish) => (wish, None),
        Err(problem) if request.wants_json() => return Err(problem),
        Err(problem) => (None, Some(problem.detail)),
    };
    let estimate = move |home: &ServedHome| {
        let home = home.alone();
        let projects = home.list()?.into_iter().map(|project| project.name).collect::<Vec<_>>();
        from.as_deref().map(|name| home.find(name)).transpose()?;
        let plan = wish.map(|wish| plan(home.path(), &wish, from.as_deref())).transpose()?;
        Ok::<_, ProblemDetails>((plan, projects, free_space(home.path())?))
    };
    let (plan, projects, free) = request.work(estimate).await?;
    let field = |&(name, label, example): &(&'static str, &'static str, &'static str)| PlanField {
        name,
        label,
        example,
        value: query.one(name).unwrap_or_default(),
    };
    let page = PlanPage {
        frame: request.frame(),
        pages: query.one("pages").unwrap_or_default(),
        from: query.one("from").unwrap_or_default(),
        projects,
        fields: FIELDS.iter().map(field).collect(),
        wrong,
        shown: plan.as_ref().map(|plan| shown(plan, free)),
    };
    request.page(&page, &plan)
}

/// What a query asks for; `None` if it does not say how many pages.
fn wishes(query: &FormFields) -> Result<Option<Wishes>, ProblemDetails> {
    let Some(Amount(pages)) = read(query, "pages")? else { return Ok(None) };
    let amount = |name| read::<Amount>(query, name).map(|amount| amount.map(|amount| amount.0).filter(|n| *n > 0.0));
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let size = |bytes: u64| bytes as f64;
    Ok(Some(Wishes {
        pages: pages.max(1.0),
        hosts: amount("hosts")?,
        delay: read::<HumanDuration>(query, "delay")?.map(|delay| delay.0.as_secs_f64()),
        bandwidth: read::<Rate>(query, "bandwidth")?.map(|rate| size(rate.0)).filter(|rate| *rate > 0.0),
        page_size: read::<ByteSize>(query, "page_size")?.map(|bytes| size(bytes.0)),
        links_per_page: amount("links_per_page")?,
        urls_per_page: amount("urls_per_page")?,
        ..Wishes::default()
    }))
}

fn read<T: FromStr<Err: Display>>(query: &FormFields, name: &str) -> Result<Option<T>, ProblemDetails> {
    query.one(name).map(str::parse).transpose().map_err(|e| ProblemDetails::malformed(format!("{name}: {e}")))
}

fn shown(plan: &CrawlPlan, free: u64) -> ShownPlan {
    let (count, size) = (|n: f64| grouped(whole(n)), |n: f64| bytes(whole(n)));
    let days = &plan.days;
    let time = format!("{}: {} decides", time(days.total), days.bound);
    let disk = plan.disk.iter().map(|share| (share.store, size(share.bytes), share.derived));
    ShownPlan {
        sum: format!("{} pages, {} known URLs, {} links", count(plan.pages), count(plan.known), count(plan.links)),
        ground: match plan.measured_projects {
            0 => "There is nothing here to measure, so these are defaults where nothing is given.".to_owned(),
            1 => format!("Averages of {} pages in 1 project.", grouped(plan.measured_pages)),
            n => format!("Averages of {} pages in {n} projects.", grouped(plan.measured_pages)),
        },
        figures: vec![
            ("Disk", format!("{}; {} are free", size(plan.disk_total), bytes(free))),
            ("Time", time),
            ("Transferred", size(plan.download)),
            ("Memory", size(plan.memory)),
            ("Files", count(plan.files)),
        ],
        disk: disk.collect(),
        assumed: assumed(plan),
        is_short: whole(plan.disk_total) > free,
    }
}

fn assumed(plan: &CrawlPlan) -> Vec<(&'static str, String, &'static str)> {
    let a = &plan.assumptions;
    let row = |name, assumed: Assumed, value: String| (name, value, origin(assumed.from));
    let plain = |name, assumed: Assumed| row(name, assumed, format!("{:.2}", assumed.value));
    let count = |name, assumed: Assumed| row(name, assumed, grouped(whole(assumed.value)));
    let mut rows = vec![
        row("Size of a page", a.page_size, bytes(whole(a.page_size.value))),
        plain("Compression", a.compression),
        plain("Links on a page", a.links_per_page),
        plain("Known URLs per page", a.urls_per_page),
        plain("Length of a URL", a.url_length),
        count("Hosts", a.hosts),
        count("Pages of the largest host", a.largest_host),
        row("Time between two requests", a.delay, format!("{} s", a.delay.value)),
        plain("Bits per link in the graph", a.bits_per_link),
    ];
    rows.extend(a.bandwidth.map(|rate| row("Bandwidth", rate, format!("{}/s", bytes(whole(rate.value))))));
    rows
}

fn origin(from: AssumptionSource) -> &'static str {
    match from {
        AssumptionSource::Given => "given",
        AssumptionSource::Measured => "measured here",
        AssumptionSource::Default => "default",
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
fn whole(n: f64) -> u64 {
    n.clamp(0.0, 1e19).round() as u64
}

/// Days in words.
fn time(days: f64) -> String {
    let seconds = whole(days * 86_400.0);
    match seconds {
        0..120 => format!("{seconds} seconds"),
        120..7_200 => format!("{} minutes", seconds / 60),
        7_200..259_200 => format!("{} hours", seconds / 3_600),
        _ => format!("{days:.0} days"),
    }
}
