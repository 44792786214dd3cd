"""Mutated files: a share of `make fuzz`, and that it notices what it looks for."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tools.fuzz.harness import Case, Outcome, Worker, run_cases, targets

SHARE = 60
"""Cases per target: seconds, not minutes."""
READERS = [name for name in targets() if not name.startswith("_")]


def test_no_mutated_file_breaks_a_promise(tmp_path: Path) -> None:
    cases = (Case(name, 7, number) for name in READERS for number in range(SHARE))
    outcomes = list(run_cases(cases, tmp_path, workers=1))
    assert [str(outcome) for outcome in outcomes if outcome.wrong] == []
    # A harness that only ever refuses, or never does, would attack nothing.
    for name in READERS:
        seen = Counter(outcome.verdict for outcome in outcomes if outcome.case.target == name)
        assert seen["used"] > SHARE / 20
        assert seen["refused"] > SHARE / 5


def test_a_case_is_the_same_every_time(tmp_path: Path) -> None:
    for name in READERS:
        for number in range(5):
            first, again = (Case(name, 3, number).make(folder(tmp_path, k)).read_bytes() for k in range(2))
            assert first == again


def folder(path: Path, number: int) -> Path:
    (path / str(number)).mkdir(exist_ok=True)
    return path / str(number)


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """What a reader that keeps no promise is found to do, by what it does."""
    place = tmp_path_factory.mktemp("fuzz")
    worker = Worker(place / "worker", place / "kept", seconds=8.0)
    found: dict[str, Outcome] = {}
    for number in range(40):
        case = Case("_faulty", 0, number)
        fault = case.make(folder(place, 0)).read_text()
        if fault not in found:
            found[fault] = worker.run(case)
    worker.stop()
    found["kept"] = Outcome(Case("_faulty", 0, 0), " ".join(each.name for each in (place / "kept").iterdir()))
    return found


def test_every_breach_is_noticed(faults: dict[str, Outcome]) -> None:
    verdicts = {fault: outcome.verdict for fault, outcome in faults.items() if fault != "kept"}
    assert verdicts == {
        "use": "used",
        "refuse": "refused",
        "nameless": "foreign",
        "foreign": "foreign",
        "crash": "crash",
        "hang": "hang",
        "memory": "used",
    }
    assert {fault for fault, outcome in faults.items() if outcome.over_memory} == {"memory"}
    assert "KeyError" in faults["foreign"].words


def test_files_that_broke_a_promise_are_kept(faults: dict[str, Outcome]) -> None:
    wrong = {fault: outcome for fault, outcome in faults.items() if outcome.wrong and fault != "kept"}
    assert len(wrong) == 5
    assert {f"_faulty-0-{outcome.case.number}" for outcome in wrong.values()} == set(faults["kept"].verdict.split())
