//! How did a run's speed develop, and when will it be done?
//!
//! `runs/<n>/pace` holds a sample every second: what the run had done by then, and what was left.
//! When there are [`MOST`] of them every second one is dropped and the interval doubles, so that a
//! run of a minute and one of a month cost the same. Samples are appended, one line with one write;
//! thinning replaces the file atomically. A reader may come at any time and takes whole lines only.
//! Like `why.json` the file is derived: it is not synced, and a run continues without it. A resumed
//! run continues it.

use orb_page::{Moment, RunId};
use orb_store::ProjectDir;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Maximum samples of a run.
const MOST: usize = 2_000;

/// Seconds between two samples at first.
const FIRST_INTERVAL: f64 = 1.0;

/// Seconds by which a sample may be early: it is taken by a thread that is woken a little before or
/// after its time.
const EARLY: f64 = 0.25;

/// What the first line of a file begins with.
const HEAD: &str = "orb-pace 1 ";

/// Samples from which a trend can be read.
const TREND: usize = 5;

/// Maximum length of the recent past from which a trend is read, in seconds, where samples are no
/// further apart than that.
const RECENT: f64 = 300.0;

/// A run at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PaceSample {
    /// When.
    #[serde(serialize_with = "written")]
    #[schemars(with = "String")]
    pub at: Moment,
    /// Seconds of work so far, over all resumptions.
    pub seconds: f64,
    /// Answers received so far.
    pub pages: u64,
    /// Bytes of bodies received so far.
    pub bytes: u64,
    /// Pages queued.
    pub queued: u64,
    /// URLs known.
    pub known: u64,
    /// Fetches that failed so far.
    pub errors: u64,
}

fn written<S: Serializer>(at: &Moment, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(at)
}

/// How a run developed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PaceSeries {
    /// Seconds between two samples.
    pub interval_seconds: f64,
    /// The samples, in the order of time.
    pub samples: Vec<PaceSample>,
}

impl Default for PaceSeries {
    fn default() -> Self {
        Self { interval_seconds: FIRST_INTERVAL, samples: Vec::new() }
    }
}

impl PaceSample {
    fn line(&self) -> String {
        let Self { at, seconds, pages, bytes, queued, known, errors } = self;
        format!("{} {seconds:.3} {pages} {bytes} {queued} {known} {errors}\n", at.0)
    }

    fn parse(line: &str) -> Option<Self> {
        let (mut words, mut rest) = (line.split(' '), [0u64; 5]);
        let at = Moment(words.next()?.parse().ok()?);
        let seconds = words.next()?.parse().ok().filter(|s: &f64| s.is_finite())?;
        for place in &mut rest {
            *place = words.next()?.parse().ok()?;
        }
        let [pages, bytes, queued, known, errors] = rest;
        words.next().is_none().then_some(Self { at, seconds, pages, bytes, queued, known, errors })
    }
}

impl PaceSeries {
    /// Where the series of a run lies.
    fn place(project: &ProjectDir, run: RunId) -> PathBuf {
        project.run(run).join("pace")
    }

    /// What was recorded of a run; `None` if nothing was, as in runs of earlier versions.
    pub fn read(project: &ProjectDir, run: RunId) -> Option<Self> {
        Self::parse(&std::fs::read_to_string(Self::place(project, run)).ok()?)
    }

