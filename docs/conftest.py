"""Examples of pages run in build/pictures, in the folder of their page: what they draw there is what the site shows."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import pytest

DOCS = Path(__file__).parent
PICTURES = DOCS.parent / "build" / "pictures"
STYLE = {
    "figure.figsize": (6.4, 3.6),
    "figure.dpi": 100,
    "savefig.bbox": "tight",
    "svg.hashsalt": "pairlearn",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "font.size": 11,
}


@pytest.fixture(autouse=True)
def in_the_folder_of_pictures(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in the folder of pictures, and draw all of them in one style."""
    folder = PICTURES / Path(request.node.path).relative_to(DOCS).parent
    folder.mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(folder)
    matplotlib.use("svg")
    matplotlib.rcParams.update(STYLE)
