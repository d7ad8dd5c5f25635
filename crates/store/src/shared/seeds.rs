//! Which seeds does a run have, also those that came later?
//!
//! Seeds are numbered, so that a worker asks for those it does not know yet. A seed that redirects
//! makes its target a seed, on whichever worker that was seen.

use super::SharedProject;
use super::connect::SharedLine;
use crate::error::Result;

/// A seed to plant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedToPlant {
    /// Its canonical URL.
    pub url: String,
    /// The step of the project it belongs to.
    pub step: Option<u32>,
}

/// A seed of a shared project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedSeed {
    /// Its number, from 1.
    pub no: u64,
    /// Its canonical URL.
    pub url: String,
    /// The step of the project it belongs to.
    pub step: Option<u32>,
    /// The seed that has moved here.
    pub from: Option<String>,
}

impl SharedProject {
    /// The seeds numbered above `after`, in order.
    pub fn seeds_after(&mut self, after: u64) -> Result<Vec<SharedSeed>> {
        let sql = "SELECT no, url, step, origin FROM seed WHERE no > $1 ORDER BY no";
        self.with(|line| {
            let rows = line.wait("read the seeds", line.client().query(sql, &[&after.cast_signed()]))?;
            Ok(rows.iter().map(read).collect())
        })
    }

    /// Whether nothing was ever fetched of a seed, with the reason if one is recorded; `None` if
    /// something was, or if the seed is not known.
    pub fn why_unreached(&mut self, url: &str) -> Result<Option<Option<String>>> {
        let sql = "SELECT v.status IS NOT NULL, coalesce(v.problem, n.name) FROM page_row p
                   LEFT JOIN visit_row v ON v.page = p.id AND v.shard = p.shard LEFT JOIN name_row n ON n.id = p.why
                   WHERE p.origin IS NULL AND p.url = $1 ORDER BY v.run";
        self.with(|line| {
            let rows = line.wait("look for the seed", line.client().query(sql, &[&url]))?;
            let reached = rows.iter().any(|row| row.get::<_, bool>(0));
            Ok(rows.last().filter(|_| !reached).map(|row| row.get::<_, Option<String>>(1)))
        })
    }
}

fn read(row: &tokio_postgres::Row) -> SharedSeed {
    SharedSeed {
        no: row.get::<_, i64>(0).cast_unsigned(),
        url: row.get(1),
        step: row.get::<_, Option<i32>>(2).map(i32::cast_unsigned),
        from: row.get(3),
    }
}

/// Numbers and writes seeds that are not there yet, within a transaction. The project's row is
/// locked until it ends, so that numbers become visible in their order.
pub(super) fn write<'a>(
    line: &SharedLine,
    seeds: impl Iterator<Item = (&'a SeedToPlant, Option<&'a str>)>,
) -> Result<()> {
    let seeds: Vec<_> = seeds.collect();
    if seeds.is_empty() {
        return Ok(());
    }
    let urls: Vec<&str> = seeds.iter().map(|(seed, _)| seed.url.as_str()).collect();
    let steps: Vec<Option<i32>> = seeds.iter().map(|(seed, _)| seed.step.map(u32::cast_signed)).collect();
    let origins: Vec<Option<&str>> = seeds.iter().map(|(_, origin)| *origin).collect();
    let count = i64::try_from(seeds.len()).unwrap_or(0);
    let draw = "UPDATE project SET next_seed = next_seed + $1 RETURNING next_seed - $1";
    let first: i64 = line.wait("number the seeds", line.client().query_one(draw, &[&count]))?.get(0);
    let sql = "INSERT INTO seed (no, url, step, origin)
               SELECT $1 + n.at - 1, n.url, n.step, n.origin FROM unnest($2::text[], $3::integer[], $4::text[]) WITH ORDINALITY
                 AS n(url, step, origin, at)
               WHERE NOT EXISTS (SELECT 1 FROM seed s WHERE s.url = n.url AND s.step IS NOT DISTINCT FROM n.step)";
    line.wait("write the seeds", line.client().execute(sql, &[&first, &urls, &steps, &origins])).map(drop)
}
