"""Look at the built site as a reader does: `python -m tools.pages.browser [--pictures FOLDER] [how/limits …]`.

Every page of site/ is opened in Chromium from its file, wide, narrow and in the dark: nothing may be said on the
console, requested from elsewhere, missing or wider than the window; text must stand out from its ground. Links are
followed to their page and anchor, the search must find what it should, and keys alone must lead there. With
`--pictures` pages are photographed, for people to look at. Names open some pages only.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[2]
SITE = ROOT / "site"
CHROMIUM = os.environ.get("PAIRLEARN_CHROMIUM", "/usr/bin/chromium")
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
LOOKS = {"wide": (1280, "default"), "dark": (1280, "slate"), "narrow": (400, "default")}
"""Width of the window in pixels, and the name of its colours."""
SEARCHES = {"false match rate": "glossary.html", "checksum": "troubleshooting.html", "threshold_at_fmr": "evaluation"}
"""What a reader types, and a page that must be among the answers."""
CONTRAST = 3.0
"""Least ratio of the brightness of paragraphs to that of their ground."""
MEASURE = """() => {
  const bright = (colour) => {
    const linear = (x) => x > .04 ? ((x + .055) / 1.055) ** 2.4 : x / 12.92;
    const [r, g, b] = colour.match(/[\\d.]+/g).map((x) => linear(x / 255));
    return .2126 * r + .7152 * g + .0722 * b + .05;
  };
  const text = document.querySelector("article p, article li, article td") ?? document.body;
  const [a, b] = [bright(getComputedStyle(text).color), bright(getComputedStyle(document.body).backgroundColor)];
  return {
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    broken: [...document.images].filter((image) => !image.naturalWidth && image.offsetParent).map((image) => image.src),
    contrast: Math.max(a, b) / Math.min(a, b),
  };
}"""


class Places(HTMLParser):
    """Anchors of a page, and the addresses that it points to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.targets: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag is called and where it points."""
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            if name in ("href", "src") and value and tag != "base":
                self.targets.add(value)


def broken_links(site: Path) -> Iterator[str]:
    """Links to pages, files or anchors that are not there, and anything that is loaded or linked from elsewhere."""
    places = {path: Places(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    for path, page in places.items():
        for target in sorted(page.targets):
            parts = urlsplit(target)
            if parts.scheme in ("data", "mailto"):
                continue
            if parts.scheme or parts.netloc:
                yield f"{path.relative_to(site)} points elsewhere: {target}"
                continue
            other = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            other = other / "index.html" if other.is_dir() else other
            if not other.exists():
                yield f"{path.relative_to(site)} → {target}: there is no such file"
            elif parts.fragment and other in places and unquote(parts.fragment) not in places[other].anchors:
                yield f"{path.relative_to(site)} → {target}: there is no such anchor"


def look(site: Path, names: list[str], pictures: Path | None) -> Iterator[str]:
    """What is wrong with these pages in the browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        page, said = browser.new_page(), list[str]()
        page.on("console", lambda message: said.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: said.append(f"error: {error}"))
        page.on("request", lambda request: _local(request.url) or said.append(f"asks {request.url}"))
        for name in names:
            page.set_viewport_size({"width": LOOKS["wide"][0], "height": 900})
            page.goto((site / f"{name}.html").as_uri())
            for look, (width, scheme) in LOOKS.items():
                page.set_viewport_size({"width": width, "height": 900})
                page.evaluate(f"document.body.dataset.mdColorScheme = '{scheme}'")
                yield from (f"{name} ({look}): {trouble}" for trouble in (*_measured(page), *said))
                said.clear()
                if pictures is not None:
                    page.screenshot(path=pictures / f"{look}-{name.replace('/', '-')}.png", full_page=True)
        dark = browser.new_page(color_scheme="dark")
        dark.goto((site / "index.html").as_uri())
        if dark.evaluate("document.body.dataset.mdColorScheme") != "slate":
            yield "the site stays light for those who want it dark"
        for look, (width, _) in LOOKS.items():
            page.set_viewport_size({"width": width, "height": 900})
            yield from (f"search ({look}): {trouble}" for trouble in (*_searched(page, site), *said))
        page.set_viewport_size({"width": LOOKS["wide"][0], "height": 900})
        yield from (f"keys: {trouble}" for trouble in _keyed(page, site))
        browser.close()


def _local(address: str) -> bool:
    return address.startswith(("file:", "data:", "blob:", "about:"))


def _measured(page: Any) -> Iterator[str]:
    found = page.evaluate(MEASURE)
    if found["wide"] > 0:
        yield f"{found['wide']} pixels wider than the window"
    if found["contrast"] < CONTRAST:
        yield f"contrast {found['contrast']:.1f}"
    yield from (f"no picture {source}" for source in found["broken"])


def _searched(page: Any, site: Path) -> Iterator[str]:
    """Type some words and look at the answers."""
    for words, wanted in SEARCHES.items():
        page.goto((site / "index.html").as_uri())
        try:
            if page.locator("label[for=__search].md-header__button").is_visible():
                page.locator("label[for=__search].md-header__button").click()
            page.locator("input.md-search__input").click()
            page.keyboard.type(words)
            page.wait_for_selector(f".md-search-result__item a[href*='{wanted}']", state="attached", timeout=20_000)
        except Exception:
            found = page.eval_on_selector_all(".md-search-result__item a", "some => some.map(each => each.href)")
            yield f"{words!r} does not find {wanted} but {found[:5]}"


def _keyed(page: Any, site: Path) -> Iterator[str]:
    """Without a mouse: past the navigation, and by / to the search and to its first answer."""
    page.goto((site / "index.html").as_uri())
    page.keyboard.press("Tab")
    if "md-skip" not in (page.evaluate("document.activeElement.className") or ""):
        yield "the first Tab does not offer to skip the navigation"
    page.keyboard.press("/")
    page.wait_for_timeout(300)
    page.keyboard.type(next(iter(SEARCHES)))
    if page.evaluate("document.activeElement.className.includes('md-search__input')") is not True:
        yield "/ does not lead to the search"
        return
    page.wait_for_selector(".md-search-result__item a", state="attached", timeout=20_000)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    try:
        page.wait_for_url(lambda address: "index.html" not in address, timeout=10_000)
    except Exception:
        yield "Enter does not open the first answer of the search"


def main() -> int:
    """Say what is wrong; 1 if anything is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="pages such as how/limits; all, if none is named")
    parser.add_argument("--site", type=Path, default=SITE)
    parser.add_argument("--pictures", type=Path, help="folder for a photograph of every page")
    args = parser.parse_args()
    if args.pictures is not None:
        args.pictures.mkdir(parents=True, exist_ok=True)
    names = sorted(path.relative_to(args.site).with_suffix("").as_posix() for path in args.site.rglob("*.html"))
    wrong = list(broken_links(args.site))
    if os.environ.get("PAIRLEARN_SKIP_BROWSER") != "1":
        wrong += look(args.site, args.names or names, args.pictures)
    for line in wrong:
        print(re.sub(r"\s+", " ", line))
    print(f"{len(args.names or names)} pages: {f'{len(wrong)} things wrong' if wrong else 'nothing wrong'}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
