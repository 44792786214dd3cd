"""How the source is built: sizes of packages and functions, words beside code, repeated runs, the import graph.

    python tools/house.py                                 # a table of packages; exit code 1 if a bound is broken
    python tools/house.py --draw docs/images/imports.svg  # which package imports which, in the layers of pyproject.toml

A line of code is one that is neither blank nor comment nor docstring.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "pairlearn"
MOST_FILES, MOST_LINES, MOST_BODY, LONGEST_RUN = 14, 2000, 12, 10
"""Files per package (with its `__init__`), lines of code per package, lines of a body at the 90th percentile, and
the length from which on a repeated run of lines is one too many."""


UNCOUNTED = re.compile(r"import |from |\w+: [^=]+,$|\)")
"""Lines that may repeat: imports, and the parameters of a function."""


@dataclass
class File:
    """One source file: its lines of code by number, of documentation, and the lengths of its function bodies."""

    path: Path
    code: dict[int, str]
    documentation: int
    bodies: dict[str, int]

    @classmethod
    def read(cls, path: Path) -> File:
        text = path.read_text()
        tree = ast.parse(text)
        words = _docstring_lines(tree) | _comment_lines(text)
        numbered = enumerate(text.splitlines(), 1)
        code = {n: line.strip() for n, line in numbered if line.strip() and n not in words}
        return cls(path, code, len(words), dict(_bodies(tree, set(code))))


@dataclass
class Package:
    """The files of one folder."""

    name: str
    files: list[File] = field(default_factory=list)

    @property
    def lines(self) -> int:
        """Lines of code."""
        return sum(len(file.code) for file in self.files)

    @property
    def share(self) -> float:
        """Lines of documentation per line of code."""
        return sum(file.documentation for file in self.files) / max(1, self.lines)

    @property
    def bodies(self) -> list[int]:
        """Lines of every function body."""
        return [lines for file in self.files for lines in file.bodies.values()]


def _docstring_lines(tree: ast.AST) -> set[int]:
    """Lines of every string that stands alone: docstrings of modules, classes, functions and attributes."""
    alone = (node for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    strings = (node for node in alone if isinstance(node.value.value, str))  # type: ignore[attr-defined]
    return {line for node in strings for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def _comment_lines(text: str) -> set[int]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {t.start[0] for t in tokens if t.type == tokenize.COMMENT and t.line.strip().startswith("#")}


def _bodies(tree: ast.AST, code: set[int]) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            lines = range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
            yield f"{node.name}:{node.lineno}", sum(line in code for line in lines)


def packages() -> list[Package]:
    """Every package of the source, the modules of the root together."""
    found: dict[str, Package] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        folder = path.parent.relative_to(SOURCE)
        name = "." if folder == Path(".") else folder.as_posix()
        found.setdefault(name, Package(name)).files.append(File.read(path))
    return list(found.values())


def repeated_runs(files: list[File], length: int = LONGEST_RUN) -> list[tuple[str, str]]:
    """Places of equal runs of `length` lines of code, imports and lists of parameters left out; where each begins."""
    places: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for file in files:
        lines = [(n, line) for n, line in file.code.items() if not UNCOUNTED.match(line)]
        for start in range(len(lines) - length + 1):
            run = tuple(line for _, line in lines[start : start + length])
            places[run].append(f"{file.path.relative_to(ROOT)}:{lines[start][0]}")
    return [(found[0], found[1]) for found in places.values() if len(found) > 1]


def print_house() -> int:
    """Print the table and what breaks a bound; returns the exit code."""
    found = packages()
    files = [file for package in found for file in package.files]
    broken = []
    print(f"{'package':<20}{'files':>6}{'code':>7}{'words/code':>12}{'body p50':>10}{'p90':>5}{'max':>5}")
    for package in found:
        bodies = package.bodies or [0]
        p50, p90 = np.percentile(bodies, (50, 90))
        print(
            f"{package.name:<20}{len(package.files):>6}{package.lines:>7}{package.share:>12.2f}"
            f"{p50:>10.0f}{p90:>5.0f}{max(bodies):>5}"
        )
        if len(package.files) > MOST_FILES or package.lines > MOST_LINES:
            broken.append(f"{package.name}: more than {MOST_FILES} files or {MOST_LINES} lines of code")
    bodies = [lines for package in found for lines in package.bodies]
    p50, p90 = np.percentile(bodies, (50, 90))
    words, code = sum(file.documentation for file in files), sum(len(file.code) for file in files)
    print(f"{'together':<20}{len(files):>6}{code:>7}{words / code:>12.2f}{p50:>10.0f}{p90:>5.0f}{max(bodies):>5}")
    if p90 > MOST_BODY:
        broken.append(f"bodies: 90th percentile {p90:g} > {MOST_BODY} lines")
    broken += [f"{LONGEST_RUN} equal lines: {a} and {b}" for a, b in repeated_runs(files)]
    print("\n".join(f"BROKEN {line}" for line in broken) or "all bounds kept")
    return 1 if broken else 0


# --------------------------------------------------------------------------- the import graph


def layers() -> list[list[str]]:
    """The layers of pyproject.toml, highest first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    listed = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [[name.strip(" ()") for name in layer.replace(":", "|").split("|")] for layer in listed]


