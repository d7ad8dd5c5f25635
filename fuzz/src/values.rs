//! Are the values that people and servers write parsed as they were meant?

use crate::settings::parsed;
use orb_fetch::{Proxy, Resolve};
use orb_frontier::{MAX_RETRY_AFTER, retry_after};
use orb_page::Moment;
use orb_project::units::{ByteSize, HumanDuration, Rate};
use orb_project::{Allowance, Hour, Weekdays};
use orb_track::schedule::Zone;
use std::fmt::Display;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

/// Durations, sizes, rates, hours, days, zones, dates, proxies and pinned addresses.
pub fn values(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    dates(&text);
    round_trip::<HumanDuration>(&text);
    round_trip::<ByteSize>(&text);
    round_trip::<Rate>(&text);
    round_trip::<Hour>(&text);
    round_trip::<Weekdays>(&text);
    round_trip::<Zone>(&text);
    round_trip::<Allowance>(&text);
    parsed::<Proxy>(&text);
    parsed::<Resolve>(&text);
}

fn round_trip<T: FromStr<Err: Display> + Display + PartialEq>(text: &str) {
    match text.parse::<T>() {
        Ok(value) => {
            assert!(value.to_string().parse::<T>().is_ok_and(|again| again == value), "{text} is shown as {value}");
        }
        Err(error) => assert!(text.contains(['\n', '\r']) || !error.to_string().contains('\n'), "{error}"),
    }
}

/// `Retry-After` and its dates, compared with the cookie date parser.
fn dates(text: &str) {
    const NOW: u64 = 784_111_777;
    let now = Moment(i64::try_from(NOW).unwrap_or(0) * 1_000);
    let Some(wait) = retry_after(text, now) else { return };
    assert!(wait <= MAX_RETRY_AFTER);
    let value = text.trim();
    if value.bytes().all(|b| b.is_ascii_digit()) {
        return assert_eq!(wait.as_secs(), value.parse().unwrap_or(u64::MAX).min(86_400));
    }
    // The weekday comes first and is ignored; cookie dates have no leap seconds.
    let day = value.split([' ', ',', '-']).next().unwrap_or("");
    let told_well = day.bytes().all(|b| b.is_ascii_alphabetic()) && !day.is_empty() && !value.contains(":60");
    let told_well = told_well && !value.contains(|c: char| c == ';' || c.is_control());
    if told_well && wait > Duration::from_secs(1) && wait < MAX_RETRY_AFTER {
        let moment = |after: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(NOW + after);
        let (jar, site) = (orb_fetch::Jar::default(), crate::example());
        jar.store(&site, [format!("a=b; expires={value}").as_bytes()], moment(0));
        assert!(jar.header(&site, moment(wait.as_secs() - 1)).is_some(), "{value}: not until then");
        assert!(jar.header(&site, moment(wait.as_secs())).is_none(), "{value}: not after then");
    }
}
