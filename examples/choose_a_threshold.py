"""Which threshold, and how sure? From a selected model to a decision that keeps a false match rate.

Select on some people, set a threshold with a promise on others, check it on a third group, explain one decision, and
write a report that opens in any browser.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import pairlearn as pl
from pairlearn.report import as_html, evaluate

PEOPLE, PHOTOS = 150, 4


def embeddings(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Identity lives in 8 of 24 directions; the rest is light, pose and noise."""
    rng = np.random.default_rng(seed)
    person = np.repeat(rng.normal(size=(PEOPLE, 8)), PHOTOS, axis=0)
    photo = np.hstack([person + 0.2 * rng.normal(size=person.shape), rng.normal(size=(len(person), 16))])
    return photo @ (rng.normal(size=(24, 24)) / 5), np.repeat(np.arange(PEOPLE), PHOTOS)


def scores_of(model: object, X: np.ndarray, who: np.ndarray) -> pl.Scores:
    """Scores of all pairs, with examples and identities, so that limits know what pairs share."""
    pairs = pl.all_pairs(X, reflexive=False)
    i, j = pairs.columns
    return pl.Scores(model.decision_function(pairs), pairs.labels(who), i, j, who[i], who[j])  # type: ignore[attr-defined]


def main() -> None:
    X, who = embeddings(seed=0)
    learn, develop, check = who < 50, (who >= 50) & (who < 100), who >= 100

    search = pl.StagedSearch(["tensor_metric"], ["linear", "rbf"], [0.1, 10.0], time_budget=20).fit(
        X[learn], who[learn]
    )
    print("in validation:", search.record_["validation"])

    development = scores_of(search, X[develop], who[develop])
    threshold = pl.threshold_at_fmr(development, 0.03, confidence=0.9)
    model = pl.Verifier(
        search.best_estimator_, threshold, pl.evaluation.LogisticCalibration(prior=0.5).fit(development)
    )
    print(f"threshold {threshold}")

    found = scores_of(search, X[check], who[check])
    rates = pl.evaluation.rates_at(found, threshold.value)
    print(f"on other people: FMR {rates.fmr:.4f} (promised 0.03), FNMR {rates.fnmr:.4f}")
    print("EER", pl.interval(found, pl.equal_error_rate))

    one = pl.all_pairs(X[check][:2], reflexive=False)
    print(f"P(same) of one pair: {model.predict_proba(one)[0, 1]:.3f}")
    shares = pl.explain(search.best_estimator_, one).largest(3)
    print("what speaks for it:", ", ".join(f"{n} {v:+.2f}" for n, v in zip(shares.names, shares.values, strict=True)))

    systems = {"model": found, "cosine": scores_of(pl.CosineBaseline(), X[check], who[check])}
    page = as_html(evaluate(systems, baselines=["cosine"], title="Unseen people", task="interclass"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        path.write_text(page, encoding="utf-8")
        print(f"a report of {path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
