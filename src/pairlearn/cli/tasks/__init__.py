"""Other questions than "same or different": who comes first, how much, which class.

`task` is the table of questions, each with its own words, labels and figures, and finds the question of a model;
`judging` sets answers beside those of baselines, with a verdict; `holdout` gets answers of pairs that were not learnt
from; `matrices` takes tables as similarities of all with all. `ranking`, `regressing` and `classifying` hold the steps
of the commands `rank`, `regress` and `classify`.
"""
