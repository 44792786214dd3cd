"""The steps of `pairlearn info`: what a model file says of itself, read from its head where that is enough."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pairlearn import persist
from pairlearn.cli.run import Run
from pairlearn.cli.steps.kinds import OPEN, kind_of, kind_of_model
from pairlearn.cli.terminal import facts, say
from pairlearn.data.files.sources import find_source
from pairlearn.data.layout import Layout
from pairlearn.errors import InputError
from pairlearn.words import counted, sized

ATTRIBUTES = {
    **{name: name for name in ("kernel", "base", "C", "nu", "threshold", "calibration")},
    "fit_status_": "status",
    "kkt_gap_": "kkt_gap",
    "n_support_": "support_pairs",
    "names": "identities",
}
"""What a loaded model can tell: attribute → name."""
UNTOLD = ("as_json", "force", "out")
"""Options that say nothing about the model."""


@contextmanager
def understanding_notes(path: Path) -> Iterator[None]:
    """Notes are what anyone wrote; those of pairlearn's commands have a form, which others need not have."""
    try:
        yield
    except InputError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(
            f"{path} has notes that no command of pairlearn wrote ({error}); pairlearn.persist.read_about reads them"
        ) from error


def info_of(path: Path) -> dict[str, Any]:
    """All that is known of a model file; the model itself is loaded only where its head leaves something open."""
    told = persist.read_about(path)
    about = told.pop("about")
    result = dict(about.get("result", {}))
    kind = kind_of_model(persist.load(path), about) if told["class"] in OPEN else kind_of(told["class"])
    return {
        "file": str(path),
        "bytes": path.stat().st_size,
        "class": told["class"],
        "answers": kind.answers,
        "score": kind.score,
        "params": told.get("params"),
        "learnt": result if "status" in result else _learnt(path),
        "made": list(_history(about)),
    }


def _learnt(path: Path) -> dict[str, Any]:
    """What a model itself can tell, and the model within it."""
    found: dict[str, Any] = {}
    model: Any = persist.load(path)
    while model is not None:
        told = {name: getattr(model, attribute, None) for attribute, name in ATTRIBUTES.items()}
        found = {**{name: _short(value) for name, value in told.items() if value is not None}, **found}
        model = getattr(model, "model", None)
    return found


def _short(value: Any) -> Any:
    """A value in one line; a list by its length."""
    if isinstance(value, (bool, int, float, str)):
        return value
    return len(value) if hasattr(value, "__len__") and not isinstance(value, tuple) else str(value)


def _history(about: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The commands that made the file, last first, each with what it read."""
    step: Mapping[str, Any] = about
    while step:
        yield {key: value for key, value in step.items() if key not in ("made_from", "result")}
        step = step.get("made_from", {})


# --------------------------------------------------------------------------- is this the file?


def verified(info: Mapping[str, Any], paths: list[Path]) -> dict[str, Any]:
    """Which input of the model each file is, None if it is none of them."""
    known = {
        given["sha256"]: f"{role} of pairlearn {step['command']}"
        for step in info["made"]
        for role, given in step.get("inputs", {}).items()
        if "sha256" in given  # ids alone come from no file of their own
    }
    if not known:
        raise InputError(
            f"{info['file']} does not say what it was learnt from, so nothing can be verified; models that pairlearn's "
            "commands wrote do"
        )
    return {str(path): known.get(_sha256(path)) for path in paths}


def _sha256(path: Path) -> str:
    with find_source(path).open() as file:
        return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


# --------------------------------------------------------------------------- what is said


def show(run: Run, info: Mapping[str, Any]) -> None:
    """The model in words."""
    rows = {
        "file": f"{info['file']}, {sized(info['bytes'])}",
        "model": info["class"],
        "answers": info["answers"],
        "score": info["score"],
        **_learnt_rows(info["learnt"]),
    }
    run.out.print(facts(rows), highlight=False)
    for step in info["made"]:
        run.out.print(facts(_step_rows(step)), highlight=False)
    if not info["made"]:
        say(run.out, "Written in Python: the file does not say what the model was learnt from.")


def _learnt_rows(learnt: Mapping[str, Any]) -> dict[str, str]:
    """What was learnt, as far as it is known; everything else is in the JSON."""
    sizes = ", ".join(f"{name} = {learnt[name]:g}" for name in ("C", "nu") if name in learnt)
    kernel = f"{learnt['kernel']} on {learnt.get('base')}" if "kernel" in learnt else ""
    told = {
        "kernel": ", ".join(text for text in (kernel, sizes) if text),
        "learnt from": counted(learnt["pairs"], "pair") if "pairs" in learnt else "",
        "status": f"{learnt['status']}, KKT gap {learnt['kkt_gap']:.2g}" if "kkt_gap" in learnt else "",
        "support pairs": f"{learnt['support_pairs']:,}" if "support_pairs" in learnt else "",
        "threshold": str(learnt.get("threshold", "")),
        "probabilities": "calibrated" if "calibration" in learnt else "",
        "identities": f"{learnt['identities']:,} enrolled" if "identities" in learnt else "",
    }
    return {name: text for name, text in told.items() if text}


def _step_rows(step: Mapping[str, Any]) -> dict[str, str]:
    """One command of the history, its options, and the files that it read."""
    options = {key: value for key, value in step.get("options", {}).items() if key not in UNTOLD}
    words = (f"{key.replace('_', '-')} {value}" for key, value in options.items() if value not in (None, False, []))
    made = f"pairlearn {step['command']} on {step.get('written', '?')}, version {step.get('pairlearn', '?')}"
    found = {"made by": made, "  options": ", ".join(words)}
    for role, given in step.get("inputs", {}).items():
        source = f"{given['file']}, sha256 {given['sha256'][:12]}…" if "file" in given else ""
        taken = str(_layout(given["layout"])) if "columns" in given.get("layout", {}) else ""
        names = counted(len(given["ids"]), "name") if "ids" in given else ""
        found[f"  {role}"] = "; ".join(text for text in (source, taken, names) if text)
    if "stream" in step:
        lines, source = step["stream"]["lines"], step["stream"]["source"]
        found["  stream"] = f"{counted(lines, 'line')} of {source} taken; go on with --skip {lines}"
    return found


def _layout(found: Mapping[str, Any]) -> Layout:
    return Layout(tuple(found["columns"]), found["n_features"], found["id"], found["class"])


def show_verified(run: Run, info: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    """A line per file; whether all of them were inputs."""
    for path, role in found.items():
        words = f"was read as {role}" if role else f"was NOT read when {info['file']} was made"
        say(run.out, f"{path} {words}")
    if not all(found.values()):
        run.warn("the content counts, not the name: a file that was changed or sorted since is another one")
    return all(found.values())
