use super::*;
use proptest::prelude::*;

fn moment(text: &str) -> Moment {
    super::moment(text).unwrap()
}

/// The next times after a moment, in UTC.
fn times(cron: &str, zone: &str, after: &str, n: usize) -> Vec<String> {
    let (cron, zone) = (cron.parse::<Cron>().unwrap(), zone.parse::<Zone>().unwrap());
    let mut at = moment(after);
    let mut next = || {
        at = cron.after(&zone, at).unwrap();
        at.seconds()
    };
    (0..n).map(|_| next()).collect()
}

#[test]
fn a_schedule_comes_at_its_times() {
    for (cron, after, wanted) in [
        // 2026-11-15 is a Sunday.
        ("30 6 * * mon-fri", "2026-11-15T12:00:00Z", ["2026-11-16T06:30:00Z", "2026-11-17T06:30:00Z"]),
        ("30 6 * * mon-fri", "2026-11-20T06:30:00Z", ["2026-11-23T06:30:00Z", "2026-11-24T06:30:00Z"]),
        ("*/20 8-9 * * *", "2026-11-15T08:25:00Z", ["2026-11-15T08:40:00Z", "2026-11-15T09:00:00Z"]),
        ("0 0 29 feb *", "2026-11-15T00:00:00Z", ["2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"]),
        ("0 0 1,15 * fri", "2026-11-15T00:00:00Z", ["2026-11-20T00:00:00Z", "2026-11-27T00:00:00Z"]),
        ("5 4 * * 7", "2026-11-15T04:05:00Z", ["2026-11-22T04:05:00Z", "2026-11-29T04:05:00Z"]),
        ("0 12 * jan-mar/2 sat-mon", "2026-11-15T00:00:00Z", ["2027-01-02T12:00:00Z", "2027-01-03T12:00:00Z"]),
        ("10/25 3 * * *", "2026-11-15T03:00:00Z", ["2026-11-15T03:10:00Z", "2026-11-15T03:35:00Z"]),
        ("@daily", "2026-11-15T00:00:00Z", ["2026-11-16T00:00:00Z", "2026-11-17T00:00:00Z"]),
        ("@hourly", "2026-11-15T23:59:59Z", ["2026-11-16T00:00:00Z", "2026-11-16T01:00:00Z"]),
        ("@yearly", "2026-11-15T00:00:00Z", ["2027-01-01T00:00:00Z", "2028-01-01T00:00:00Z"]),
    ] {
        assert_eq!(times(cron, "UTC", after, 2), wanted, "{cron}");
    }
}

#[test]
fn a_zone_has_its_own_clock() {
    assert_eq!(times("30 6 * * *", "Europe/Berlin", "2026-11-15T12:00:00Z", 1), ["2026-11-16T05:30:00Z"]);
    assert_eq!(times("30 6 * * *", "Europe/Berlin", "2026-07-15T12:00:00Z", 1), ["2026-07-16T04:30:00Z"]);
    assert_eq!(times("0 0 * * *", "-05:30", "2026-11-15T12:00:00Z", 1), ["2026-11-16T05:30:00Z"]);
    assert_eq!(times("0 0 * * *", "asia/kathmandu", "2026-11-15T12:00:00Z", 1), ["2026-11-15T18:15:00Z"]);
}

#[test]
fn a_time_that_is_skipped_comes_when_the_clock_is_put_forward() {
    // In Berlin 02:00 becomes 03:00 on 2027-03-28, which is 01:00 UTC.
    let next = |cron: &str| times(cron, "Europe/Berlin", "2027-03-27T12:00:00Z", 2);
    assert_eq!(next("30 2 * * *"), ["2027-03-28T01:00:00Z", "2027-03-29T00:30:00Z"]);
    assert_eq!(next("0 3 * * *"), ["2027-03-28T01:00:00Z", "2027-03-29T01:00:00Z"]);
    // Two skipped times fall together into one.
    assert_eq!(next("0,30 2,3 * * *"), ["2027-03-28T01:00:00Z", "2027-03-28T01:30:00Z"]);
    // By elapsed hours.
    assert_eq!(
        times("0 * * * *", "Europe/Berlin", "2027-03-28T00:30:00Z", 2),
        ["2027-03-28T01:00:00Z", "2027-03-28T02:00:00Z"]
    );
    // A whole day skipped: Samoa went from 29 to 31 December 2011.
    assert_eq!(times("0 9 30 12 *", "Pacific/Apia", "2011-12-01T00:00:00Z", 1), ["2011-12-30T10:00:00Z"]);
}

