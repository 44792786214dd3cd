"""Drawings: what is on the axes, and the files."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from pairlearn.errors import InputError
from pairlearn.evaluation import DetCurve, Scores, det_band, det_curve, reliability
from pairlearn.evaluation.plots import (
    COLOURS,
    SCALES,
    draw_det,
    draw_histogram,
    draw_rates,
    draw_reliability,
    draw_stages,
)

pytest.importorskip("matplotlib")


def curve(shift: float, n: int = 400) -> DetCurve:
    rng = np.random.default_rng(0)
    labels = np.repeat([1, -1], n)
    return det_curve(Scores(rng.normal(size=2 * n) + shift * (labels > 0), labels))


def _labelled(ax):
    return [line for line in ax.lines if "EER" in str(line.get_label())]


def boxes(ax, texts):
    """Where texts stand in the figure, after a drawing."""
    ax.figure.draw_without_rendering()
    return [text.get_window_extent() for text in texts]


def overlap(boxes) -> bool:
    """Whether two of the boxes share a point."""
    return any(one.overlaps(other) for one, other in combinations(boxes, 2))


@pytest.mark.parametrize("scale", SCALES)
def test_draws_a_labelled_line_and_its_equal_error_rate(scale: str) -> None:
    first, second = curve(3.0), curve(2.0)
    ax = draw_det({"tensor": first, "metric": second}, scale=scale)
    names = [text.get_text() for text in ax.figure.legends[0].get_texts()]
    assert names == [
        f"tensor  (EER {100 * first.equal_error_rate:.2f} %)",
        f"metric  (EER {100 * second.equal_error_rate:.1f} %)",
    ]
    marks = [line for line in ax.lines if line.get_marker() == "o"]
    assert [float(mark.get_xdata()[0]) for mark in marks] == [
        first.equal_error_rate,
        second.equal_error_rate,
    ]
    assert len({(line.get_color(), str(line._unscaled_dash_pattern)) for line in _labelled(ax)}) == 2


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("n", [4, 30, 5000])
def test_the_line_stays_on_the_polyline(scale: str, n: int) -> None:
    det = curve(1.0, n)
    (line,) = _labelled(draw_det(det, scale=scale))
    x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    # x + (1 − y) falls strictly along the polyline, so it is a parameter for both coordinates.
    along, drawn = -(det.fmr - det.fnmr), -(x - y)
    np.testing.assert_allclose(x, np.interp(drawn, along, det.fmr), atol=1e-8)
    np.testing.assert_allclose(y, np.interp(drawn, along, det.fnmr), atol=1e-8)


@pytest.mark.parametrize("scale", SCALES)
def test_a_coarse_line_runs_through_its_equal_error_rate(scale: str) -> None:
    coarse = DetCurve(np.arange(3), np.array([1.0, 0.02, 0.0]), np.array([0.0, 0.2, 1.0]))
    ax = draw_det(coarse, scale=scale)
    (line,) = _labelled(ax)
    x, y = ax.transData.transform(np.column_stack(line.get_data())).T
    mark = ax.transData.transform([coarse.equal_error_rate] * 2)
    assert np.interp(mark[0], x[::-1], y[::-1]) == pytest.approx(mark[1], abs=2)


def test_a_long_curve_is_thinned_without_visible_change() -> None:
    det = curve(1.0, 200_000)
    (line,) = _labelled(draw_det(det, scale="linear"))
    x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    assert len(x) < 10_000
    np.testing.assert_allclose(np.interp(det.fnmr, y, x), det.fmr, atol=2e-3)


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf", "PNG"])
def test_writes_the_format_its_name_asks_for(tmp_path: Path, suffix: str) -> None:
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    path = tmp_path / f"det.{suffix}"
    draw_det({"a": curve(2.0)}, path)
    assert path.read_bytes().startswith(starts[suffix.lower()])


@pytest.mark.parametrize("scale", SCALES)
def test_perfect_and_hopeless_curves_can_be_drawn(tmp_path: Path, scale: str) -> None:
    perfect = det_curve(Scores([0.0, 1.0], [-1, 1]))
    hopeless = det_curve(Scores([0.0, 1.0], [1, -1]))
    path = tmp_path / "det.png"
    ax = draw_det({"perfect": perfect, "hopeless": hopeless}, path, scale=scale)
    assert path.read_bytes().startswith(b"\x89PNG")
    texts = [text.get_text() for text in ax.figure.legends[0].get_texts()]
    assert texts == ["perfect  (EER 0.00 %)", "hopeless  (EER 100 %)"]
    marks = [float(line.get_xdata()[0]) for line in ax.lines if line.get_marker() == "o"]
    assert marks == [0.0, 1.0]
    for name, line in zip(("perfect", "hopeless"), _labelled(ax), strict=True):
        x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        assert np.isfinite(ax.transData.transform(np.column_stack([x, y]))).all()
        # Along the two sides at rate 0, or at rate 1.
        distances = np.minimum(x, y) if name == "perfect" else np.minimum(1 - x, 1 - y)
        np.testing.assert_allclose(distances, 0.0, atol=2e-9)


def test_draws_into_given_axes_with_ticks_in_per_cent() -> None:
    from matplotlib.figure import Figure

    own = Figure().subplots()
    assert draw_det(curve(2.0), ax=own) is own
    format_rate = own.xaxis.get_major_formatter()
    assert [format_rate(rate) for rate in (1e-5, 0.01, 0.4)] == ["0.001", "1", "40"]
    own.figure.canvas.draw()
    assert {"1", "10", "40"} <= {text.get_text() for text in own.get_xticklabels()}


def test_normal_scale_makes_normal_scores_straight() -> None:
    from scipy.special import ndtr

    at = np.linspace(-6, 8, 400)
    normal = DetCurve(at, ndtr(-at), ndtr(at - 2))
    ax = draw_det(normal)
    (line,) = _labelled(ax)
    screen = ax.transData.transform(np.column_stack(line.get_data()))
    inside = np.all((screen > ax.bbox.min) & (screen < ax.bbox.max), axis=1)
    fit = np.polyfit(*screen[inside].T, 1)
    assert np.abs(np.polyval(fit, screen[inside, 0]) - screen[inside, 1]).max() < 0.5


def test_bad_input_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no curve"):
        draw_det({})
    with pytest.raises(InputError, match="scale must be one of normal, log, linear, got 'probit'"):
        draw_det(curve(1.0), scale="probit")
    with pytest.raises(InputError, match=r"must end in \.png, \.svg, \.pdf"):
        draw_det(curve(1.0), tmp_path / "det.gif")
    with pytest.raises(InputError, match=r"'a' is a Scores, not a DetCurve"):
        draw_det({"a": Scores([1.0], [1])})


def test_matplotlib_is_loaded_only_for_drawing() -> None:
    code = (
        "import sys, pairlearn.data, pairlearn.evaluation; "
        "assert 'pairlearn.evaluation.plots' not in sys.modules; "
        "import pairlearn.evaluation.plots; "
        "assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_baselines_are_grey_and_no_two_curves_look_alike() -> None:
    systems = {f"system {k} with a name that is longer than most of them are": curve(3 - k / 4) for k in range(8)}
    names = list(systems)
    ax = draw_det(systems, baselines=names[3:])
    lines = _labelled(ax)
    assert [line.get_color() for line in lines] == [*COLOURS[:3], *["0.45"] * 5]
    assert len({(line.get_color(), str(line._unscaled_dash_pattern)) for line in lines}) == 8
    (legend,) = ax.figure.legends
    (area,) = boxes(ax, [legend])
    assert not area.overlaps(ax.get_tightbbox())
    assert ax.figure.bbox.containsx(area.x0)
    assert ax.figure.bbox.containsx(area.x1)
    assert ax.figure.bbox.containsy(area.y0)


def test_the_axes_end_where_nothing_is_seen() -> None:
    """A poor system with a million pairs: its rates of 1e-6 stand beside FNMRs above the end of the axis."""
    from scipy.special import ndtr

    at = np.linspace(-7, 8, 3000)
    (low, _), upper = draw_det(DetCurve(at, ndtr(-at), ndtr(at - 2))).get_xlim(), 0.6
    assert low == pytest.approx(0.8 * ndtr(-at)[ndtr(at - 2) <= upper].min())
    assert low > 0.009


def stages(names: tuple[str, ...] = ("metric / rbf, C = 10", "tensor / linear, C = 1")) -> list[dict]:
    """Two tasks with three rungs; the last one has baselines."""

    def line(what: str, eer: float, kind: str = "machine", **limits: float) -> dict:
        return {"what": what, "kind": kind, "eer": eer, **limits}

    first = [line(names[0], 0.0, low=0.0, high=0.07), line(names[1], 0.2, low=0.1, high=0.3)]
    second = [line(names[1], 0.02, low=None, high=None), line(names[0], 0.04)]
    third = [
        line("cosine", 0.1, "baseline", low=0.05, high=0.2),
        line("euclid", 0.3, "baseline"),
        line(names[0], 0.08, low=0.04, high=0.12),
    ]
    pair = {"task": "pair", "rungs": [{"n_classes": n, "epcr": 3, "results": r} for n, r in ((5, first), (9, second))]}
    return [pair, {"task": "interclass", "rungs": [{"n_classes": 9, "epcr": 3, "results": third}]}]


def test_every_row_shows_the_best_with_its_limits() -> None:
    ax = draw_stages(stages())
    marks = {"o": [], "s": []}
    for line in ax.lines:
        if line.get_marker() in marks:
            marks[line.get_marker()].append((line.get_xdata()[0], round(line.get_ydata()[0])))
    assert marks == {"o": [(1e-4, 0), (0.02, 1), (0.08, 2)], "s": [(0.1, 2)]}  # 0 stands at the end of the axis
    limits = [tuple(line.get_xdata()) for line in ax.lines if "limits" in str(line.get_label())]
    assert limits == [(1e-4, 0.07), (0.02, 0.02), (0.04, 0.12), (0.05, 0.2)]
    others = [line.get_xdata() for line in ax.lines if line.get_marker() == "|"]
    assert [list(rates) for rates in others] == [[0.2], [0.04], []]
    texts = [text.get_text() for text in ax.texts]
    assert texts[:2] == ["0 % [0, 7]", "metric / rbf, C = 10"]
    assert texts[2:4] == ["2 %", "tensor / linear, C = 1"]
    assert texts[-2:] == ["10 % [5, 20]", "cosine"]
    assert ax.get_yticklabels()[2].get_text() == "interclass task: unseen classes\n9 classes × 3 examples"


def test_labels_of_stages_hide_nothing_and_stay_inside() -> None:
    long = tuple(f"a kernel with a name of many words, number {k} of two on costly $ bases" for k in range(2))
    ax = draw_stages([*stages(long), *stages(long)])
    texts = [*ax.texts, *ax.get_yticklabels(), *ax.get_xticklabels(), *ax.figure.legends[0].get_texts()]
    found = boxes(ax, [text for text in texts if text.get_text()])
    assert not overlap(found)
    assert not any(box.overlaps(ax.get_window_extent()) for box in found[: len(ax.texts)])
    assert all(ax.figure.bbox.x0 <= box.x0 and box.x1 <= ax.figure.bbox.x1 for box in found)


def test_stages_without_any_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no stage"):
        draw_stages([])
    with pytest.raises(InputError, match="must end in"):
        draw_stages(stages(), tmp_path / "stages.gif")


def test_bands_shade_the_limits() -> None:
    left, right = np.triu_indices(60, 1)
    same = left // 3 == right // 3
    values = same + np.random.default_rng(0).normal(size=len(left))
    scores = Scores(values, np.where(same, 1, -1), left, right, left // 3, right // 3)
    band = det_band(scores, [0.01, 0.1, 0.3])
    ax = draw_det({"a": det_curve(scores), "b": det_curve(scores)}, bands={"a": band})
    (shade,) = [patch for patch in ax.collections if patch.get_paths()]
    corners = {tuple(point) for point in shade.get_paths()[0].vertices.round(9).tolist()}
    assert {(f, low) for f, low in zip(band.fmr.round(9), band.low.round(9), strict=True)} <= corners
    assert {(f, high) for f, high in zip(band.fmr.round(9), band.high.round(9), strict=True)} <= corners


def test_a_histogram_shows_shares_and_the_threshold() -> None:
    ax = draw_histogram(Scores([0.1, 0.2, 0.3, 0.9], [-1, -1, -1, 1]), threshold=0.5)
    assert len(ax.patches) == 4
    tops = [p.get_path().vertices[:, 1].max() for p in ax.patches]
    assert max(tops) == pytest.approx(100.0)
    assert ax.lines[0].get_xdata()[0] == 0.5


def test_a_histogram_of_scores_that_hardly_differ() -> None:
    for scale in (1.0, -1e300):
        ax = draw_histogram(Scores(scale * np.array([1.0, np.nextafter(1.0, 2.0)]), [1, -1]))
        assert max(p.get_path().vertices[:, 1].max() for p in ax.patches) == pytest.approx(100.0)


def test_reliability_points_are_those_of_the_bins() -> None:
    found = reliability([0.1, 0.1, 0.9, 0.9], [-1, 1, 1, 1], bins=2)
    ax = draw_reliability({"x": found})
    line = ax.containers[0].lines[0]
    assert line.get_xdata().tolist() == pytest.approx([0.1, 0.9])
    assert line.get_ydata().tolist() == pytest.approx([0.5, 1.0])


def test_rates_over_sizes_in_per_cent(tmp_path: Path) -> None:
    ax = draw_rates([1, 2], {"m": [0.2, 0.1]}, tmp_path / "r.svg", xlabel="Examples per class")
    assert ax.lines[0].get_ydata().tolist() == [20.0, 10.0]
    assert (tmp_path / "r.svg").read_text().startswith("<?xml")
    with pytest.raises(InputError, match="must end in"):
        draw_rates([1], {"m": [0.1]}, tmp_path / "r.txt")
