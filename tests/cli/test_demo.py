"""`pairlearn demo NAME`: what it shows is so, and the commands at its end do the same when they are typed."""

from __future__ import annotations

import shlex
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars
import pytest

from pairlearn.cli.demos.demo import DEMOS, find
from pairlearn.report.ranking import ranking_page
from tools.journeys import inside, run

WRITTEN = {
    "digits": ("scores.csv", "digits.html"),
    "records": ("guessed.csv", "matched.csv", "delivered.csv", "records.html"),
    "matches": ("predicted.csv", "order.csv", "order.html"),
}


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, str]]:
    """The folder where each was started, and what it printed."""
    started = {name: tmp_path_factory.mktemp(name) for name in DEMOS}
    output = {}
    for name, folder in started.items():
        with inside(folder):
            output[name] = folder, run(f"pairlearn demo {name}")
    return output


def typed(output: str) -> list[str]:
    """The commands at the end of the output."""
    return [line.strip() for line in output.splitlines() if line.startswith("  pairlearn ")]


def test_no_two_demonstrations_write_the_same_file() -> None:
    """Their commands may be typed one after the other in one folder, and none overwrites without --force."""
    options = ("--out", "--report", "--review", "--save-model")
    written = [
        file
        for name in DEMOS
        for command in find(name).commands
        for option, file in pairwise(command.split())
        if option in options
    ]
    assert len(written) == len(set(written)) == 12


@pytest.mark.parametrize("name", DEMOS)
def test_the_printed_commands_do_the_same(name: str, shown: dict[str, tuple[Path, str]]) -> None:
    folder, output = shown[name]
    assert "(exit code" not in output, output
    commands = typed(output)
    assert [f"  {line}" for line in commands] == output.splitlines()[-3:]
    with inside(folder):
        for command in commands:
            said = run(" ".join(shlex.split(command)))
            assert "(exit code" not in said, f"{command}\n{said}"
    assert f"page: pairlearn-{name}/{find(name).page}" in output
    for file in WRITTEN[name]:
        by_hand, by_demo = (place.joinpath(file).read_text() for place in (folder, folder / f"pairlearn-{name}"))
        if file.endswith(".csv"):
            assert by_hand == by_demo
        else:
            assert by_hand.startswith("<!DOCTYPE html>")


def test_digits_are_told_apart_and_shown(shown: dict[str, tuple[Path, str]]) -> None:
    """The printed rates are those of scores.csv, by counting; the page holds the pictures of errors."""
    folder, output = shown["digits"]
    scores = polars.read_csv(folder / "pairlearn-digits" / "scores.csv")
    values, same = scores["score"].to_numpy(), scores["label"].to_numpy() > 0
    assert (same == (scores["left"].str.slice(0, 1) == scores["right"].str.slice(0, 1)).to_numpy()).all()
    rates = min(
        (abs((values[~same] >= cut).mean() - (values[same] < cut).mean()), (values[same] < cut).mean())
        for cut in np.quantile(values, np.linspace(0, 1, 4001))
    )
    line = next(line for line in output.splitlines() if line.strip().startswith("pairlearn  "))
    assert abs(float(line.split()[1]) - 100 * rates[1]) < 0.2
    assert rates[1] < 0.06
    assert "worse than without learning" in output
    page = (folder / "pairlearn-digits" / "digits.html").read_text()
    assert page.count("data:image/png") >= 20
    assert (folder / "pairlearn-digits" / "worst.png").read_bytes().startswith(b"\x89PNG")


def test_records_are_matched_as_often_as_it_says(shown: dict[str, tuple[Path, str]]) -> None:
    folder, output = shown["records"]
    at = folder / "pairlearn-records"
    truth = set(polars.read_csv(at / "truth.csv").iter_rows())
    shares = {}
    for name, lead in (("guessed", "without labels:"), ("matched", "learnt from labels:")):
        found = polars.read_csv(at / f"{name}.csv").select("left", "right").rows()
        shares[name] = sum(pair in truth for pair in found) / len(found)
        assert f"{lead} {len(found)} offers matched, {100 * shares[name]:.0f} % rightly" in output
    assert shares["matched"] > max(0.9, shares["guessed"])
    assert "price" in output.split("why, by column")[1]
    page = (at / "records.html").read_text()
    doubtful = page.split('id="doubtful"')[1].split("</table>")[0]
    assert doubtful.count("match</th>") == 12
    assert "log-odds" in page


def test_the_relation_of_players_is_that_of_the_game(shown: dict[str, tuple[Path, str]]) -> None:
    """What p gains of q is pᵀ A q; newcomers' predictions agree with its sign, which nobody told the model."""
    folder, output = shown["matches"]
    at = folder / "pairlearn-matches"
    players = polars.read_csv(at / "players.csv")
    habits = dict(zip(players["player"], players.select("rock", "paper", "scissors").to_numpy(), strict=True))
    game = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    told = polars.read_csv(at / "predicted.csv")
    gains = [habits[left] @ game @ habits[right] for left, right in told.select("left", "right").iter_rows()]
    agree = np.sign(told["advantage"].to_numpy()) == np.sign(gains)
    assert agree.mean() > 0.9
    winner = float((told["advantage"].to_numpy() > 0).mean())
    assert f"newcomers: {100 * winner:.0f} % of {len(told)} matches" in output
    page = (at / "order.html").read_text()
    assert page.count("<rect") == len(players) ** 2 - len(players) + 1 + len(players)


def test_names_on_the_page_of_an_order_are_text() -> None:
    page = ranking_page([(1, "<b>&\"'", 1.0), (2, "</script>", -1.0)], np.array([[0.0, 1.0], [-1.0, 0.0]]), "<i>")
    assert "<b>" not in page
    assert "</script>" not in page
    assert "&lt;b&gt;&amp;&#34;&#39;" in page


def test_an_unknown_demonstration(tmp_path: Path) -> None:
    with inside(tmp_path):
        said = run("pairlearn demo faces")
        assert (
            said
            == "error: there is no demonstration 'faces'; choose classes, digits, records, matches\n(exit code 1)\n"
        )
        (tmp_path / "taken").write_text("mine")
        assert "is a file" in run("pairlearn demo matches --out-dir taken")
        assert (tmp_path / "taken").read_text() == "mine"
