//! Where does all this run, and is there room?

use super::team::TeamCard;
use crate::problem::Handled;
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::shared::ServedHome;
use crate::view::{Frame, bytes, minute};
use askama::Template;
use orb_answers::{AnswerError, ProjectStatus, SharedStatus, grouped, is_running, project_size, status_of};
use orb_crawl::machine::MachineState;
use orb_crawl::why;
use orb_project::{disk_size, free_space};
use serde::Serialize;

pub(crate) const ROUTES: &[RouteRow] = &[RouteRow::get(
    "/machines",
    Right::SignedIn,
    |request| Box::pin(show(request)),
    "This machine: its runs, disk, memory and load",
)];

/// The machines that work for this home, and on the shared store.
#[derive(Serialize)]
struct MachinesAnswer {
    machines: Vec<ServingMachine>,
    /// The projects on the shared store that are being worked on, and by whom.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shared: Vec<SharedStatus>,
}

/// A machine, and what it does.
#[derive(Serialize)]
struct ServingMachine {
    #[serde(flatten)]
    state: MachineState,
    /// Bytes of the disk that holds the home.
    disk: u64,
    /// Bytes that are free on it.
    disk_free: u64,
    /// Seconds since this server was started.
    serving_seconds: u64,
    /// The runs that go on, of the projects that one may read.
    runs: Vec<ServedRun>,
}

/// A run that goes on.
#[derive(Serialize)]
struct ServedRun {
    #[serde(flatten)]
    status: ProjectStatus,
    /// Bytes of the project on the disk.
    size: u64,
    /// Pages a second, as the run wrote it down last.
    pages_per_second: Option<f64>,
}

#[derive(Template)]
#[template(path = "machines.html")]
struct MachinesPage {
    frame: Frame,
    is_admin: bool,
    rows: Vec<MachineCard>,
    teams: Vec<TeamCard>,
}

struct MachineCard {
    name: String,
    facts: Vec<(&'static str, String)>,
    disk_used: u64,
    runs: Vec<ServedRunLine>,
}

struct ServedRunLine {
    project: String,
    run: u32,
    kind: String,
    since: String,
    pages: String,
    rate: String,
    size: String,
}

async fn show(request: AdmittedRequest) -> Handled {
    let identity = request.identity()?.clone();
    let serving_seconds = request.state.started.elapsed().as_secs();
    let known = move |home: &ServedHome| {
        let mut all = home.alone().list()?;
        all.retain(|project| is_running(project) && identity.may(Right::Read, &project.name));
        let runs = all.into_iter().map(|project| {
            let status = status_of(&project)?;
            let pages_per_second = why(&project).ok().map(|speed| speed.now.pages_per_second);
            Ok(ServedRun { size: project_size(&project)?, status, pages_per_second })
        });
        let runs = runs.collect::<Result<_, AnswerError>>()?;
        let (disk, disk_free) = (disk_size(home.path())?, free_space(home.path())?);
        let state = MachineState::now();
        let mut shared = home.teams();
        shared.retain(|team| identity.may(Right::Read, &team.project));
        let machines = vec![ServingMachine { state, disk, disk_free, serving_seconds, runs }];
        Ok::<_, AnswerError>(MachinesAnswer { machines, shared })
    };
    let answer = request.work(known).await?;
    let page = MachinesPage {
        frame: request.frame(),
        is_admin: request.user()?.admin,
        rows: answer.machines.iter().map(card).collect(),
        teams: answer.shared.iter().map(TeamCard::of).collect(),
    };
    request.page(&page, &answer)
}

fn card(machine: &ServingMachine) -> MachineCard {
    let state = &machine.state;
    let memory =
        state.memory.zip(state.memory_free).map(|(all, free)| format!("{} of {} free", bytes(free), bytes(all)));
    let load = state.load.map(|load| format!("{:.2}, {:.2}, {:.2} in 1, 5 and 15 minutes", load[0], load[1], load[2]));
    let facts = [
        ("Disk", Some(format!("{} of {} free", bytes(machine.disk_free), bytes(machine.disk)))),
        ("Memory", memory),
        ("Cores", Some(state.cores.to_string())),
        ("Load", load),
        ("Serving for", Some(span(machine.serving_seconds))),
    ];
    MachineCard {
        name: state.name.clone().unwrap_or_else(|| "this machine".to_owned()),
        facts: facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect(),
        disk_used: (machine.disk - machine.disk_free.min(machine.disk)) * 100 / machine.disk.max(1),
        runs: machine.runs.iter().map(line).collect(),
    }
}

fn line(run: &ServedRun) -> ServedRunLine {
    ServedRunLine {
        project: run.status.project.clone(),
        run: run.status.run.unwrap_or_default(),
        kind: run.status.kind.clone().unwrap_or_default(),
        since: run.status.started_at.as_deref().map(minute).unwrap_or_default(),
        pages: grouped(run.status.counters.pages),
        rate: run.pages_per_second.map(|rate| format!("{rate:.1} /s")).unwrap_or_default(),
        size: bytes(run.size),
    }
}

/// Seconds in words, rounded to what matters.
fn span(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..172_800 => format!("{} h {:02} min", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{} days", seconds / 86_400),
    }
}
