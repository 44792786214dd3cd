from .html import Page as Page
from .html import as_html as as_html
from .record import as_json as as_json
from .record import evaluate as evaluate
from .tables import ScoreTable as ScoreTable
from .tables import read_scores as read_scores
from .text import as_csv as as_csv
from .text import as_markdown as as_markdown
