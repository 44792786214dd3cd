"""Links that nobody has to write: words of the glossary at their first use, public names wherever they are code."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

GLOSSARY = Path(__file__).parents[2] / "docs" / "glossary.md"
HEADING = re.compile(r"^## (.+?) \{ #([\w-]+)(.*?)\}$", re.MULTILINE)
ALSO = re.compile(r'data-also="([^"]*)"')
TAG = re.compile(r"(<[^>]+>)")
CLOSED = {"a", "code", "pre", "h1", "h2", "h3", "h4", "svg", "math", "script", "style", "button", "th", "summary"}
"""Elements in which no word becomes a link."""


def terms() -> dict[str, str]:
    """Words that the glossary explains, and the anchor of each.

    `data-also` has other ways to write one; a word with `data-plain` is too common for a link.
    """
    found = {}
    for heading in HEADING.finditer(GLOSSARY.read_text(encoding="utf-8")):
        if "data-plain" in heading[3]:
            continue
        also = ALSO.search(heading[3])
        names = [heading[1], *(also[1].split(", ") if also else [])]
        found |= dict.fromkeys(names, heading[2])
    return found


def link_terms(html: str, known: dict[str, str], address: str) -> str:
    """Link the first use of every term.

    >>> link_terms("<h1>FMR</h1><p>The <code>FMR</code> or FMR, FMR.</p>", {"FMR": "fmr"}, "glossary.html")
    '<h1>FMR</h1><p>The <code>FMR</code> or <a class="term" href="glossary.html#fmr">FMR</a>, FMR.</p>'
    """
    if not known:
        return html
    words = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, sorted(known, key=len, reverse=True)))})(?![\w-])")
    left = set(known.values())

    def linked(found: re.Match[str]) -> str:
        anchor = known[found[1]]
        if anchor not in left:
            return found[1]
        left.remove(anchor)
        return f'<a class="term" href="{address}#{anchor}">{found[1]}</a>'

    return _outside(html, lambda text: words.sub(linked, text))


def _outside(html: str, change: Callable[[str], str]) -> str:
    """Change text that stands in no closed element."""
    parts, depth = [], 0
    for part in TAG.split(html):
        name = re.match(r"</?(\w+)", part)
        if part.startswith("<") and name and name[1] in CLOSED and not part.endswith("/>"):
            depth += -1 if part.startswith("</") else 1
        parts.append(part if depth or part.startswith("<") else change(part))
    return "".join(parts)


def link_names(html: str, places: dict[str, str]) -> str:
    """Link every `pl.Name` that stands alone as code, calls with arguments too.

    >>> link_names("<code>pl.Pairs(X, left, right)</code>", {"pl.Pairs": "pairs.html#p"})
    '<a href="pairs.html#p"><code>pl.Pairs(X, left, right)</code></a>'
    """
    code = re.compile(r"(?<!<pre>)<code>(pl(?:\.\w+)+)((?:\([^<]*\))?)</code>(?!</a>)")

    def linked(found: re.Match[str]) -> str:
        place = places.get(found[1])
        return f'<a href="{place}">{found[0]}</a>' if place else found[0]

    return code.sub(linked, html)
