"""A news server over a directory: one group, one file an article, named by its number.

Usage: news.py PORT DIRECTORY. The protocol is nntpserver's, a reader's server after RFC 3977.
"""

import datetime
import pathlib
import sys

import nntpserver

GROUP = "misc.test"
MADE = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)


class Articles(dict):
    def __missing__(self, key):
        raise nntpserver.NNTPArticleNotFound(key)


class Group(nntpserver.NNTPGroup):
    def __init__(self, numbers):
        self._numbers = numbers

    name = GROUP
    short_description = "tests"
    created = MADE
    posting_permitted = False

    @property
    def number(self):
        return len(self._numbers)

    @property
    def low(self):
        return min(self._numbers, default=1)

    @property
    def high(self):
        return max(self._numbers, default=0)

    @property
    def articles(self):
        return Articles({n: info(n, "") for n in self._numbers})


def info(number, body):
    return nntpserver.ArticleInfo(
        number=number,
        subject=f"Article {number}",
        from_="someone@example.org",
        date=MADE,
        message_id=f"<{number}.{GROUP}@example.org>",
        references="",
        bytes=len(body),
        lines=body.count("\n"),
        headers={"Newsgroups": GROUP},
    )


class Server(nntpserver.NNTPServer):
    allow_reuse_address = True
    daemon_threads = True
    directory = pathlib.Path(sys.argv[2])

    def refresh(self):
        pass

    def numbers(self):
        return sorted(int(path.name) for path in self.directory.iterdir() if path.name.isdigit())

    @property
    def groups(self):
        return {GROUP: Group(self.numbers())}

    @property
    def articles(self):
        return Articles({n: info(n, "") for n in self.numbers()})

    def article(self, key):
        number = int(str(key).strip("<>").split(".")[0])
        path = self.directory / str(number)
        if not path.exists():
            raise nntpserver.NNTPArticleNotFound(key)
        body = path.read_text()
        return nntpserver.Article(info(number, body), body)


Server(("127.0.0.1", int(sys.argv[1])), nntpserver.NNTPConnectionHandler).serve_forever()
