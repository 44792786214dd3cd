"""The search on labelled pairs behind `PairSearch`: links, orders or numbers, of one table of examples or two.

In the order the data goes: `settings.py` is what there is to choose from (machine × pair kernel × base kernel × C);
`tasks.py` cuts the pairs into training and test as the question will be asked (new pairs, new examples on the left, on
the right, on both sides); `rivals.py` are the baselines of each question; `trials.py` fits and judges one setting on
one split; `runner.py` runs trials while there is time; `race.py` says which settings go on to more pairs and more
splits, and which are averaged; `finish.py` is the final fit, the final test and the refit on everything; `record.py`
writes down how the winner was found; `search.py` is the estimator around all this. The clock, the journal and what
counts as tried are those of `pairlearn.selection.search`.
"""
