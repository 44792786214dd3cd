"""`pairlearn identify`: who is it, among enrolled identities?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pairlearn.cli.options import (
    OUTPUT,
    AsJson,
    Force,
    Model,
    Seed,
    TableOptions,
)

OPEN = "Strangers: answer unknown below a threshold"


def identify(
    model: Model,
    gallery: Annotated[
        Path,
        typer.Argument(
            metavar="GALLERY",
            help="Enrolled examples with classes, the identities. If MODEL is a saved gallery: PROBES.",
        ),
    ],
    probes: Annotated[
        Path | None, typer.Argument(metavar="PROBES", help="Examples to identify; with classes: error rates too.")
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Table to write: .csv, .tsv, .jsonl, .parquet or .npz; - for stdout.")
    ] = Path("-"),
    top: Annotated[int, typer.Option(min=1, help="Identities per probe.")] = 5,
    pool: Annotated[
        str | None,
        typer.Option(
            help="Several examples of an identity: mean or max of their scores; mean-example or mean-direction compare "
            "with their mean, which is quicker.",
            show_default="mean; a saved gallery keeps its own",
        ),
    ] = None,
    search: Annotated[
        str,
        typer.Option(
            help="exact compares with everyone; index finds candidates first and tells its recall; auto takes an index "
            "for 2,000 probes or more in a gallery of 50,000 examples or more."
        ),
    ] = "auto",
    threshold: Annotated[
        float | None, typer.Option(help="Least score of a match.", show_default="the model's", rich_help_panel=OPEN)
    ] = None,
    fpir: Annotated[
        float | None,
        typer.Option(
            help="Share of strangers that may be taken for somebody, set by the gallery's own examples, e.g. 0.01.",
            rich_help_panel=OPEN,
        ),
    ] = None,
    fmr: Annotated[
        float | None,
        typer.Option(help="The same for single comparisons instead of whole searches.", rich_help_panel=OPEN),
    ] = None,
    save_gallery: Annotated[
        Path | None, typer.Option(help="Write model, gallery and threshold as one file.", rich_help_panel=OUTPUT)
    ] = None,
    seed: Seed = 0,
    table_options: TableOptions = TableOptions(),
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Find out who each probe is among enrolled identities, or that nobody fits.

    Writes probe, rank, identity and score; with a threshold a decision, match or unknown. Where classes of the probes
    are known it also prints rates, beside those of the untrained Euclid and cosine baselines.
    """
    options = dict(locals())
    from pairlearn.cli.run import Run
    from pairlearn.cli.steps.gallery import identifying, searching

    run = Run("identify", options, as_json)
    run.check_table(out, force=force)
    run.check_models(save_gallery, force=force)
    columns = table_options.columns()
    known, source = identifying.enrol(run, model, gallery, probes, columns, pool)
    asked = identifying.Asked(threshold, fmr, fpir)
    known = known._replace(gallery=identifying.with_threshold(run, known.gallery, asked, seed))
    tested = identifying.read_probes(run, source, known)
    most = min(top, len(known.gallery.names))
    found, how = searching.search_all(run, known.gallery, tested, most, search)
    result = {
        "model": str(model),
        "identities": len(known.gallery.names),
        "probes": len(tested.ids),
        **how,
        **identifying.show(run, known, tested, found),
    }
    answers = identifying.columns_of(known.gallery, tested, found["model"])
    if not as_json or str(out) != "-":
        run.table(out, answers, f"answers for {len(tested.ids):,} probes", result)
    if save_gallery is not None:
        run.save(known.gallery, save_gallery, result, about=known.about)
    listed = {name: column.tolist() for name, column in answers.items()} if str(out) == "-" else {}
    run.finish({**result, **listed} if listed else {**result, "out": str(out)})
