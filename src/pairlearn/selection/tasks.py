"""Which pairs train and which are tested, once it is drawn which pairs, examples or classes are tested.

One function per task; each yields masks (training, test) over the pairs, one couple per draw:

=============  ==============  ==============================================================  ====================
task           what is drawn   training pairs                                                  test pairs
=============  ==============  ==============================================================  ====================
pair           distinct pairs  those not drawn                                                 those drawn
interexample   examples        both examples not drawn                                         both examples drawn
interclass     classes         both classes not drawn                                          both classes drawn
cold start     left and right  no drawn example on a side that shall be unseen                 drawn on those sides
=============  ==============  ==============================================================  ====================

Pairs that mix a drawn and another unit are in neither half: training on them would show half of a test pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from pairlearn.errors import InputError
from pairlearn.examples import count_examples
from pairlearn.pairs import Pairs, class_codes
from pairlearn.selection.drawing import Drawing
from pairlearn.types import Bools, Examples, Ints

Masks = tuple[Bools, Bools]
Side = Literal["left", "right", "both"]


# --------------------------------------------------------------------------- pair task


def split_pairs(pairs: Pairs, drawing: Drawing, reflexive_tests: bool) -> Iterator[Masks]:
    """Repeated and mirrored pairs are one unit: (a, b) in training would give away the label of (b, a)."""
    drawn = np.ones(len(pairs), dtype=bool) if reflexive_tests else ~pairs.reflexive
    distinct, unit = np.unique(pairs.codes()[drawn], return_inverse=True)
    draws = drawing.draw(np.zeros(len(distinct), dtype=np.int64), "distinct pair")
    return (_tested_among(drawn, test[unit]) for test in draws)


def _tested_among(drawn: Bools, test: Bools) -> Masks:
    """Masks over all pairs from one over the pairs that can be drawn; the others always train."""
    tested = np.zeros(len(drawn), dtype=bool)
    tested[drawn] = test
    return ~tested, tested


# --------------------------------------------------------------------------- interexample and interclass task


def split_examples(pairs: Pairs, classes: Any, drawing: Drawing) -> Iterator[Masks]:
    """Examples are drawn class by class, so that every class with two or more is on both sides."""
    _check_one_table(pairs, "ExampleSplit")
    used = pairs.used_examples()
    strata = np.zeros(len(used), dtype=np.int64)
    if classes is not None:
        strata = np.unique(class_codes(classes, pairs.n_examples)[used], return_inverse=True)[1]
    draws = drawing.draw(strata, "example")
    return (_without_mixed(pairs, _mask(pairs.n_examples, used, test)) for test in draws)


def _mask(n_units: int, used: Ints, test: Bools) -> Bools:
    """A mask over all units from one over those in use; the others are not tested."""
    mask = np.zeros(n_units, dtype=bool)
    mask[used] = test
    return mask


def _without_mixed(pairs: Pairs, tested: Bools) -> Masks:
    """Training pairs have no tested example, test pairs no other; mixed pairs are in neither."""
    left, right = pairs.columns
    return ~(tested[left] | tested[right]), tested[left] & tested[right]


def split_classes(pairs: Pairs, classes: Any, drawing: Drawing) -> Iterator[Masks]:
    """A class is tested with all its examples, or not at all."""
    _check_one_table(pairs, "ClassSplit")
    codes = class_codes(classes, pairs.n_examples)
    used = np.unique(codes[pairs.used_examples()])
    draws = drawing.draw(np.zeros(len(used), dtype=np.int64), "class")
    return (_without_mixed(pairs, _mask(len(codes), used, test)[codes]) for test in draws)


def _check_one_table(pairs: Pairs, name: str) -> None:
    pairs.require_one_table(f"{name} needs pairs of one table; for two tables use ColdStartSplit(unseen='both')")


# --------------------------------------------------------------------------- cold start


Draws = Iterator[Bools | None]


def cold_start_draws(pairs: Pairs, unseen: Side, drawing: Drawing) -> tuple[Draws, Draws]:
    """Masks of the unseen left and right examples, None for a side that may be seen."""
    if pairs.right_examples is None:
        raise InputError("cold start is for pairs with right_examples; for one table use ExampleSplit(classes=None)")
    seen: Draws = iter([None] * drawing.count)
    left, right = (pairs.examples, pairs.used_examples()), (pairs.right_table, pairs.used_right_examples())
    return (
        seen if unseen == "right" else _draw_side(drawing, *left, "left example", stream=0),
        seen if unseen == "left" else _draw_side(drawing, *right, "right example", stream=1),
    )


def _draw_side(drawing: Drawing, table: Examples, used: Ints, name: str, stream: int) -> Draws:
    """Masks of the drawn examples of one table; each side has random numbers of its own."""
    draws = drawing.draw(np.zeros(len(used), dtype=np.int64), name, stream)
    return (_mask(count_examples(table), used, test) for test in draws)


def cold_start_masks(pairs: Pairs, unseen_left: Bools | None, unseen_right: Bools | None) -> Masks:
    """A test pair is unseen on every side that shall be, a training pair on none of them."""
    columns = zip((unseen_left, unseen_right), pairs.columns, strict=True)
    sides = [unseen[column] for unseen, column in columns if unseen is not None]
    return ~np.logical_or.reduce(sides), np.logical_and.reduce(sides)
