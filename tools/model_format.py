"""Write docs/model-format.md from the table that saving and loading use.

python tools/model_format.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pairlearn.persist.files import DEEPEST, DIGITS, LONGEST_HEAD
from pairlearn.persist.kinds import WIDEST, Kind
from pairlearn.persist.known import ANY, MODELS, VALUES
from pairlearn.persist.schemas import NOT_SAVED, schema_of
from pairlearn.persist.transformers import TRANSFORMERS
from pairlearn.persist.values import MOST_USES

TARGET = Path(__file__).resolve().parents[1] / "docs" / "model-format.md"
HEAD = f"""# What a model file holds

`python tools/model_format.py` writes this page from `pairlearn/persist/schemas.py`, the table by which every file is
checked when it is saved and when it is read.

A model file is a safetensors file. Arrays are its tensors; all else is one JSON document, the text `pairlearn` of its
metadata: `format`, `version`, the `pairlearn` that wrote it, `about` (notes), `sha256` (of the document without it and
of all tensors), and `content`:

    {{"class": "PairSVC", "params": {{…}}, "fitted": {{…}}}}

Numbers, texts, `true`, `false` and `null` stand for themselves, a JSON list is a tuple. What JSON lacks is an object
with `is`: `array` (`tensor`, `order` of memory "C" or "F"), `csr` (sparse: `shape`, `data`, `indices`, `indptr`),
`strings` (`items`), `list` (`items`), `mapping` (`items`: pairs), `number` (`dtype`, `value`), `float` (`inf`, `-inf`,
`nan`), `dtype`, `model` (`content`), or a value of one of the classes below with its fields.

Bounds: {DEEPEST} levels of lists and objects, {DIGITS} digits of a whole number, {LONGEST_HEAD:,} bytes of head,
{WIDEST:,} features that a number alone may claim, {MOST_USES} places for one tensor; tensors lie one after the other
without gaps. Not saved, for they belong to the session: {", ".join(f"`{name}`" for name in NOT_SAVED)}.

In the tables, letters in brackets are the sides of an array: within one object, the same letter is the same size.
Learnt attributes in italics are not in every file.
"""


def page() -> str:
    """The whole page."""
    inner = {name: kind for name, kind in ANY.items() if name not in MODELS and name not in TRANSFORMERS}
    parts = {
        "Models": MODELS,
        "Parts of models": inner,
        "Transformers of scikit-learn": TRANSFORMERS,
        "Values": dict(sorted(VALUES.items())),
    }
    return "\n".join([HEAD, *(line for title, classes in parts.items() for line in _part(title, classes))])


def _part(title: str, classes: Mapping[str, type[Any]]) -> Iterator[str]:
    yield f"## {title}\n"
    for name in sorted(classes):
        schema = schema_of(classes[name])
        yield f"### {name}\n"
        rows = {key: ("", kind) for key, kind in schema.parameters.items()}
        rows |= {key: ("learnt", kind) for key, kind in schema.learnt.items()}
        yield from _table(rows) if rows else iter(["No fields.\n"])


def _table(rows: Mapping[str, tuple[str, Kind]]) -> Iterator[str]:
    yield "| field | | what it holds |\n|---|---|---|"
    for name, (learnt, kind) in rows.items():
        shown = f"`{name}`" if kind.always else f"*`{name}`*"
        yield f"| {shown} | {learnt} | {kind.words.replace('|', '/')} |"
    yield ""


if __name__ == "__main__":
    TARGET.write_text(page())
    print(f"{TARGET}: {len(VALUES) + len(ANY)} classes")
