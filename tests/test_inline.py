"""What notebooks show: the figures are those of the value, and nothing from data is ever markup."""

from __future__ import annotations

import pickle
import re
import sys
from html.parser import HTMLParser
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pairlearn as pl
from pairlearn import inline
from pairlearn.scorers.explain import Explanation
from pairlearn.solvers.problem import Progress

HOSTILE = (
    "<script>document.title='owned'</script>",
    "</td></table><img src=x onerror=\"document.title='owned'\">",
    "\" onmouseover='x' a=\"",
    "&lt;b&gt; &amp; \u202eevil\u2066 \x00\x1b[2J\n",
    "]]><svg/onload=alert(1)>",
)
OURS = {"p", "table", "thead", "tbody", "tr", "th", "td", "svg", "rect", "pre"}


class Elements(HTMLParser):
    """Every element, attribute and text of some markup, as a browser would see them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def seen(value: Any) -> Elements:
    found = Elements(value._repr_html_())
    assert found.tags <= OURS
    assert found.attributes <= {"colspan", "width", "height", "x", "y", "fill", "role", "aria-label"}
    return found


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_text_everywhere(name: str) -> None:
    shown = inline.escaped(name)
    explanation = Explanation((name, "u"), np.array([1.0, -2.0]), 0.5, -0.5, pair=(name, name))
    pairs = pl.Pairs(np.eye(2), [0], [1], ids=[name, name + "2"])
    for value in (explanation, pairs):
        found = seen(value)
        assert any(text in (Elements(shown).texts or [""])[0] for text in found.texts if text)
        assert not re.search("[\u202e\u2066\x00\x1b]", "".join(found.texts))


@given(st.text())
def test_any_text_stays_one_text(text: str) -> None:
    found = Elements(f"<td>{inline.escaped(text)}</td>")
    assert found.tags == {"td"}
    assert all(c.isprintable() for c in "".join(found.texts))
    if len(text) <= inline.LONGEST and text.isprintable():
        assert "".join(found.texts) == text


def test_an_explanation_shows_its_sum() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=30)
    found = seen(Explanation(tuple(f"f{k}" for k in range(30)), values, 0.25, values.sum() + 0.25))
    numbers = [float(text) for text in found.texts if re.fullmatch(r"[+-]\d[\d.e+-]*", text)]
    assert len(numbers) == inline.ROWS + 2
    assert sum(numbers) == pytest.approx(values.sum() + 0.25, abs=0.01)


def test_pairs_show_their_first_rows() -> None:
    found = seen(pl.all_pairs(np.eye(30)))
    assert found.texts[:3] == ["Pairs(all 465 pairs of 30 examples)", "left row", "right row"]
    assert found.texts[-1] == "… 455 more"
    assert seen(pl.Pairs(np.eye(3), [0], [2])).texts[3:] == ["0", "2"]


def test_scores_show_counts_bins_and_the_error_rate() -> None:
    rng = np.random.default_rng(1)
    scores = pl.Scores(rng.normal(size=200), np.repeat([1, -1], 100))
    text = scores._repr_html_()
    heights = [float(each) for each in re.findall(r'y="[\d.]+" width="[\d.]+" height="([\d.]+)"', text)]
    assert len(heights) == 2 * inline.BINS
    for side, drawn in ((scores.positives, heights[: inline.BINS]), (scores.negatives, heights[inline.BINS :])):
        edges = np.linspace(scores.values.min(), scores.values.max(), inline.BINS + 1)
        counts = np.array([((side >= a) & (side < b)).sum() for a, b in pairwise(edges)])
        counts[-1] += (side == edges[-1]).sum()
        np.testing.assert_allclose(drawn, 60 * counts / counts.max(), atol=0.05)
    assert f"equal error rate {100 * pl.equal_error_rate(scores):.2f} %" in text
    assert "equal error rate" not in pl.Scores([1.0], [1])._repr_html_()
    seen(scores)


def test_plain_reprs_hold_neither_arrays_nor_pages() -> None:
    scores = pl.Scores(np.arange(5000.0), np.repeat([1, -1], 2500), left=np.arange(5000), right=np.arange(5000) + 1)
    assert repr(scores) == "Scores(2,500 same, 2,500 different pairs, with left, right)"
    assert repr(pl.Scores([1.0], [1])) == "Scores(1 same, 0 different pairs)"
    assert repr(pl.report.Page("<p>" + 5000 * "x", height=300)) == "Page(5,003 letters, height=300)"


def test_a_ranking_shows_the_best_first() -> None:
    X = np.array([[0.0], [2.0], [1.0]])
    pairs = pl.all_pairs(X, reflexive=False)
    ranker = pl.PairRanker("difference", "linear").fit(pairs, np.sign(X[pairs.left, 0] - X[pairs.right, 0]).astype(int))
    found = seen(ranker.rank(X))
    cells = found.texts[found.texts.index("score") + 1 :]
    assert list(zip(cells[0::3], cells[1::3], strict=True)) == [("1", "1"), ("2", "2"), ("3", "0")]


# --------------------------------------------------------------------------- one line


class Notebook:
    """IPython as far as a progress line knows it: outputs, and handles that replace them."""

    def __init__(self) -> None:
        self.outputs: list[str] = []

    def display(self, value: Any, display_id: bool) -> Any:
        assert display_id
        place = len(self.outputs)
        self.outputs.append(value._repr_html_())
        return SimpleNamespace(update=lambda line: self.outputs.__setitem__(place, line._repr_html_()))


def lines(n: int) -> list[Progress]:
    return [Progress(k, 10.0**-k, 0.0, k, k, float(k)) for k in range(n)]


def test_a_notebook_keeps_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = Notebook()
    shell = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=notebook.display))
    show = inline.ProgressLine(seconds=0)
    for line in lines(5):
        show(line)
    assert notebook.outputs == ["<pre>step 4: KKT gap 0.0001, 4 support pairs, 4.0 s</pre>"]
    copied = pickle.loads(pickle.dumps(show))
    copied(lines(1)[0])
    assert len(notebook.outputs) == 2


def test_a_terminal_keeps_one_line_and_a_pipe_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for line in lines(3):
        inline.ProgressLine(seconds=0)(line)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    show = inline.ProgressLine(seconds=3600)
    for line in lines(3):
        show(line)
    err = capsys.readouterr().err
    assert err.count("\r") == 1
    assert "\n" not in err


def test_a_page_stays_in_its_frame() -> None:
    """The text of the frame is the page, letter by letter, whatever quotes it holds; it may run scripts and no more."""
    name = HOSTILE[1]
    scores = pl.Scores(np.r_[np.arange(20.0), np.arange(20.0) - 5], np.repeat([1, -1], 20))
    page = pl.report.Page.of(pl.report.evaluate({name: scores}), height=300)
    found: list[Any] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: found.append((tag, dict(attrs)))  # type: ignore[method-assign]
    parser.feed(page._repr_html_())
    assert [tag for tag, _ in found] == ["iframe"]
    assert found[0][1] == {
        "sandbox": "allow-scripts",
        "width": "100%",
        "height": "300",
        "frameborder": "0",
        "srcdoc": page.html,
    }


def test_scores_tell_their_own_range_however_large() -> None:
    same, large = pl.Scores([100.0, 101.0, 102.0, 103.0], [1, -1, 1, -1]), pl.Scores([1e308, -1e308], [1, -1])
    assert "from 100 to 103" in same._repr_html_()
    assert "from -1e+308 to 1e+308" in large._repr_html_()


def test_a_line_of_progress_serves_a_classifier_of_similarities() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = pl.BasisSVC(progress=inline.ProgressLine(0.0), random_state=0).fit(X, np.arange(40) % 2)
    assert model.n_features_in_ == 3
