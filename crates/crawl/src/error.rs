//! Which failures of our own can a crawl have?

use orb_fetch::FetchError;
use orb_graph::GraphError;
use orb_index::IndexError;
use orb_store::StoreError;
use orb_urls::ScopeError;

/// A failure of the crawl itself; what the web does wrong is recorded instead.
#[derive(Debug, thiserror::Error)]
pub enum CrawlError {
    /// The stores failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The web graph failed.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The scope is invalid.
    #[error(transparent)]
    Scope(#[from] ScopeError),
    /// The fetcher cannot be set up.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// Pages cannot be rendered.
    #[error(transparent)]
    Render(#[from] orb_render::RenderError),
    /// A settings file cannot be read.
    #[error(transparent)]
    Settings(#[from] orb_project::SettingsError),
    /// A setting is invalid.
    #[error("{0}")]
    Setting(String),
    /// A setting contradicts others.
    #[error(transparent)]
    Wrong(#[from] orb_project::Wrong),
    /// The text index failed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The text index could not be written.
    #[error("cannot write the text index")]
    TextIndex(#[source] std::io::Error),
    /// There is nothing to track yet.
    #[error("run {run} of {project} is not finished; orb crawl {project} resumes it")]
    Unfinished {
        /// The run.
        run: u32,
        /// The project.
        project: String,
    },
    /// Threads could not be started.
    #[error("cannot start the crawl's threads")]
    Threads(#[source] std::io::Error),
    /// The report or the log of the run cannot be written.
    #[error("cannot write the run's report in {}", dir.display())]
    Journal {
        /// The run's directory.
        dir: std::path::PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// What is stored cannot be read.
    #[error(transparent)]
    Answer(#[from] orb_answers::AnswerError),
    /// An output cannot be written.
    #[error("cannot write {}", path.display())]
    Output {
        /// The file.
        path: std::path::PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Another process is already delivering to the outputs.
    #[error("another process delivers the changes of this project already")]
    Delivering,
    /// The last changes were not acknowledged.
    #[error(
        "run {run} of project {project} has changes that nobody has acknowledged; orb report {project} --run {run} shows them, orb project ack {project} lets the next run begin"
    )]
    Held {
        /// The project.
        project: String,
        /// The run.
        run: u32,
    },
    /// A defect of ours.
    #[error("the {0} stopped unexpectedly; everything committed before is safe")]
    Panicked(&'static str),
}

impl CrawlError {
    /// Whether the disk was full, so that a retry may succeed later.
    pub(crate) fn is_full_disk(&self) -> bool {
        match self {
            Self::Store(StoreError::NoSpace { .. }) => true,
            Self::Journal { source, .. } => source.kind() == std::io::ErrorKind::StorageFull,
            _ => false,
        }
    }
}
