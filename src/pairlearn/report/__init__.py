"""Reports: one record of an evaluation, written as a page, Markdown, CSV or JSON."""

from pairlearn.report.html import as_html
from pairlearn.report.record import as_json, evaluate
from pairlearn.report.tables import ScoreTable, read_scores
from pairlearn.report.text import as_csv, as_markdown

__all__ = ["ScoreTable", "as_csv", "as_html", "as_json", "as_markdown", "evaluate", "read_scores"]
