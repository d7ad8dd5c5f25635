"""Ranks a graph as networkx does: the scores of every node as JSON.

Arguments: a file of arcs (two numbers a line), the number of nodes, then what to compute; harmonic centrality may name the nodes it is wanted for (harmonic:3,5).
"""

import json
import sys

import networkx


def bow_tie(graph):
    core = max(networkx.strongly_connected_components(graph), key=lambda c: (len(c), -min(c)))
    seed = next(iter(core))
    after = networkx.descendants(graph, seed) | core
    before = networkx.ancestors(graph, seed) | core
    reverse = graph.reverse(copy=False)
    reach = lambda g, nodes: {node for layer in networkx.bfs_layers(g, nodes) for node in layer} if nodes else set()
    from_in = reach(graph, before - core)
    to_out = reach(reverse, after - core)
    joined = next(part for part in networkx.weakly_connected_components(graph) if seed in part)

    def part(node):
        if node in core:
            return "core"
        if node in before:
            return "in"
        if node in after:
            return "out"
        if node in from_in and node in to_out:
            return "tube"
        return "tendril" if node in joined else "disconnected"

    return [part(node) for node in range(graph.number_of_nodes())]


def main():
    nodes, wanted = int(sys.argv[2]), sys.argv[3:]
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(nodes))
    with open(sys.argv[1], encoding="ascii") as arcs:
        graph.add_edges_from(tuple(map(int, line.split())) for line in arcs)
    every = lambda scores: [scores[node] for node in range(nodes)]
    told = {}
    for what in wanted:
        if what == "pagerank":
            told[what] = every(networkx.pagerank(graph, alpha=0.85, tol=1e-14, max_iter=1000))
        elif what == "hits":
            hubs, authorities = networkx.hits(graph, max_iter=10000, tol=1e-12)
            told["hub"], told["authority"] = every(hubs), every(authorities)
        elif what.startswith("harmonic"):
            some = [int(node) for node in what.partition(":")[2].split(",") if node] or list(range(nodes))
            scores = networkx.harmonic_centrality(graph, nbunch=some)
            told["harmonic"] = [scores[node] for node in some]
        elif what == "components":
            told[what] = [0] * nodes
            for component in networkx.strongly_connected_components(graph):
                first = min(component)
                for node in component:
                    told[what][node] = first
        elif what == "bowtie":
            told[what] = bow_tie(graph)
    json.dump(told, sys.stdout)


main()
