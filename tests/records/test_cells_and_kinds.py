"""Cells as they are read, and columns as they are recognised."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairlearn.errors import InputError
from pairlearn.records.cells import LONGEST, code, day, items, known, number, place, plain
from pairlearn.records.kinds import check_kind, recognise


@pytest.mark.parametrize("cell", [None, "", " ", "NaN", "n/a", "N/A", "null", "None", "-", "?", "unknown", "<NA>"])
def test_spellings_of_nothing(cell: str | None) -> None:
    assert known(cell) is None
    assert plain(cell) == code(cell) == items(cell) == ""
    assert math.isnan(number(cell))
    assert math.isnan(day(cell))


def test_accents_and_compatible_letters_do_not_differ() -> None:
    assert plain("Ｃａｆé ﬁne") == plain("cafe fine")
    assert plain("cafe\u0301") == plain("caf\u00e9")


def test_huge_cells_are_cut() -> None:
    assert len(plain("ab " * 10**6)) <= LONGEST


@pytest.mark.parametrize(
    ("cell", "value"), [("1,299.00", 1299.0), ("EUR 3,50", 3.5), ("-7", -7.0), ("1,234,567", 1234567.0), ("v2", 2.0)]
)
def test_numbers(cell: str, value: float) -> None:
    assert number(cell) == value


def test_days_in_three_spellings() -> None:
    assert day("2001-05-17") == day("17/05/2001") == day("20010517") == day("05/17/2001") == day("2001-05-17T10:00")
    assert math.isnan(day("2001-13-40"))


def test_places_outside_the_earth_are_missing() -> None:
    assert place("(52.5; 13.4)") == (52.5, 13.4)
    assert math.isnan(place("99.5, 13.4")[0])


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["19560409", "19080419", "19081128"], "date"),
        (["52.5, 13.4", "48.1, 11.6"], "geo"),
        (["2119", "3165", "4881", "0200"], "code"),
        (["a9839m2h", "lfl-n2-48", "t9161ll/a", "38100"], "code"),
        (["8.10 %", "5 %", "-"], "number"),
        (["1998", "2001", "1999"], "number"),
        (["7", "177", "54", "3"], "number"),
        (["mitchell", "harley", "madeline"], "name"),
        (["adobe illustrator cs3 for mac academic", "world of rainbow fish"], "text"),
        (["sa", "nsw", "vic"] * 30, "category"),
        ([None, "", "N/A"], None),
    ],
)
def test_kinds(cells: list[str | None], kind: str | None) -> None:
    assert recognise(cells) == kind


def test_unknown_kind_is_refused() -> None:
    with pytest.raises(InputError, match="kinds are text, name"):
        check_kind("money", "price")


@pytest.mark.parametrize(
    "text",
    ["4 Apr 1956", "4th April 1956", "April 4, 1956", "Apr. 4th 1956", "1956 Apr 4", "4-APR-1956", "4 april, 1956"],
)
def test_days_with_names_of_months(text: str) -> None:
    assert day(text) == day("1956-04-04")


def test_months_alone_are_no_days() -> None:
    assert all(math.isnan(day(text)) for text in ("Apr 1956", "31 Feb 2001", "4 Mice 1956", "maybe 4, 1956x"))


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([f"K{i}" for i in range(60)], "code"),
        ([f"{i} oz" for i in range(60)], "number"),
        ([f"$ {i}.50" for i in range(60)], "number"),
        ([f"EUR {i}" for i in range(60)], "number"),
    ],
)
def test_letters_before_digits_are_codes_and_units_are_not(cells: list[str], kind: str) -> None:
    assert recognise(cells) == kind


@given(
    st.lists(st.sampled_from(["0", "7", "12", "1000", "345", ",", ".", ",200", ",200.", "-"]), max_size=6).map("".join)
)
def test_digits_commas_and_points_are_a_number_or_none(cell: str) -> None:
    value = number(cell)
    assert math.isfinite(value) == any(letter.isdigit() for letter in cell)
    assert str(number(f"EUR {cell} each")) == str(value)


@given(st.integers(0, 10**12), st.integers(0, 99))
def test_numbers_are_read_as_they_are_written(whole: int, cents: int) -> None:
    for text in (f"{whole}.{cents:02}", f"{whole:,}.{cents:02}", f"{whole},{cents:02}"):
        assert number(text) == float(f"{whole}.{cents:02}")


@pytest.mark.parametrize(("cell", "value"), [("1234,567.89", 1234567.89), ("1000,200,300", 1000200300.0)])
def test_commas_that_cannot_all_be_decimal_are_none(cell: str, value: float) -> None:
    assert number(cell) == value


@given(
    st.integers(1, 28),
    st.sampled_from(["sep", "ſep", "SEPT", "ſeptember", "aug", "Auguſt", "ſe", "gus", "ſſſ"]),
    st.text(alphabet="ſsSkK", max_size=2),
    st.integers(1000, 2999),
)
def test_names_of_months_in_any_letters(of_month: int, name: str, more: str, year: int) -> None:
    told = {"sep": 9, "aug": 8}.get(name.casefold()[:3])
    wanted = math.nan if told is None or len(name + more) > 9 else day(f"{year}-{told}-{of_month}")
    assert str(day(f"{of_month} {name}{more} {year}")) == str(wanted)
    assert str(day(f"{name}{more} {of_month}, {year}")) == str(wanted)
