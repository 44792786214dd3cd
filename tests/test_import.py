"""`import pairlearn` stays quick: what is heavy or optional is loaded when it is first used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

import pairlearn as pl

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
    import_machine = "import pairlearn as pl; machine = pl.PairSVC()"
    learn = "import numpy as np; machine.fit(pl.Pairs(np.eye(3), [0, 1], [1, 2]), [1, -1])"
    assert "numba" not in loaded_after(import_machine)
    assert "numba" in loaded_after(f"{import_machine}; {learn}")


def test_small_work_needs_no_compiled_loops(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    pairs = pl.Pairs(np.eye(3), [0, 1], [1, 2])
    pl.save(pl.PairSVC().fit(pairs, [1, -1]), path)
    score = f"import pairlearn as pl, numpy as np; pl.load({str(path)!r}).decision_function"
    assert "numba" not in loaded_after(f"{score}(pl.Pairs(np.eye(3), [0], [1]))")


def test_every_public_name_exists() -> None:
    assert [name for name in pl.__all__ if not hasattr(pl, name)] == []
    assert set(dir(pl)) == set(pl.__all__)
