"""Everything compiled: arrays in, arrays out; no classes, no flags, and a plain twin of each in the tests.

Values of pair kernels: `tables` fills blocks from a base Gram matrix, `products` unpacks matrix products over
examples into values of pairs, `blocks` copies between working sets. Solvers: `rates` (what a move of one coefficient
gains), `steps` (one step of SMO), `smo` (bursts on an explicit matrix) and `plain` (step by step, rows from outside).
Online metrics: `pola` (the smallest eigenvalue after an update). Images: `images` (histograms, codes, matching).
Records: `terms` (words and n-grams as sparse rows, what two rows share, nearest rows). All pairs of examples in
classes: `scans` (their coefficients and extremes, block by block). `threaded` makes those loops that run on several
threads outlive a fork.

They are loaded when they are first used, `loops.products.pair_dots`: Numba takes longer to load than small work.
"""

from pairlearn import _doors

__getattr__, __dir__, __all__ = _doors.attach(__name__, __file__)
