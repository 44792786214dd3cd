"""The constructors of the machines, made from one definition, are what written ones would be."""

from __future__ import annotations

import inspect
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import pairlearn as pl
from pairlearn.machines.machine import PairMachine

SIGNATURES: dict[str, tuple[str, str]] = {
    "PairSVC": (
        "kernel base C tol class_weight time_budget memory_budget random_state",
        "warm_start mirrored solver callback checkpoint",
    ),
    "PairRanker": (
        "kernel base C draws tol time_budget memory_budget random_state",
        "warm_start mirrored solver callback checkpoint",
    ),
    "PairSVR": (
        "kernel base C epsilon tol time_budget memory_budget random_state",
        "warm_start mirrored solver callback checkpoint",
    ),
    "PairRidge": ("kernel base alpha tol time_budget memory_budget", "unseen warm_start callback"),
    "OneClassPairSVM": (
        "kernel base nu tol time_budget memory_budget random_state",
        "warm_start mirrored solver callback checkpoint",
    ),
    "OneClassPairSphere": (
        "kernel base nu tol time_budget memory_budget random_state",
        "warm_start solver callback checkpoint",
    ),
    "TransductivePairSVC": (
        "kernel base C C_unlabelled positive_share max_switches anneal tol time_budget memory_budget random_state",
        "mirrored solver callback",
    ),
}
every_machine = pytest.mark.parametrize("name", SIGNATURES)


def machine(name: str) -> type[PairMachine]:
    return getattr(pl, name)


def given(name: str) -> dict[str, object]:
    """A value of its own for every parameter."""
    return {parameter: object() for parameter in " ".join(SIGNATURES[name]).split()}


def test_every_machine_is_listed() -> None:
    kinds = [getattr(pl.machines, name) for name in pl.machines.__all__]
    assert {kind.__name__ for kind in kinds if issubclass(kind, PairMachine)} == set(SIGNATURES)


@every_machine
def test_the_signature_is_the_promised_one(name: str) -> None:
    found = list(inspect.signature(machine(name)).parameters.values())
    positional, keyword = (names.split() for names in SIGNATURES[name])
    assert [one.name for one in found if one.kind is one.POSITIONAL_OR_KEYWORD] == positional
    assert [one.name for one in found if one.kind is one.KEYWORD_ONLY] == keyword
    assert len(found) == len(positional) + len(keyword)
    assert all(one.default is not one.empty and one.annotation is not one.empty for one in found)


@every_machine
def test_parameters_are_stored_as_given_by_place_and_by_name(name: str) -> None:
    values = given(name)
    positional = SIGNATURES[name][0].split()
    kind: Any = machine(name)
    by_place = kind(*(values[one] for one in positional), **{k: v for k, v in values.items() if k not in positional})
    for model in (by_place, kind(**values), kind().set_params(**values)):
        assert vars(model) == values
        assert model.get_params(deep=False) == values


@every_machine
def test_defaults_are_those_of_the_signature(name: str) -> None:
    defaults = {one.name: one.default for one in inspect.signature(machine(name)).parameters.values()}
    assert machine(name)().get_params() == vars(machine(name)()) == defaults
    assert repr(machine(name)()) == f"{name}()"


@every_machine
def test_clone_and_pickle_keep_every_parameter(name: str) -> None:
    model = machine(name)(tol=0.5, base="poly", time_budget=3.0)
    for copy in (clone(model), pickle.loads(pickle.dumps(model))):
        assert type(copy) is type(model)
        assert copy.get_params() == model.get_params()
    assert repr(model) == f"{name}(base='poly', time_budget=3.0, tol=0.5)"


@every_machine
def test_a_mistyped_parameter_is_refused_with_the_name_of_the_machine(name: str) -> None:
    kind: Any = machine(name)
    with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword argument 'kernal'"):
        kind(kernal="tensor")
    with pytest.raises(TypeError, match=rf"{name}\(\) too many positional arguments"):
        kind(*range(30))


def test_what_a_machine_does_not_have_is_refused() -> None:
    for kind, name in ((pl.OneClassPairSphere, "mirrored"), (pl.TransductivePairSVC, "warm_start")):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
            kind(**{name: True})
        with pytest.raises(ValueError, match="Invalid parameter"):
            kind().set_params(**{name: True})


# --------------------------------------------------------------------------- seeds

X, CLASSES = pl.data.double_interval(12, 5, n=20, seed=0)
PAIRS = pl.all_pairs(X, reflexive=False)
Y = PAIRS.labels(CLASSES)


def seeds(monkeypatch: pytest.MonkeyPatch, random_state: int | None, times: int = 2) -> list[int]:
    """What the solver is seeded with, fit after fit."""
    from pairlearn.machines import machine as module

    found: list[int] = []
    known = module.solver_for

    def noted(*arguments: Any) -> Any:
        if arguments[3]:  # one without memory is made to see whether there is one of this name
            found.append(arguments[4])
        return known(*arguments)

    monkeypatch.setattr(module, "solver_for", noted)
    for _ in range(times):
        pl.PairSVC(C=0.1, random_state=random_state).fit(PAIRS, Y)
    return found


def test_none_is_another_seed_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(set(seeds(monkeypatch, None, 3))) == 3


@pytest.mark.parametrize("seed", [0, 7])
def test_a_seed_is_a_seed(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert seeds(monkeypatch, seed) == [seed, seed]


def test_the_same_seed_gives_the_same_machine_to_the_last_bit() -> None:
    one, two = (pl.PairSVC(C=0.1, random_state=3).fit(PAIRS, Y) for _ in range(2))
    np.testing.assert_array_equal(one.support_, two.support_)
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)


def test_without_a_seed_machines_agree_to_within_their_tolerance() -> None:
    one, two = (pl.PairSVC(C=0.1, tol=1e-6).fit(PAIRS, Y) for _ in range(2))
    np.testing.assert_allclose(one.decision_function(PAIRS), two.decision_function(PAIRS), atol=1e-4)


# --------------------------------------------------------------------------- warnings point at the caller


def test_a_warning_of_fit_points_at_the_line_that_called_it() -> None:
    with pytest.warns(UserWarning, match="KKT gap") as caught:
        pl.PairSVC(time_budget=0.0, tol=1e-9).fit(PAIRS, Y)
    lines = Path(__file__).read_text().splitlines()
    assert {one.filename for one in caught} == {__file__}
    assert all("time_budget=0.0" in lines[one.lineno - 1] for one in caught)
