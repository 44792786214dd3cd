"""Which pairs to train and test on: fair splits, a leak check, sampling, and labels inferred by transitivity.

`splits.py` holds the splitters for scikit-learn's `cv=`; `drawing.py` draws their test units (shares or folds) and
`tasks.py` says which pairs train and test once units are drawn; `parts.py` deals out several parts at once. `leaks.py`
finds what any two sets share. `sampling.py` chooses training pairs, with `numbering.py` counting through pairs that are
never listed and `mining.py` looking for hard negatives; `nested.py` draws growing training sets. `transitivity.py`
infers labels from labels. `scorers.py` judges models in scikit-learn's searches, and `search/` is the staged search for
kernel, C and training set.
"""

from pairlearn import _doors

__getattr__, __dir__, __all__ = _doors.attach(__name__, __file__)
