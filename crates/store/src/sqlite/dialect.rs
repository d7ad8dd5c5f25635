//! What does PostgreSQL not understand of what SQLite says?
//!
//! The views are one text for both. Functions that only SQLite has are made in a project's schema
//! with their meaning there, and the few words that mean something else are exchanged here.

/// Functions and aggregates of SQLite that the views use.
pub(super) const FUNCTIONS: &str = r#"
CREATE OR REPLACE FUNCTION strftime(format text, at double precision, kind text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
  $$SELECT to_char(to_timestamp($2) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')$$;
CREATE OR REPLACE FUNCTION hex(bytes bytea) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$SELECT upper(encode($1, 'hex'))$$;
CREATE OR REPLACE FUNCTION iif(condition boolean, so anycompatible, otherwise anycompatible) RETURNS anycompatible LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
  $$SELECT CASE WHEN $1 THEN $2 ELSE $3 END$$;
CREATE OR REPLACE FUNCTION add_true(sum bigint, one boolean) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
  $$SELECT $1 + CASE WHEN $2 THEN 1 ELSE 0 END$$;
CREATE OR REPLACE AGGREGATE sum(boolean) (SFUNC = add_true, STYPE = bigint, INITCOND = '0');
"#;

/// How views join what belongs to one page or host. The tables of a shared project have its shard,
/// and where they are distributed by it, only joins that say so are made on each server by itself.
const OF_ONE_SHARD: [(&str, &str); 9] = [
    ("v.page = p.id", "v.shard = p.shard"),
    ("w.page = p.id", "w.shard = p.shard"),
    ("d.page = p.id", "d.shard = p.shard"),
    ("a.page = p.id", "a.shard = p.shard"),
    ("r.host = h.id", "r.shard = h.shard"),
    ("t.host = h.id", "t.shard = h.shard"),
    ("l.source = v.source", "l.shard = v.shard"),
    ("a.page = v.page", "a.shard = v.shard"),
    ("p.id = c.page", "p.shard = c.shard"),
];

/// A view's text as PostgreSQL wants it.
pub(super) fn translate(sql: &str) -> String {
    let joined = OF_ONE_SHARD
        .iter()
        .fold(sql.to_owned(), |sql, (join, shard)| sql.replace(join, &format!("{join} AND {shard}")));
    joined
        .replace("CREATE VIEW", "CREATE OR REPLACE VIEW")
        .replace("CROSS JOIN", "JOIN")
        .replace("coalesce(binary, 0) AS binary", "coalesce(\"binary\", 0) AS \"binary\"")
        .replace("AS binary,", "AS \"binary\",")
        .replace("p.origin IS NULL AS seed", "(p.origin IS NULL)::integer AS seed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_keep_their_conditions() {
        assert_eq!(translate("a CROSS JOIN b ON b.x = a.y"), "a JOIN b ON b.x = a.y");
        assert_eq!(translate("WHERE w.page = p.id)"), "WHERE w.page = p.id AND w.shard = p.shard)");
    }
}
