//! Which stages does a page's life have, as far as they take time?

/// What a stage keeps busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageResource {
    /// A connection: time spent on the network and its servers.
    Network,
    /// A thread of ours: reading, recording, writing.
    Work,
    /// Nothing: the page is in a queue.
    Queue,
}

macro_rules! stages {
    ($($(#[doc = $doc:literal])+ $name:ident => $text:literal, $part:ident, $each:literal;)+) => {
        /// A stage of a page's life, in order.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Stage { $($(#[doc = $doc])+ $name,)+ }

        impl Stage {
            /// All of them, in the order of a page's life.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// Its name in files and output.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text),+ }
            }

            /// What it keeps busy.
            pub const fn part(self) -> StageResource {
                match self { $(Self::$name => StageResource::$part),+ }
            }

            /// The unit that is counted and timed.
            pub const fn each(self) -> &'static str {
                match self { $(Self::$name => $each),+ }
            }
        }
    };
}

stages! {
    /// DNS look-up.
    Dns => "dns", Network, "look-up";
    /// From the lease to a usable connection, without opening it: waiting for a free one.
    Slot => "connection", Queue, "request";
    /// Opening a connection.
    Connect => "connect", Network, "connection";
    /// The TLS handshake.
    Tls => "tls", Network, "connection";
    /// From sending the request to receiving the head.
    Wait => "wait", Network, "request";
    /// From the head to the end of the body.
    Body => "body", Network, "request";
    /// From the socket to a reading thread.
    ReadQueue => "read queue", Queue, "page";
    /// Decoding, extracting, hashing, packing.
    Read => "read", Work, "page";
    /// From a reading thread to the recorder.
    RecordQueue => "record queue", Queue, "page";
    /// Numbering discoveries and detecting duplicates.
    Record => "record", Work, "page";
    /// Batching pages to be committed together.
    Gather => "gather", Queue, "commit";
    /// Waiting for disk space.
    Room => "room", Queue, "commit";
    /// Writing and syncing the bytes.
    Archive => "archive", Work, "commit";
    /// Writing the facts.
    Catalogue => "catalogue", Work, "commit";
    /// Writing the frontier index.
    Index => "index", Work, "commit";
}
