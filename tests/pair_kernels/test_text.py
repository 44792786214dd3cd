"""Pair kernels print as expressions: what is printed builds an equal kernel, and it stays short."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import pairlearn as pl
from pairlearn import kernels, pair_kernels
from pairlearn.kernels import Gaussian, Linear, Polynomial, Standardised
from pairlearn.kernels.mapped import Mapped
from pairlearn.pair_kernels import (
    CATALOG,
    PairKernel,
    from_table,
    on_blocks,
    on_invariant,
    on_signed,
    pair_kernel,
    table,
)

NAMES = {name: getattr(module, name) for module in (kernels, pair_kernels) for name in dir(module)}
WRITTEN = {
    **CATALOG,
    "on a base": pair_kernel("tensor_metric").on(Gaussian(0.5)),
    "multiple": 2.5 * pair_kernel("tensor").on(Linear()),
    "two bases": pair_kernel("tensor").on(Linear()) + pair_kernel("metric").on(Gaussian(0.3)),
    "a mixture": pair_kernel("tensor") + 3.0 * pair_kernel("metric"),
    "a table": from_table(table(0.25, ac_bd=1.0, base=Polynomial(3))),
    "a product": pair_kernel("tensor") * pair_kernel("metric") * on_invariant("rbf"),
    "a negative factor": pair_kernel("wedge") * pair_kernel("tensor") * on_signed(),
    "group features": pair_kernel("tensor") + 0.5 * on_signed("poly") + on_invariant(Linear() + 2.0 * Gaussian(1.0)),
    "blocks": on_blocks("linear", ("left", "right")),
    "power": pair_kernels.power("wedge", 3, 0.5),
    "gaussian": pair_kernels.gaussian(pair_kernels.group_linear(), 0.2),
    "balanced": pair_kernels.poly_tensor(3).balanced(),
    "skewed": (pair_kernels.gaussian("difference") + pair_kernels.poly_tensor(2, 0.5)).skewed(),
    "skewed blocks": on_blocks("rbf").skewed(),
    "tables and a balanced part": pair_kernel("tensor") + pair_kernels.gaussian("wedge").balanced(),
}


@pytest.mark.parametrize("kernel", WRITTEN.values(), ids=WRITTEN)
def test_what_is_printed_builds_the_kernel(kernel: PairKernel) -> None:
    assert eval(repr(kernel), dict(NAMES)) == kernel
    assert len(repr(kernel)) < 300


@pytest.mark.parametrize("name", CATALOG)
def test_names_are_printed(name: str) -> None:
    assert repr(pair_kernel(name)) == f"pair_kernel({name!r})"
    assert repr(pl.PairSVC(pair_kernel(name))) == f"PairSVC(kernel=pair_kernel({name!r}))"


def test_arrays_are_printed_by_their_shape() -> None:
    ring = pl.graphs.Graph.from_arcs(np.arange(400), (np.arange(400) + 1) % 400, nodes=np.eye(400)[:, :2] + 1.0)
    kernel = pl.graphs.diffusion(ring, pair_kernel("tensor").on(Linear()), strength=0.1)
    assert "Arcs(400 arcs, 400 nodes, " in repr(kernel)
    assert "Finite((400, 400) float64, " in repr(kernel)
    assert len(repr(kernel)) < 150
    scored = pair_kernels.on_score(pl.CosineBaseline())
    assert "ModelScores(CosineBaseline, " in repr(scored)
    assert len(repr(Standardised().resolved(np.eye(5, 300)))) < 60
    assert repr(Mapped(np.eye(300))).startswith("Mapped((300, 300) float64, ")
    assert repr(kernels.Gram(Linear(), np.eye(300))) == "Gram(Linear(), 300 examples)"
    assert len(repr(kernels.spectrum_report(np.eye(300)))) < 100


def test_the_zero_kernel_prints() -> None:
    assert eval(repr(pair_kernel("wedge").balanced()), dict(NAMES)) == PairKernel(())


def test_what_was_derived_is_no_part_of_the_value() -> None:
    """Hashes of fitted models go by pickles: a kernel that was asked for its symmetry is still the same kernel."""
    asked, fresh = (pair_kernels.gaussian("tensor") + pair_kernel("metric") for _ in range(2))
    assert (asked.symmetry, asked.order_invariant, len(asked.split()[0])) == ("symmetric", True, 1)
    assert pickle.dumps(asked) == pickle.dumps(fresh)
    assert pickle.loads(pickle.dumps(asked)) == fresh
