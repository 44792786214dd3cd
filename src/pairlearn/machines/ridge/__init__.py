"""Least squares on pairs: `pair_ridge` is the machine, `choosing` the choice of its α by what is left out."""
