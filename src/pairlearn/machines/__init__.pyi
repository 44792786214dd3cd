from .one_class import OneClassPairSphere as OneClassPairSphere
from .one_class import OneClassPairSVM as OneClassPairSVM
from .pair_ranker import PairRanker as PairRanker
from .pair_svc import PairSVC as PairSVC
from .pair_svr import PairSVR as PairSVR
from .ridge.pair_ridge import PairRidge as PairRidge
from .transductive import TransductivePairSVC as TransductivePairSVC
