from .linear import *  # noqa: F403  (every baseline of this file)
from .logistic import *  # noqa: F403
from .neighbours import NeighbourMeans as NeighbourMeans
from .plda import KISSMEBaseline as KISSMEBaseline
from .plda import LDABaseline as LDABaseline
from .plda import PLDABaseline as PLDABaseline
from .registry import BASELINES as BASELINES
from .registry import BaselineScores as BaselineScores
from .registry import fit_baseline as fit_baseline
from .registry import run_baselines as run_baselines
from .stacked import StackedPairSVC as StackedPairSVC
from .strengths import BradleyTerry as BradleyTerry
from .strengths import Coin as Coin
from .strengths import Elo as Elo
from .strengths import ExampleMeans as ExampleMeans
from .strengths import MeanValue as MeanValue
from .strengths import WinShare as WinShare
from .untrained import *  # noqa: F403
