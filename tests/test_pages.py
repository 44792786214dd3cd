"""Sources of the documentation site: nothing is lost or points nowhere. `make docs` builds it and looks at it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from pairlearn.cli.app import COMMANDS
from tools.pages import api, commands, messages, terms
from tools.pages.hooks import OPTIONAL

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
MADE = {*api.pages(), "reference/commands.md", "reference/messages.md"} | {
    f"project/{name}.md" for name in ("security", "contributing", "changes")
}
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def listed(nav: Any) -> Iterator[str]:
    """Every page that a navigation names."""
    if isinstance(nav, str):
        yield nav
    else:
        for entry in nav.values() if isinstance(nav, dict) else nav:
            yield from listed(entry)


def slug(heading: str) -> str:
    """The anchor that Markdown gives a heading."""
    given = re.search(r"\{ #([\w-]+)", heading)
    plain = re.sub(r"[^\w\s-]", "", heading).strip().lower()
    return given[1] if given else re.sub(r"[\s-]+", "-", plain)


def test_every_page_is_in_the_navigation() -> None:
    found = set(listed(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]))
    written = {path.relative_to(DOCS).as_posix() for path in PAGES}
    assert found - written - MADE == set()
    by_itself = {name for name in written if name.startswith("decisions/")} | set(OPTIONAL.values())
    assert written - found - by_itself == set()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    text = path.read_text()
    drawn = set(re.findall(r'"([\w-]+\.svg)"', text))
    for target in LINK.findall(FENCE.sub("", text)):
        name, _, anchor = target.partition("#")
        place = (path.parent / name).resolve() if name else path
        if name in drawn or place.relative_to(DOCS).as_posix() in MADE:
            continue
        assert place.is_file(), f"{target} is not there"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", FENCE.sub("", place.read_text()), re.MULTILINE)
            assert anchor in map(slug, headings), f"{target} has no such heading"


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "SECURITY.md"])
def test_files_of_the_root_point_to_pages(name: str) -> None:
    for target in LINK.findall((ROOT / name).read_text()):
        assert (ROOT / target.partition("#")[0]).exists(), target


def test_every_public_name_is_in_the_reference() -> None:
    shown = {api.path_of(name) for names in api.placed().values() for name in names}
    assert {api.path_of(name) for name in api.modules()} == shown
    assert "::: pairlearn.machines.pair_svc.PairSVC\n" in api.pages()["reference/api/machines.md"]


def test_every_command_and_option_is_in_the_reference() -> None:
    page = commands.page()
    for name, command in COMMANDS.items():
        assert f"## pairlearn {name} " in page
        assert command.example in page
    assert "| `--fmr` |" in page
    assert "### pairlearn pairs split " in page


@pytest.fixture(scope="module")
def found() -> list[messages.Message]:
    """All messages of the source, which takes seconds to read."""
    return messages.messages()


def test_messages_are_read_from_the_source(found: list[messages.Message]) -> None:
    assert len(found) > 500
    memory = next(message for message in found if "--memory-budget" in message.text and "plan" in message.where)
    assert memory.kind == "TooLargeError"
    assert "raise memory_budget (--memory-budget), or train on fewer pairs" in memory.text


def test_messages_are_found_behind_names_functions_and_tables(found: list[messages.Message]) -> None:
    """What a fit warns with is a constant, a value of a table, a return of a function or of a method."""
    said = {(message.text.split(";")[0], message.where) for message in found}
    for text, where in (
        ("values of this kernel overflow on these pairs, so that nothing can be learnt", "machines/machine.py"),
        ("… answers a symmetric question, but this pair kernel is …", "machines/symmetry.py"),
        ("… of the pair table … not among the examples: …", "pairs/ids.py"),
        (
            "… contradictory labels, e.g. pairs … and … both join examples … and …",
            "machines/pair_svc.py",
        ),
    ):
        assert (text, where) in said
    advice = [message for message in found if "float64 has too few digits" in message.text]
    assert [(message.kind, message.where) for message in advice] == [("warning", "machines/machine.py")]


def test_troubles_are_those_of_the_source() -> None:
    said = [
        messages._texts(node, {})[0]
        for path in messages.SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp)
    ]
    quoted = re.findall(r"^\| `(.+?)` \|", (DOCS / "troubleshooting.md").read_text(), re.MULTILINE)
    assert len(quoted) > 40
    for quote in quoted:
        parts = re.compile(".*".join(map(re.escape, filter(None, quote.split("…")))), re.DOTALL)
        assert any(parts.search(text) for text in said), f"nothing in the source says {quote!r}"


def test_terms_are_linked_once_and_not_in_code() -> None:
    known = terms.terms()
    assert known["FMR"] == known["false match rate"] == "fmr"
    assert "class" not in known
    page = "<h2>FMR</h2><p>A false match rate (FMR) of <code>FMR</code>, at an EER.</p><pre><code>EER</code></pre>"
    linked = terms.link_terms(page, known, "g.html")
    assert linked.count('href="g.html#fmr"') == 1
    assert '<a class="term" href="g.html#fmr">false match rate</a> (FMR)' in linked
    assert linked.count('href="g.html#eer"') == 1
    assert re.sub(r"</?a[^>]*>", "", linked) == page


def test_drawings_are_used() -> None:
    text = "".join(path.read_text() for path in PAGES)
    drawings = {path.name for path in (DOCS / "drawings").iterdir()}
    assert set(re.findall(r"drawings/([\w-]+\.svg)", text)) == drawings


@pytest.mark.parametrize("page", sorted(path.name for path in DOCS.glob("*.md")))
def test_files_that_a_page_names_exist(page: str) -> None:
    """Scripts and tests, as in "pytest tests/solvers" or "python repro/febrl.py"."""
    named = set(re.findall(r"\b(?:tests|benchmarks|repro|tools)/[\w/]+(?:\.\w+)?", (DOCS / page).read_text()))
    assert [name for name in sorted(named) if not (ROOT / name).exists() and "NAME" not in name] == []
