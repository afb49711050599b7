"""The network: spins and common causes are nodes, the couplings that are there are edges.

An edge has the coupling ``J`` with its ``error``, the ``probability`` that it is there, and as ``weight`` the size
of J without its sign, since layouts and most measures of networks want weights that are not negative. A node has
its ``field`` with the ``error``, and is a "spin" or a "cause". Nodes are called by their names if these are all
different, else by their numbers.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable
from typing import IO, Any
from xml.sax.saxutils import escape, quoteattr

from ..edges import Coupling
from ..texts import visible
from ._fit import Choices, Fit, Over, finite

_KINDS: dict[type, str] = {str: "string", float: "double", int: "int", bool: "boolean"}
_OF_NODES = {"name": "string", "kind": "string", "field": "double", "error": "double"}
_OF_EDGES = {"weight": "double", "J": "double", "error": "double", "probability": "double"}


def ids_of(labels: list[str]) -> list[Hashable]:
    """What nodes are called."""
    return list(labels) if len(set(labels)) == len(labels) else list(range(len(labels)))


def _nodes(fit: Fit, choices: Choices) -> list[dict[str, Any]]:
    """Of each node what is known; None where nothing is."""
    n = len(fit.names)
    return [
        {"name": name, "kind": "spin" if i < n else "cause", "field": field, "error": error}
        for i, name, field, error in fit.fields(choices)
    ]


def _edge(pair: Coupling) -> dict[str, Any]:
    return {"weight": abs(pair.J), "J": pair.J, "error": pair.error, "probability": pair.probability}


def networkx_of(fit: Fit, choices: Choices) -> Any:
    """A ``networkx.Graph``."""
    try:
        import networkx
    except ImportError as error:
        raise ImportError("to_networkx needs networkx: pip install 'bayesing[network]'.") from error
    ids = ids_of(fit.labels)
    graph = networkx.Graph(**_known(fit.about(choices)))  # which GraphML and GEXF can hold
    graph.add_nodes_from(zip(ids, map(_known, _nodes(fit, choices)), strict=True))
    graph.add_edges_from((ids[pair.i], ids[pair.j], _edge(pair)) for pair in fit.edges(choices))
    return graph


def _known(values: dict[str, Any]) -> dict[str, Any]:
    """Without what is None."""
    return {key: value for key, value in values.items() if value is not None}


def _texts(values: Iterable[tuple[str, Any]]) -> list[tuple[str, str]]:
    """Attributes as they are written in XML, which has no control characters and no empty numbers."""
    return [
        (key, value if isinstance(value, str) else repr(value))
        for key, value in ((key, visible(v) if isinstance(v, str) else finite(v)) for key, v in values)
        if value is not None
    ]


def write_graphml(file: IO[bytes], fit: Fit, choices: Choices, over: Over) -> str:
    """GraphML, which networkx, igraph, Cytoscape, yEd and Gephi read."""
    ids = [visible(name) for name in ids_of([visible(name) for name in fit.labels])]
    about = _known(fit.about(choices))
    kinds = {key: _KINDS[type(value)] for key, value in about.items()}
    edges = fit.edges(choices)

    def put(text: str) -> None:
        file.write(text.encode() + b"\n")

    put('<?xml version="1.0" encoding="UTF-8"?>')
    put('<graphml xmlns="http://graphml.graphdrawing.org/xmlns">')
    for domain, keys in (("graph", kinds), ("node", _OF_NODES), ("edge", _OF_EDGES)):
        for key, kind in keys.items():
            put(f'<key id="{domain}-{key}" for="{domain}" attr.name="{key}" attr.type="{kind}"/>')
    put('<graph edgedefault="undirected">')
    for key, value in about.items():
        text = str(value).lower() if isinstance(value, bool) else visible(value)
        put(f'<data key="graph-{key}">{escape(text)}</data>')
    for name, node in zip(ids, _nodes(fit, choices), strict=True):
        data = "".join(f'<data key="node-{k}">{escape(v)}</data>' for k, v in _texts(node.items()))
        put(f"<node id={quoteattr(name)}>{data}</node>")
    for pair in over(edges, max(1, len(edges))):
        data = "".join(f'<data key="edge-{k}">{v}</data>' for k, v in _texts(_edge(pair).items()))
        put(f"<edge source={quoteattr(ids[pair.i])} target={quoteattr(ids[pair.j])}>{data}</edge>")
    put("</graph>\n</graphml>")
    return _size(fit, len(edges))


def write_gexf(file: IO[bytes], fit: Fit, choices: Choices, over: Over) -> str:
    """GEXF, the format of Gephi."""
    ids = [visible(name) for name in ids_of([visible(name) for name in fit.labels])]
    edges = fit.edges(choices)
    of_nodes = [key for key in _OF_NODES if key != "name"]  # which is the label
    of_edges = [key for key in _OF_EDGES if key != "weight"]  # which the format has itself

    def put(text: str) -> None:
        file.write(text.encode() + b"\n")

    def values(record: dict[str, Any], keys: list[str]) -> str:
        found = _texts((str(keys.index(key)), record[key]) for key in keys)
        return "".join(f"<attvalue for={quoteattr(k)} value={quoteattr(v)}/>" for k, v in found)

    put('<?xml version="1.0" encoding="UTF-8"?>')
    put('<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2">')
    put('<graph defaultedgetype="undirected" mode="static">')
    for domain, keys, kinds in (("node", of_nodes, _OF_NODES), ("edge", of_edges, _OF_EDGES)):
        put(f'<attributes class="{domain}" mode="static">')
        for k, key in enumerate(keys):
            put(f'<attribute id="{k}" title="{key}" type="{kinds[key]}"/>')
        put("</attributes>")
    put("<nodes>")
    for name, node in zip(ids, _nodes(fit, choices), strict=True):
        label = quoteattr(visible(node["name"]))
        put(
            f"<node id={quoteattr(name)} label={label}><attvalues>{values(node, of_nodes)}</attvalues></node>"
        )
    put("</nodes>\n<edges>")
    for k, pair in enumerate(over(edges, max(1, len(edges)))):
        ends = f"source={quoteattr(ids[pair.i])} target={quoteattr(ids[pair.j])}"
        record = _edge(pair)
        found = f"<attvalues>{values(record, of_edges)}</attvalues>"
        put(f'<edge id="{k}" {ends} weight="{record["weight"]!r}">{found}</edge>')
    put("</edges>\n</graph>\n</gexf>")
    return _size(fit, len(edges))


def write_json(file: IO[bytes], fit: Fit, choices: Choices, over: Over) -> str:
    """Nodes and all pairs, as networkx's ``node_link_graph`` and D3 read them; ``edge`` says which are there."""
    ids = ids_of(fit.labels)

    def put(text: str) -> None:
        file.write(text.encode())

    def record(values: dict[str, Any]) -> str:
        return json.dumps({k: finite(v) if isinstance(v, float) else v for k, v in values.items()})

    put('{"directed": false, "multigraph": false, "graph": ' + record(fit.about(choices)) + ',\n"nodes": [\n')
    nodes = zip(ids, _nodes(fit, choices), strict=True)
    put(",\n".join(record({"id": name} | node) for name, node in nodes) + '],\n"edges": [')
    comma = "\n"
    for pair, flag in over(fit.pairs(choices), max(1, fit.n_pairs(choices))):
        ends = {"source": ids[pair.i], "target": ids[pair.j]}
        put(comma + record(ends | _edge(pair) | {"edge": bool(flag)}))
        comma = ",\n"
    put("]}\n")
    return f"{len(ids)} nodes and {fit.n_pairs(choices)} pairs"


def _size(fit: Fit, edges: int) -> str:
    return f"{len(fit.labels)} nodes and {edges} edge{'s' * (edges != 1)}"