    /// The whole lines of a file; a last one without its end is still being written, or was when
    /// the process was killed.
    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        let interval_seconds = lines.next()?.strip_prefix(HEAD)?.parse().ok().filter(|s: &f64| *s > 0.0)?;
        Some(Self { interval_seconds, samples: lines.filter_map(PaceSample::parse).collect() })
    }

    fn text(&self) -> String {
        let lines: String = self.samples.iter().map(PaceSample::line).collect();
        format!("{HEAD}{}\n{lines}", self.interval_seconds)
    }

    /// Whether this sample comes an interval after the last.
    fn wants(&self, sample: &PaceSample) -> bool {
        let due = |last: &PaceSample| sample.seconds - last.seconds >= self.interval_seconds - EARLY;
        self.samples.last().is_none_or(due)
    }

    /// Drops every second sample.
    fn thin(&mut self) {
        let mut keep = false;
        self.samples.retain(|_| {
            keep = !keep;
            keep
        });
        self.interval_seconds *= 2.0;
    }

    /// Seconds until the queue is empty if it goes on shrinking as it did lately, and no sooner
    /// than the recent rate allows; `None` if it does not shrink or too little is known. The slope
    /// is that of the least squares: the queue is counted at commits and moves in steps.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(crate) fn time_left(&self) -> Option<f64> {
        let last = self.samples.last()?;
        if last.queued == 0 {
            return Some(0.0);
        }
        let within = RECENT.max(self.interval_seconds * TREND as f64);
        let begin = self.samples.partition_point(|s| s.seconds < last.seconds - within);
        let recent = &self.samples[begin..];
        let (first, n) = (recent.first().filter(|_| recent.len() >= TREND)?, recent.len() as f64);
        let mean = |of: fn(&PaceSample) -> f64| recent.iter().map(of).sum::<f64>() / n;
        let (time, queue) = (mean(|s| s.seconds), mean(|s| s.queued as f64));
        let spread: f64 = recent.iter().map(|s| (s.seconds - time).powi(2)).sum();
        let joint: f64 = recent.iter().map(|s| (s.seconds - time) * (s.queued as f64 - queue)).sum();
        let span = last.seconds - first.seconds;
        let (shrinks, rate) = (-joint / spread, last.pages.saturating_sub(first.pages) as f64 / span);
        // Less than a page over all that time is no trend.
        let is_trend = shrinks.is_finite() && shrinks * span >= 1.0 && rate > 0.0;
        is_trend.then(|| last.queued as f64 / shrinks.min(rate))
    }
}

/// Records the series of a run.
#[derive(Debug)]
pub(crate) struct PaceRecorder {
    place: PathBuf,
    series: PaceSeries,
    /// The file, open for appending; `None` if it is to be rewritten.
    file: Option<File>,
}

impl PaceRecorder {
    /// Begins the series of a run, or continues it.
    pub(crate) fn open(project: &ProjectDir, run: RunId) -> Self {
        let place = PaceSeries::place(project, run);
        Self { series: PaceSeries::read(project, run).unwrap_or_default(), place, file: None }
    }

    /// Records a sample if an interval has passed.
    pub(crate) fn note(&mut self, sample: PaceSample) {
        if self.series.wants(&sample) {
            self.add(sample);
        }
    }

    /// Records a sample whenever it comes: the run's last.
    pub(crate) fn add(&mut self, sample: PaceSample) {
        self.series.samples.push(sample);
        if self.series.samples.len() > MOST {
            self.series.thin();
            self.file = None;
        }
        if let Err(error) = self.write(sample) {
            self.file = None;
            tracing::debug!(%error, "cannot write {}", self.place.display());
        }
    }

    fn write(&mut self, sample: PaceSample) -> io::Result<()> {
        match &mut self.file {
            Some(file) => file.write_all(sample.line().as_bytes()),
            None => {
                self.file = Some(rewrite(&self.place, &self.series.text())?);
                Ok(())
            }
        }
    }
}

