"""Arcs of a graph as pairs of nodes: features of neighbourhoods, and diffusion between arcs that share a node.

`reading` checks what a graph is made from; `graph` is the graph, which gives its arcs or any candidates as `Pairs`;
`neighbourhoods` describes either end of an arc by its other arcs; `arc_diffusion` makes a pair kernel on the arcs, by
the `matrix_functions` exp, resolvent or a series.
"""

from pairlearn import _doors

__getattr__, __dir__, __all__ = _doors.attach(__name__, __file__)
