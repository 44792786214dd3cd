"""The staged search for kernel, C and training set behind `StagedSearch` and `pairlearn select`.

In the order the data goes: `settings.py` is what there is to choose from (pair kernel × base kernel × C × baseline to
start from); `sizes.py` how large the training sets are, step by step; `development.py` draws these sets from the
examples; `trials.py` fits one family of machines, or one baseline, on one set, and `ended.py` says whether that told
something; `preparation.py` makes what several
fits share (Gram matrices, units of C, scores of baselines); `journal.py` keeps every trial in a file, so that a killed
search goes on; `clock.py` tells what is left of the budget and what work will take; `runner.py` runs trials in parallel
until their time is up; `results.py` compares them and says which settings go on; `stages.py` is the search itself,
three tasks of rising difficulty; `finish.py` the final fit, the final test and the refit on all classes; `record.py`
names the winner and writes down how it was found; `staged.py` is the estimator around all this.
"""
