"""Anderson acceleration: the next point from the last steps of a fixed-point iteration."""

from __future__ import annotations

import numpy as np

from pairlearn import loops
from pairlearn.types import Floats, Precision

RIDGE = 1e-10
"""Share of the trace that is added to the diagonal of the normal equations."""
GROWN = 2.0
"""A residual that grew by this factor says that the memory misleads."""


class Anderson:
    """x ← x + f − Σγ_i (Δx_i + Δf_i), where γ makes ‖f − Σγ_i Δf_i‖ least over the last steps; f is the plain step."""

    def __init__(self, depth: int, size: int, dtype: Precision) -> None:
        self.df, self.dx = np.empty((depth, size), dtype), np.empty((depth, size), dtype)
        self.gram, self.right, self.depth = np.zeros((depth, depth)), np.zeros(depth), depth
        self.f, self.x = np.empty(size, dtype), np.empty(size, dtype)
        self.sums = np.empty((depth, -(-size // loops.splitting.CHUNK)))
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self.held, self.steps, self.norm, self.fresh = 0, 0, np.inf, True

    def advance(self, x: Floats, f: Floats) -> None:
        """Move x, in place, from where the plain step is f."""
        norm = float(self.dots(f[None], f)[0])
        if norm > GROWN**2 * self.norm:
            self.forget()
        self.norm = norm
        if not self.fresh:
            self._remember(x, f)
        self.f[:], self.x[:], self.fresh = f, x, False
        x += f
        if self.held:
            loops.splitting.combine(self._weights().astype(x.dtype), self.df, self.dx, x)

    def _remember(self, x: Floats, f: Floats) -> None:
        i, self.held = self.steps % self.depth, min(self.held + 1, self.depth)
        self.steps += 1
        np.subtract(f, self.f, out=self.df[i])
        np.subtract(x, self.x, out=self.dx[i])
        # ⟨df_j, f⟩ once: what it was before the step and what it is now differ by ⟨df_j, df_i⟩.
        right, own = self.dots(self.df[: self.held], f), self.dots(self.df[i : i + 1], self.df[i])[0]
        row = right - self.right[: self.held]
        row[i] = own
        self.gram[i, : self.held] = self.gram[: self.held, i] = row
        self.right[: self.held] = right

    def _weights(self) -> Floats:
        gram, right = self.gram[: self.held, : self.held], self.right[: self.held]
        weights: Floats = np.linalg.solve(gram + (RIDGE * np.trace(gram) + 1e-300) * np.eye(self.held), right)
        return weights

    def dots(self, rows: Floats, x: Floats) -> Floats:
        """rows @ x in float64, by chunks that do not depend on the number of threads."""
        out = self.sums[: len(rows)]
        loops.splitting.dots(rows, x, out)
        total: Floats = out.sum(axis=1)
        return total
