"""Which language is this word? Classes from a similarity that is neither symmetric nor definite.

How large is the longest piece of one word that another word contains? That has a direction and no kernel space. Compare
words with some basis words, learn on these numbers, keep few bases, and use the same features to tell pairs apart.
"""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import pairlearn as pl
from pairlearn.similarities import BasisExpansion, BasisSVC, GreedySimilarities, IndefiniteNystrom

WORDS = {
    "English": """the weather although through knowledge thought brother wheel whisper shoulder right night light
        with breath health wealth strength worthy shadow window yellow follow weekly thirty fifteen something nothing
        between already enough laughter daughter mother father weather whether which where""",
    "German": """schule schreiben zwischen geschichte freundschaft wirtschaft nachricht gesellschaft schnell schwarz
        zeitung rechnung wohnung richtung licht nacht recht macht sprechen brauchen machen lachen kuchen suchen
        verstehen vergessen verlieren gefallen geschrieben gesprochen bedeutung einfach wirklich endlich""",
    "Italian": """giornata ragazzo bellezza piazza palazzo pizza amicizia stazione nazione lezione colazione mattina
        cucina vicino piccolo bambino giardino cammino parlare mangiare cantare comprare vedere leggere scrivere
        felicità qualità università città perché quando quello questo famiglia bottiglia foglia""",
}


def contained(word: str, basis: str) -> float:
    """Share of the basis that its longest piece found in the word has; the other way round it is another number."""
    a, b = f"^{basis}$", f"^{word}$"
    pieces = (a[i:j] for i in range(len(a)) for j in range(i + 1, len(a) + 1))
    return max((len(piece) for piece in pieces if piece in b), default=0) / len(a)


def same_ending(word: str, basis: str) -> float:
    """Length of the common ending."""
    return float(next((k for k in range(4, 0, -1) if basis[-k:] == word[-k:]), 0))


def main() -> None:
    words = [word for text in WORDS.values() for word in dict.fromkeys(text.split())]
    language = np.array([name for name, text in WORDS.items() for _ in dict.fromkeys(text.split())])
    similar = pl.kernels.FromFunction(contained, scalar=True)
    ending = pl.kernels.FromFunction(same_ending, scalar=True)

    S = similar(words, words)
    print(
        f"{len(words)} words; similarity symmetric: {np.allclose(S, S.T)};", pl.kernels.spectrum_report((S + S.T) / 2)
    )

    clipped = make_pipeline(IndefiniteNystrom(similar, symmetrise=True, treatment="clip"), LinearSVC(random_state=0))
    systems = {
        "BasisSVC, all bases": BasisSVC(similar, random_state=0),
        "BasisSVC, 30 medoids": BasisSVC(similar, 30, bases="medoids_per_class", random_state=0),
        "BasisSVC, L1": BasisSVC(similar, penalty="l1", C=3.0, random_state=0),
        "spectrum clipped": clipped,
    }
    for name, model in systems.items():
        print(f"{name}: {cross_val_score(model, words, language, cv=5).mean():.3f} of unseen words right")
    print(f"L1 keeps {systems['BasisSVC, L1'].fit(words, language).n_bases_} of {len(words)} bases")

    greedy = GreedySimilarities({"contained": similar, "ending": ending}, n_folds=5).fit(words, language)
    print("greedy:", " → ".join(f"{step.name} {step.accuracy:.3f}" for step in greedy.path_))
    new = ["thunder", "freiheit", "canzone"]
    print(", ".join(f"{word}: {found}" for word, found in zip(new, greedy.predict(new), strict=True)))

    train = np.arange(len(words)) % 2 == 0
    features = pl.OnExamples(BasisExpansion(similar, 40, random_state=0))
    learn = pl.all_pairs([word for word, used in zip(words, train, strict=True) if used], reflexive=False)
    check = pl.all_pairs([word for word, used in zip(words, train, strict=True) if not used], reflexive=False)
    machine = make_pipeline(features, pl.PairSVC("tensor_metric", C=1.0)).fit(learn, learn.labels(language[train]))
    scores = pl.Scores(machine.decision_function(check), check.labels(language[~train]))
    print(f"same language or not, unseen words: EER {100 * pl.equal_error_rate(scores):.1f} %")


if __name__ == "__main__":
    main()
