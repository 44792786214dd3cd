from .decided import Decided as Decided
from .explain import draw_waterfall as draw_waterfall
from .explain import explain as explain
from .gallery import Gallery as Gallery
from .gallery import NormalisedScorer as NormalisedScorer
from .gallery import score_all as score_all
