from .labelled.neighbours import NeighbourMeans as NeighbourMeans
from .labelled.strengths import BradleyTerry as BradleyTerry
from .labelled.strengths import Coin as Coin
from .labelled.strengths import Elo as Elo
from .labelled.strengths import ExampleMeans as ExampleMeans
from .labelled.strengths import MeanValue as MeanValue
from .labelled.strengths import WinShare as WinShare
from .linear import *  # noqa: F403  (every baseline of this file)
from .logistic import *  # noqa: F403
from .plda import KISSMEBaseline as KISSMEBaseline
from .plda import LDABaseline as LDABaseline
from .plda import PLDABaseline as PLDABaseline
from .registry import BASELINES as BASELINES
from .registry import BaselineScores as BaselineScores
from .registry import fit_baseline as fit_baseline
from .registry import run_baselines as run_baselines
from .ridge import RidgeBaseline as RidgeBaseline
from .stacked import StackedPairSVC as StackedPairSVC
from .untrained import *  # noqa: F403
