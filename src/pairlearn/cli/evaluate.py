"""`pairlearn evaluate`: which threshold, and how sure? For any scores, ours or not.

The command reads and joins tables, `pairlearn.report.evaluate` measures, and the record is written in every format
that was asked for and shown on the terminal. Nothing is computed here but which columns of the summary fit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

import pairlearn as pl
from pairlearn import report
from pairlearn.cli.options import AsJson, ClassColumn, LabelColumn
from pairlearn.data.frames import read_frame
from pairlearn.data.reading import read_examples, read_pairs
from pairlearn.data.tables import ExampleTable
from pairlearn.data.writing import check_target, write_whole
from pairlearn.errors import InputError
from pairlearn.evaluation import MEASURES, FnmrAtFmr, Measure, Scores
from pairlearn.pairs import Pairs
from pairlearn.report.details import shown_examples
from pairlearn.report.html import environment
from pairlearn.report.pictures import check_folder, find_pictures
from pairlearn.report.record import FMRS
from pairlearn.report.tables import ScoreTable, common_names, read_scores
from pairlearn.report.text import are, point_name, rate_words, titled, warning_words
from pairlearn.selection.leaks import find_leaks
from pairlearn.words import counted

SHOWN_FMRS = 3
"""Columns of FNMR that the terminal shows, from the laxest FMR."""
FEWEST = 2
"""Measures that even a narrow terminal shows; others as far as there is room."""
UNTRAINED = {"cosine": pl.CosineBaseline, "Euclid": pl.EuclidBaseline}


def evaluate(
    scores: Annotated[
        list[str],
        typer.Argument(
            metavar="SCORES…",
            help="Tables with columns score, label and, if known, left, right, left_identity, right_identity, group: "
            ".csv, .csv.gz or .parquet, as `pairlearn score --out` writes them. NAME=FILE names a system.",
        ),
    ],
    page: Annotated[
        Path | None, typer.Option("--report", help="Write an interactive page that needs no network.")
    ] = None,
    csv: Annotated[Path | None, typer.Option("--csv", help="Write all numbers, one per line.")] = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Write the tables as Markdown.")] = None,
    fmr: Annotated[
        list[float] | None,
        typer.Option(help="FMR at which to give FNMR and threshold; repeat for several.", show_default="0.1 … 1e-6"),
    ] = None,
    threshold: Annotated[
        list[str] | None, typer.Option(help="Threshold in use, for all systems or as NAME=NUMBER; repeat for several.")
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(help="Cost of a false match, of a false non-match, and the share of same pairs in use: 10,1,0.5"),
    ] = None,
    examples: Annotated[
        Path | None,
        typer.Option(
            help="Table of examples: gives identities by its classes, and runs the untrained baselines beside."
        ),
    ] = None,
    images: Annotated[
        Path | None,
        typer.Option(help="Folder with PNG or JPEG files named by example id, shown beside the worst errors."),
    ] = None,
    train: Annotated[
        Path | None, typer.Option(help="Pairs or examples of the training, to warn of what they share with the test.")
    ] = None,
    baselines: Annotated[
        bool, typer.Option("--baselines/--no-baselines", help="With --examples: untrained cosine and Euclid beside.")
    ] = True,
    level: Annotated[float, typer.Option(help="How often limits shall hold the truth.")] = 0.95,
    title: Annotated[str | None, typer.Option(help="Title of the report.")] = None,
    task: Annotated[str, typer.Option(help="What is told apart, and what the training had seen of it.")] = "",
    class_column: ClassColumn = None,
    label_column: LabelColumn = "label",
    as_json: AsJson = False,
) -> None:
    """Tell error rates, thresholds and how sure they are, for one or more systems on labelled pairs."""
    targets = [path for path in (page, csv, markdown) if path is not None]
    for path in targets:
        check_target(path)
    if page is not None:
        environment()
    if images is not None:
        _check_images(images, page)
    with _status() as progress:
        progress("reading scores")
        tables = _read(scores, label_column)
        known = None if examples is None else read_examples(examples, class_column)
        tables, pairs = _joined(tables, known)
        systems, untrained = _systems(tables, pairs if baselines else None)
        record = report.evaluate(
            systems,
            baselines=untrained,
            title=title or f"Evaluation of {', '.join(tables)}",
            task=task,
            source=[f"{name}: {table.source}" for name, table in tables.items()]
            + ([str(examples)] if examples else []),
            fmrs=fmr or FMRS,
            level=level,
            threshold=_thresholds(threshold or [], tables),
            cost=None if cost is None else _cost(cost),
            groups={name: table.groups for name, table in tables.items() if table.groups is not None} or None,
            trained=None if train is None else _trained(train, known, pairs, class_column),
            notes=_notes(tables),
            names=next(iter(tables.values())).names,
            progress=progress,
        )
        pictures = _pictures(images, record)
        written: dict[Path | None, Callable[[Any], str]] = {
            page: partial(report.as_html, thumbnails=pictures),
            csv: report.as_csv,
            markdown: report.as_markdown,
        }
        for target, write in written.items():
            if target is not None:
                progress(f"writing {target}")
                write_whole(target, write(record).encode(errors="replace"))
    console = Console(stderr=as_json)
    _show(console, record)
    for path in targets:
        console.print(f"{path} written", markup=False, highlight=False, soft_wrap=True)
    if as_json:
        print(report.as_json(record))


# --------------------------------------------------------------------------- what is evaluated


def _read(arguments: Sequence[str], label_column: str) -> dict[str, ScoreTable]:
    """The tables by the names of their systems."""
    tables: dict[str, ScoreTable] = {}
    for argument in arguments:
        name, path = _named(argument)
        if name in tables:
            raise InputError(f"two systems are called {name!r}; name them: first={argument} second={argument}")
        tables[name] = read_scores(path, label=label_column)
    return tables


def _named(argument: str) -> tuple[str, Path]:
    """NAME=FILE, or a file whose name names the system."""
    name, equals, path = argument.partition("=")
    if equals and name and path and not Path(argument).exists():
        return name, Path(path)
    return Path(argument).name.split(".")[0] or argument, Path(argument)


def _joined(tables: Mapping[str, ScoreTable], known: ExampleTable | None) -> tuple[dict[str, ScoreTable], Pairs | None]:
    """The tables with the same names and, where they can, in the same order, and the pairs of the first one."""
    pairs = None
    if known is not None:
        joined = {name: table.pairs(known) for name, table in tables.items()}
        tables = {name: table.with_identities(joined[name], known.classes) for name, table in tables.items()}
        pairs = next(iter(joined.values()))
    names = common_names(tables.values())
    renamed = {name: table.renamed(names) for name, table in tables.items()}
    first = next(iter(renamed.values()))
    return {name: table.ordered_like(first) for name, table in renamed.items()}, pairs


def _systems(tables: Mapping[str, ScoreTable], pairs: Pairs | None) -> tuple[dict[str, Scores], list[str]]:
    """Scores by name, and the names of the untrained baselines among them, which need pairs."""
    systems = {name: table.scores for name, table in tables.items()}
    first, untrained = next(iter(systems.values())), []
    for name, machine in UNTRAINED.items() if pairs is not None else ():
        free = name if name not in systems else f"{name} baseline"
        systems[free] = replace(first, values=machine().decision_function(pairs))
        untrained.append(free)
    return systems, untrained


def _thresholds(given: Sequence[str], tables: Mapping[str, ScoreTable]) -> dict[str, float] | None:
    """Thresholds in use by system; later ones win, so that one for all may come first."""
    found: dict[str, float] = {}
    for text in given:
        name, _, number = text.rpartition("=")
        if name and name not in tables:
            raise InputError(f"--threshold names {name!r}, but the systems are {', '.join(map(repr, tables))}")
        try:
            found |= dict.fromkeys([name] if name else tables, float(number))
        except ValueError:
            raise InputError(f"--threshold must be a number or NAME=NUMBER, got {text!r}") from None
    return found or None


def _cost(text: str) -> tuple[float, ...]:
    """Numbers between commas; what they mean is checked where they are used."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--cost must be two or three numbers such as 10,1,0.5, got {text!r}") from None


