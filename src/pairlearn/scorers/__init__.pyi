from .bilinear import bilinear as bilinear
from .explain import explain as explain
from .gallery import Gallery as Gallery
from .index import GalleryIndex as GalleryIndex
from .normalised import NormalisedScorer as NormalisedScorer
from .scorer import score_all as score_all
from .verifier import Verifier as Verifier
from .waterfall import draw_waterfall as draw_waterfall
