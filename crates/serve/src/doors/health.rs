//! Is the server there?

use crate::problem::{Handled, ProblemDetails};
use crate::request::{AdmittedRequest, typed};
use crate::routes::{Right, RouteRow};

pub(crate) const ROUTES: &[RouteRow] =
    &[RouteRow::get("/healthz", Right::Open, |request| Box::pin(tell(request)), "Whether the server is there")];

/// It is if its threads answer, and it is not about to stop.
async fn tell(request: AdmittedRequest) -> Handled {
    if *request.state.closing.borrow() {
        return Err(ProblemDetails::busy("the server stops"));
    }
    request.state.desk.work(|_| ()).await?;
    Ok(typed("text/plain; charset=utf-8", "ok\n"))
}
