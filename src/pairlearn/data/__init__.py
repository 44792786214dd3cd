"""Data to learn from: tables in files, fixed protocols, and synthetic tasks with known posteriors.

From a file to pairs: `reading` reads examples and pairs of any format, CSV and Parquet through `frames`, NumPy files
through `arrays`; `cells` turns cells into ids and names the place of bad ones, `labels` knows how files spell labels;
`tables` is what was read, with ids and labels as numbers (`texts`), and joins pairs to examples by their ids; tables of
pairs (`pair_columns`) are read in batches. `writing` writes scores and any other content, all or nothing, `appending`
tables part by part. `protocols` reads the fixed pairs and folds that everyone reports on, `synthetic` draws examples of
known classes and knows the best possible decision about them; `symbols` draws images.
"""

from pairlearn import _doors

__getattr__, __dir__, __all__ = _doors.attach(__name__, __file__)
