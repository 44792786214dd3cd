from .arc_diffusion import base_similarity as base_similarity
from .arc_diffusion import diffusion as diffusion
from .graph import Graph as Graph
