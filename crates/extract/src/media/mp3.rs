//! How long does a sound in MPEG layer III take?
//!
//! Nothing in it says so. Its first frame mostly says how many frames follow (the header of Xing,
//! LAME or VBRI); otherwise all frames are taken to be as large as the first.

/// How far the first frame is looked for.
const MAX_SEARCH: usize = 64 << 10;
/// Kilobits a second, of MPEG 1 and of the later ones with lower sampling rates.
const RATES: [[u64; 15]; 2] = [
    [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
];
const SAMPLES_A_SECOND: [u64; 3] = [44_100, 48_000, 32_000];

/// The seconds of a sound that begins here, behind its tags.
pub(super) fn seconds(sound: &[u8]) -> Option<u64> {
    let searched = sound.get(..MAX_SEARCH).unwrap_or(sound);
    let at = memchr::memchr_iter(0xFF, searched).find(|&at| header(sound.get(at..).unwrap_or(&[])).is_some())?;
    let sound = sound.get(at..)?;
    let (kilobits, samples_a_second, samples) = header(sound)?;
    match frames(sound) {
        Some(frames) => (frames * samples).checked_div(samples_a_second),
        None => (sound.len() as u64 / 125).checked_div(kilobits),
    }
}

/// Bit rate, sampling rate, and samples a frame, by the header of a frame of layer III.
fn header(frame: &[u8]) -> Option<(u64, u64, u64)> {
    let &[0xFF, kind, rates, _] = frame.first_chunk()? else { return None };
    let (version, layer) = (kind >> 3 & 3, kind >> 1 & 3);
    if kind < 0xE0 || version == 1 || layer != 1 {
        return None;
    }
    let later = usize::from(version != 3);
    let kilobits = *RATES[later].get(usize::from(rates >> 4)).filter(|rate| **rate > 0)?;
    let sampled = SAMPLES_A_SECOND.get(usize::from(rates >> 2 & 3))?;
    let slower = match version {
        3 => 1,
        2 => 2,
        _ => 4,
    };
    Some((kilobits, sampled / slower, if later == 0 { 1_152 } else { 576 }))
}

/// The number of frames, if the first one says it.
fn frames(frame: &[u8]) -> Option<u64> {
    let number = |at: usize| Some(u64::from(u32::from_be_bytes(*frame.get(at..)?.first_chunk()?)));
    let head = frame.get(..64)?;
    for mark in [b"Xing", b"Info"] {
        if let Some(at) = memchr::memmem::find(head, mark) {
            return number(at + 8).filter(|_| frame.get(at + 7).is_some_and(|flags| flags & 1 == 1));
        }
    }
    memchr::memmem::find(head, b"VBRI").and_then(|at| number(at + 14))
}