def _notes(tables: Mapping[str, ScoreTable]) -> list[str]:
    """What happened to the tables before measuring, for the warnings of the record."""
    return [
        f"{name}: {counted(table.unlabelled, 'pair')} without a label {are(table.unlabelled)} left out"
        for name, table in tables.items()
        if table.unlabelled
    ]


def _check_images(folder: Path, page: Path | None) -> None:
    """Pictures need a page to stand on, and a folder to come from; asked before the long part."""
    if page is None:
        raise InputError("--images shows pictures on the page; add --report report.html")
    check_folder(folder)


def _pictures(folder: Path | None, record: dict[str, Any]) -> Mapping[str, bytes]:
    """Pictures of the worst errors by example id; what is missing becomes warnings of the record."""
    if folder is None:
        return {}
    found = find_pictures(folder, shown_examples(record))
    record["warnings"] += found.warnings(folder)
    return found.files


# --------------------------------------------------------------------------- what the training saw


def _trained(
    path: Path, known: ExampleTable | None, tested: Pairs | None, class_column: str | None
) -> dict[str, Collection[str]]:
    """Identities and examples that the training knew, by name."""
    if _holds_pairs(path):
        table = read_pairs(path)
        ids = set(table.left) | set(table.right)
        if known is None or known.classes is None:
            return {"examples": ids}
        classes = dict(zip(known.ids, known.classes, strict=True))
        return {"examples": ids, "identities": {classes[key] for key in ids if key in classes}}
    training = read_examples(path, class_column)
    found: dict[str, Collection[str]] = {} if training.classes is None else {"identities": set(training.classes)}
    if known is not None and tested is not None:
        # Row numbers and ids of two tables may differ or agree by chance, so examples are compared by content.
        rows = np.arange(len(training.examples))
        leaks = find_leaks(Pairs(training.examples, rows, rows), tested)
        found["examples"] = {known.ids[row] for row in leaks.examples}
    elif training.ids != tuple(map(str, range(len(training.ids)))):
        found["examples"] = set(training.ids)
    if not found:
        raise InputError(f"{path} has neither pairs nor classes nor ids; name the classes with --class-column")
    return found