def imports() -> set[tuple[str, str]]:
    """(importer, imported) between the parts of the root."""
    import grimp

    graph = grimp.build_graph("pairlearn")
    edges = set()
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            pair = tuple([*name.split("."), ""][1] for name in (module, imported))
            if all(pair) and pair[0] != pair[1]:
                edges.add(pair)
    return edges  # type: ignore[return-value]


def reduced(edges: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """The same order with the fewest arrows: a → c goes where a → b → c says it already."""
    below: dict[str, set[str]] = defaultdict(set)
    for importer, imported in edges:
        below[importer].add(imported)

    def reaches(start: str, end: str) -> bool:
        return any(step == end or reaches(step, end) for step in below[start])

    return {(a, c) for a, c in edges if not any(b != c and reaches(b, c) for b in below[a])}


def draw(path: Path) -> None:
    """A row per layer and an arrow per import that no others imply; errors, types and moved names are left out."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "pairlearn"
    from matplotlib import pyplot

    rows = layers()[:-2]
    place = {
        name: ((column - (len(row) - 1) / 2) * 2.0, -level)
        for level, row in enumerate(rows)
        for column, name in enumerate(row)
    }
    figure, axes = pyplot.subplots(figsize=(9, 0.75 * len(rows) + 0.5))
    for importer, imported in sorted(reduced({edge for edge in imports() if place.keys() >= set(edge)})):
        _draw_arc(axes, place[importer], place[imported])
    for name, (x, y) in place.items():
        box = {"boxstyle": "round,pad=0.35", "facecolor": "#f4f1e8", "edgecolor": "#555555"}
        axes.text(x, y, name, ha="center", va="center", fontsize=10, bbox=box, zorder=3)
    axes.set(xlim=(-5, 5), ylim=(-len(rows) + 0.4, 0.6))
    axes.axis("off")
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None} if path.suffix == ".svg" else None)
    print(f"{path}: {len(place)} packages")


def _draw_arc(axes: object, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Arcs over several layers bend outwards, so that they pass beside the boxes between."""
    side = 1 if start[0] + end[0] >= 0 else -1
    bend = 0.0 if start[1] - end[1] <= 1 else side * min(0.45, 0.12 * (start[1] - end[1]))
    arrow = {"arrowstyle": "-|>", "color": "#8899aa", "lw": 0.9, "shrinkA": 0, "shrinkB": 0}
    arrow["connectionstyle"] = f"arc3,rad={bend}"
    axes.annotate("", xy=(end[0], end[1] + 0.21), xytext=(start[0], start[1] - 0.21), arrowprops=arrow)  # type: ignore[attr-defined]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="How the source is built.")
    parser.add_argument("--draw", type=Path, help="write the import graph to this file (.svg or .png)")
    chosen = parser.parse_args()
    if chosen.draw:
        draw(chosen.draw)
        sys.exit(0)
    sys.exit(print_house())
