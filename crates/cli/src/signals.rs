//! What happens on Ctrl-C and SIGTERM?

use orb_crawl::Stop;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::Arc;

/// The first signal asks the run to end with everything saved; the second one ends the process at once, which loses nothing but time.
pub(crate) fn watch(stop: Arc<Stop>) -> std::io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        let mut asked = false;
        for _ in signals.forever() {
            if asked {
                std::process::exit(130);
            }
            asked = true;
            stop.ask();
        }
    })?;
    Ok(())
}
