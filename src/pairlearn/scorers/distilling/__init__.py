"""A smaller, quicker scorer from a fitted one, with a stated loss.

A fitted model is taken apart (`terms`): a sum of bilinear forms of rows of examples, of distances, and a number. The
rows (`rows`) are cut to what scores need (`cuts`), and become a function of few numbers per example (`function`), which
a `scorer` carries. `distil` is the way from a model to it, `loss` what it costs.
"""