def _holds_pairs(path: Path) -> bool:
    """Whether a file is a table of pairs, and not one of examples."""
    if path.suffix in (".npz", ".npy") or not path.is_file():
        try:
            read_pairs(path)
        except InputError:
            return False
        return True
    return {"left", "right"} <= set(read_frame(path).columns)


# --------------------------------------------------------------------------- telling


@contextmanager
def _status() -> Iterator[Callable[[str], None]]:
    """A line on stderr that says what is being done and goes away; none if nobody watches."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda text: None
        return
    with console.status("") as status:
        yield lambda text: status.update(_safe(f"{text} …"))


def _show(console: Console, record: Mapping[str, Any]) -> None:
    """Summary, thresholds, warnings, and the verdict last, where the eye ends up."""
    console.print(_fitting_summary(console, record))
    for system in record["systems"]:
        if not system["baseline"]:
            console.print(_points(system))
    for warning in record["warnings"]:
        console.print(_safe(f"! {warning_words(warning)}", "yellow"), soft_wrap=True)
    for text in record["verdict"]:
        console.print(_safe(text, "bold"), soft_wrap=True)


def _fitting_summary(console: Console, record: Mapping[str, Any]) -> Table:
    """The summary with as many measures as the terminal has room for: the widest of the further ones go first."""
    shown, unbounded = list(MEASURES), console.options.update_width(10_000)
    table = _summary(record, shown)
    while len(shown) > FEWEST and console.measure(table, options=unbounded).maximum > console.width:
        shown.remove(max(shown[FEWEST:], key=lambda measure: _width(record, measure)))
        table = _summary(record, shown)
    return table


def _width(record: Mapping[str, Any], measure: Measure) -> int:
    """Of the column of a measure, its heading included."""
    cells = [_two_lines(rate_words(system.get(measure.key), measure.unit)).plain for system in record["systems"]]
    return max(len(line) for cell in (measure.heading, *cells) for line in cell.splitlines())


def _summary(record: Mapping[str, Any], measures: Sequence[Measure]) -> Table:
    """These measures of every system, and FNMR at the first FMRs that can be measured."""
    first = record["systems"][0]
    fmrs = [point["at"] for point in first["points"] if point["kind"] == "fmr" and point["measurable"]][:SHOWN_FMRS]
    counts = first["counts"]
    table = _table(
        f"{counts['positives']:,} same and {counts['negatives']:,} different pairs; "
        f"in brackets {100 * record['level']:g} % limits",
        ("", *(measure.heading for measure in measures), *(FnmrAtFmr(fmr).name for fmr in fmrs)),
    )
    for system in record["systems"]:
        missed = {point["at"]: point.get("fnmr") for point in system["points"] if point["kind"] == "fmr"}
        cells = [rate_words(system.get(measure.key), measure.unit) for measure in measures]
        cells += [rate_words(missed[fmr]) for fmr in fmrs]
        table.add_row(_safe(titled(system)), *(_two_lines(cell) for cell in cells))
    return table


def _two_lines(cell: str) -> Text:
    """The number above its limits."""
    value, _, limits = cell.partition(" [")
    return Text(f"{value}\n[{limits}" if limits else value)


def _points(system: Mapping[str, Any]) -> Table:
    """Thresholds worth knowing of one system, with FMR and FNMR there."""
    table = _table(
        f"Thresholds of {system['name']}: accept when score ≥ threshold", ("for", "threshold", "FMR", "FNMR")
    )
    for point in system["points"]:
        rates = (rate_words(point["fmr"]), rate_words(point["fnmr"])) if point["measurable"] else ("", "")
        threshold = f"{point['threshold']:.6g}" if point["measurable"] else "not measurable"
        table.add_row(*map(_safe, (point_name(point), threshold, *rates)))
    return table


def _table(title: str, headings: Sequence[str]) -> Table:
    table = Table(title=_safe(title), title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="right" if place else "left")
    return table


def _safe(text: str, style: str = "") -> Text:
    """Text without markup and without characters that steer a terminal."""
    return Text("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text), style)
