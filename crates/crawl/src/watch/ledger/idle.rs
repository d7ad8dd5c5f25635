//! What can keep the driver from sending for the next page?

use orb_frontier::Why;

macro_rules! idle {
    ($($(#[doc = $doc:literal])+ $name:ident => $text:literal;)+) => {
        /// Why nothing more could be asked for at some moment.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Idle { $($(#[doc = $doc])+ $name,)+ }

        impl Idle {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The name it is stored and shown under.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text),+ }
            }
        }
    };
}

idle! {
    /// Every host with pages was asked too recently.
    Delay => "delay";
    /// The next host asks for a longer pause in its robots.txt.
    CrawlDelay => "crawl-delay";
    /// The next host shares its address with one that was asked too recently.
    Address => "shared address";
    /// The next host took long to answer and is given as long a rest.
    Slow => "slow answer";
    /// The next host refused or failed.
    BackOff => "back-off";
    /// The next host said when to come back.
    RetryAfter => "retry-after";
    /// Every host with pages has as many requests under way as it takes.
    Answers => "answers";
    /// Names are being looked up.
    Names => "names";
    /// Nothing is known to be fetched but what a robots.txt being read may allow.
    Robots => "robots.txt";
    /// Queues are being read from the store.
    Queues => "queues";
    /// The schedule lets nothing be begun at this hour.
    Schedule => "schedule";
    /// The line is full: what has begun is finished first.
    Bandwidth => "bandwidth";
    /// As many requests are under way as connections are allowed.
    Connections => "connections";
    /// Pages that came in wait to be read: there is no room for more, or nothing else is known to be fetched.
    Backlog => "backlog";
    /// Nothing is known to be fetched until what was read is recorded.
    Commit => "commit";
}

impl From<Why> for Idle {
    fn from(why: Why) -> Self {
        match why {
            Why::Delay => Self::Delay,
            Why::CrawlDelay => Self::CrawlDelay,
            Why::Address => Self::Address,
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
