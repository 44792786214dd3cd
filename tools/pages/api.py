"""The API reference: every public name, grouped as users think."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parents[2] / "src" / "pairlearn"


class Group(NamedTuple):
    """A page: its title, what it is about, and its names below `pl`, in the order of the page."""

    title: str
    about: str
    names: str


GROUPS: dict[str, Group] = {
    "pairs": Group(
        "Pairs and labels",
        "What is compared: two row numbers in a table of examples. [The guide](../../guide/pairs.md) has examples.",
        "Pairs all_pairs ClassLabels OnExamples",
    ),
    "machines": Group(
        "Machines",
        "What learns. [Machines](../../guide/machines.md) says which one answers which question.",
        "PairSVC PairRanker PairSVR PairRidge TransductivePairSVC OneClassPairSVM OneClassPairSphere StackedPairSVC "
        "RecordMatcher Checkpoint on_cluster",
    ),
    "kernels": Group(
        "Kernels of examples",
        "How alike two examples are: the base of a pair kernel, by name (`pl.kernels.NAMED`) or as a value.",
        "kernels.*",
    ),
    "pair_kernels": Group(
        "Kernels of pairs",
        "How alike two pairs are. [How a pair kernel is a table](../../how/pair-kernels.md) tells why.",
        "pair_kernel pair_kernels.*",
    ),
    "baselines": Group(
        "Baselines", "What a machine has to beat.", "run_baselines CosineBaseline EuclidBaseline baselines.*"
    ),
    "metrics": Group("Distances from a stream", "Learnt one pair at a time.", "OnlinePseudoMetric metrics.*"),
    "similarities": Group(
        "Any similarity", "For similarities that are no kernels.", "BasisSVC BasisExpansion similarities.*"
    ),
    "evaluation": Group(
        "Scores, rates, limits, thresholds",
        "From scores to error rates, how sure they are, and decisions.",
        "Scores equal_error_rate det_curve interval threshold_at_fmr evaluation.*",
    ),
    "scorers": Group(
        "Using a model",
        "What stands on anything that scores pairs: a threshold, a gallery, an index, an explanation.",
        "Verifier Gallery explain scorers.*",
    ),
    "selection": Group(
        "Splits, sampling, selection",
        "Fair tests, drawn pairs, chosen settings.",
        "StagedSearch PairSearch selection.*",
    ),
    "records": Group("Records", "Tables of text and numbers, matched column by column.", "Records records.*"),
    "data": Group(
        "Reading and made data", "Files to examples and pairs; data with a known answer.", "data.* graphs.* images.*"
    ),
    "saving": Group("Saving and reports", "Models to files, scores to pages.", "save load report.* persist.read_about"),
    "testing": Group("Testing your own parts", "The laws that the library relies on.", "testing.* errors.*"),
}
"""The pages, in the order of the navigation."""


@cache
def modules() -> dict[str, str]:
    """Every public name as users write it, `pl.` left out, and the path of the module that defines it."""
    root = _stub("")
    rooms = [name for name, home in root.items() if home == "pairlearn"]
    inner = {f"{room}.{name}": home for room in rooms for name, home in _stub(room).items()}
    names = {**root, **inner, "persist.read_about": "pairlearn.persist"}
    return {name: home for name, home in names.items() if home not in ("pairlearn", "pairlearn._version")}


def _stub(room: str) -> dict[str, str]:
    """Names of a package's stub, or of a module, and where each is defined."""
    prefix = f"pairlearn.{room}".strip(".").replace("/", ".")
    folder = SOURCE / room
    if not (folder / "__init__.pyi").exists():
        module = ast.parse((folder.with_suffix(".py")).read_text(encoding="utf-8"))
        kinds = (ast.ClassDef, ast.FunctionDef)
        return {each.name: prefix for each in module.body if isinstance(each, kinds) and each.name[0] != "_"}
    found: dict[str, str] = {}
    for line in ast.parse((folder / "__init__.pyi").read_text(encoding="utf-8")).body:
        assert isinstance(line, ast.ImportFrom)
        if line.module is None and room:
            continue
        home = f"{prefix}.{line.module}" if line.module else prefix
        for alias in line.names:
            if alias.name == "*":
                found |= _stub(f"{room}/{line.module}".strip("/"))
            elif (folder / str(line.module) / "__init__.pyi").exists():
                found[alias.name] = _stub(f"{room}/{line.module}".strip("/"))[alias.name]
            else:
                found[alias.name] = home
    return found


def placed() -> dict[str, list[str]]:
    """The names of every page: those that are listed, then all of a package that are not."""
    homes, seen = modules(), set[str]()
    pages: dict[str, list[str]] = {}
    for page, group in GROUPS.items():
        pages[page] = []
        for word in group.names.split():
            room = word.removesuffix("*")
            names = [name for name in homes if name.startswith(room)] if word.endswith("*") else [word]
            for name in names:
                if path_of(name) not in seen:
                    pages[page].append(name)
                    seen.add(path_of(name))
    return pages


def path_of(name: str) -> str:
    """Where a public name is defined: its module, or the package that a submodule is."""
    return f"{modules()[name]}.{name.split('.')[-1]}"


def anchors() -> dict[str, str]:
    """Every way to write a public name, and its place in the reference."""
    pages = {path_of(name): page for page, names in placed().items() for name in names}
    return {f"pl.{name}": f"reference/api/{pages[path_of(name)]}.md#{path_of(name)}" for name in modules()}


def pages() -> dict[str, str]:
    """The text of every page."""
    texts = {}
    for page, names in placed().items():
        group = GROUPS[page]
        parts = [f"# {group.title}\n\n{group.about}\n", *map(_entry, names)]
        texts[f"reference/api/{page}.md"] = "".join(parts)
    return texts


def _entry(name: str) -> str:
    return f'\n::: {path_of(name)}\n    options:\n      heading: "pl.{name}"\n      toc_label: "{name}"\n'
