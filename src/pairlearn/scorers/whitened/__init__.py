"""Comparison in the space of a base kernel, without what varies within classes, in units of what strangers score.

`views` says what there is to choose from (`View`), `spaces` whitens features, `learnt` holds what a view became at fit
and scores with it, `scorer` is the estimator.
"""
