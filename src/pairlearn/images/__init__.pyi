from .centred import Centred as Centred
from .hog import hog as hog
from .lbp import lbp as lbp
from .lbp import square_root as square_root
from .lbp import tplbp as tplbp
from .orbit import Orbit as Orbit
from .stateless import Hog as Hog
