-- A catalogue as of format 4: the last without aliases (3810576).
-- Its tables are those of that commit, word for word. Its rows were written by hand, and of its views there are only those
-- that would be in the way of an upgrade.
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE name_row (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE run_row (
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL, state TEXT NOT NULL, started_at INTEGER NOT NULL, finished_at INTEGER,
  counters TEXT, settings TEXT);
CREATE TABLE host_row (
  id INTEGER PRIMARY KEY, scheme TEXT NOT NULL, name TEXT NOT NULL, port INTEGER NOT NULL, ip TEXT,
  not_before INTEGER, backoff_ms INTEGER NOT NULL DEFAULT 0, first_seen INTEGER NOT NULL);
CREATE TABLE tally_row (host INTEGER PRIMARY KEY, pages INTEGER NOT NULL, errors INTEGER NOT NULL, run INTEGER);
CREATE TABLE robots_row (
  host INTEGER PRIMARY KEY, at INTEGER NOT NULL, status INTEGER NOT NULL, crawl_delay REAL, text TEXT NOT NULL, sitemaps TEXT);
CREATE TABLE page_row (
  id INTEGER PRIMARY KEY, url TEXT NOT NULL, host INTEGER NOT NULL, kind INTEGER NOT NULL, why INTEGER,
  depth INTEGER NOT NULL, redirects INTEGER NOT NULL, priority REAL NOT NULL, rank INTEGER NOT NULL,
  at INTEGER NOT NULL, by INTEGER NOT NULL, origin INTEGER, again INTEGER, step INTEGER, asked TEXT);
CREATE INDEX seed_row ON page_row (id) WHERE origin IS NULL;
CREATE TABLE visit_row (
  page INTEGER NOT NULL, run INTEGER NOT NULL, flag INTEGER NOT NULL, kind INTEGER NOT NULL, at INTEGER NOT NULL, by INTEGER NOT NULL,
  status INTEGER, mime TEXT, charset TEXT, length INTEGER NOT NULL, transferred INTEGER NOT NULL, digest BLOB, simhash INTEGER,
  title TEXT, lang TEXT, etag TEXT, last_modified TEXT, duplicate_of INTEGER, problem TEXT, elapsed_ms INTEGER NOT NULL,
  warc INTEGER, warc_offset INTEGER, warc_length INTEGER, source INTEGER,
  UNIQUE (page, run));
CREATE TABLE source_row (id INTEGER PRIMARY KEY, page INTEGER NOT NULL);
CREATE TABLE link_row (
  source INTEGER NOT NULL, dst INTEGER NOT NULL, kind INTEGER NOT NULL, anchor TEXT, rel TEXT, count INTEGER NOT NULL,
  first_run INTEGER NOT NULL, last_run INTEGER,
  PRIMARY KEY (source, dst, kind)) WITHOUT ROWID;
CREATE TABLE image_row (
  page INTEGER NOT NULL, seq INTEGER NOT NULL, url TEXT NOT NULL, alt TEXT, width INTEGER, height INTEGER, mime TEXT,
  PRIMARY KEY (page, seq)) WITHOUT ROWID;
CREATE TABLE warc_row (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, length INTEGER NOT NULL, records INTEGER NOT NULL);
CREATE TABLE batch_row (no INTEGER PRIMARY KEY, nonce INTEGER NOT NULL, pages BLOB NOT NULL, hosts BLOB NOT NULL, requeued BLOB NOT NULL);
CREATE TABLE due_row (page INTEGER PRIMARY KEY, rate REAL NOT NULL, due INTEGER);
CREATE TABLE ack_row (run INTEGER PRIMARY KEY, at INTEGER NOT NULL, by TEXT, note TEXT);
CREATE TABLE noise_row (host INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE session_row (host INTEGER PRIMARY KEY, rules TEXT NOT NULL);
CREATE TABLE change_row (seq INTEGER PRIMARY KEY, run INTEGER NOT NULL, page INTEGER NOT NULL, flag INTEGER NOT NULL, at INTEGER NOT NULL,
          moved TEXT, detail TEXT);
CREATE TABLE around_row (run INTEGER NOT NULL, page INTEGER NOT NULL, detail TEXT NOT NULL, PRIMARY KEY (run, page)) WITHOUT ROWID;
CREATE TABLE trap_row (key INTEGER PRIMARY KEY, count INTEGER NOT NULL);
CREATE TABLE past_row (source INTEGER NOT NULL, dst INTEGER NOT NULL, kind INTEGER NOT NULL, last_run INTEGER NOT NULL, first_run INTEGER NOT NULL,
          anchor TEXT, rel TEXT, count INTEGER NOT NULL,
          PRIMARY KEY (source, dst, kind, last_run)) WITHOUT ROWID;
CREATE VIEW host AS SELECT id, name FROM host_row;
CREATE VIEW link AS SELECT v.page AS src, l.dst FROM visit_row v JOIN link_row l ON l.source = v.source;
CREATE VIEW visit AS SELECT run, page AS page_id FROM visit_row;
CREATE VIEW page AS SELECT p.id, p.url, v.duplicate_of FROM page_row p LEFT JOIN visit_row v ON v.page = p.id;
INSERT INTO name_row VALUES (1, 'worker-1'), (2, 'scope'), (3, 'trap-depth');
INSERT INTO run_row VALUES (1, 'crawl', 'stopped', 1700000000000, 1700000009000, '{"pages":2}', '');
INSERT INTO robots_row VALUES (1, 1700000000500, 200, NULL, 'User-agent: *', NULL);
INSERT INTO image_row VALUES (1, 0, 'http://a.test/x.png', 'x', NULL, NULL, 'image/png');
INSERT INTO host_row VALUES
  (1, 'http', 'a.test', 80, '127.0.0.1', NULL, 0, 1700000000000),
  (2, 'http', 'b.test', 80, NULL, NULL, 0, 1700000002000);
INSERT INTO tally_row VALUES (1, 2, 0, 1);
INSERT INTO source_row VALUES (1, 1), (2, 2);
INSERT INTO page_row VALUES
  (1, 'http://a.test/', 1, 0, NULL, 0, 0, 1.0, 1, 1700000000000, 1, NULL, NULL, NULL, NULL),
  (2, 'http://a.test/b', 1, 0, NULL, 1, 0, 0.5, 2, 1700000002000, 1, 1, NULL, NULL, NULL),
  (3, 'http://b.test/', 2, 0, NULL, 1, 0, 0.5, 3, 1700000002000, 1, 1, NULL, NULL, NULL),
  (4, 'http://a.test/out', 1, 11, 2, 2, 0, 0.5, 4, 1700000003000, 1, 2, NULL, NULL, NULL);
INSERT INTO visit_row VALUES
  (1, 1, 0, 1, 1700000002000, 1, 200, 'text/html', 'UTF-8', 10, 10, x'0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a', 7, 'A', 'en', NULL, NULL, NULL, NULL, 5, NULL, NULL, NULL, 1),
  (2, 1, 0, 1, 1700000003000, 1, 200, 'text/html', 'UTF-8', 10, 10, x'0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b', 7, 'B', 'en', NULL, NULL, NULL, NULL, 5, NULL, NULL, NULL, 2);
INSERT INTO link_row VALUES
  (1, 2, 0, 'b', NULL, 1, 1, NULL),
  (1, 3, 0, 'other', NULL, 1, 1, NULL),
  (2, 1, 0, 'back', NULL, 1, 1, NULL),
  (2, 4, 0, 'out', NULL, 1, 1, NULL);
INSERT INTO batch_row VALUES (1, 11, x'', x'', x''), (2, 12, x'', x'', x'');
PRAGMA application_id = 1869767267;
PRAGMA user_version = 4;
