//! How does somebody give a project a password, so that nobody reads it again?

use crate::problem::{Handled, ProblemDetails};
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::shared::ServedHome;
use orb_project::{ProjectError, TypedSecret, forget_secret, keep_secret};

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::post("/p/{p}/secrets", Right::Edit, |request| Box::pin(set(request)), "Set a secret of a project"),
    RouteRow::post(
        "/p/{p}/secrets/remove",
        Right::Edit,
        |request| Box::pin(remove(request)),
        "Remove a secret of a project",
    ),
];

async fn set(request: AdmittedRequest) -> Handled {
    let form = request.form()?;
    let (name, site) = (form.needed("name")?.to_owned(), form.needed("site")?.to_owned());
    let secret = TypedSecret { name, site, value: form.typed("value").to_owned() };
    let (project, by) = (request.project()?.clone(), request.user()?.name.clone());
    let set = move |home: &ServedHome| {
        keep_secret(&project, &secret)?;
        let what = format!("set the secret {} of project {}", secret.name, project.name);
        Ok::<_, ProjectError>(home.accounts().note(Some(&by), &what)?)
    };
    request.work(set).await?;
    AdmittedRequest::redirect(&format!("/p/{}/steps?saved=1#secrets", request.project()?.name))
}

async fn remove(request: AdmittedRequest) -> Handled {
    let name = request.form()?.needed("name")?.to_owned();
    let (project, by) = (request.project()?.clone(), request.user()?.name.clone());
    let remove = move |home: &ServedHome| {
        if !forget_secret(&project, &name)? {
            return Err(ProblemDetails::not_found(format!("there is no secret {name}")));
        }
        Ok(home.accounts().note(Some(&by), &format!("removed the secret {name} of project {}", project.name))?)
    };
    request.work(remove).await?;
    AdmittedRequest::redirect(&format!("/p/{}/steps?saved=1#secrets", request.project()?.name))
}
