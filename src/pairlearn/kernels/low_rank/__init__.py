"""Base kernels of low rank: r features per example in place of a Gram matrix of all examples.

`kernel` has the wish (`LowRank`, or `Clipped` of a similarity that is no kernel) and what becomes of it at fit
(`Nystrom`), an ordinary kernel with features; `landmarks` has the ways to choose the examples that all others are
compared with.
"""
