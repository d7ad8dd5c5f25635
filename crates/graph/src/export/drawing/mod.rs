//! How is a graph drawn as an interactive page?
//!
//! One HTML file without network access. The page, its style and its scripts are separate files
//! here and are inlined; the graph is embedded as JSON. The force-directed layout is ours and runs
//! in the browser ([layout.js](layout.js)). Titles and URLs are untrusted: the JSON contains no
//! `<`, so it cannot close the script element, and a Content-Security-Policy forbids the page to
//! load anything.

use super::vertex::Vertex;
use super::xml::Escaped;
use super::{ArcEnd, GraphSink};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::io::{self, Write};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const LAYOUT: &str = include_str!("layout.js");
const SCRIPT: &str = include_str!("page.js");

/// More vertices than a browser lays out in a few seconds.
const MOST: usize = 5_000;

/// Maximum length of a title.
const TITLE: usize = 200;

pub(super) struct Drawing<W: Write> {
    out: W,
    title: String,
    nodes: Vec<Value>,
    /// Index of each vertex in the drawing, by its number.
    places: HashMap<u64, usize>,
    arcs: Vec<usize>,
    hosts: Vec<(String, usize)>,
    host_places: HashMap<String, usize>,
}

impl<W: Write> Drawing<W> {
    pub(super) fn new(out: W, title: &str) -> Self {
        let (places, host_places) = (HashMap::new(), HashMap::new());
        let (nodes, arcs, hosts) = (Vec::new(), Vec::new(), Vec::new());
        Self { out, title: title.to_owned(), nodes, places, arcs, hosts, host_places }
    }

    fn host(&mut self, name: &str) -> usize {
        let place = match self.host_places.get(name) {
            Some(place) => *place,
            None => {
                self.hosts.push((name.to_owned(), 0));
                self.host_places.insert(name.to_owned(), self.hosts.len() - 1);
                self.hosts.len() - 1
            }
        };
        self.hosts[place].1 += 1;
        place
    }

    /// The drawing as JSON, hosts ordered by number of pages.
    fn graph(&mut self) -> Value {
        let mut order: Vec<usize> = (0..self.hosts.len()).collect();
        order.sort_by_key(|host| std::cmp::Reverse(self.hosts[*host].1));
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, host)| place[*host] = at);
        for node in &mut self.nodes {
            let host = node["h"].as_u64().and_then(|h| usize::try_from(h).ok()).unwrap_or(0);
            node["h"] = json!(place[host]);
        }
        let hosts: Vec<&str> = order.iter().map(|host| self.hosts[*host].0.as_str()).collect();
        let about = format!("{} pages, {} links", self.nodes.len(), self.arcs.len() / 2);
        json!({"about": about, "hosts": hosts, "nodes": self.nodes, "arcs": self.arcs})
    }
}

impl<W: Write> GraphSink for Drawing<W> {
    fn vertex(&mut self, vertex: &Vertex<'_>) -> io::Result<()> {
        if self.nodes.len() == MOST {
            return Err(io::Error::other(format!("a drawing holds {MOST} pages at most; --top N chooses the best")));
        }
        let mut node = Map::new();
        node.insert("n".to_owned(), json!(vertex.name));
        if let Some(title) = vertex.title.filter(|title| !title.trim().is_empty()) {
            node.insert("t".to_owned(), json!(title.chars().take(TITLE).collect::<String>()));
        }
        node.insert("h".to_owned(), json!(self.host(vertex.host())));
        if let Some(s) = &vertex.merit {
            for (key, x) in [("p", s.pagerank), ("u", s.hub), ("a", s.authority), ("m", s.harmonic)] {
                node.insert(key.to_owned(), json!(x));
            }
            for (key, n) in [("i", s.indegree), ("o", s.outdegree)] {
                node.insert(key.to_owned(), json!(n));
            }
            node.insert("b".to_owned(), json!(s.bowtie.name()));
        }
        self.places.insert(vertex.number, self.nodes.len());
        self.nodes.push(Value::Object(node));
        Ok(())
    }

    fn arc(&mut self, from: ArcEnd<'_>, to: ArcEnd<'_>) -> io::Result<()> {
        if let (Some(from), Some(to)) = (self.places.get(&from.number), self.places.get(&to.number)) {
            self.arcs.extend([*from, *to]);
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        let graph = serde_json::to_string(&self.graph())?.replace('<', "\\u003c");
        let title = Escaped(&self.title).to_string();
        let mut rest = PAGE;
        // A single pass: inserted text is not searched for placeholders again.
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, after) = after.split_once("}}").unwrap_or((after, ""));
            self.out.write_all(before.as_bytes())?;
            match name {
                "title" => self.out.write_all(title.as_bytes())?,
                "style" => self.out.write_all(STYLE.as_bytes())?,
                "graph" => self.out.write_all(graph.as_bytes())?,
                _ => {
                    self.out.write_all(LAYOUT.as_bytes())?;
                    self.out.write_all(SCRIPT.as_bytes())?;
                }
            }
            rest = after;
        }
        self.out.write_all(rest.as_bytes())?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_that_is_a_script_stays_text() {
        let mut out = Vec::new();
        let mut drawing = Box::new(Drawing::new(&mut out, "</title><script>alert(1)</script>{{graph}}"));
        let vertex = Vertex {
            number: 9,
            name: "http://a.test/</script>",
            title: Some("</script><script>alert(2)</script> {{script}}"),
            merit: None,
        };
        drawing.vertex(&vertex).unwrap();
        drawing.arc(ArcEnd { number: 9, name: "" }, ArcEnd { number: 9, name: "" }).unwrap();
        drawing.finish().unwrap();
        let page = String::from_utf8(out).unwrap();
        assert!(!page.contains("<script>alert"), "{page}");
        assert_eq!(page.matches("</script>").count(), 2);
        assert_eq!(page.matches("class Layout").count(), 1);
        assert!(page.contains("\"arcs\":[0,0]"));
    }

    #[test]
    fn the_page_asks_nothing_of_any_network() {
        for (part, text) in [("page", PAGE), ("style", STYLE), ("layout", LAYOUT), ("script", SCRIPT)] {
            for word in ["src=", "url(", "@import", "fetch(", "XMLHttpRequest", "import("] {
                assert!(!text.contains(word), "{part} has {word}");
            }
        }
        assert!(PAGE.contains("default-src 'none'"));
    }
}
