//! How is a point armed?

use super::is_point;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

static ARMED: AtomicBool = AtomicBool::new(false);
static PLAN: Mutex<Option<FaultPlan>> = Mutex::new(None);

/// What to inject, where and when.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FaultPlan {
    point: String,
    /// Passes to skip.
    wait: u64,
    /// Number of passes that then fail.
    times: u64,
    what: Fault,
}

/// What can be injected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The process ends at once.
    Crash,
    /// The disk is full.
    NoSpace,
    /// The disk fails.
    Broken,
}

/// Arms a point: `point`, `point:nth`, `point:nth:what` or `point:nth:what:times`, counted from 1,
/// where `what` is `crash` (the default), `enospc` or `eio`, and `times` is how many consecutive
/// passes fail. The error says what is wrong with an invalid plan.
pub fn arm(plan: &str) -> Result<(), String> {
    let parsed = read(plan)?;
    *PLAN.lock().unwrap_or_else(PoisonError::into_inner) = Some(parsed);
    ARMED.store(true, Ordering::SeqCst);
    Ok(())
}

fn read(plan: &str) -> Result<FaultPlan, String> {
    let mut parts = plan.split(':');
    let point = parts.next().unwrap_or_default();
    if !is_point(point) {
        return Err(format!("there is no point {point:?} to fail at"));
    }
    let number = |text: Option<&str>| match text.unwrap_or("1").parse() {
        Ok(0) | Err(_) => Err(format!("{plan:?} counts from 1")),
        Ok(n) => Ok(n),
    };
    let nth: u64 = number(parts.next())?;
    let what = match parts.next().unwrap_or("crash") {
        "crash" => Fault::Crash,
        "enospc" => Fault::NoSpace,
        "eio" => Fault::Broken,
        other => return Err(format!("{other:?} is neither crash, enospc nor eio")),
    };
    Ok(FaultPlan { point: point.to_owned(), wait: nth - 1, times: number(parts.next())?, what })
}

/// A point that may be armed.
#[inline]
pub(super) fn point(name: &'static str) -> io::Result<()> {
    if ARMED.load(Ordering::Relaxed) { pass(name) } else { Ok(()) }
}

#[cold]
fn pass(name: &'static str) -> io::Result<()> {
    debug_assert!(is_point(name), "{name}");
    let mut plan = PLAN.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(plan) = plan.as_mut().filter(|p| p.point == name && p.times > 0) else { return Ok(()) };
    if plan.wait > 0 {
        plan.wait -= 1;
        return Ok(());
    }
    plan.times -= 1;
    match plan.what {
        Fault::Crash => std::process::abort(),
        Fault::NoSpace => Err(io::Error::from(rustix::io::Errno::NOSPC)),
        Fault::Broken => Err(io::Error::from(rustix::io::Errno::IO)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_says_where_when_and_what() {
        let plan = |wait, times, what| Ok(FaultPlan { point: "before-index".into(), wait, times, what });
        assert_eq!(read("before-index"), plan(0, 1, Fault::Crash));
        assert_eq!(read("before-index:5"), plan(4, 1, Fault::Crash));
        assert_eq!(read("before-index:2:enospc"), plan(1, 1, Fault::NoSpace));
        assert_eq!(read("before-index:2:eio:9"), plan(1, 9, Fault::Broken));
        for bad in ["", "nowhere", "before-index:0", "before-index:x", "before-index:1:fire", "before-index:1:eio:0"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
