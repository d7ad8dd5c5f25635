//! `orb plan`: what will a crawl take, before it is started?

use crate::args::Common;
use crate::failure::CommandFailure;
use crate::out;
use clap::Args;
use orb_answers::{Assumed, AssumptionSource, CrawlPlan, Wishes};
use orb_project::units::{Amount, ByteSize, HumanDuration, Rate};
use std::io::Write as _;

/// `orb plan`.
#[derive(Debug, Args)]
#[command(after_help = "Example: the Italian web of 2010, as it was estimated then
  orb plan --pages 271.1M --links-per-page 54.5 --page-size 50KiB --url-length 61 --hosts 1.8M \\
           --bandwidth 3.4MB/s

What is not given is measured on the crawls in the home or on --from PROJECT, or is a default;
the answer says which.")]
pub(crate) struct PlanArgs {
    /// Pages to fetch, e.g. 20000 or 271.1M
    #[arg(long, value_name = "N", value_parser = amount)]
    pages: f64,
    /// Use the averages of this project only [default: of all projects in the home]
    #[arg(long, value_name = "PROJECT")]
    from: Option<String>,
    /// Links per page [default: measured, or 54.5]
    #[arg(long, value_name = "N", value_parser = ratio)]
    links_per_page: Option<f64>,
    /// Known URLs per fetched page [default: measured, or 2]
    #[arg(long, value_name = "N", value_parser = amount)]
    urls_per_page: Option<f64>,
    /// Size of a page's body as transferred [default: measured, or 50kB]
    #[arg(long, value_name = "SIZE")]
    page_size: Option<ByteSize>,
    /// Bytes in the archive per byte transferred [default: measured, or 0.4]
    #[arg(long, value_name = "RATIO", value_parser = ratio)]
    compression: Option<f64>,
    /// Characters of a URL [default: measured, or 64]
    #[arg(long, value_name = "N", value_parser = amount)]
    url_length: Option<f64>,
    /// Number of hosts [default: measured, or one per 500 pages]
    #[arg(long, value_name = "N", value_parser = amount)]
    hosts: Option<f64>,
    /// Bits per link in the graph [default: 3.08]
    #[arg(long, value_name = "N", value_parser = amount)]
    bits_per_link: Option<f64>,
    /// Available bandwidth, e.g. 20Mbit/s [default: unlimited]
    #[arg(long, value_name = "RATE")]
    bandwidth: Option<Rate>,
    /// Minimum time between requests to a host [default: 1s]
    #[arg(long, value_name = "DUR")]
    delay: Option<HumanDuration>,
    /// Memory for known URLs [default: 800MB]
    #[arg(long, value_name = "SIZE")]
    index_memory: Option<ByteSize>,
}

/// A positive number, optionally followed by `k`, `M`, `G` or `T`.
fn amount(text: &str) -> Result<f64, String> {
    ratio(text)?;
    number(text).filter(|n| *n > 0.0).ok_or_else(|| "it must be more than 0".to_owned())
}

/// A non-negative number.
fn ratio(text: &str) -> Result<f64, String> {
    number(text).ok_or_else(|| "write a number like 20000, 54.5 or 271.1M".to_owned())
}

fn number(text: &str) -> Option<f64> {
    text.parse::<Amount>().ok().map(|amount| amount.0)
}

pub(crate) fn run(common: &Common, args: &PlanArgs) -> Result<(), CommandFailure> {
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let size = |bytes: ByteSize| bytes.0 as f64;
    let wishes = Wishes {
        pages: args.pages,
        page_size: args.page_size.map(size),
        compression: args.compression,
        links_per_page: args.links_per_page,
        urls_per_page: args.urls_per_page,
        url_length: args.url_length,
        hosts: args.hosts,
        bits_per_link: args.bits_per_link,
        bandwidth: args.bandwidth.map(|rate| size(ByteSize(rate.0))),
        delay: args.delay.map(|delay| delay.0.as_secs_f64()),
        index_memory: args.index_memory.map(size),
    };
    let plan = orb_answers::plan(&common.home, &wishes, args.from.as_deref())?;
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &plan)?;
    } else {
        print(&mut stdout, &plan)?;
    }
    Ok(stdout.flush()?)
}

