//! Does the graph agree with the catalogue?

use super::mark;
use crate::{AnswerError, Result};
use orb_graph::{Fingerprint, GraphError, GraphFreshness, Manifest, SeenLink, WebGraph, Witness};
use orb_store::{CatalogueReader, CheckReport, ProjectDir};

/// Verifies the graph's checksums, compares it with the catalogue at its mark, and adds findings to
/// a report. A project without a graph has none.
pub(crate) fn check_graph(project: &ProjectDir, report: &mut CheckReport) -> Result<()> {
    let graph = match WebGraph::open(&project.graph()) {
        Err(GraphError::Missing { .. }) => return Ok(()),
        other => other,
    };
    match graph.and_then(|graph| graph.verify().and_then(|()| Ok((graph.fingerprint()?, graph)))) {
        Ok((held, graph)) => {
            if let Err(e) = graph.ranks().and_then(|ranks| ranks.map_or(Ok(()), |ranks| ranks.verify())) {
                report.find("graph", e.to_string());
            }
            let reader = CatalogueReader::open(project)?;
            reader.at_one_moment(|reader| compare(reader, graph.manifest(), &held, report))
        }
        Err(e @ (GraphError::Damaged { .. } | GraphError::OtherFormat { .. })) => {
            report.find("graph", e.to_string());
            Ok(())
        }
        Err(e) => Err(e.into()),
    }
}

fn compare(reader: &CatalogueReader, manifest: &Manifest, held: &Fingerprint, report: &mut CheckReport) -> Result<()> {
    let current = match manifest.mark.standing(&mark(&reader.extent()?)) {
        GraphFreshness::Foreign => {
            report.find("graph", "it was built from another catalogue; rebuild the graph");
            return Ok(());
        }
        GraphFreshness::Behind { batches, .. } => {
            let note = format!("the graph is {batches} batches older than the catalogue: its links were not compared");
            report.notes.push(note);
            false
        }
        GraphFreshness::Current => true,
    };
    let mut witness = Witness::new(&manifest.options, manifest.mark.pages);
    reader.each_url(|page, _, url| {
        witness.page(page, url);
        Ok::<_, AnswerError>(())
    })?;
    if current {
        reader.each_link(|link| {
            let orb_store::LinkFact { src, dst, kind, nofollow, gone } = *link;
            witness.link(&SeenLink { src, dst, kind, nofollow, gone });
            Ok::<_, AnswerError>(())
        })?;
    }
    let told = witness.finish();
    let mut differ = |what: &str, here: orb_graph::Sum, there: orb_graph::Sum| {
        if here != there {
            let (here, there) = (here.count, there.count);
            report.find("graph", format!("its {what} ({here}) are not the catalogue's ({there})"));
        }
    };
    differ("pages", held.pages, told.pages);
    if current {
        differ("arcs", held.arcs, told.arcs);
        differ("other links", held.rest, told.rest);
        report.counts.arcs = held.arcs.count;
    }
    Ok(())
}
