"""Numbers agree with their nouns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairlearn.words import counted, plural_of


@pytest.mark.parametrize(
    ("noun", "plural"),
    [
        ("id", "ids"),
        ("pair", "pairs"),
        ("class", "classes"),
        ("identity", "identities"),
        ("box", "boxes"),
        ("batch", "batches"),
        ("key", "keys"),
        ("query", "queries"),
        ("test class", "test classes"),
    ],
)
def test_plurals(noun: str, plural: str) -> None:
    assert plural_of(noun) == plural


@given(st.integers(0, 10**12))
def test_one_alone_is_singular_and_the_number_can_be_read_back(n: int) -> None:
    number, noun = counted(n, "class").split()
    assert int(number.replace(",", "")) == n
    assert noun == ("class" if n == 1 else "classes")


def test_a_plural_that_no_rule_forms() -> None:
    assert [counted(n, "pair of twins", "pairs of twins") for n in (1, 2)] == ["1 pair of twins", "2 pairs of twins"]
