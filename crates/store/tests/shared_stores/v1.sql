CREATE TABLE project (
  program text NOT NULL, version integer NOT NULL, name text NOT NULL, shards smallint NOT NULL, fingerprint text NOT NULL,
  settings text NOT NULL, made_at bigint NOT NULL, next_page bigint NOT NULL, next_host integer NOT NULL, next_name integer NOT NULL,
  next_run integer NOT NULL, next_worker bigint NOT NULL, next_seed bigint NOT NULL, next_change bigint NOT NULL) WITH (fillfactor = 10);
CREATE TABLE worker (
  id bigint PRIMARY KEY, name text NOT NULL, machine text NOT NULL, alive boolean NOT NULL, until timestamptz NOT NULL,
  lease_ms bigint NOT NULL, batch bigint NOT NULL, nonce bigint NOT NULL, weight integer NOT NULL, why text NOT NULL DEFAULT '',
  pages_per_second real NOT NULL DEFAULT 0, queued bigint NOT NULL DEFAULT 0, ticket bigint NOT NULL DEFAULT 0, ticket_run integer,
  backend integer, version text NOT NULL, joined timestamptz NOT NULL, beaten timestamptz NOT NULL) WITH (fillfactor = 10);
CREATE TABLE shard (
  id smallint PRIMARY KEY, worker bigint, batch bigint NOT NULL DEFAULT 0, pages bigint NOT NULL DEFAULT 0,
  fetched bigint NOT NULL DEFAULT 0, idle integer, since timestamptz) WITH (fillfactor = 20);
