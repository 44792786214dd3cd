"""The page in a real browser: no request, no error, the library's numbers, and no way to smuggle markup in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pairlearn.evaluation import FmrAt, Scores, interval, rates_at
from pairlearn.report import as_html, evaluate
from pairlearn.report import records as page_of_records
from pairlearn.report.png import png
from pairlearn.report.ranking import ranking_page

CHROMIUM = os.environ.get("PAIRLEARN_CHROMIUM", "/usr/bin/chromium")
SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'`{{7*7}}&amp;\u2028"

pytestmark = pytest.mark.skipif(
    os.environ.get("PAIRLEARN_SKIP_BROWSER") == "1", reason="PAIRLEARN_SKIP_BROWSER=1: no browser on this machine"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    assert Path(CHROMIUM).exists(), f"no {CHROMIUM}; install Chromium, or set PAIRLEARN_SKIP_BROWSER=1 to go without"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        yield browser
        browser.close()


Open = Callable[..., Any]


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Open a page; afterwards nothing may have been requested, said on the console, thrown or popped up."""
    trouble: list[str] = []
    opened: list[Any] = []

    def opener(html: str, width: int = 1280) -> Any:
        path = tmp_path / "report.html"
        path.write_text(html, encoding="utf-8")
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.on("console", lambda message: trouble.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: trouble.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (trouble.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: request.url.startswith(("file:", "data:")) or trouble.append(request.url))
        page.goto(path.as_uri())
        opened.append(page)
        return page

    yield opener
    for page in opened:
        page.close()
    assert trouble == []


@pytest.fixture(scope="module")
def record(systems: dict[str, Scores]) -> dict[str, Any]:
    return evaluate(systems, baselines=["cosine"], title="Faces", threshold=1.25)


def value(page: Any, name: str) -> float:
    return float(page.locator(f"#{name}").get_attribute("data-value"))


def slide(page: Any, place: int) -> None:
    page.locator("#slider").evaluate("(e, k) => { e.value = k; e.dispatchEvent(new Event('input')) }", place)


def check(page: Any, scores: Scores) -> None:
    """The panel shows what the library computes at the threshold shown."""
    threshold = value(page, "threshold")
    rates = rates_at(scores, threshold)
    assert (value(page, "fmr"), value(page, "fnmr")) == rates
    assert value(page, "false-matches") == np.sum(scores.negatives >= threshold)
    assert value(page, "false-non-matches") == np.sum(scores.positives < threshold)
    assert value(page, "true-matches") == np.sum(scores.positives >= threshold)
    assert value(page, "true-non-matches") == np.sum(scores.negatives < threshold)
    shown = page.locator("#fmr").text_content()
    assert float(shown.removesuffix(" %")) == pytest.approx(100 * rates.fmr, rel=5e-3, abs=1e-9)


def test_it_opens_at_the_given_threshold(open_page: Open, record: dict[str, Any], systems: dict[str, Scores]) -> None:
    page = open_page(as_html(record))
    assert page.title() == "Faces"
    assert value(page, "threshold") == 1.25
    check(page, systems["model"])
    assert page.locator(".curve").count() == 2
    assert page.locator("#warnings li").count() == len(record["warnings"])
    eer = page.locator("#summary tbody tr").first.locator("td").first
    assert float(eer.get_attribute("data-value")) == record["systems"][0]["eer"]["value"]
    heads = page.locator("#summary thead th").all_text_contents()
    for name, head in (("min_cllr", "min Cllr"), ("cllr", "Cllr, ifcalibrated")):
        cell = page.locator("#summary tbody tr").first.locator("td").nth(heads.index(head) - 1)
        assert float(cell.get_attribute("data-value")) == record["systems"][0][name]["value"]


def test_rates_that_no_system_can_measure_take_no_room(open_page: Open, record: dict[str, Any]) -> None:
    page = open_page(as_html(record))
    heads = page.locator("#summary thead th").all_text_contents()
    assert heads[-3:] == ["FNMR atFMR 10 %", "FNMR atFMR 1 %", "FNMR atFMR 0.1 %"]
    assert page.locator("#summary tbody tr").first.locator("td").count() == len(heads) - 1
    assert "FNMR at FMR 0.01 %, 0.001 %, 0.0001 %." in " ".join(page.locator(".note").first.text_content().split())
    assert page.locator("#summary").evaluate("e => e.scrollWidth <= e.parentElement.clientWidth")


def test_the_slider_shows_the_librarys_rates(
    open_page: Open, record: dict[str, Any], systems: dict[str, Scores]
) -> None:
    page = open_page(as_html(record))
    last = int(page.locator("#slider").get_attribute("max"))
    seen = set()
    for place in (0, 200, last // 2, last - 50, last):
        slide(page, place)
        check(page, systems["model"])
        seen.add(value(page, "threshold"))
    assert len(seen) == 5
    slide(page, last // 2)
    wanted = interval(systems["model"], FmrAt(value(page, "threshold")), method="jackknife")
    low, high = page.locator("#fmr-limits").text_content().split("[")[1].removesuffix("]").split(", ")
    assert [float(low), float(high)] == pytest.approx([100 * wanted.low, 100 * wanted.high], rel=1e-2)


def test_keys_presets_and_systems(open_page: Open, record: dict[str, Any], systems: dict[str, Scores]) -> None:
    page = open_page(as_html(record))
    before, line = value(page, "threshold"), page.locator("#threshold-line").get_attribute("x1")
    page.locator("#slider").focus()
    for _ in range(40):
        page.keyboard.press("ArrowRight")
    assert value(page, "threshold") > before
    assert float(page.locator("#threshold-line").get_attribute("x1")) > float(line)
    check(page, systems["model"])
    page.get_by_role("button", name="FMR ≤ 1 %").click()
    assert value(page, "fmr") <= 0.01
    assert value(page, "threshold") == next(p["threshold"] for p in record["systems"][0]["points"] if p["at"] == 0.01)
    page.locator("#system").select_option("1")
    check(page, systems["cosine"])
    assert value(page, "threshold") == record["systems"][1]["points"][0]["threshold"]


def test_systems_are_switched_off_and_on(open_page: Open, record: dict[str, Any]) -> None:
    page = open_page(as_html(record))
    cosine = page.locator("#legend button").nth(1)
    cosine.click()
    assert cosine.get_attribute("aria-pressed") == "false"
    assert page.locator(".curve").count() == 1
    assert page.locator(".curve").get_attribute("data-system") == "0"
    cosine.click()
    assert page.locator(".curve").count() == 2


def test_axes_zoom_and_tooltip(open_page: Open, record: dict[str, Any], systems: dict[str, Scores]) -> None:
    page = open_page(as_html(record))
    path = page.locator(".curve").first
    drawn = {path.get_attribute("d")}
    for name in ("Logarithmic", "Linear", "Normal deviate"):
        page.get_by_role("radio", name=name).click()
        drawn.add(path.get_attribute("d"))
    assert len(drawn) == 3  # normal deviates are the first axes again
    whole = path.get_attribute("d")
    page.locator("#det").scroll_into_view_if_needed()
    box = page.locator("#chosen").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    assert "threshold 1.25" in page.locator(".tip").text_content()
    page.mouse.wheel(0, -300)
    page.wait_for_function("d => document.querySelector('.curve').getAttribute('d') !== d", arg=whole)
    page.locator("#reset").click()
    assert path.get_attribute("d") == whole
    page.mouse.move(x - 60, y - 60)
    page.mouse.down()
    page.mouse.move(x + 60, y + 60, steps=3)
    assert page.locator(".band").count() == 1
    page.mouse.up()
    assert path.get_attribute("d") != whole
    page.locator("#reset").click()
    page.mouse.click(x + 40, y + 25)
    check(page, systems["model" if page.locator("#system").input_value() == "0" else "cosine"])


def test_hostile_names_stay_text(open_page: Open, simulate: Callable[..., Scores]) -> None:
    scores = simulate(3.0, n=6, picture=HOSTILE, person=HOSTILE)
    record = evaluate(
        {HOSTILE: scores, "b": scores}, baselines=["b"], title=HOSTILE, task=HOSTILE, source=HOSTILE, notes=[HOSTILE],
        groups=np.full(len(scores), HOSTILE), trained={"identities": {HOSTILE + " 1"}},
    )  # fmt: skip
    page = open_page(as_html(record))
    assert page.title().replace("\u2028", "") == HOSTILE.replace("\u2028", "")
    assert page.locator("h1").text_content() == HOSTILE
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    assert page.locator("#legend button").first.text_content() == HOSTILE
    assert page.locator(".worst td.text").first.text_content().startswith(HOSTILE)
    assert page.locator("#groups td.text").first.text_content() == HOSTILE
    page.locator("#chosen").scroll_into_view_if_needed()
    box = page.locator("#chosen").bounding_box()
    page.mouse.move(box["x"] + 6, box["y"] + 6)
    assert page.locator(".tip").text_content().startswith(HOSTILE)
    page.wait_for_timeout(50)


def test_the_policy_forbids_connections_and_foreign_scripts(
    browser: Any, tmp_path: Path, record: dict[str, Any]
) -> None:
    path = tmp_path / "report.html"
    path.write_text(as_html(record).replace("</main>", "<script>window.foreign = 1</script></main>"))
    page = browser.new_page()
    page.goto(path.as_uri())
    assert page.evaluate("window.foreign === undefined")
    tried = "fetch('https://example.invalid/').then(() => 'sent', error => 'refused')"
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    assert page.evaluate(tried) == "refused"
    assert asked == []
    page.close()


def test_it_fits_a_phone_and_shows_thumbnails(open_page: Open, record: dict[str, Any]) -> None:
    first = record["systems"][0]["worst"]["false_matches"][0]
    page = open_page(as_html(record, thumbnails={first["left"]: png(np.eye(8))}), width=400)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert page.locator(".worst img").first.evaluate("image => image.naturalWidth") == 8


# --------------------------------------------------------------------------- long names, keyboard, paper

LONG = {
    "a machine with a name of many words on the standardised linear kernel, C = 1": 3.0,
    "models/2024/experiments/without/any/blank/that/a/line/could/break/at/model_v17_final.safetensors": 2.8,
    "third": 2.6,
    "fourth": 2.4,
    "cosine": 2.0,
    "euclid": 1.9,
}


@pytest.fixture(scope="module")
def wide(simulate: Callable[..., Scores]) -> dict[str, Any]:
    """Many systems with long names, as many rates as a page shows, ids that are paths, and subgroups."""
    folder = "embeddings/labelled_faces_of_the_whole_collection/photo"
    systems = {
        name: simulate(shift, seed=k, picture=folder, person="somebody_with_a_long_name")
        for k, (name, shift) in enumerate(LONG.items())
    }
    groups = np.where(np.arange(7140) % 2, "indoors, by the light of a window", "outdoors")
    fmrs = (0.3, 0.2, 0.1, 0.05, 0.02, 0.01)
    return evaluate(systems, baselines=["cosine", "euclid"], fmrs=fmrs, groups=groups, cost=(10, 1, 0.1))


CUT = """() => [...document.querySelectorAll('.scroll')].filter(box => box.scrollWidth > box.clientWidth)
    .map(box => box.getAttribute('aria-label'))"""
BEYOND = """() => [...document.querySelectorAll('main *, header *')].filter(each => !each.closest('svg'))
    .filter(each => each.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .map(each => each.tagName + '.' + each.className)"""


def test_nothing_is_cut_at_1280_pixels(open_page: Open, wide: dict[str, Any]) -> None:
    page = open_page(as_html(wide))
    page.evaluate("() => document.querySelectorAll('details').forEach(each => each.open = true)")
    assert page.evaluate(CUT) == []
    assert page.evaluate(BEYOND) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_long_names_fit_a_phone(open_page: Open, wide: dict[str, Any]) -> None:
    page = open_page(as_html(wide), width=400)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert "Summary" in page.evaluate(CUT)  # it scrolls inside its box


def test_what_scrolls_is_reached_by_keyboard(open_page: Open, wide: dict[str, Any]) -> None:
    page = open_page(as_html(wide), width=400)
    boxes = page.locator(".scroll")
    found = boxes.evaluate_all(
        "all => all.map(e => [e.tabIndex, e.getAttribute('role'), e.getAttribute('aria-label')])"
    )
    assert {(tab, role) for tab, role, _ in found} == {(0, "region")}
    labels = [label for *_, label in found]
    assert len(set(labels)) == len(labels) == page.locator("table").count()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Summary"
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.activeElement.scrollLeft > 0")


def test_paper_shows_everything(open_page: Open, wide: dict[str, Any]) -> None:
    page = open_page(as_html(wide), width=710)  # A4 between its margins
    state = "[...document.querySelectorAll('details')].map(each => each.open)"
    before = page.evaluate(state)
    assert False in before
    page.evaluate(f"() => addEventListener('beforeprint', () => {{ window.printed = {state} }})")
    assert page.pdf(format="A4").startswith(b"%PDF")
    assert page.evaluate("window.printed") == [True] * len(before)
    assert page.evaluate(state) == before  # as the reader left it
    page.emulate_media(media="print")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(BEYOND) == []
    styles = page.locator(".scroll").evaluate_all("all => all.map(each => getComputedStyle(each).overflowX)")
    assert set(styles) == {"visible"}
    rows = sum(len(system["worst"][kind]) for system in wide["systems"] for kind in system["worst"])
    assert page.locator(".worst tbody tr:visible").count() == rows
    cards = page.locator(".columns > .card").evaluate_all("all => all.map(e => e.getBoundingClientRect().toJSON())")
    assert cards[0]["bottom"] <= cards[1]["top"]


def test_without_a_script_everything_is_open(browser: Any, tmp_path: Path, wide: dict[str, Any]) -> None:
    path = tmp_path / "report.html"
    path.write_text(as_html(wide), encoding="utf-8")
    page = browser.new_page(java_script_enabled=False)
    page.goto(path.as_uri())
    assert page.locator("details").count() == page.locator("details[open]").count() == 2 * len(LONG)
    page.close()


# --------------------------------------------------------------------------- pages of an order and of records


def order_page() -> str:
    """Twenty with names that no line can break."""
    names = [f"somebody_with_a_name_that_no_line_can_break_{k}" for k in range(20)]
    relation = np.subtract.outer(np.arange(20.0), np.arange(20.0)).T
    return ranking_page([(k + 1, name, 10.0 - k) for k, name in enumerate(names)], relation, "no circles")


def match_page(monkeypatch: pytest.MonkeyPatch) -> str:
    """Every part of the page, with words that no line can break; what a matcher finds is put in its place."""
    name = "somebody_with_a_name_that_no_line_can_break"
    kinds = {f"{name}_{k}": "text" for k in range(4)}
    shown = [page_of_records.Shown(0.5, taken, [(name, name)] * 4, f"{name} +1.5") for taken in (True, False)]
    monkeypatch.setattr(page_of_records, "doubtful", lambda *_: shown)
    held = Scores(np.linspace(0, 1, 40), np.where(np.arange(40) > 15, 1, -1), *np.arange(80).reshape(2, 40))
    estimate = SimpleNamespace(estimate=0.9, low=0.8, high=0.95, n_units=40)
    learnt = SimpleNamespace(
        matcher=SimpleNamespace(trials_=[(name, 0.9)]), verdict=None, judged=[SimpleNamespace(name=name, f1=estimate)]
    )
    result = {"matches": 1, "threshold": 0.5, "candidates": 40, "share_of_pairs": 0.5, "kinds": kinds}
    scored: Any = SimpleNamespace(probabilities=held.values)
    return page_of_records.records_page("match", learnt, scored, held, result, "unknown")


@pytest.mark.parametrize("kind", ["order", "match"])
def test_pages_without_a_script_fit_a_phone(kind: str, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    html = order_page() if kind == "order" else match_page(monkeypatch)
    for width in (390, 1280):
        page = open_page(html, width=width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        outside = page.evaluate(BEYOND.replace("!each.closest('svg')", "!each.closest('.scroll')"))
        assert outside == []
        boxes = page.locator(".scroll").evaluate_all("all => all.map(e => [e.tabIndex, e.getAttribute('aria-label')])")
        assert {tab for tab, _ in boxes} == {0}
        assert len({label for _, label in boxes}) == len(boxes) >= page.locator("table").count()