#[test]
fn a_time_that_is_shown_twice_comes_once() {
    // In Berlin 03:00 becomes 02:00 on 2026-10-25, which is 01:00 UTC.
    let next = |cron: &str, after: &str| times(cron, "Europe/Berlin", after, 2);
    assert_eq!(next("30 2 * * *", "2026-10-24T12:00:00Z"), ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]);
    assert_eq!(
        next("30 2 * * *", "2026-10-25T01:10:00Z"),
        ["2026-10-26T01:30:00Z", "2026-10-27T01:30:00Z"],
        "the second"
    );
    assert_eq!(
        next("30 * * * *", "2026-10-25T00:00:00Z"),
        ["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"],
        "every hour"
    );
}

#[test]
fn what_no_schedule_can_mean_is_refused_in_words() {
    for (text, words) in [
        ("", "'' is not five fields"),
        ("* * * *", "five fields (minute hour day month weekday)"),
        ("60 * * * *", "'60' is not a minute (0 to 59"),
        ("* 24 * * *", "'24' is not an hour"),
        ("* * 0 * *", "'0' is not a day of the month"),
        ("* * * smarch *", "'smarch' is not a month"),
        ("* * * * 8", "'8' is not a day of the week"),
        ("*/0 * * * *", "'*/0' is not a minute"),
        ("5-1 * * * *", "'5-1' is not a minute"),
        ("1,,2 * * * *", "'1,,2' is not a minute"),
        ("-5 * * * *", "'-5' is not a minute"),
        ("99999999999999 * * * *", "is not a minute"),
        ("0 0 30 2 *", "'0 0 30 2 *' is not a day that any year has"),
        ("@fortnightly", "five fields"),
    ] {
        let said = text.parse::<Cron>().unwrap_err().to_string();
        assert!(said.contains(words), "{text}: {said}");
    }
    for text in ["Mars/Olympus", "", "+25:00", "+2", "Europe", "../etc/passwd", "UTC+2", "+02:60"] {
        let said = text.parse::<Zone>().unwrap_err().to_string();
        assert!(said.ends_with("is not a time zone; write it like UTC, +02:00 or Europe/Berlin"), "{text}: {said}");
    }
    assert!("tomorrow".parse::<Stamp>().unwrap_err().to_string().contains("write it like 2026-12-24"));
}

#[test]
fn what_is_printed_reads_back() {
    for text in ["UTC", "+02:00", "-05:30", "Europe/Berlin", "America/Argentina/Buenos_Aires"] {
        assert_eq!(text.parse::<Zone>().unwrap().to_string(), text);
    }
    for text in ["2026-12-24", "2026-12-24 18:30:00"] {
        assert_eq!(text.parse::<Stamp>().unwrap().to_string(), text);
    }
    assert_eq!("30  6 * *   MON-fri".parse::<Cron>().unwrap().to_string(), "30 6 * * MON-fri");
    let berlin: Zone = "europe/berlin".parse().unwrap();
    assert_eq!(berlin.show(moment("2026-07-01T22:30:00Z")), "2026-07-02 00:30 Europe/Berlin");
}

fn schedule(rhythm: Rhythm) -> Timetable {
    Timetable { rhythm, zone: Zone::default(), jitter: Duration::ZERO, not_before: None, until: None, catch_up: true }
}

fn due(schedule: &Timetable, last: Option<&str>, now: &str) -> Option<String> {
    schedule.due("p", last.map(moment), moment("2026-11-15T10:00:00Z"), moment(now)).map(Moment::seconds)
}

#[test]
fn an_interval_begins_with_the_last_run_and_a_project_never_run_is_due_at_once() {
    let every = schedule(Rhythm::Every(Duration::from_secs(6 * 3_600)));
    assert_eq!(due(&every, None, "2026-11-20T00:00:00Z").as_deref(), Some("2026-11-15T10:00:00Z"));
    let next = due(&every, Some("2026-11-16T01:00:00Z"), "2026-11-16T02:00:00Z");
    assert_eq!(next.as_deref(), Some("2026-11-16T07:00:00Z"));
}

