//! Who is asking, and what may they do?

use crate::problem::ProblemDetails;
use crate::request::text_of;
use crate::routes::Right;
use http::HeaderMap;
use http::header::{AUTHORIZATION, COOKIE};
use orb_page::Moment;
use orb_project::{Home, Level, StoreError, TokenRow, TokenScope, User};

/// What a client shows to say who it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Shown {
    /// Nothing.
    Nothing,
    Session(String),
    Token(String),
    /// The secrets of links, with dots between them.
    Links(String),
}

/// Links that one guest can have followed.
pub(crate) const LINKS_AT_ONCE: usize = 8;

/// What a request shows. A token goes before a cookie: programs that send one mean it. Whatever
/// else is sent in its place is for somebody on the way, such as a proxy with passwords of its own.
pub(super) fn shown(headers: &HeaderMap, cookie: &str) -> Shown {
    let sent = text_of(headers, &AUTHORIZATION).split_once(' ');
    if let Some((_, token)) = sent.filter(|(kind, _)| kind.eq_ignore_ascii_case("bearer")) {
        return Shown::Token(token.trim().to_owned());
    }
    match cookie_of(headers, cookie) {
        Some(id) => Shown::Session(id.to_owned()),
        None => shown_by_guest(headers, cookie),
    }
}

/// What a request shows besides an account.
pub(super) fn shown_by_guest(headers: &HeaderMap, cookie: &str) -> Shown {
    match links_shown(headers, cookie) {
        "" => Shown::Nothing,
        links => Shown::Links(links.to_owned()),
    }
}

/// The secrets of the links that a browser has followed; empty if it has none.
pub(crate) fn links_shown<'h>(headers: &'h HeaderMap, cookie: &str) -> &'h str {
    cookie_of(headers, &format!("{cookie}-links")).unwrap_or_default()
}

fn cookie_of<'h>(headers: &'h HeaderMap, cookie: &str) -> Option<&'h str> {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == cookie).map(|(_, value)| value)
}

/// How somebody was recognised.
#[derive(Clone, Debug)]
pub(crate) enum IdentifiedBy {
    /// By a session, with its id.
    Session(String),
    /// By a token.
    Token(TokenRow),
    /// Not at all: it is a guest, who reads what anyone may.
    Nothing,
}

/// Somebody who is asking.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    /// Who.
    pub(crate) user: User,
    /// How we know.
    pub(crate) by: IdentifiedBy,
}

impl Identity {
    /// Who shows this, and until when that is good; `None` if it is nobody, or nobody any more.
    pub(super) fn find(home: &Home, shown: &Shown) -> Result<Option<(Self, Option<Moment>)>, StoreError> {
        let (accounts, now) = (home.accounts(), Moment::now());
        Ok(match shown {
            Shown::Session(id) => {
                let found = accounts.session(id, now)?;
                found.map(|(user, until)| (Self { user, by: IdentifiedBy::Session(id.clone()) }, Some(until)))
            }
            Shown::Nothing => {
                let public = accounts.public()?;
                (!public.is_empty()).then(|| (Self::guest(public), None))
            }
            Shown::Links(text) => {
                let (mut open, mut ends) = (accounts.public()?, None::<Moment>);
                for secret in text.split('.').take(LINKS_AT_ONCE) {
                    if let Some((project, until)) = accounts.link(secret, now)? {
                        open.push(project);
                        ends = [ends, until].into_iter().flatten().min();
                    }
                }
                (!open.is_empty()).then(|| (Self::guest(open), ends))
            }
            Shown::Token(text) => {
                let found = accounts.token(text, now)?;
                found.map(|(user, token)| {
                    let until = token.until.as_deref().and_then(Moment::parse);
                    (Self { user, by: IdentifiedBy::Token(token) }, until)
                })
            }
        })
    }

    /// Somebody without an account, who may read these projects.
    fn guest(public: Vec<String>) -> Self {
        let grants = public.into_iter().map(|project| (project, Level::Read)).collect();
        let (full_name, email, comment, created_at) = Default::default();
        let name = String::new();
        let user = User { id: 0, name, full_name, email, comment, admin: false, created_at, grants };
        Self { user, by: IdentifiedBy::Nothing }
    }

    /// Whether they have no account.
    pub(crate) fn is_guest(&self) -> bool {
        matches!(self.by, IdentifiedBy::Nothing)
    }

    /// Whether a project exists for them: they may do something with it.
    pub(crate) fn may_know(&self, project: &str) -> bool {
        let named = match &self.by {
            IdentifiedBy::Session(_) | IdentifiedBy::Nothing => true,
            IdentifiedBy::Token(token) => token.projects.is_empty() || token.projects.iter().any(|p| p == project),
        };
        named && self.user.level(project).is_some()
    }

    /// Whether they may do this with a project.
    pub(crate) fn may(&self, right: Right, project: &str) -> bool {
        self.may_know(project) && self.check(right, Some(project)).is_ok()
    }

