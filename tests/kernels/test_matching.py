"""Matching similarities against sums written out over images, shifts and cells, and the laws they keep."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.kernels import Deformable, Gaussian, Gram, Kernel, Latent, Linear, Rigid, alignment
from pairlearn.kernels import latent as latent_module
from pairlearn.kernels.gram import check_definite


def cells(n: int, rows: int, cols: int, channels: int = 3, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, rows, cols, channels))


def cell_at(a: np.ndarray, y: int, x: int) -> np.ndarray:
    inside = 0 <= y < a.shape[0] and 0 <= x < a.shape[1]
    return a[y, x] if inside else np.zeros(a.shape[2])


def written_out(a: np.ndarray, b: np.ndarray, h_rigid: int, h_local: int) -> float:
    """max over z of Σ_c max over l of ⟨a[c + z + l], b[c]⟩, one cell at a time."""
    rigid, local = range(-h_rigid, h_rigid + 1), range(-h_local, h_local + 1)
    return max(
        sum(
            max(float(cell_at(a, y + v + i, x + u + j) @ b[y, x]) for i, j in product(local, local))
            for y, x in product(range(b.shape[0]), range(b.shape[1]))
        )
        for v, u in product(rigid, rigid)
    )


def matrix(A: np.ndarray, B: np.ndarray, h_rigid: int, h_local: int) -> np.ndarray:
    return np.array([[written_out(a, b, h_rigid, h_local) for b in B] for a in A])


sizes = {"rows": st.integers(1, 4), "cols": st.integers(1, 4), "seed": st.integers(0, 99)}


@settings(max_examples=30, deadline=None)
@given(h=st.integers(0, 5), **sizes)
def test_rigid_equals_its_sum_written_out(rows: int, cols: int, h: int, seed: int) -> None:
    A, B = cells(4, rows, cols, seed=seed), cells(3, rows, cols, seed=seed + 1)
    np.testing.assert_allclose(Rigid(h)(A, B), matrix(A, B, h, 0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(Rigid(h)(A, A), matrix(A, A, h, 0), rtol=1e-12, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(h_rigid=st.integers(0, 3), h_local=st.integers(0, 3), **sizes)
def test_deformable_equals_its_sum_written_out(rows: int, cols: int, h_rigid: int, h_local: int, seed: int) -> None:
    A, B = cells(3, rows, cols, seed=seed), cells(2, rows, cols, seed=seed + 1)
    kernel = Deformable(h_rigid, h_local)
    np.testing.assert_allclose(kernel(A, B), matrix(A, B, h_rigid, h_local), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel.diag(A), np.diagonal(kernel(A, A)), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("reach", [(6, 1), (1, 6), (4, 4)])
def test_a_reach_beyond_the_image_adds_only_zeros(reach: tuple[int, int]) -> None:
    A, B = -np.abs(cells(2, 2, 3)), np.abs(cells(2, 2, 3, seed=1))
    np.testing.assert_allclose(Deformable(*reach)(A, B), matrix(A, B, *reach), atol=1e-12)
    assert Rigid(9)(A, B).max() == 0.0


def test_rigid_without_shifts_is_the_linear_kernel_of_flattened_cells() -> None:
    A, B = cells(5, 4, 3), cells(4, 4, 3, seed=1)
    flat = Linear()(A.reshape(5, -1), B.reshape(4, -1))
    np.testing.assert_allclose(Rigid(0)(A, B), flat, rtol=1e-12)
    np.testing.assert_array_equal(Rigid(0).features(A), A.reshape(5, -1))
    assert Rigid(0).definite is True
    assert Rigid(1).features(A) is None


def test_deformable_loop_without_local_shifts_equals_rigid() -> None:
    A, B = cells(5, 4, 3), cells(4, 4, 3, seed=1)
    np.testing.assert_allclose(alignment.best_deformation(A, B, 2, 0), Rigid(2)(A, B), rtol=1e-12)
    np.testing.assert_array_equal(Deformable(2, 0)(A, B), Rigid(2)(A, B))


def test_a_shift_by_one_cell_is_undone_up_to_the_border() -> None:
    x = np.abs(cells(1, 6, 5, seed=3))
    shifted = np.zeros_like(x)
    shifted[:, 1:, 1:] = x[:, :-1, :-1]
    overlap = (x[:, :-1, :-1] ** 2).sum()
    for h in (1, 2):
        np.testing.assert_allclose(Rigid(h)(x, shifted), overlap, rtol=1e-12)
    assert Rigid(0)(x, shifted).item() < overlap


@pytest.mark.parametrize("kernel", [Rigid, lambda h: Deformable(h, 1), lambda h: Deformable(1, h)])
def test_a_wider_search_never_lowers_a_similarity(kernel: object) -> None:
    A, B = cells(6, 4, 4), cells(5, 4, 4, seed=1)
    values = [kernel(h)(A, B) for h in range(4)]  # type: ignore[operator]
    for narrow, wide in pairwise(values):
        assert (wide >= narrow - 1e-12).all()
    assert (values[-1] > values[0] + 1e-3).any()


def test_rigid_is_symmetric_and_indefinite() -> None:
    A, B = np.abs(cells(30, 3, 3, 2)), cells(5, 3, 3, 2, seed=1)
    K = Rigid(1)(A, A)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(Rigid(1)(A, A + 0.0), K, rtol=1e-12)
    np.testing.assert_allclose(Rigid(1)(A, B), Rigid(1)(B, A).T, rtol=1e-12, atol=1e-12)
    assert np.linalg.eigvalsh(K)[0] < -1e-3
    assert Rigid(1).definite is False
    with pytest.raises(InputError, match="not positive semidefinite"):
        check_definite(Rigid(1), K)


def test_the_shortcut_for_equal_tables_gives_the_same_values() -> None:
    A = cells(5, 4, 3)
    other = A.copy()
    other[-1, 0, 0, 0] += 1
    np.testing.assert_allclose(Rigid(2)(A, A)[:, :-1], Rigid(2)(A, other)[:, :-1], rtol=1e-12)


def test_self_similarity_of_rigid_is_the_squared_length() -> None:
    A = cells(7, 4, 3)
    np.testing.assert_allclose(Rigid(2).diag(A), np.diagonal(Rigid(2)(A, A)), rtol=1e-12)


def test_deformable_is_symmetric_only_when_asked() -> None:
    A, B = cells(5, 3, 4), cells(4, 3, 4, seed=1)
    plain, both = Deformable(1, 1), Deformable(1, 1, symmetrise=True)
    assert np.abs(plain(A, A) - plain(A, A).T).max() > 0.1
    np.testing.assert_allclose(both(A, B), (plain(A, B) + plain(B, A).T) / 2, rtol=1e-12)
    np.testing.assert_array_equal(both(A, A), both(A, A).T)
    np.testing.assert_allclose(both.diag(A), np.diagonal(both(A, A)), rtol=1e-12)
    assert plain.definite is False
    with pytest.raises(InputError, match="symmetrise"):
        _ = Gram(plain, A).matrix
    np.testing.assert_allclose(Gram(both, A).matrix, both(A, A))


@pytest.mark.parametrize("kernel", [Rigid(2), Deformable(1, 1), Deformable(2, 2)])
def test_blocks_do_not_change_values(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    A, B = cells(11, 4, 4), cells(8, 4, 4, seed=1)
    expected, own = kernel(A, B), kernel.diag(A)
    monkeypatch.setattr(alignment, "BLOCK", 5)
    monkeypatch.setattr(alignment, "TILE", (2, 3))
    np.testing.assert_allclose(kernel(A, B), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(A), own, rtol=1e-12)
    monkeypatch.setattr(alignment, "BLOCK_BYTES", 1)
    monkeypatch.setattr(alignment, "TILE_BYTES", 1)
    np.testing.assert_allclose(kernel(A, B), expected, rtol=1e-12)


@pytest.mark.parametrize("kernel", [Rigid(2), Deformable(1, 1)])
def test_memory_beyond_the_result_does_not_grow_with_the_examples(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alignment, "BLOCK", 32)
    B = cells(20, 4, 4, 31, seed=1)
    kernel(B, B[:1])
    held = []
    for n in (100, 2000):
        A = cells(n, 4, 4, 31)
        tracemalloc.start()
        values = kernel(A, B)
        held.append(tracemalloc.get_traced_memory()[1] - values.nbytes)
        tracemalloc.stop()
    assert held[1] < 1.1 * held[0]
    assert held[1] < A.nbytes / 4


@pytest.mark.parametrize("kernel", [Rigid(0), Rigid(2), Deformable(1, 1), Deformable(1, 1, symmetrise=True)])
def test_float32_cells_give_float32_values(kernel: Kernel) -> None:
    A, B = cells(6, 4, 4, 31), cells(5, 4, 4, 31, seed=1)
    found = kernel(A.astype(np.float32), B.astype(np.float32))
    assert found.dtype == kernel.diag(A.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(found, kernel(A, B), rtol=1e-4, atol=1e-4)
    assert kernel(A.astype(np.float32), B).dtype == np.float64
    whole = np.rint(A).astype(int)
    np.testing.assert_array_equal(kernel(whole, whole), kernel(whole.astype(float), whole.astype(float)))


@pytest.mark.parametrize("kernel", [Rigid(1), Deformable(0, 1)])
def test_empty_tables_give_empty_matrices(kernel: Kernel) -> None:
    A, none = cells(3, 2, 2), cells(0, 2, 2)
    assert kernel(none, A).shape == (0, 3)
    assert kernel(A, none).shape == (3, 0)
    assert kernel.diag(none).shape == (0,)


def test_tiles_shrink_when_many_products_are_held() -> None:
    A, B = np.zeros((2, 300, 40, 40, 1))
    assert alignment.tile_sizes(A, B, 0, 1) == alignment.TILE
    n_a, n_b = alignment.tile_sizes(A, B, 3, 4)
    assert 15 * 15 * n_a * n_b * A.itemsize <= alignment.TILE_BYTES
    assert 1 <= n_a < alignment.TILE[0]


def identity(a: np.ndarray) -> list[np.ndarray]:
    return [a]


def test_latent_with_the_example_alone_is_the_kernel() -> None:
    A, B = np.random.default_rng(0).normal(size=(2, 6, 4))
    np.testing.assert_allclose(Latent(Gaussian(0.3), identity)(A, B), Gaussian(0.3)(A, B), rtol=1e-12)
    assert Latent(Gaussian(0.3), identity).definite is False


def test_latent_fixes_what_its_kernel_takes_from_data() -> None:
    A = np.random.default_rng(0).normal(size=(6, 4))
    resolved = Latent(Gaussian("scale"), identity).resolved(A)
    np.testing.assert_allclose(resolved(A, A), Gaussian("scale").resolved(A)(A, A), rtol=1e-12)


@pytest.mark.parametrize("h", [0, 1, 2])
def test_latent_over_all_shifts_is_rigid(h: int) -> None:
    A, B = cells(4, 3, 4), cells(3, 3, 4, seed=1)

    def shifts(a: np.ndarray) -> list[np.ndarray]:
        """Shifts by 0 … h in a frame that loses nothing: two of them differ by −h … h."""
        return [np.pad(a, ((y, h - y), (x, h - x), (0, 0))).ravel() for y in range(h + 1) for x in range(h + 1)]

    np.testing.assert_allclose(Latent(Linear(), shifts)(A, B), Rigid(h)(A, B), rtol=1e-12, atol=1e-12)


def test_latent_with_versions_that_differ_in_number_equals_a_double_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(latent_module, "BLOCK", 4)
    words = ["pair", "", "learn", "kernel", "so", "similar"]

    def prefixes(word: str) -> list[str]:
        return [word[:i] for i in range(len(word) + 1)]

    def penalties(word: str) -> list[float]:
        return [-0.4 * (len(word) - i) ** 2 for i in range(len(word) + 1)]

    def letters(a: str, b: str) -> float:
        return len(set(a) & set(b)) - 0.3 * len(a) * len(b)

    latent = Latent(pl.kernels.FromFunction(letters, scalar=True), prefixes, penalties)
    expected = [
        [
            max(
                letters(p, q) + r + s
                for (p, r), (q, s) in product(
                    zip(prefixes(a), penalties(a), strict=True), zip(prefixes(b), penalties(b), strict=True)
                )
            )
            for b in words[:4]
        ]
        for a in words
    ]
    np.testing.assert_allclose(latent(words, words[:4]), expected, rtol=1e-12)
    np.testing.assert_allclose(latent.diag(words[:4]), np.diagonal(expected), rtol=1e-12)
    assert latent(words, []).shape == (6, 0)
    assert latent([], words).shape == (0, 6)


def test_latent_refuses_lists_that_do_not_fit() -> None:
    A = np.eye(2)
    with pytest.raises(InputError, match="at least the example itself"):
        Latent(Linear(), lambda a: [])(A, A)
    with pytest.raises(InputError, match="each of 1 versions"):
        Latent(Linear(), identity, lambda a: [0.0, 0.0])(A, A)
    with pytest.raises(InputError, match="finite number"):
        Latent(Linear(), identity, lambda a: [np.nan])(A, A)


@pytest.mark.parametrize("bad", [-1, 1.0, True, "2", None])
def test_a_reach_is_a_whole_number_of_cells(bad: object) -> None:
    for make in (Rigid, Deformable, lambda h: Deformable(0, h)):
        with pytest.raises(InputError, match="cells >= 0"):
            make(bad)  # type: ignore[operator]


@pytest.mark.parametrize("kernel", [Rigid(1), Deformable(1, 1)])
def test_bad_cells_are_refused_with_advice(kernel: Kernel) -> None:
    good, bad = cells(2, 3, 3), cells(2, 3, 3)
    bad[1, 0, 0, 0] = np.nan
    for A, advice in (
        (good.reshape(2, -1), "pl.images.hog"),
        ([1, 2], "pl.images.hog"),
        (good.astype(complex), "pl.images.hog"),
        (bad, "NaN"),
        (cells(2, 3, 4), "equally many cells"),
    ):
        with pytest.raises(InputError, match=advice):
            kernel(A, good)
        with pytest.raises(InputError, match=advice):
            kernel(good, A)
