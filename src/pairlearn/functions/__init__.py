"""What was learnt: a function g(a, b) of pairs, from support examples alone.

`function` is the learnt function itself, a frozen value that model files store: support pairs, their coefficients, and
what the base kernels need of their examples. Pairs to score become a `batch`: the examples that occur in them, each
once, and what the kernel's views show. `parts` scores them: a quadratic form per base for all terms of degree ≤ 2, a
weight vector per view with features; only what is left over is computed from kernel values, pair by pair.
"""
