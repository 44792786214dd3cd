"""The record as one page that needs no network: template, style and script are put into a single file.

Nothing from the data is trusted: Jinja escapes all text, the record is embedded as JSON without <, > and &, the script
writes text nodes only, and a Content-Security-Policy allows this very script and style, by hash, and no connection.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from importlib import resources
from typing import Any

from pairlearn.evaluation import MEASURES, FnmrAtFmr
from pairlearn.evaluation.plots import COLOURS
from pairlearn.report.details import shown_examples
from pairlearn.report.png import data_uri
from pairlearn.report.record import as_json
from pairlearn.report.text import (
    COUNTS,
    difference_words,
    measure_name,
    measure_words,
    point_name,
    rate_words,
    row_relation,
    titled,
    unmeasurable,
    warning_words,
)

# In the order that they need each other: numbers and axes, the curves, the panel that starts it all.
SCRIPTS = ("scales.js", "det.js", "panel.js")
DRAWN = ("name", "baseline", "counts", "points", "operating", "curve", "histogram")
"""What the script needs of a system; the rest is in the tables of the page."""


def as_html(record: Mapping[str, Any], *, thumbnails: Mapping[Any, bytes] | None = None) -> str:
    """Return the page; thumbnails: PNG or JPEG files by example id, shown beside the worst errors.

    One file without a request to anywhere: it can be sent, archived and opened years later. All tables are complete
    without a script; the script draws the curves and moves the threshold.
    """
    template = environment().from_string(read_part("page.html.jinja"))
    script, style = "\n".join(map(read_part, SCRIPTS)), _colours() + read_part("page.css")
    return template.render(
        record=record,
        policy=policy(script, style),
        script=trusted(script),
        style=trusted(style),
        data=trusted(embedded(_drawn(record))),
        images=_images(record, thumbnails or {}),
    )


@dataclass(frozen=True)
class Page:
    """A page as a notebook shows it: inside a frame of its own, which can reach neither the notebook nor the network.

    >>> Page("<p>1 &amp; 2</p>", height=300)._repr_html_()[:45]
    '<iframe sandbox="allow-scripts" width="100%" '
    """

    html: str
    height: int = 900

    @classmethod
    def of(cls, record: Mapping[str, Any], *, thumbnails: Mapping[Any, bytes] | None = None, height: int = 900) -> Page:
        """The page of a record, `as_html`."""
        return cls(as_html(record, thumbnails=thumbnails), height)

    def __repr__(self) -> str:  # notebooks keep it beside the frame, and would keep the page twice
        return f"Page({len(self.html):,} letters, height={self.height})"

    def _repr_html_(self) -> str:
        frame = f'<iframe sandbox="allow-scripts" width="100%" height="{int(self.height)}" frameborder="0"'
        return f'{frame} srcdoc="{escape(self.html)}"></iframe>'


def embedded(record: Mapping[str, Any]) -> str:
    """JSON that can stand inside a script element: no markup in it can end the element.

    >>> embedded({"name": "</script>"})
    '{"name": "\\\\u003c/script\\\\u003e"}'
    """
    text = as_json(dict(record))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _drawn(record: Mapping[str, Any]) -> dict[str, Any]:
    """The part of the record that the script draws."""
    systems = [{key: system[key] for key in DRAWN} for system in record["systems"]]
    names = [[point_name(point) for point in system["points"]] for system in record["systems"]]
    return {"level": record["level"], "systems": systems, "point_names": names}


def _images(record: Mapping[str, Any], thumbnails: Mapping[Any, bytes]) -> dict[str, str]:
    """Data URIs of the examples that the tables of errors show."""
    by_name = {str(key): image for key, image in thumbnails.items()}
    shown = shown_examples(record)
    return {name: data_uri(image) for name, image in by_name.items() if name in shown}


def environment() -> Any:
    """What renders the page; worth asking for before a long computation, because Jinja2 may be missing.

    A name that the template does not find is an error, not an empty cell; words for numbers are those of `text.py`, so
    that page, Markdown and terminal never differ.
    """
    try:
        import jinja2
    except ImportError as error:
        raise ImportError("an HTML report needs Jinja2: pip install 'pairlearn[report]'") from error
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    numbers = (difference_words, measure_name, measure_words, point_name, rate_words, row_relation)
    words = (*numbers, titled, unmeasurable, warning_words)
    environment.globals.update({function.__name__: function for function in words})
    environment.globals.update(measures=MEASURES, fnmr_at=FnmrAtFmr, count_names=COUNTS)
    return environment


def trusted(text: str) -> Any:
    """Text that is markup already: our own files and `embedded` JSON, never anything from the data."""
    from markupsafe import Markup

    return Markup(text)


def read_part(name: str) -> str:
    """A file of the page."""
    return resources.files("pairlearn.report").joinpath("page", name).read_text(encoding="utf-8")


def _colours() -> str:
    """The colours of systems, the same as in plots."""
    return ":root{" + "".join(f"--s{k}:{colour};" for k, colour in enumerate(COLOURS)) + "}\n"


def policy(script: str, style: str) -> str:
    """The Content-Security-Policy: this script and this style by hash, pictures inside the page, nothing else."""
    allowed = "; ".join(f"{kind}-src '{_hash(text)}'" for kind, text in (("script", script), ("style", style)))
    return f"default-src 'none'; {allowed}; img-src data:; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
