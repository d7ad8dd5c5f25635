"""Reads a graph as networkx does, and tells its nodes and arcs as JSON. Arguments: the format and the file."""

import json
import sys

import networkx


def read(form, path):
    if form == "graphml":
        return networkx.read_graphml(path)
    if form == "gexf":
        return networkx.read_gexf(path)
    if form == "edges":
        return networkx.read_edgelist(path, create_using=networkx.DiGraph, delimiter="\t")
    raise SystemExit(f"no such format: {form}")


def main():
    graph = read(*sys.argv[1:])
    if not graph.is_directed() or graph.is_multigraph():
        raise SystemExit("not a simple directed graph")
    nodes = sorted([str(node), facts] for node, facts in graph.nodes(data=True))
    arcs = sorted([str(a), str(b)] for a, b in graph.edges())
    json.dump({"nodes": nodes, "arcs": arcs}, sys.stdout)


main()
