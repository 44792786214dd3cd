"""The models and values of this package that a model file may hold, by class name."""

from __future__ import annotations

from typing import Any

from pairlearn.records.compare.comparer import Comparer
from pairlearn.records.compare.comparisons import Comparison
from pairlearn.records.compare.terms import Terms
from pairlearn.records.compare.vectors import Vectors
from pairlearn.records.machine import Setting
from pairlearn.records.matcher import RecordMatcher
from pairlearn.records.unsupervised import UnlabelledMatcher

MODELS: tuple[type[Any], ...] = (RecordMatcher, UnlabelledMatcher)
STORABLE: tuple[type[Any], ...] = (Comparer, Comparison, Terms, Vectors, Setting)
