"""Tests of model files share helpers, which pytest's import mode would not find by itself."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "golden")]
