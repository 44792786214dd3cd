"""What a machine has to beat: untrained and learnt baselines, one registry, and a machine that starts from them.

In the order the data go: `training` takes the rows, pairs and classes to learn from; `covariances` has the algebra;
`learnt` is what learnt baselines share, `linear` (PCA, WCCN, RCA), `plda` (LDA, KISSME, PLDA) and `logistic` the
baselines themselves; `comparisons` scores rows by Euclid or cosine, which alone are the `untrained` ones; `baseline` is
the threshold that all have. `registry` is the table of them by name, and `stacked` a PairSVC that starts from several.
`ridge` is least squares on all pairs, `columns` a baseline of one representation; `labelled` has what a ranker and a
regression on pairs have to beat.
A new baseline is one class with its `presets` and one line in `__init__.pyi`: table, files, laws and reports follow.
"""

from pairlearn import _doors

__getattr__, __dir__, __all__ = _doors.attach(__name__, __file__)