CREATE TABLE letter (
  to_shard smallint NOT NULL, sender bigint NOT NULL, batch bigint NOT NULL, at timestamptz NOT NULL DEFAULT now(),
  letters integer NOT NULL, body bytea NOT NULL, PRIMARY KEY (to_shard, sender, batch))
  WITH (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
CREATE TABLE address (
  key text PRIMARY KEY, worker bigint NOT NULL, until timestamptz NOT NULL, open_at timestamptz NOT NULL, delay_ms bigint NOT NULL,
  wanted timestamptz, wanted_by bigint) WITH (fillfactor = 50);
CREATE TABLE seed (no bigint PRIMARY KEY, url text NOT NULL, step integer, origin text);
CREATE TABLE split (id bigint PRIMARY KEY, object text NOT NULL, worker bigint NOT NULL, docs bigint NOT NULL, mark bigint NOT NULL);
CREATE TABLE digest_row (shard smallint NOT NULL, digest bytea NOT NULL, page bigint NOT NULL, PRIMARY KEY (digest, shard));

CREATE TABLE meta (key text PRIMARY KEY, value text);
CREATE TABLE name_row (id integer PRIMARY KEY, name text NOT NULL UNIQUE);
CREATE TABLE run_row (
  id integer PRIMARY KEY, kind text NOT NULL, state text NOT NULL, started_at bigint NOT NULL, finished_at bigint, counters text,
  settings text, budget_left bigint, machines text[] NOT NULL DEFAULT '{}') WITH (fillfactor = 10);
CREATE TABLE host_row (
  shard smallint NOT NULL, id integer NOT NULL, scheme text NOT NULL, name text NOT NULL, port integer NOT NULL, ip text,
  not_before bigint, backoff_ms bigint NOT NULL DEFAULT 0, first_seen bigint NOT NULL, PRIMARY KEY (id, shard));
CREATE INDEX host_by_shard ON host_row (shard);
CREATE TABLE tally_row (
  shard smallint NOT NULL, host integer NOT NULL, pages bigint NOT NULL, errors bigint NOT NULL, run integer,
  PRIMARY KEY (host, shard)) WITH (fillfactor = 50);
CREATE TABLE robots_row (
  shard smallint NOT NULL, host integer NOT NULL, at bigint NOT NULL, status integer NOT NULL, crawl_delay double precision,
  text text NOT NULL, sitemaps text, PRIMARY KEY (host, shard));
CREATE TABLE page_row (
  shard smallint NOT NULL, kind smallint NOT NULL, id bigint NOT NULL, url text NOT NULL, host integer NOT NULL, why integer,
  depth integer NOT NULL, redirects smallint NOT NULL, priority real NOT NULL, rank bigint NOT NULL, at bigint NOT NULL,
  by integer NOT NULL, origin bigint, again integer, step integer, asked text, PRIMARY KEY (id, shard)) WITH (fillfactor = 95);
CREATE INDEX page_by_shard ON page_row (shard);
CREATE INDEX seed_row ON page_row (id) WHERE origin IS NULL;
CREATE TABLE visit_row (
  shard smallint NOT NULL, flag smallint NOT NULL, kind smallint NOT NULL, page bigint NOT NULL, run integer NOT NULL,
  at bigint NOT NULL, by integer NOT NULL, status integer, mime text, charset text, length bigint NOT NULL,
  transferred bigint NOT NULL, digest bytea, simhash bigint, title text, lang text, etag text, last_modified text,
  duplicate_of bigint, problem text, elapsed_ms bigint NOT NULL, warc bigint, warc_offset bigint, warc_length bigint,
  source bigint, PRIMARY KEY (page, run, shard));
CREATE TABLE link_row (
  shard smallint NOT NULL, kind smallint NOT NULL, source bigint NOT NULL, dst bigint NOT NULL, count bigint NOT NULL,
  first_run integer NOT NULL, last_run integer, anchor text, rel text);
CREATE INDEX link_by_range ON link_row USING brin (source) WITH (pages_per_range = 32);
CREATE TABLE past_row (
  shard smallint NOT NULL, source bigint NOT NULL, dst bigint NOT NULL, kind smallint NOT NULL, last_run integer NOT NULL,
  first_run integer NOT NULL, anchor text, rel text, count bigint NOT NULL, PRIMARY KEY (source, dst, kind, last_run, shard));
CREATE TABLE image_row (
  shard smallint NOT NULL, page bigint NOT NULL, seq bigint NOT NULL, url text NOT NULL, alt text, width bigint, height bigint,
  mime text, PRIMARY KEY (page, seq, shard));
CREATE TABLE warc_row (id bigint PRIMARY KEY, name text NOT NULL, length bigint NOT NULL, records bigint NOT NULL);
CREATE TABLE due_row (shard smallint NOT NULL, page bigint NOT NULL, rate double precision NOT NULL, due bigint, PRIMARY KEY (page, shard));
CREATE TABLE ack_row (run integer PRIMARY KEY, at bigint NOT NULL, by text, note text);
CREATE TABLE noise_row (shard smallint NOT NULL, host integer NOT NULL, text text NOT NULL, PRIMARY KEY (host, shard));
CREATE TABLE session_row (shard smallint NOT NULL, host integer NOT NULL, rules text NOT NULL, PRIMARY KEY (host, shard));
CREATE TABLE alias_rule_row (shard smallint NOT NULL, host integer NOT NULL, rules text NOT NULL, PRIMARY KEY (host, shard));
CREATE TABLE change_row (
  shard smallint NOT NULL, seq bigint NOT NULL, run integer NOT NULL, page bigint NOT NULL, flag smallint NOT NULL,
  at bigint NOT NULL, moved text, detail text, PRIMARY KEY (seq, shard));
CREATE TABLE around_row (shard smallint NOT NULL, run integer NOT NULL, page bigint NOT NULL, detail text NOT NULL, PRIMARY KEY (run, page, shard));
CREATE TABLE alias_row (
  shard smallint NOT NULL, host integer NOT NULL, page bigint NOT NULL, target bigint NOT NULL, rules bigint NOT NULL,
  name integer NOT NULL, tested smallint NOT NULL, PRIMARY KEY (host, page, shard));
CREATE TABLE trap_row (key bigint PRIMARY KEY, count bigint NOT NULL);
CREATE VIEW source_row AS SELECT source AS id, page FROM visit_row WHERE source IS NOT NULL;

CREATE FUNCTION strftime(format text, at double precision, kind text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
  $$SELECT to_char(to_timestamp($2) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')$$;
CREATE FUNCTION hex(bytes bytea) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$SELECT upper(encode($1, 'hex'))$$;
CREATE FUNCTION iif(condition boolean, so anycompatible, otherwise anycompatible) RETURNS anycompatible LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
  $$SELECT CASE WHEN $1 THEN $2 ELSE $3 END$$;
CREATE FUNCTION add_true(sum bigint, one boolean) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
  $$SELECT $1 + CASE WHEN $2 THEN 1 ELSE 0 END$$;
CREATE AGGREGATE sum(boolean) (SFUNC = add_true, STYPE = bigint, INITCOND = '0');

CREATE VIEW run AS SELECT id, kind, state, strftime('%Y-%m-%dT%H:%M:%fZ', started_at / 1000.0, 'unixepoch') AS started_at, strftime('%Y-%m-%dT%H:%M:%fZ', finished_at / 1000.0, 'unixepoch') AS finished_at, counters, settings FROM run_row;
CREATE VIEW host AS SELECT h.id, h.name, h.scheme, h.port, h.ip, r.text AS robots, strftime('%Y-%m-%dT%H:%M:%fZ', r.at / 1000.0, 'unixepoch') AS robots_at, r.sitemaps,
  r.crawl_delay, coalesce(t.pages, 0) AS pages, coalesce(t.errors, 0) AS errors, strftime('%Y-%m-%dT%H:%M:%fZ', h.first_seen / 1000.0, 'unixepoch') AS first_seen, r.status AS robots_status, strftime('%Y-%m-%dT%H:%M:%fZ', h.not_before / 1000.0, 'unixepoch') AS not_before, h.backoff_ms
  FROM host_row h LEFT JOIN robots_row r ON r.host = h.id LEFT JOIN tally_row t ON t.host = h.id;
CREATE VIEW page AS SELECT p.id, p.url, p.host AS host_id, CASE CASE WHEN p.kind <> 0 THEN p.kind ELSE coalesce(v.kind, 0) END WHEN 0 THEN 'FRONTIER' WHEN 1 THEN 'HTML' WHEN 2 THEN 'BINARY' WHEN 3 THEN 'DUPLICATE' WHEN 4 THEN 'DISALLOWED' WHEN 5 THEN 'DOMAIN_ERROR' WHEN 6 THEN 'TIMEOUT' WHEN 7 THEN 'BROWSER_ERROR' WHEN 8 THEN 'HTTP_ERROR' WHEN 9 THEN 'OUTSIDE' WHEN 10 THEN 'REDIRECT' WHEN 11 THEN 'LISTING' END AS kind, iif(v.status = 304, 200, v.status) AS status, v.mime, v.charset, v.length,
  CASE WHEN v.digest NOTNULL THEN lower(hex(v.digest)) END AS digest, v.simhash, v.title, v.lang, p.depth, p.priority,
  strftime('%Y-%m-%dT%H:%M:%fZ', p.at / 1000.0, 'unixepoch') AS discovered_at, (SELECT name FROM name_row n WHERE n.id = p.by) AS discovered_by, nullif(p.origin, 0) AS discovered_from,
  strftime('%Y-%m-%dT%H:%M:%fZ', v.at / 1000.0, 'unixepoch') AS fetched_at, (SELECT name FROM name_row n WHERE n.id = v.by) AS fetched_by, v.etag, v.last_modified,
  f.name AS warc_file, v.warc_offset, v.warc_length, coalesce(v.duplicate_of, iif(p.kind = 3, (SELECT a.target FROM alias_row a WHERE a.host = p.host AND a.page = p.id), NULL)) AS duplicate_of,
  (SELECT strftime('%Y-%m-%dT%H:%M:%fZ', d.due / 1000.0, 'unixepoch') FROM due_row d WHERE d.page = p.id) AS next_due,
  (SELECT count(*) FROM visit_row w WHERE w.page = p.id AND w.flag = 2) AS changes,
  (SELECT count(*) FROM visit_row w WHERE w.page = p.id) AS visits,
  (SELECT name FROM name_row n WHERE n.id = p.why) AS why, v.problem, v.elapsed_ms, v.transferred, p.redirects, (p.origin IS NULL)::integer AS seed
  FROM page_row p LEFT JOIN visit_row v ON v.page = p.id AND v.run = (SELECT max(run) FROM visit_row w WHERE w.page = p.id) LEFT JOIN warc_row f ON f.id = v.warc;
CREATE VIEW link AS SELECT v.page AS src, l.dst, CASE l.kind WHEN 0 THEN 'a' WHEN 1 THEN 'area' WHEN 2 THEN 'img' WHEN 3 THEN 'script' WHEN 4 THEN 'css' WHEN 5 THEN 'frame' WHEN 6 THEN 'form' WHEN 7 THEN 'redirect' WHEN 8 THEN 'canonical' WHEN 9 THEN 'sitemap' WHEN 10 THEN 'refresh' WHEN 11 THEN 'link' WHEN 12 THEN 'media' WHEN 13 THEN 'object' WHEN 14 THEN 'cite' WHEN 15 THEN 'onclick' WHEN 16 THEN 'js' WHEN 17 THEN 'header' WHEN 18 THEN 'text' WHEN 19 THEN 'feed' WHEN 20 THEN 'xml' WHEN 21 THEN 'entry' WHEN 22 THEN 'document' END AS kind, coalesce(l.anchor, '') AS anchor, coalesce(l.rel, '') AS rel,
  l.count, l.first_run, l.last_run FROM visit_row v JOIN link_row l ON l.source = v.source;
CREATE VIEW image AS SELECT page AS page_id, url, alt, width, height, mime FROM image_row;
CREATE VIEW visit AS SELECT v.run, v.page AS page_id, CASE v.flag WHEN 0 THEN 'NEW' WHEN 1 THEN 'SAM' WHEN 2 THEN 'UPD' WHEN 3 THEN 'MIS' WHEN 4 THEN 'ERR' END AS flag, strftime('%Y-%m-%dT%H:%M:%fZ', v.at / 1000.0, 'unixepoch') AS at, v.status,
         CASE WHEN v.digest NOTNULL THEN lower(hex(v.digest)) END AS digest, v.length, f.name AS warc_file, v.warc_offset, v.warc_length,
         CASE v.kind WHEN 0 THEN 'FRONTIER' WHEN 1 THEN 'HTML' WHEN 2 THEN 'BINARY' WHEN 3 THEN 'DUPLICATE' WHEN 4 THEN 'DISALLOWED' WHEN 5 THEN 'DOMAIN_ERROR' WHEN 6 THEN 'TIMEOUT' WHEN 7 THEN 'BROWSER_ERROR' WHEN 8 THEN 'HTTP_ERROR' WHEN 9 THEN 'OUTSIDE' WHEN 10 THEN 'REDIRECT' WHEN 11 THEN 'LISTING' END AS kind, (SELECT name FROM name_row n WHERE n.id = v.by) AS fetched_by, v.mime, v.charset, v.transferred, v.simhash, v.title, v.lang, v.etag, v.last_modified,
         v.duplicate_of, v.problem, v.elapsed_ms,
         (SELECT detail FROM around_row a WHERE a.run = v.run AND a.page = v.page) AS around
         FROM visit_row v LEFT JOIN warc_row f ON f.id = v.warc;
CREATE VIEW change AS SELECT c.seq, c.run, c.page AS page_id, p.url, CASE c.flag WHEN 0 THEN 'NEW' WHEN 1 THEN 'SAM' WHEN 2 THEN 'UPD' WHEN 3 THEN 'MIS' WHEN 4 THEN 'ERR' END AS flag, strftime('%Y-%m-%dT%H:%M:%fZ', c.at / 1000.0, 'unixepoch') AS at,
                 c.moved AS moved_to, c.detail FROM change_row c JOIN page_row p ON p.id = c.page;
CREATE VIEW ack AS SELECT run, strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch') AS at, by, note FROM ack_row;
CREATE VIEW link_past AS SELECT s.page AS src, l.dst, CASE l.kind WHEN 0 THEN 'a' WHEN 1 THEN 'area' WHEN 2 THEN 'img' WHEN 3 THEN 'script' WHEN 4 THEN 'css' WHEN 5 THEN 'frame' WHEN 6 THEN 'form' WHEN 7 THEN 'redirect' WHEN 8 THEN 'canonical' WHEN 9 THEN 'sitemap' WHEN 10 THEN 'refresh' WHEN 11 THEN 'link' WHEN 12 THEN 'media' WHEN 13 THEN 'object' WHEN 14 THEN 'cite' WHEN 15 THEN 'onclick' WHEN 16 THEN 'js' WHEN 17 THEN 'header' WHEN 18 THEN 'text' WHEN 19 THEN 'feed' WHEN 20 THEN 'xml' WHEN 21 THEN 'entry' WHEN 22 THEN 'document' END AS kind, coalesce(l.anchor, '') AS anchor, coalesce(l.rel, '') AS rel, l.count,
                 l.first_run, l.last_run FROM past_row l JOIN source_row s ON s.id = l.source;
CREATE VIEW link_url AS SELECT a.url AS src_url, b.url AS dst_url, CASE l.kind WHEN 0 THEN 'a' WHEN 1 THEN 'area' WHEN 2 THEN 'img' WHEN 3 THEN 'script' WHEN 4 THEN 'css' WHEN 5 THEN 'frame' WHEN 6 THEN 'form' WHEN 7 THEN 'redirect' WHEN 8 THEN 'canonical' WHEN 9 THEN 'sitemap' WHEN 10 THEN 'refresh' WHEN 11 THEN 'link' WHEN 12 THEN 'media' WHEN 13 THEN 'object' WHEN 14 THEN 'cite' WHEN 15 THEN 'onclick' WHEN 16 THEN 'js' WHEN 17 THEN 'header' WHEN 18 THEN 'text' WHEN 19 THEN 'feed' WHEN 20 THEN 'xml' WHEN 21 THEN 'entry' WHEN 22 THEN 'document' END AS kind, coalesce(l.anchor, '') AS anchor,
                 coalesce(l.rel, '') AS rel, l.count, s.page AS src, l.dst, l.first_run
                 FROM source_row s JOIN link_row l ON l.source = s.id JOIN page_row a ON a.id = s.page
                 JOIN page_row b ON b.id = l.dst WHERE l.last_run IS NULL;
CREATE VIEW redirect AS SELECT a.url AS src_url, b.url AS dst_url, v.status, s.page AS src, l.dst
                 FROM source_row s JOIN link_row l ON l.source = s.id JOIN page_row a ON a.id = s.page
                 JOIN page_row b ON b.id = l.dst
                 LEFT JOIN visit_row v ON v.page = s.page AND v.run = (SELECT max(run) FROM visit_row w WHERE w.page = s.page)
                 WHERE l.last_run IS NULL AND l.kind = 7;
CREATE VIEW alias AS SELECT p.url, t.url AS target_url, n.name AS rule, a.tested, a.page AS id, a.target, a.host AS host_id
             FROM alias_row a JOIN page_row p ON p.id = a.page JOIN page_row t ON t.id = a.target
             JOIN name_row n ON n.id = a.name;
CREATE VIEW host_count AS SELECT h.scheme, h.name, h.port, coalesce(known, 0) AS known, coalesce(fetched, 0) AS fetched, coalesce(html, 0) AS html,
                 coalesce("binary", 0) AS "binary", coalesce(duplicates, 0) AS duplicates, coalesce(errors, 0) AS errors,
                 coalesce(queued, 0) AS queued, coalesce(bytes, 0) AS bytes, h.id AS host_id
                 FROM host_row h LEFT JOIN (SELECT host_id, count(*) AS known, count(status) AS fetched, sum(kind = 'HTML') AS html,
                   sum(kind = 'BINARY') AS "binary", sum(kind = 'DUPLICATE') AS duplicates, sum(kind IN ('DOMAIN_ERROR', 'TIMEOUT', 'BROWSER_ERROR', 'HTTP_ERROR')) AS errors,
                   sum(kind = 'FRONTIER') AS queued, sum(transferred) AS bytes FROM page GROUP BY host_id) p ON p.host_id = h.id;

INSERT INTO project VALUES ('orbweaver', 1, 'demo', 16, '1-ef03563cfd1aaf23', 'x = 1', 1795000000000, 65537, 1025, 2, 3, 2, 4, 1);
INSERT INTO shard (id) SELECT generate_series(0, 15);
UPDATE shard SET pages = 2, fetched = 1, idle = 1, batch = 1 WHERE id = 10;
INSERT INTO worker (id, name, machine, alive, until, lease_ms, batch, nonce, weight, version, joined, beaten)
  VALUES (1, 'first', 'm', false, now() - interval '1 day', 15000, 1, 1, 1, '0.1', now() - interval '1 day', now() - interval '1 day');
INSERT INTO name_row VALUES (1, 'planter');
INSERT INTO run_row (id, kind, state, started_at, finished_at, counters, settings, budget_left) VALUES
  (1, 'crawl', 'stopped', 1794000000000, 1794000060000, '{}', 's', NULL), (2, 'crawl', 'running', 1795000000000, NULL, NULL, 's', 1000);
INSERT INTO host_row (shard, id, scheme, name, port, first_seen) VALUES (10, 1, 'http', 'site0.org', 80, 1794000000000);
INSERT INTO tally_row (shard, host, pages, errors, run) VALUES (10, 1, 1, 0, 1);
INSERT INTO page_row (shard, kind, id, url, host, depth, redirects, priority, rank, at, by) VALUES
  (10, 0, 1, 'http://site0.org/', 1, 0, 0, 1.0, 1, 1794000000000, 1), (10, 0, 2, 'http://site0.org/a', 1, 1, 0, 0.5, 2, 1794000000000, 1);
UPDATE page_row SET origin = 1 WHERE id = 2;
INSERT INTO visit_row (shard, flag, kind, page, run, at, by, status, length, transferred, digest, elapsed_ms, source)
  VALUES (10, 0, 1, 1, 1, 1794000001000, 1, 200, 4, 4, sha256('text'), 10, 1);
INSERT INTO digest_row VALUES (1, sha256('text'), 1);
INSERT INTO link_row (shard, kind, source, dst, count, first_run, anchor) VALUES (10, 0, 1, 2, 1, 1, 'words');
INSERT INTO seed (no, url) VALUES (1, 'http://site0.org/'), (2, 'http://site1.org/'), (3, 'http://site2.org/');
INSERT INTO letter (to_shard, sender, batch, letters, body) VALUES
  (10, 0, 1, 1, '\x28b52ffd2034a1010001000000b686ee839f3407706c616e74657200000011687474703a2f2f73697465302e6f72672f0000000000010000803f000000'),
  (14, 0, 1, 1, '\x28b52ffd2034a1010001000000b686ee839f3407706c616e74657200000011687474703a2f2f73697465312e6f72672f0000000000010000803f000000'),
  (2, 0, 1, 1, '\x28b52ffd2034a1010001000000b686ee839f3407706c616e74657200000011687474703a2f2f73697465322e6f72672f0000000000010000803f000000');