fn print(stdout: &mut impl std::io::Write, plan: &CrawlPlan) -> std::io::Result<()> {
    let ground = match plan.measured_projects {
        0 => "no crawls here to measure: defaults where nothing is given".to_owned(),
        n => format!(
            "averages of {} pages in {n} project{}",
            out::grouped(plan.measured_pages),
            if n == 1 { "" } else { "s" }
        ),
    };
    writeln!(
        stdout,
        "{} pages, {} known URLs, {} links ({ground})\n",
        count(plan.pages),
        count(plan.known),
        count(plan.links)
    )?;
    out::table(stdout, &["assumed", "value", "from"], &assumptions(plan))?;
    writeln!(stdout)?;
    let mut rows: Vec<Vec<String>> = Vec::new();
    for share in &plan.disk {
        let mut how = share.derived.to_owned();
        if (share.scaled - 1.0).abs() > 0.005 {
            let what = if share.fixed > 0.0 { "what grows" } else { "all of it" };
            how += &format!("; {what} × {:.2} as measured here", share.scaled);
        }
        rows.push(vec![share.store.to_owned(), bytes(share.bytes), how]);
    }
    rows.push(vec!["total".to_owned(), bytes(plan.disk_total), "the graph is built by orb graph build".to_owned()]);
    out::table(stdout, &["disk", "size", "derived"], &rows)?;
    writeln!(stdout)?;
    let days = &plan.days;
    let line = days.bandwidth.map_or_else(|| "no bandwidth given".to_owned(), |d| format!("{} by bandwidth", time(d)));
    writeln!(stdout, "download  {}", bytes(plan.download))?;
    writeln!(
        stdout,
        "time      {}: {} decides ({line}, {} by politeness)",
        time(days.total),
        days.bound,
        time(days.politeness)
    )?;
    writeln!(stdout, "memory    {}", bytes(plan.memory))?;
    writeln!(stdout, "files     {}", count(plan.files))
}

fn assumptions(plan: &CrawlPlan) -> Vec<Vec<String>> {
    let a = &plan.assumptions;
    let row =
        |name: &str, assumed: Assumed, value: String| vec![name.to_owned(), value, origin(assumed.from).to_owned()];
    let plain = |name: &str, assumed: Assumed| row(name, assumed, format!("{:.2}", assumed.value));
    let mut rows = vec![
        row("page size", a.page_size, bytes(a.page_size.value)),
        plain("compression", a.compression),
        plain("links a page", a.links_per_page),
        plain("known URLs a page", a.urls_per_page),
        row("URL length", a.url_length, format!("{:.1}", a.url_length.value)),
        row("hosts", a.hosts, count(a.hosts.value)),
        row("pages of the largest host", a.largest_host, count(a.largest_host.value)),
        row("delay", a.delay, format!("{} s", a.delay.value)),
        plain("bits a link", a.bits_per_link),
    ];
    rows.extend(a.bandwidth.map(|rate| row("bandwidth", rate, format!("{}/s", bytes(rate.value)))));
    rows
}

fn origin(from: AssumptionSource) -> &'static str {
    match from {
        AssumptionSource::Given => "given",
        AssumptionSource::Measured => "measured here",
        AssumptionSource::Default => "default",
    }
}

fn count(n: f64) -> String {
    out::grouped(whole(n))
}

fn bytes(n: f64) -> String {
    out::bytes(whole(n))
}

fn whole(n: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let whole = n.clamp(0.0, 1e19).round() as u64;
    whole
}

fn time(days: f64) -> String {
    if days < 3.0 { out::seconds(days * 86_400.0) } else { format!("{days:.1} days") }
}
