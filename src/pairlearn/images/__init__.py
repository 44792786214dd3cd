"""Images: descriptors, one place, slant and size for all, and variants that show the same.

`tables` checks a table of images, cuts it into whole cells and takes it in batches; `hog` makes 31 numbers of oriented
gradients per cell, which `pl.kernels.Rigid` and `Deformable` match, `lbp` histograms of binary patterns, of pixels or
of patches, for any kernel on rows of numbers. `warp` looks at images through affine maps: `centred` through those that
their moments tell, `orbit` through small shifts, turns and scales. `stateless` makes steps of pipelines of what learns
nothing. The compiled loops stand in `pairlearn.loops.images`.
"""

from pairlearn import _doors

__getattr__, __dir__, __all__ = _doors.attach(__name__, __file__)
