"""Examples whose kernel values float64 does not hold are refused by their scale, and no model is called usable."""

from __future__ import annotations

import numpy as np
import pytest

import pairlearn as pl
from pairlearn.errors import InputError

rng = np.random.default_rng(0)
X = rng.normal(size=(20, 3))
PAIRS = pl.all_pairs(X, reflexive=False)
Y = np.where(rng.random(len(PAIRS)) < 0.5, 1, -1)


@pytest.mark.filterwarnings("error::RuntimeWarning")  # one message is enough
@pytest.mark.parametrize(
    ("base", "scale"),
    [
        *(("rbf", 1e-160), ("rbf", 1e160), ("linear", 1e100), ("linear", 1e300), ("poly", 1e100)),
        *(("standardised", 1e160), ("standardised", 1e-200), ("cosine", 1e160), ("cosine", 1e-200)),
    ],
)
def test_scales_that_nothing_can_be_learnt_from(base: str, scale: float) -> None:
    machine = pl.PairSVC(base=base)
    with pytest.raises(InputError, match="scale the examples"):
        machine.fit(pl.Pairs(scale * X, PAIRS.left, PAIRS.right), Y)
    assert not hasattr(machine, "function_")


@pytest.mark.parametrize("gamma", [np.inf, np.nan, 10**400, True, 0.0])
def test_a_gamma_that_could_not_be_saved_is_refused(gamma: float) -> None:
    with pytest.raises(InputError, match="finite number > 0"):
        pl.kernels.Gaussian(gamma)
