"""A news server over a directory: one group, one file an article, named by its number.

Usage: news.py PORT DIRECTORY [nntps|starttls CERTIFICATE KEY]. The protocol is nntpserver's, a
reader's server after RFC 3977. STARTTLS (RFC 4642) is ours: before it nothing else is answered.
"""

import contextlib
import datetime
import pathlib
import ssl
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


class Connection(nntpserver.NNTPConnectionHandler):
    """A connection that ends when its client is gone; the original reads from it for ever."""

    def handle(self):
        with contextlib.suppress(ConnectionError, EOFError):
            super().handle()

    def _getline(self, strip_crlf=True):
        while b"\n" not in self._buffer:
            chunk = self.request.recv(65536)
            if not chunk:
                raise EOFError
            self._buffer += chunk
        line, self._buffer = self._buffer.split(b"\n", 1)
        return line.removesuffix(b"\r" if strip_crlf else b"").decode()


class StartTls(Connection):
    def send_lines(self, lines):
        if lines[0].startswith("101") and not isinstance(self.request, ssl.SSLSocket):
            lines = ["101 Capability list:", "VERSION 2", "STARTTLS", "."]
        super().send_lines(lines)

    def _getline(self, strip_crlf=True):
        while True:
            line = super()._getline(strip_crlf)
            if isinstance(self.request, ssl.SSLSocket) or line.casefold() == "capabilities":
                return line
            if line.casefold() != "starttls":
                self.send_lines(["483 TLS first"])
                continue
            self.send_lines(["382 go on"])
            self._buffer = b""
            self.request = context().wrap_socket(self.request, server_side=True)


def context():
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(sys.argv[4], sys.argv[5])
    return made


how = sys.argv[3] if len(sys.argv) > 3 else "plain"
handler = StartTls if how == "starttls" else Connection
server = Server(("127.0.0.1", int(sys.argv[1])), handler)
if how == "nntps":
    server.socket = context().wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
server.serve_forever()
