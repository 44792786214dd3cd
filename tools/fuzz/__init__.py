"""Mutated files for every reader, in worker processes with limits of time and memory: `make fuzz`.

`harness` runs the cases and judges them. Every other file is a target: a module with `NAME`, `make(rng, folder)`, which
writes one mutated file and returns its path, and `use(path)`, which goes through the doors that users go through and
returns a word, or raises. `mutations` holds what they share.
"""