#[test]
fn times_of_the_clock_that_were_missed_are_caught_up_with_once_or_left_out() {
    let daily = schedule(Rhythm::At("0 6 * * *".parse().unwrap()));
    assert_eq!(due(&daily, None, "2026-11-15T11:00:00Z").as_deref(), Some("2026-11-16T06:00:00Z"), "after it was made");
    let (last, now) = (Some("2026-11-16T06:00:10Z"), "2026-11-19T12:00:00Z");
    assert_eq!(due(&daily, last, now).as_deref(), Some("2026-11-17T06:00:00Z"), "due since then");
    let lax = Timetable { catch_up: false, ..daily };
    assert_eq!(due(&lax, last, now).as_deref(), Some("2026-11-20T06:00:00Z"));
    assert_eq!(due(&lax, last, "2026-11-19T06:40:00Z").as_deref(), Some("2026-11-19T06:00:00Z"), "late, not missed");
}

#[test]
fn a_schedule_has_a_beginning_and_an_end() {
    let between = Timetable {
        not_before: Some("2026-12-01".parse().unwrap()),
        until: Some("2026-12-02 12:00".parse().unwrap()),
        zone: "Europe/Berlin".parse().unwrap(),
        ..schedule(Rhythm::At("0 0 * * *".parse().unwrap()))
    };
    let now = "2026-11-20T00:00:00Z";
    assert_eq!(due(&between, None, now).as_deref(), Some("2026-11-30T23:00:00Z"), "the beginning itself counts");
    assert_eq!(due(&between, Some("2026-12-01T00:00:00Z"), now).as_deref(), Some("2026-12-01T23:00:00Z"));
    assert_eq!(due(&between, Some("2026-12-02T00:00:00Z"), now), None);
}

#[test]
fn a_delay_by_chance_is_the_same_whenever_it_is_asked_for() {
    let jitter = Duration::from_secs(600);
    let some = Timetable { jitter, ..schedule(Rhythm::At("0 6 * * *".parse().unwrap())) };
    let ask =
        |name: &str| some.due(name, None, moment("2026-11-15T10:00:00Z"), moment("2026-11-15T11:00:00Z")).unwrap();
    assert_eq!(ask("a"), ask("a"));
    assert_ne!(ask("a"), ask("b"));
    assert!(ask("a").since(moment("2026-11-16T06:00:00Z")) < jitter);
}

proptest! {
    #[test]
    fn whatever_is_written_is_read_or_refused(text in "[0-9a-z*/,@ -]{0,30}") {
        if let Ok(cron) = text.parse::<Cron>() {
            prop_assert_eq!(cron.to_string().parse::<Cron>(), Ok(cron));
        }
        let _ = (text.parse::<Zone>(), text.parse::<Stamp>());
    }

    #[test]
    fn times_follow_each_other_and_the_clock_shows_them(
        minute in 0_u32..60, hour in 0_u32..24, day in 0_u32..7, ms in 0_i64..4_000_000_000_000, star in any::<bool>(),
    ) {
        let zone: Zone = "Europe/Berlin".parse().unwrap();
        let hour = if star { "*".to_owned() } else { hour.to_string() };
        let cron: Cron = format!("{minute} {hour} * * {day}").parse().unwrap();
        let first = cron.after(&zone, Moment(ms)).unwrap();
        prop_assert!(first > Moment(ms) && first.since(Moment(ms)) <= Duration::from_secs(8 * 86_400));
        prop_assert!(cron.after(&zone, Moment(first.0 - 1)) == Some(first));
        // A skipped time is moved to the change itself, at a whole hour; otherwise the clock shows
        // the minute.
        let shown = zone.clock(first);
        prop_assert!(u32::try_from(shown.minute()) == Ok(minute) || shown.minute() == 0, "{shown}");
    }

    #[test]
    fn no_moment_breaks_a_schedule(ms in any::<i64>(), last in any::<i64>()) {
        let daily = schedule(Rhythm::At("59 23 31 12 *".parse().unwrap()));
        let hourly = schedule(Rhythm::At("@hourly".parse().unwrap()));
        let every = schedule(Rhythm::Every(Duration::MAX));
        for one in [daily, hourly, every] {
            let _ = one.due("p", Some(Moment(last)), Moment(ms), Moment(ms));
            let _ = Timetable { catch_up: false, ..one }.due("p", None, Moment(last), Moment(ms));
        }
    }
}
