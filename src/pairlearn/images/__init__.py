"""Descriptors of images: gradient cells and histograms of local patterns."""

from __future__ import annotations

from pairlearn.images.hog import hog
from pairlearn.images.lbp import lbp, square_root, tplbp

__all__ = ["hog", "lbp", "square_root", "tplbp"]
