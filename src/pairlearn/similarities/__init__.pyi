from .basis_expansion import BasisExpansion as BasisExpansion
from .basis_svc import BasisSVC as BasisSVC
from .greedy import GreedySimilarities as GreedySimilarities
from .nystrom import IndefiniteNystrom as IndefiniteNystrom
from .two_kernels import TwoKernelSVC as TwoKernelSVC
