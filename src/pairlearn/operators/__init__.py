"""Gram matrices of pair kernels, by what they can do."""
