"""`pairlearn demo records`: a shop and a catalogue spell the same products differently; which are the same, and why?

Look-alikes differ in one word only (a kettle of 1.0 l and one of 1.7 l), spellings of the same product in many: that is
what makes the nearest text the wrong one, and what labelled pairs teach.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from pairlearn.cli.demos.demo import Demo, Results
from pairlearn.cli.terminal import percent, safe, say, table
from pairlearn.data.files.sheet import read_sheet

KINDS = {
    "Kettle": ("1.0 l", "1.7 l"),
    "Toaster": ("2 slices", "4 slices"),
    "Desk lamp": ("40 cm", "60 cm"),
    "Backpack": ("20 l", "30 l"),
    "Headphones": ("wired", "wireless"),
    "Frying pan": ("24 cm", "28 cm"),
    "Alarm clock": ("radio", "quartz"),
    "Vacuum flask": ("0.5 l", "0.75 l"),
}
BRANDS = {"Norwood": "NWD", "Bellaterra": "B. terra", "Quickstep": "Quick-Step", "Halden & Sons": "Halden"}
COLOURS = ("black", "white", "red", "steel")
FOUND = {
    "guessed.csv": "without labels:",
    "matched.csv": "learnt from labels:",
    "delivered.csv": "a later delivery:",
}
SHOWN = 2
"""Of the surest and of the least sure matches."""
SOLD, LATER, ASKED = 160, 40, 200
"""Products of the shop that is matched and of the delivery that comes later, and pairs that somebody has judged."""


def tables(seed: int) -> dict[str, Any]:
    """catalogue.csv with every product, shop.csv with some in other words, delivery.csv, labels.csv."""
    rng = np.random.default_rng(seed)
    things = [
        (kind, size, brand, colour)
        for (kind, sizes), brand, colour in product(KINDS.items(), BRANDS, COLOURS)
        for size in sizes
    ]
    prices = rng.uniform(9, 120, len(things)).round(2)
    catalogue = {
        "id": [f"c{k:03d}" for k in range(len(things))],
        "title": [f"{kind} {size}" for kind, size, _, _ in things],
        "colour": [colour for *_, colour in things],
        "brand": [brand for _, _, brand, _ in things],
        "price": prices,
    }
    sold = rng.permutation(len(things))[: SOLD + LATER]
    offers = [_offer(things[k], prices[k], rng) for k in sold.tolist()]
    columns = {
        "id": [f"s{k:03d}" for k in range(len(sold))],
        **{name: [offer[name] for offer in offers] for name in ("title", "colour", "brand", "price")},
    }
    return {
        "catalogue.csv": catalogue,
        "shop.csv": {name: cells[:SOLD] for name, cells in columns.items()},
        "delivery.csv": {name: cells[SOLD:] for name, cells in columns.items()},
        "labels.csv": _labels(things, sold[:SOLD], rng),
        "truth.csv": {"left": columns["id"], "right": [f"c{k:03d}" for k in sold]},
    }


def _offer(thing: tuple[str, str, str, str], price: float, rng: np.random.Generator) -> dict[str, Any]:
    """The product as a shop writes it: words in another order, some left out, a typing error, another price."""
    kind, size, brand, colour = thing
    words = [kind.lower(), size.replace(" ", "") if rng.random() < 0.5 else size]
    words.append(["NEW", "offer", "(boxed)", ""][rng.integers(4)])
    title = " ".join(word for word in rng.permutation(words) if word)
    return {
        "title": _mistyped(title, rng),
        "colour": _mistyped(colour, rng) if rng.random() < 0.5 else ["", colour][rng.integers(2)],
        "brand": [brand, BRANDS[brand], brand.upper(), ""][rng.choice(4, p=[0.4, 0.3, 0.2, 0.1])],
        "price": round(price * rng.uniform(0.9, 1.05), 2),
    }


def _mistyped(text: str, rng: np.random.Generator) -> str:
    """One letter left out, doubled or swapped with the next one; digits stay."""
    letters = [k for k in range(len(text) - 1) if text[k : k + 2].isalpha()]
    k = int(rng.choice(letters))
    one, two = text[k], text[k + 1]
    return text[:k] + (two, two + one, one + one + two)[rng.integers(3)] + text[k + 2 :]


def _labels(things: list[tuple[str, str, str, str]], sold: Any, rng: np.random.Generator) -> dict[str, Any]:
    """Judged pairs: an offer with its product, or with one that is like it but for one word."""
    left, right = [], []
    for place in rng.choice(len(sold), ASKED // 2, replace=False).tolist():
        own = things[sold[place]]
        near = [k for k, thing in enumerate(things) if sum(a != b for a, b in zip(thing, own, strict=True)) == 1]
        left += [place, place]
        right += [int(sold[place]), int(rng.choice(near))]
    label = np.tile(["same", "different"], len(left) // 2)
    return {"left": [f"s{k:03d}" for k in left], "right": [f"c{k:03d}" for k in right], "label": label}


def tell(console: Console, folder: Path, results: Results) -> None:
    """What was learnt beside simpler methods, and what the matches of the delivery are worth."""
    learnt = results[1]
    truth = _columns(folder / "truth.csv")
    right = set(zip(truth["left"], truth["right"], strict=True))
    drawn = table(("held-out labelled pairs", "F1", "95 % limits over records"))
    for name, (f1, low, high) in learnt["f1"].items():
        drawn.add_row(name, f"{f1:.3f}", f"[{low:.3f}, {high:.3f}]")
    console.print(drawn)
    for file, what in FOUND.items():
        found = _columns(folder / file)
        hits = sum(pair in right for pair in zip(found["left"], found["right"], strict=True))
        say(console, f"{len(found['left'])} offers matched, {percent(hits / len(found['left']), 0)} rightly", lead=what)
    _show_reasons(console, folder)


def _columns(path: Path) -> dict[str, list[str]]:
    """The cells of a table as text."""
    return {name: [cell or "" for cell in column.texts()] for name, column in read_sheet(path).columns.items()}


def _show_reasons(console: Console, folder: Path) -> None:
    """The surest and the least sure matches of the delivery, both spellings, and what each column says."""
    found = _columns(folder / "delivered.csv")
    sides = {side: _columns(folder / f"{name}.csv") for side, name in (("left", "delivery"), ("right", "catalogue"))}
    places = {side: {key: row for row, key in enumerate(columns["id"])} for side, columns in sides.items()}
    drawn = table(("the surest and the least sure", "match", "why, by column (log-odds)"))
    drawn.columns[2].justify = "left"
    for row in [*range(SHOWN), *range(len(found["left"]) - SHOWN, len(found["left"]))]:
        offer, listed = (safe(_spelled(each, places[side][found[side][row]])) for side, each in sides.items())
        drawn.add_row(offer, f"{float(found['probability'][row]):.3f}", safe(found["why"][row].replace(", ", "  ")))
        drawn.add_row(listed, "", "", end_section=True)
    console.print(drawn)


def _spelled(columns: dict[str, list[str]], row: int) -> str:
    """A record on one line."""
    return ", ".join(cells[row] or "–" for name, cells in columns.items() if name != "id")


DEMO = Demo(
    "Records: which offers of a shop are which products of a catalogue?",
    tables,
    (
        "match @/shop.csv @/catalogue.csv --review review.csv --out guessed.csv",
        "match @/shop.csv @/catalogue.csv --labels @/labels.csv --report records.html --save-model matcher.safetensors",
        "match @/delivery.csv @/catalogue.csv --model matcher.safetensors --out delivered.csv",
    ),
    tell,
    "records.html",
)
