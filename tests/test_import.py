"""`import pairlearn` stays quick: what is heavy or optional is loaded when it is first used."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("matplotlib", "polars", "typer", "rich", "dask", "numba", "pandas")


def loaded_after(statement: str) -> set[str]:
    code = f"{statement}; import sys; print(*sorted(m for m in {HEAVY!r} if m in sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(result.stdout.split())


def test_import_loads_nothing_heavy() -> None:
    assert loaded_after("import pairlearn") == set()


def test_the_check_sees_what_is_loaded() -> None:
    assert "numba" in loaded_after("import numba")


def test_names_are_loaded_on_use() -> None:
    assert "numba" in loaded_after("import pairlearn; pairlearn.PairSVC")


def test_every_public_name_exists() -> None:
    import pairlearn as pl

    assert [name for name in pl.__all__ if not hasattr(pl, name)] == []
    assert set(dir(pl)) == set(pl.__all__)