/// Replaces the file and opens it for what follows.
fn rewrite(place: &Path, text: &str) -> io::Result<File> {
    let new = place.with_extension("new");
    std::fs::write(&new, text)?;
    let file = OpenOptions::new().append(true).open(&new)?;
    std::fs::rename(&new, place)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

    use super::*;

    fn sample(second: u32, queued: u64) -> PaceSample {
        let pages = u64::from(second) * 10;
        let at = Moment(i64::from(second) * 1_000);
        PaceSample { at, seconds: f64::from(second), pages, queued, known: pages + queued, ..PaceSample::default() }
    }

    fn recorder(dir: &Path) -> PaceRecorder {
        let place = dir.join("pace");
        let series = std::fs::read_to_string(&place).ok().and_then(|text| PaceSeries::parse(&text));
        PaceRecorder { place, series: series.unwrap_or_default(), file: None }
    }

    fn recorded(dir: &Path) -> PaceSeries {
        PaceSeries::parse(&std::fs::read_to_string(dir.join("pace")).unwrap()).unwrap()
    }

    #[test]
    fn a_long_run_keeps_a_bounded_number_of_samples_at_equal_distances() {
        let tmp = tempfile::tempdir().unwrap();
        let mut recorder = recorder(tmp.path());
        for second in 0..20_000 {
            recorder.note(sample(second, 5));
            if second % 777 == 0 {
                assert_eq!(recorded(tmp.path()), recorder.series, "what a reader sees in second {second}");
            }
        }
        let series = recorded(tmp.path());
        assert_eq!(series.interval_seconds, 16.0);
        assert!((MOST / 2..=MOST).contains(&series.samples.len()), "{}", series.samples.len());
        let steps: Vec<f64> = series.samples.windows(2).map(|pair| pair[1].seconds - pair[0].seconds).collect();
        assert_eq!(steps.iter().find(|step| **step != 16.0), None);
        assert_eq!(series.samples[0], sample(0, 5));
    }

    #[test]
    fn a_line_that_was_cut_off_is_passed_over_and_a_resumed_run_continues() {
        let tmp = tempfile::tempdir().unwrap();
        let mut first = recorder(tmp.path());
        (0..5).for_each(|second| first.note(sample(second, 9)));
        drop(first);
        let text = std::fs::read_to_string(tmp.path().join("pace")).unwrap();
        let last = text.trim_end().rfind('\n').unwrap() + 1;
        for cut in last..text.len() {
            std::fs::write(tmp.path().join("pace"), &text[..cut]).unwrap();
            assert_eq!(recorded(tmp.path()).samples.len(), 4, "cut at {cut}");
        }
        let mut second = recorder(tmp.path());
        (4..8).for_each(|second_| second.note(sample(second_, 9)));
        let wanted: Vec<PaceSample> = (0..8).map(|second| sample(second, 9)).collect();
        assert_eq!(recorded(tmp.path()).samples, wanted);
    }

    #[test]
    fn a_file_that_cannot_be_written_is_written_whole_when_it_can() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = tmp.path().join("later");
        let mut recorder = recorder(&dir);
        (0..3).for_each(|second| recorder.note(sample(second, 1)));
        std::fs::create_dir(&dir).unwrap();
        recorder.note(sample(3, 1));
        assert_eq!(recorded(&dir).samples.len(), 4);
    }

    #[test]
    fn samples_that_come_too_early_are_left_out_and_the_last_is_not() {
        let tmp = tempfile::tempdir().unwrap();
        let mut recorder = recorder(tmp.path());
        let at = |seconds| PaceSample { seconds, ..sample(0, 1) };
        [0.0, 0.5, 0.99, 1.5, 2.01].into_iter().for_each(|seconds| recorder.note(at(seconds)));
        recorder.add(at(2.02));
        let seconds: Vec<f64> = recorded(tmp.path()).samples.iter().map(|s| s.seconds).collect();
        assert_eq!(seconds, [0.0, 0.99, 2.01, 2.02]);
    }

    fn left(queue: impl Fn(u32) -> u64, seconds: u32) -> Option<f64> {
        let samples = (0..seconds).map(|second| sample(second, queue(second))).collect();
        PaceSeries { samples, ..PaceSeries::default() }.time_left().map(f64::round)
    }

    #[test]
    fn the_time_left_is_what_the_queue_takes_as_it_shrinks() {
        assert_eq!(left(|second| 1_000 - 5 * u64::from(second), 101), Some(100.0));
        let in_steps = left(|second| 1_000 - 5 * u64::from(second / 10 * 10), 101);
        assert!(in_steps.is_some_and(|left| (98.0..=102.0).contains(&left)), "{in_steps:?}");
        assert_eq!(left(|_| 0, 1), Some(0.0));
    }

    #[test]
    fn the_queue_is_not_emptied_faster_than_pages_come() {
        assert_eq!(left(|second| 1_100 - 100 * u64::from(second), 11), Some(10.0), "ten pages a second");
    }

    #[test]
    fn without_a_trend_nothing_is_said() {
        assert_eq!(left(|second| 10 + u64::from(second), 100), None, "it grows");
        assert_eq!(left(|_| 10, 100), None, "it stays");
        assert_eq!(left(|second| 1_000 - u64::from(second), 4), None, "too few samples");
        assert_eq!(PaceSeries::default().time_left(), None);
    }

    #[test]
    fn only_the_recent_past_counts() {
        let turned =
            |second: u32| if second < 1_000 { u64::from(second) * 3 } else { 3_000 - u64::from(second - 1_000) };
        assert_eq!(left(turned, 1_501), Some(2_500.0));
    }
}
