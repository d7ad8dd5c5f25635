//! A web of hosts, not pages: sizes by a power law, addresses that hosts share.

/// A generator of numbers that are the same for the same seed (SplitMix64, Steele and others 2014).
pub(super) struct ScaleDice(u64);

impl ScaleDice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// From 0 up to, but not including, 1.
    pub(super) fn share(&mut self) -> f64 {
        (self.roll() >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The largest host, in pages: crawls limit what they take from one.
const LARGEST: f64 = 50_000.0;

/// Addresses with very many hosts, such as those of content networks.
const CROWDS: u32 = 5;

/// How many hosts are in such a crowd, of ten million.
const CROWD_SHARE: f64 = 0.01;

/// A host: its pages, its address, and what its shard is computed from.
pub(super) struct HostSketch {
    pub(super) pages: u32,
    pub(super) address: u32,
    pub(super) domain: u64,
}

/// The size of a web.
#[derive(Clone, Copy)]
pub(super) struct WebSize {
    pub(super) hosts: u32,
    pub(super) pages: f64,
    pub(super) seed: u64,
}

impl WebSize {
    /// How many addresses there are at most.
    pub(super) fn addresses(self) -> u32 {
        self.hosts + self.shared() + CROWDS
    }

    fn shared(self) -> u32 {
        self.hosts / 10
    }

    /// The hosts, one after the other.
    pub(super) fn hosts(self) -> impl Iterator<Item = HostSketch> {
        let mut dice = ScaleDice::new(self.seed);
        // Pareto with exponent 1, cut off: its mean is ln(largest), to be scaled to the wanted
        // mean.
        let mean = self.pages / f64::from(self.hosts);
        let scale = mean / f64::ln(LARGEST / mean * f64::ln(LARGEST));
        (0..self.hosts).map(move |host| {
            let size = (scale / (1.0 - dice.share())).clamp(1.0, LARGEST);
            let (place, at) = (dice.share(), dice.share());
            let address = if place < CROWD_SHARE * f64::from(CROWDS) {
                self.hosts + self.shared() + (at * f64::from(CROWDS)) as u32
            } else if place < 0.5 {
                // The first of them has some thousand hosts, most have a few.
                self.hosts + (at * at * f64::from(self.shared())) as u32
            } else {
                host
            };
            HostSketch { pages: size as u32, address, domain: dice.roll() }
        })
    }
}

/// The delay of an address: one to five seconds, in milliseconds.
pub(super) fn delay_of(address: u32) -> u64 {
    1_000 + mix(u64::from(address)) % 4_001
}
