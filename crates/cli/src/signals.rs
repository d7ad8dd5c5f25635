//! What happens on Ctrl-C and SIGTERM?
//!
//! During a run, the first signal asks it to end with everything saved, and the second exits at
//! once, which loses nothing but time. The listening thread ends with its run; afterwards signals
//! have their default effect.

use orb_crawl::Stop;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::register_conditional_default;
use signal_hook::iterator::{Handle, Signals};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// The number of listeners, and the flag that gives signals their default effect while there are
/// none.
static LISTENERS: Mutex<(usize, Option<Arc<AtomicBool>>)> = Mutex::new((0, None));

/// Listens until it is dropped.
#[must_use = "dropped, it listens no longer"]
pub(crate) struct SignalWatch {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Drop for SignalWatch {
    fn drop(&mut self) {
        self.handle.close();
        // It has nothing left to do but to return.
        let _ = self.thread.take().map(JoinHandle::join);
        let (count, by_default) = &mut *LISTENERS.lock().unwrap_or_else(PoisonError::into_inner);
        *count -= 1;
        by_default.iter().for_each(|flag| flag.store(*count == 0, Ordering::Relaxed));
    }
}

/// Listens for signals on behalf of a run.
pub(crate) fn watch(stop: Arc<Stop>) -> io::Result<SignalWatch> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let handle = signals.handle();
    let thread = std::thread::Builder::new().name("signals".into()).spawn(move || {
        let mut asked = false;
        for _ in signals.forever() {
            if asked {
                std::process::exit(130);
            }
            asked = true;
            stop.ask();
        }
    })?;
    let (count, by_default) = &mut *LISTENERS.lock().unwrap_or_else(PoisonError::into_inner);
    // Once registered, a handler stays for the life of the process and would swallow signals that
    // nobody listens to.
    let flag = match by_default {
        Some(flag) => Arc::clone(flag),
        None => {
            let flag = Arc::new(AtomicBool::new(false));
            for signal in [SIGINT, SIGTERM] {
                register_conditional_default(signal, Arc::clone(&flag))?;
            }
            by_default.insert(flag).clone()
        }
    };
    *count += 1;
    flag.store(false, Ordering::Relaxed);
    Ok(SignalWatch { handle, thread: Some(thread) })
}
