//! A news server.

use super::{ScriptedListener, ScriptedTalk, Trick};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Articles by group and number.
pub type Articles = BTreeMap<String, BTreeMap<u64, String>>;

/// A news server on loopback with its articles in memory.
#[derive(Clone, Debug)]
pub struct NewsServer {
    listener: ScriptedListener,
    news: Arc<Mutex<Articles>>,
}

/// One conversation.
struct NewsTalk<'a> {
    talk: &'a ScriptedTalk<'a>,
    news: &'a Mutex<Articles>,
    tricks: &'a [Trick],
    group: String,
}

impl NewsServer {
    /// Serves groups with this many articles each, with these tricks.
    pub fn start(groups: &[(&str, u64)], tricks: Vec<Trick>) -> std::io::Result<Self> {
        let articles = |group: &str, count: u64| (1..=count).map(|n| (n, article(group, n))).collect();
        let news: Articles = groups.iter().map(|(name, count)| ((*name).to_owned(), articles(name, *count))).collect();
        let news = Arc::new(Mutex::new(news));
        let served = Arc::clone(&news);
        let listener = ScriptedListener::start(move |talk| {
            NewsTalk { talk, news: &served, tricks: &tricks, group: String::new() }.serve()
        })?;
        Ok(Self { listener, news })
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.listener.addr()
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("nntp://{}{path}", self.listener.addr())
    }

    /// What it was told since the last call.
    pub fn take_log(&self) -> Vec<String> {
        self.listener.take_log()
    }

    /// Its articles, to change them.
    pub fn news(&self) -> MutexGuard<'_, Articles> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An article, some lines of which begin with dots.
fn article(group: &str, number: u64) -> String {
    format!(
        "From: someone@example.org\r\nNewsgroups: {group}\r\nSubject: Article {number} of {group}\r\n\
         Message-ID: <{number}.{group}@example.org>\r\nDate: Tue, 17 Nov 2026 06:00:00 GMT\r\n\r\n\
         Hello from {group}, number {number}.\r\n.\r\n..two dots\r\n"
    )
}

impl NewsTalk<'_> {
    fn serve(&mut self) -> Option<()> {
        self.talk.say("200 hello")?;
        let talk = self.talk;
        for (verb, argument) in talk.commands() {
            match self.tricks.iter().find(|trick| trick.verb() == Some(verb.as_str())) {
                Some(trick) => trick.play(self.talk.stream)?,
                None => self.obey(&verb, &argument)?,
            }
        }
        Some(())
    }

    fn obey(&mut self, verb: &str, argument: &str) -> Option<()> {
        match verb {
            "CAPABILITIES" => self.block("101 I can", "VERSION 2\r\nREADER\r\nOVER\r\nLIST ACTIVE\r\n"),
            "LIST" => {
                let pattern = argument.split(' ').nth(1).unwrap_or("*");
                let front = pattern.trim_end_matches('*').to_owned();
                let known = self.lock().keys().filter(|name| name.starts_with(&front)).cloned().collect::<Vec<_>>();
                let lines: String = known.iter().map(|name| format!("{name} {}\r\n", self.ends(name))).collect();
                self.block("215 groups", &lines)
            }
            "GROUP" => self.enter(argument),
            "OVER" | "XOVER" => self.block("224 overview", &self.overview()),
            "ARTICLE" => match self.article(argument) {
                Some((number, text)) => {
                    let id = text.lines().find_map(|line| line.strip_prefix("Message-ID: ")).unwrap_or("<x@y>");
                    self.block(&format!("220 {number} {id}"), &text)
                }
                None if argument.starts_with('<') => self.talk.say("430 no such article"),
                None => self.talk.say("423 no such number"),
            },
            "QUIT" => {
                self.talk.say("205 bye")?;
                None
            }
            _ => self.talk.say("500 what?"),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Articles> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last and the first number of a group, as LIST ACTIVE tells them.
    fn ends(&self, name: &str) -> String {
        let news = self.lock();
        let Some(numbers) = news.get(name) else { return "0 1 y".to_owned() };
        let (first, last) = (numbers.keys().next(), numbers.keys().next_back());
        format!("{} {} y", last.copied().unwrap_or(0), first.copied().unwrap_or(1))
    }

    fn enter(&mut self, name: &str) -> Option<()> {
        let news = self.lock();
        let Some(numbers) = news.get(name) else {
            drop(news);
            return self.talk.say("411 no such group");
        };
        let (first, last) = (numbers.keys().next(), numbers.keys().next_back());
        let (first, last) = (first.copied().unwrap_or(1), last.copied().unwrap_or(0));
        let said = format!("211 {} {first} {last} {name}", numbers.len());
        drop(news);
        name.clone_into(&mut self.group);
        self.talk.say(&said)
    }

    fn overview(&self) -> String {
        let news = self.lock();
        let numbers = news.get(&self.group).into_iter().flatten();
        numbers.map(|(n, text)| format!("{n}\tsubject\tfrom\tdate\t<{n}@x>\t\t{}\t9\r\n", text.len())).collect()
    }

    fn article(&self, which: &str) -> Option<(u64, String)> {
        let news = self.lock();
        if which.starts_with('<') {
            let mut all = news.values().flatten();
            return all
                .find(|(_, text)| text.contains(&format!("Message-ID: {which}\r\n")))
                .map(|(_, t)| (0, t.clone()));
        }
        let number = which.parse().ok()?;
        news.get(&self.group)?.get(&number).map(|text| (number, text.clone()))
    }

    /// A block of lines; dots at their start are doubled.
    fn block(&self, first: &str, lines: &str) -> Option<()> {
        let stuffed = lines
            .split_inclusive("\r\n")
            .map(|line| if line.starts_with('.') { format!(".{line}") } else { line.to_owned() });
        self.talk.say(&format!("{first}\r\n{}.", stuffed.collect::<String>()))
    }
}