    /// All that they may do with a project, by name.
    pub(crate) fn rights(&self, project: &str) -> Vec<&'static str> {
        Right::ON_PROJECT.into_iter().filter(|right| self.may(*right, project)).map(Right::name).collect()
    }

    /// Refuses what they may not do with a project they know, or with the server.
    pub(super) fn check(&self, right: Right, project: Option<&str>) -> Result<(), ProblemDetails> {
        let (level, scope) = needs(right);
        if self.is_guest() && !matches!(right, Right::Read | Right::Content) {
            return Err(ProblemDetails::unauthenticated());
        }
        if let IdentifiedBy::Token(token) = &self.by {
            let Some(scope) = scope else {
                return Err(ProblemDetails::forbidden("no token may do this; log in"));
            };
            if !token.scopes.contains(&scope) {
                let problem = ProblemDetails::forbidden(format!("the token lacks the scope {}", scope.name()));
                return Err(problem.with("scope", scope.name().into()));
            }
            if right == Right::Admin && !token.projects.is_empty() {
                return Err(ProblemDetails::forbidden("the token is for some projects only"));
            }
        }
        if matches!(right, Right::Admin | Right::Accounts) && !self.user.admin {
            return Err(ProblemDetails::forbidden("only an administrator may do this"));
        }
        let has = project.and_then(|project| self.user.level(project));
        match level {
            Some(level) if has < Some(level) => {
                Err(ProblemDetails::forbidden(format!("this takes the right to {} the project", level.name())))
            }
            _ => Ok(()),
        }
    }
}

/// The level on the project that a user needs, and the scope that a token needs; without a scope no
/// token is enough.
const fn needs(right: Right) -> (Option<Level>, Option<TokenScope>) {
    match right {
        Right::Open | Right::SignedIn => (None, Some(TokenScope::Read)),
        Right::Account | Right::Accounts => (None, None),
        Right::Read => (Some(Level::Read), Some(TokenScope::Read)),
        Right::Content => (Some(Level::Read), Some(TokenScope::Content)),
        Right::Sql => (Some(Level::Read), Some(TokenScope::Sql)),
        Right::Run => (Some(Level::Run), Some(TokenScope::Run)),
        Right::Edit => (Some(Level::Edit), Some(TokenScope::Edit)),
        Right::Admin => (None, Some(TokenScope::Admin)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn session_in(cookie: &'static str) -> Option<String> {
        match shown(&[(COOKIE, HeaderValue::from_static(cookie))].into_iter().collect(), "orb") {
            Shown::Session(id) => Some(id),
            Shown::Token(_) | Shown::Links(_) | Shown::Nothing => None,
        }
    }

    #[test]
    fn a_session_is_found_among_other_cookies() {
        assert_eq!(session_in("a=1; orb=x; b=2").as_deref(), Some("x"));
        assert_eq!(session_in("xorb=x; orbx=y; __Host-orb=z"), None);
    }

    fn somebody(by: IdentifiedBy, admin: bool) -> Identity {
        let user = User {
            id: 1,
            name: "ann".into(),
            full_name: None,
            email: None,
            comment: None,
            admin,
            created_at: String::new(),
            grants: [("p".to_owned(), Level::Run)].into(),
        };
        Identity { user, by }
    }

    fn token(scopes: &[TokenScope], projects: &[&str]) -> IdentifiedBy {
        IdentifiedBy::Token(TokenRow {
            id: 1,
            name: String::new(),
            scopes: scopes.to_vec(),
            projects: projects.iter().map(|&p| p.to_owned()).collect(),
            created_at: String::new(),
            until: None,
            last_used: None,
        })
    }

    #[test]
    fn levels_include_those_below_and_end_at_the_project() {
        let ann = somebody(IdentifiedBy::Session(String::new()), false);
        assert!([Right::Read, Right::Content, Right::Sql, Right::Run].into_iter().all(|right| ann.may(right, "p")));
        assert!(!ann.may(Right::Edit, "p") && !ann.may(Right::Read, "q") && ann.check(Right::Admin, None).is_err());
        let admin = somebody(IdentifiedBy::Session(String::new()), true);
        assert!(admin.may(Right::Edit, "q") && admin.check(Right::Admin, None).is_ok());
    }

    #[test]
    fn a_token_allows_what_it_names_of_what_its_user_may() {
        let reader = somebody(token(&[TokenScope::Read], &[]), true);
        assert!(reader.may(Right::Read, "p") && reader.check(Right::SignedIn, None).is_ok());
        for right in [Right::Content, Right::Sql, Right::Run, Right::Edit] {
            assert!(!reader.may(right, "p"), "{right:?}");
        }
        assert!(reader.check(Right::Account, None).is_err() && reader.check(Right::Admin, None).is_err());
        let runner = somebody(token(&[TokenScope::Run, TokenScope::Edit], &["p"]), false);
        assert!(runner.may(Right::Run, "p") && !runner.may(Right::Edit, "p") && !runner.may(Right::Read, "p"));
        let narrow = somebody(token(&TokenScope::ALL, &["p"]), true);
        assert!(narrow.may(Right::Edit, "p") && !narrow.may_know("q") && narrow.check(Right::Admin, None).is_err());
        let whole = somebody(token(&TokenScope::ALL, &[]), true);
        assert!(whole.check(Right::Admin, None).is_ok());
        for right in [Right::Account, Right::Accounts] {
            assert!(whole.check(right, None).is_err(), "no token may touch an account");
        }
        let (session, other) = (IdentifiedBy::Session(String::new()), IdentifiedBy::Session(String::new()));
        assert!(somebody(session, true).check(Right::Accounts, None).is_ok());
        assert!(somebody(other, false).check(Right::Accounts, None).is_err());
    }
}
