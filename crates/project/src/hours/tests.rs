//! Does the schedule hold under a clock that tests set?

use super::*;
use crate::Settings;
use proptest::prelude::*;
use std::path::Path;

/// Monday, 2026-11-16, 00:00 UTC.
const MONDAY: i64 = 1_794_787_200;

fn limits(text: &str) -> LimitSettings {
    Settings::parse(text, Path::new("p.toml")).unwrap().limits
}

fn refused(text: &str) -> String {
    Settings::parse(text, Path::new("p.toml")).unwrap_err().to_string()
}

/// A moment of that week.
fn at(day: i64, hour: i64, minute: i64) -> Moment {
    Moment((MONDAY + day * DAY + hour * 3_600 + minute * 60) * 1_000)
}

/// Slow by day, fast by night and at weekends, and nothing at lunch.
const OFFICE: &str = "
[[limits.schedule]]
days = \"mon-fri\"
from = \"12:00\"
to = \"13:00\"
rate = \"0\"
[[limits.schedule]]
days = [\"mon\", \"tue-fri\"]
from = \"08:00\"
to = \"18:00\"
rate = \"1MB/s\"
connections = 16
[[limits.schedule]]
days = \"fri\"
from = \"22:00\"
to = \"06:00\"
rate = \"unlimited\"
";

fn office() -> Schedule {
    Schedule::new(limits(OFFICE), Some(5_000_000), 100)
}

#[test]
fn the_first_row_that_holds_decides_and_outside_of_all_the_project_does() {
    let regime = |day, hour, minute| {
        let r = office().at(at(day, hour, minute));
        (r.bandwidth, r.connections, r.paused)
    };
    let (outside, slow, fast) = ((Some(5_000_000), 100, false), (Some(1_000_000), 16, false), (None, 100, false));
    assert_eq!(
        (regime(0, 7, 59), regime(0, 8, 0), regime(4, 17, 59), regime(0, 18, 0)),
        (outside, slow, slow, outside)
    );
    assert_eq!(
        (regime(2, 12, 0), regime(2, 12, 59), regime(2, 13, 0)),
        ((Some(5_000_000), 100, true), (Some(5_000_000), 100, true), slow)
    );
    assert_eq!((regime(5, 12, 0), regime(6, 9, 0)), (outside, outside), "not at weekends");
    assert_eq!(
        (regime(4, 21, 59), regime(4, 22, 0), regime(5, 5, 59), regime(5, 6, 0)),
        (outside, fast, fast, outside)
    );
    assert_eq!((regime(5, 23, 0), regime(6, 1, 0)), (outside, outside), "a night belongs to the day it begins on");
    assert_eq!(office().most_connections(), 100);
}

#[test]
fn the_schedule_says_what_holds_and_until_when() {
    let words = |day, hour, minute| office().words(at(day, hour, minute));
    assert_eq!(words(0, 9, 30).as_deref(), Some("schedule: 1MB/s, 16 connections until 12:00 UTC"));
    assert_eq!(words(0, 12, 30).as_deref(), Some("schedule: paused until 13:00 UTC"));
    assert_eq!(words(4, 23, 0).as_deref(), Some("schedule: unlimited until 06:00 UTC"));
    assert_eq!(words(6, 9, 0), None);
    let weekend = limits("[limits]\nzone = \"+02:00\"\n[[limits.schedule]]\ndays = \"sat-sun\"\nconnections = 2\n");
    let weekend = Schedule::new(weekend, None, 9);
    assert_eq!(weekend.words(at(4, 22, 30)).as_deref(), Some("schedule: 2 connections until mon 00:00 +02:00"));
    assert_eq!((weekend.words(at(4, 21, 59)), weekend.words(at(6, 22, 0))), (None, None));
    let always = Schedule::new(limits("[[limits.schedule]]\nrate = \"2Mbit/s\"\n"), None, 9);
    assert_eq!(always.words(at(3, 3, 3)).as_deref(), Some("schedule: 250kB/s"));
}

#[test]
fn hours_follow_the_clocks_of_a_place() {
    let text =
        "[limits]\nzone = \"Europe/Berlin\"\n[[limits.schedule]]\nfrom = \"08:00\"\nto = \"18:00\"\nconnections = 2\n";
    let schedule = Schedule::new(limits(text), None, 9);
    let connections = |day: i64, hour, minute| schedule.at(at(day, hour, minute)).connections;
    assert_eq!((connections(0, 6, 59), connections(0, 7, 0), connections(0, 17, 0)), (9, 2, 9), "in November");
    let may = 180;
    assert_eq!((connections(may, 5, 59), connections(may, 6, 0), connections(may, 16, 0)), (9, 2, 9), "in May");
    assert_eq!(schedule.words(at(0, 9, 0)).as_deref(), Some("schedule: 2 connections until 18:00 Europe/Berlin"));
}

#[test]
fn what_no_schedule_can_mean_is_refused_in_one_line() {
    let row = |lines: &str| refused(&format!("[[limits.schedule]]\nrate = \"0\"\n{lines}\n"));
    for (lines, words) in [
        ("days = \"mon-fry\"", "p.toml:3:8: 'mon-fry' is not a day; write it like mon, mon-fri"),
        ("days = [\"sat\", \"sunny\"]", "'sunny' is not a day"),
        ("days = []", "a row of the schedule needs a day"),
        ("days = 7", "days such as"),
        ("from = \"25:00\"", "p.toml:3:8: '25:00' is not a time of day; write it like 06:30, 22:00 or 24:00"),
        ("to = \"6\"", "'6' is not a time of day"),
        ("from = \"06:00\"\nto = \"06:00\"", "ends when it begins"),
        ("connections = 0", "connections must be at least 1"),
        ("form = \"06:00\"", "unknown key `form`; did you mean `from`?"),
    ] {
        let line = row(lines);
        assert!(line.contains(words) && line.starts_with("p.toml:") && !line.contains('\n'), "{lines}: {line}");
    }
    assert!(
        refused("[[limits.schedule]]\nrate = \"fast\"\n")
            .contains("'fast' is not a rate of a schedule; write it like 10MB/s")
    );
    assert!(refused("[[limits.schedule]]\ndays = \"mon\"\n").contains("needs a rate or connections"));
    assert_eq!(
        refused("[limits]\nzone = \"Europe/Rom\"\n"),
        "p.toml:2:8: 'Europe/Rom' is not a time zone; write it like UTC, +02:00 or Europe/Berlin"
    );
}

#[test]
fn a_schedule_written_and_read_again_is_the_same() {
    let settings =
        Settings { limits: limits(&format!("[limits]\nzone = \"-05:30\"\n{OFFICE}")), ..Settings::default() };
    assert_eq!(Settings::parse(&settings.to_toml(), Path::new("p.toml")).unwrap(), settings);
}

fn any_hours() -> impl Strategy<Value = Hours> {
    let rate =
        prop_oneof![Just(None), Just(Some(Allowance::Pause)), (1_u64..9).prop_map(|n| Some(Allowance::Rate(Rate(n))))];
    (1_u8..128, 0_u32..1_440, 0_u32..1_440, rate).prop_filter_map("ends when it begins", |(days, from, to, rate)| {
        let (from, to) = (Hour(from * 60), Hour(to * 60));
        (from != to).then_some(Hours { days: Weekdays(days), from, to, rate, connections: Some(1) })
    })
}

proptest! {
    #[test]
    fn over_a_week_nothing_changes_before_it_is_said_to(
        rows in proptest::collection::vec(any_hours(), 0..6),
        zone in -840_i32..=840,
        minute in 0_i64..10_080,
    ) {
        let limits = LimitSettings { zone: Zone::fixed(zone * 60), schedule: rows };
        let schedule = Schedule::new(limits, None, 3);
        let local = MONDAY + minute * 60;
        let row = schedule.row_at(local);
        let then = schedule.change_after(local);
        for later in (local..then.unwrap_or(local + 8 * DAY)).step_by(60) {
            prop_assert_eq!(schedule.row_at(later), row);
        }
        if let Some(then) = then {
            prop_assert!(schedule.row_at(then) != row);
        }
        // Minute by minute, a row applies for exactly its hours.
        for (n, hours) in schedule.limits.schedule.iter().enumerate() {
            let alone = LimitSettings { zone: Zone::default(), schedule: vec![hours.clone()] };
            let alone = Schedule::new(alone, None, 3);
            let minutes = (0..10_080).filter(|m| alone.row_at(MONDAY + m * 60).is_some()).count();
            let length = (hours.to.0 + 86_400 - hours.from.0) % 86_400 / 60;
            prop_assert_eq!(minutes, (hours.days.0.count_ones() * length) as usize, "row {}", n);
        }
    }
}
