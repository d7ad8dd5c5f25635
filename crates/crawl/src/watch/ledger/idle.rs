//! What can keep the driver from fetching the next page?

use orb_frontier::Why;

macro_rules! idle {
    ($($(#[doc = $doc:literal])+ $name:ident => $text:literal;)+) => {
        /// Why nothing more could be requested at some moment.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Idle { $($(#[doc = $doc])+ $name,)+ }

        impl Idle {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// Its name in files and output.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text),+ }
            }
        }
    };
}

idle! {
    /// Every host with pages was contacted too recently.
    Delay => "delay";
    /// The next host has a longer Crawl-delay in its robots.txt.
    CrawlDelay => "crawl-delay";
    /// The next host shares its address with one that was contacted too recently.
    Address => "shared address";
    /// The next host was slow to respond and is given as long a rest.
    Slow => "slow answer";
    /// The next host refused or failed.
    BackOff => "back-off";
    /// The next host sent `Retry-After`.
    RetryAfter => "retry-after";
    /// Every host with pages has as many requests in flight as it takes.
    Answers => "answers";
    /// Names are being resolved.
    Names => "names";
    /// Nothing is known to be fetched but what a pending robots.txt may allow.
    Robots => "robots.txt";
    /// Queues are being read from the store.
    Queues => "queues";
    /// The schedule allows nothing at this hour.
    Schedule => "schedule";
    /// The line is full: what was started is finished first.
    Bandwidth => "bandwidth";
    /// As many requests are in flight as connections are allowed.
    Connections => "connections";
    /// Fetched pages wait to be read: there is no room for more, or nothing else is known to be
    /// fetched.
    Backlog => "backlog";
    /// Nothing is known to be fetched until what was read is recorded.
    Commit => "commit";
    /// The addresses of the hosts with pages are not leased to this machine.
    Lease => "address lease";
    /// Nothing is left here, and other machines are still at work.
    Machines => "other machines";
    /// This machine has used up its part of the budget, and asks for more.
    Tickets => "budget";
}

impl From<Why> for Idle {
    fn from(why: Why) -> Self {
        match why {
            Why::Delay => Self::Delay,
            Why::CrawlDelay => Self::CrawlDelay,
            Why::Address => Self::Address,
            Why::Lease => Self::Lease,
            Why::Slow => Self::Slow,
            Why::BackOff | Why::RobotsUnreachable | Why::Silent | Why::Unreachable => Self::BackOff,
            Why::RetryAfter | Why::LongWait => Self::RetryAfter,
            Why::Resolving => Self::Names,
            Why::Robots => Self::Robots,
            Why::Reading => Self::Queues,
            Why::InFlight | Why::Ready | Why::Drained => Self::Answers,
        }
    }
}
