from .filtering import PAUM as PAUM
from .filtering import Filtered as Filtered
from .filtering import NearestNeighbour as NearestNeighbour
from .filtering import NearestRelevant as NearestRelevant
from .filtering import Perceptron as Perceptron
from .filtering import run_filter as run_filter
from .kernelised import KernelPseudoMetric as KernelPseudoMetric
from .online import OnlinePseudoMetric as OnlinePseudoMetric
