"""Files that claim too much (sizes, depth, numbers, special files) are refused in words, quickly, by their place."""

from __future__ import annotations

import json
import os
import socket
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from hostile import put, rewritten
from scipy import sparse

import pairlearn as pl
from pairlearn import persist
from pairlearn.errors import InputError
from pairlearn.kernels import Gaussian, Linear, Polynomial
from pairlearn.persist import values
from pairlearn.persist.known import ANY, VALUES
from pairlearn.persist.schemas import FIELDS, PLAIN, schema_of
from pairlearn.similarities.blocks import Batching

rng = np.random.default_rng(0)
X = rng.normal(size=(8, 3))
PAIRS = pl.all_pairs(X, reflexive=False)
Y = PAIRS.labels(np.repeat([0, 1], 4))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.safetensors"


def nested(depth: int) -> Any:
    kernel: Any = {"is": "Linear"}
    for _ in range(depth):
        kernel = {"is": "Scaled", "kernel": kernel, "factor": 2.0}
    return kernel


def head_of(tensors: dict[str, Any], data: bytes = b"") -> bytes:
    """A safetensors file with this head, whatever it claims."""
    head = json.dumps(tensors).encode()
    return struct.pack("<Q", len(head)) + head + data


# --------------------------------------------------------------------------- sizes


def test_a_metric_whose_parts_differ_in_size_never_reaches_a_compiled_loop(path: Path) -> None:
    metric = pl.OnlinePseudoMetric(max_sweeps=1).partial_fit(PAIRS, Y)
    pl.save(metric, path)
    sizes = {"span_.active": np.arange(100_000), "state_.matrix": np.zeros((100_000, 1))}
    rewritten(path, put("content", "fitted", "span_", "n_features", value=100_000), sizes)
    with pytest.raises(InputError, match=r"damaged: state_.matrix has r = 1, but state_.matrix has r = 100,000"):
        pl.load(path)


@pytest.mark.parametrize("shape", [(2**33, 0), (0, 2**40), (2**25, 0, 3)])
def test_an_empty_tensor_may_not_be_endless(shape: tuple[int, ...], path: Path) -> None:
    pl.save(pl.PairSVC().fit(PAIRS, Y), path)
    rewritten(path, arrays={"function_.anchor": np.zeros(shape)})
    with pytest.raises(InputError, match=r"'function_.anchor' of shape .* does not fit in 0 bytes"):
        pl.load(path)


def test_examples_without_features_are_none(path: Path) -> None:
    pl.save(pl.PairSVC(base=Gaussian(0.5)).fit(PAIRS, Y), path)
    rewritten(path, arrays={"function_.anchor": np.zeros((2**20, 0))})
    with pytest.raises(InputError, match=r"damaged: function_.anchor is float64 \(1048576, 0\)"):
        pl.load(path)


def test_a_product_of_no_kernels_is_refused(path: Path) -> None:
    pl.save(pl.PairSVC(pl.pair_kernels.gaussian("tensor", 0.1)).fit(PAIRS, Y), path)
    rewritten(path, put("content", "fitted", "function_", "kernel", "terms", 0, 1, value=[]))
    with pytest.raises(InputError, match=r"damaged: function_.kernel.terms is a tuple of 1 entry"):
        pl.load(path)


@pytest.mark.parametrize("shape", [[2**40, 3], [8, 2**40], [8, -1], [8, "3"], [8], None])
def test_a_sparse_matrix_has_the_shape_of_its_arrays(shape: Any, path: Path) -> None:
    pl.save(pl.PairSVC(base="rbf").fit(PAIRS.with_examples(sparse.csr_array(X)), Y), path)
    rewritten(path, put("content", "fitted", "function_", "anchor", "shape", value=shape))
    with pytest.raises(InputError, match="damaged"):
        pl.load(path)


@pytest.mark.parametrize(
    ("part", "bad"),
    [
        ("indptr", lambda a: np.where(np.arange(len(a)) == len(a) - 1, 0, a)),
        ("indptr", lambda a: np.where(np.arange(len(a)) == 2, a[-1], a)),
        ("indptr", lambda a: a + 1),
        ("indptr", lambda a: a[:-1]),
        ("indices", lambda a: a + 3),
        ("indices", lambda a: a - 1),
        ("indices", lambda a: a[:-1]),
        ("data", lambda a: a.astype(np.int64)),
        ("data", lambda a: a * np.nan),
    ],
)
def test_a_sparse_matrix_whose_rows_make_no_sense(part: str, bad: Any, path: Path) -> None:
    model = pl.PairSVC(base="rbf").fit(PAIRS.with_examples(sparse.csr_array(X)), Y)
    pl.save(model, path)
    changed = bad(getattr(model.function_.anchor, part))
    rewritten(path, arrays={f"function_.anchor.{part}": np.ascontiguousarray(changed)})
    with pytest.raises(InputError, match=r"damaged: function_.anchor"):
        pl.load(path)


def test_room_that_a_sparse_matrix_never_filled_is_not_saved(path: Path) -> None:
    table = sparse.csr_array(X)
    wide = sparse.csr_array((np.append(table.data, 9.0), np.append(table.indices, 0), table.indptr), shape=X.shape)
    pl.save(pl.Gallery(pl.CosineBaseline(), wide, np.arange(8)), path)
    np.testing.assert_array_equal(pl.load(path).examples.toarray(), X)


def test_tensors_may_neither_overlap_nor_leave_gaps(path: Path) -> None:
    one = {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}
    for other in ([0, 4], [2, 6], [5, 9]):
        path.write_bytes(head_of({"a": one, "b": one | {"data_offsets": other}}, bytes(max(other))))
        with pytest.raises(InputError, match="not where the one before ends"):
            pl.load(path)
    path.write_bytes(head_of({"a": one}, bytes(9)))
    with pytest.raises(InputError, match="take 4 bytes, but 9 are there"):
        pl.load(path)


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F64", "shape": [2**62, 4], "data_offsets": [0, 8]},
        {"dtype": "F64", "shape": [-1, -1], "data_offsets": [0, 8]},
        {"dtype": "F64", "shape": [1.0], "data_offsets": [0, 8]},
        {"dtype": "object", "shape": [1], "data_offsets": [0, 8]},
        {"dtype": "F64", "shape": [1], "data_offsets": [0]},
        {"dtype": "F64", "shape": 1, "data_offsets": [0, 8]},
        {"dtype": ["F64"], "shape": [1], "data_offsets": [0, 8]},
        [],
    ],
)
def test_heads_that_make_no_sense(entry: Any, path: Path) -> None:
    path.write_bytes(head_of({"a": entry}, bytes(8)))
    with pytest.raises(InputError, match="is not a model file"):
        pl.load(path)


def test_a_head_of_many_small_entries_is_refused_before_it_is_read(path: Path) -> None:
    head = b'{"a":[' + b"[]," * 3_000_000 + b"[]]}"
    path.write_bytes(struct.pack("<Q", len(head)) + head)
    with pytest.raises(InputError, match="its head has 6,000,003 entries in 9,000,018 bytes"):
        pl.load(path)


def test_true_and_false_are_nothing_else(path: Path) -> None:
    pl.save(pl.PairSVC().fit(PAIRS, Y), path)
    whole = path.read_bytes()
    length = struct.unpack("<Q", whole[:8])[0]
    start = json.loads(whole[8 : 8 + length])["support_bounded_"]["data_offsets"][0]
    changed = bytearray(whole)
    changed[8 + length + start] = 7
    path.write_bytes(changed)
    with pytest.raises(InputError, match="true and false"):
        pl.load(path)


def test_one_long_text_does_not_lengthen_all(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "FREE", 2**16)
    texts = ["x" * 1000, *[""] * 50]
    pl.save(pl.Gallery(pl.EuclidBaseline(), X, np.array(list("abcdefgh"))), path)
    rewritten(path, put("content", "params", "identities", "items", value=texts))
    with pytest.raises(InputError, match="damaged: texts of very different lengths"):
        pl.load(path)
    examples = np.zeros((len(texts), 1))
    with pytest.raises(InputError, match="texts of very different lengths"):
        pl.save(pl.Gallery(pl.EuclidBaseline(), examples, np.array(texts)), path)
    pl.save(pl.Gallery(pl.EuclidBaseline(), examples, np.array(texts, dtype=object)), path)
    assert pl.load(path).names.tolist() == ["", "x" * 1000]


@pytest.mark.parametrize("kind", [sparse.csr_array, np.asfortranarray])
def test_what_was_saved_needs_no_room_of_its_own(kind: Any, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "FREE", 0)
    pl.save(pl.Gallery(pl.CosineBaseline(), kind(X), np.array(list("abcdefgh"))), path)
    assert pl.load(path).examples.shape == X.shape


def test_a_tensor_in_many_places_is_held_once_and_not_endlessly_looked_at(path: Path) -> None:
    X32 = np.asfortranarray(rng.normal(size=(40, 30)))
    pairs = pl.all_pairs(X32, reflexive=False)
    model = pl.PairSVC("metric", C=0.1).fit(pairs, pairs.labels(np.arange(40) % 4))
    pl.save(model, path)
    place = {"is": "array", "tensor": "function_.anchor", "order": "F"}

    def many(document: Any) -> None:
        kernel: Any = {"is": "Mapped", "matrix": place}
        for _ in range(50):
            kernel = {"is": "Sum", "first": {"is": "Mapped", "matrix": place}, "second": kernel}
        document["content"]["params"]["base"] = [kernel, kernel]

    rewritten(path, many)
    with pytest.raises(InputError, match=r"is the 101th place with the tensor 'function_.anchor'"):
        pl.load(path)


# --------------------------------------------------------------------------- depth and numbers


@pytest.mark.parametrize("depth", [70, 400])
def test_deep_nesting_is_refused_on_both_ways(depth: int, path: Path) -> None:
    pl.save(pl.PairSVC().fit(PAIRS, Y), path)
    rewritten(path, put("content", "params", "base", value=nested(depth)))
    with pytest.raises(InputError, match="nested deeper than 64 levels"):
        pl.load(path)
    with pytest.raises(InputError, match="nested deeper than 64 levels"):
        persist.read_about(path)
    base: Any = Linear()
    for _ in range(depth):
        base = 2.0 * base
    with pytest.raises(InputError, match="nested deeper than 64 levels"):
        pl.save(pl.PairSVC().fit(PAIRS, Y).set_params(base=base), path)


@pytest.mark.parametrize("number", ["1" * 4301, "-" + "9" * 21, str(2**63), "1e999", "NaN", "-Infinity"])
def test_numbers_that_json_allows_and_models_do_not(number: str, path: Path) -> None:
    pl.save(pl.EuclidBaseline(0.25), path)
    with persist.opened(path) as file:
        text = file.texts["pairlearn"]
    path.write_bytes(head_of({"__metadata__": {"pairlearn": text.replace("0.25", number)}}))
    for read in (pl.load, persist.read_about):
        with pytest.raises(InputError, match="damaged: the document has"):
            read(path)


@pytest.mark.parametrize("degree", [10**12, 101, 0, -1, 2.5, True, "2"])
def test_degrees_are_bounded(degree: Any, path: Path) -> None:
    pl.save(pl.PairSVC(base=Polynomial(2)).fit(PAIRS, Y), path)
    rewritten(path, put("content", "fitted", "function_", "kernel", "terms", 0, 1, 0, "base", "degree", value=degree))
    with pytest.raises(InputError, match=r"damaged: function_.kernel.terms\[0\]\[1\]\[0\].base.degree is .* to 100"):
        pl.load(path)
    if not isinstance(degree, (bool, str)):
        for make in (Polynomial, lambda d: pl.pair_kernels.power("tensor", d)):
            with pytest.raises(InputError, match="whole number from 1 to 100"):
                make(degree)


def test_threads_belong_to_the_session(path: Path) -> None:
    model = pl.BasisExpansion("rbf", 4, n_jobs=2, random_state=0).fit(X)
    pl.save(model, path)
    assert pl.load(path).n_jobs is None
    rewritten(path, put("content", "params", "n_jobs", value=100_000))
    assert pl.load(path).n_jobs is None
    assert Batching(n_jobs=100_000).threads <= (os.cpu_count() or 1)


# --------------------------------------------------------------------------- special files


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        for place in (tmp_path / "fifo", tmp_path / "socket", Path("/dev/zero"), Path("/dev/null")):
            for read in (pl.load, persist.read_about):
                with pytest.raises(InputError, match="not a regular file"):
                    read(place)


def test_a_file_that_is_shortened_meanwhile(path: Path) -> None:
    pl.save(pl.Gallery(pl.EuclidBaseline(), np.ones((2**15, 4)), np.arange(2**15)), path)
    with persist.opened(path) as file:
        os.truncate(path, path.stat().st_size - 8)
        with pytest.raises(InputError, match="ends too early"):
            file.tensors()


# --------------------------------------------------------------------------- what is loaded can be used


BAD_PARTS = {
    "a kernel without its parameter": ("base", {"is": "Gaussian", "gamma": "scale"}),
    "a kernel of other features": ("base", {"is": "Standardised", "mean": [0.0], "scale": [1.0]}),
    "a kernel of images": ("base", {"is": "Rigid", "h": 1}),
    "a kernel of columns": ("base", {"is": "Precomputed", "definite": None}),
    "no kernel": ("base", None),
}


@pytest.mark.parametrize(("key", "value"), BAD_PARTS.values(), ids=BAD_PARTS)
def test_kernels_that_cannot_compare_the_examples_are_refused(key: str, value: Any, path: Path) -> None:
    pl.save(pl.PairSVC(base=Gaussian(0.5)).fit(PAIRS, Y), path)
    rewritten(path, put("content", "fitted", "function_", "kernel", "terms", 0, 1, 0, key, value=value))
    with pytest.raises(InputError, match="damaged: function_: "):
        pl.load(path)


def test_a_whole_number_is_a_bias_too(path: Path) -> None:
    model = pl.PairSVC().fit(PAIRS, Y)
    pl.save(model, path)
    rewritten(path, put("content", "fitted", "function_", "bias", value=3))
    loaded = pl.load(path)
    np.testing.assert_allclose(
        loaded.decision_function(PAIRS), model.decision_function(PAIRS) - model.intercept_ + 3, atol=1e-12
    )
    assert loaded.score_block(X, X).dtype == np.float64


def test_a_kernel_of_no_terms_is_no_kernel(path: Path) -> None:
    pl.save(pl.OneClassPairSphere(nu=0.5).fit(PAIRS), path)
    rewritten(path, put("content", "fitted", "function_", "kernel", "terms", value=[]))
    with pytest.raises(InputError, match="zero everywhere"):
        pl.load(path).decision_function(PAIRS)


def test_coefficients_whose_products_overflow_are_refused(path: Path) -> None:
    pl.save(pl.PairSVC().fit(PAIRS, Y), path)
    rewritten(path, put("content", "fitted", "function_", "kernel", "terms", 0, 0, value=1e308))
    rewritten(path, put("content", "fitted", "function_", "kernel", "terms", 0, 1, 0, "terms", 0, 1, value=1e308))
    with pytest.raises(InputError, match=r"damaged: function_.kernel: coefficients .* too large"):
        pl.load(path)


def test_what_a_file_says_does_not_fill_a_screen(path: Path) -> None:
    pl.save(pl.BasisExpansion(pl.kernels.EditSimilarity(), 2, random_state=0).fit(["pair", "pear"]), path)
    long = "x\n" * 10_000
    for change in (put("content", "params", "similarity", "measure", value=long), put("version", value=long)):
        rewritten(path, change)
        with pytest.raises(InputError) as refused:
            pl.load(path)
        assert len(str(refused.value)) < 700 + len(str(path))
        assert "\n" not in str(refused.value)


def test_a_singular_factor_is_refused(path: Path) -> None:
    metric = pl.metrics.KernelPseudoMetric("rbf", max_sweeps=1).partial_fit(PAIRS, Y)
    pl.save(metric, path)
    rewritten(path, arrays={"span_.factor": np.zeros_like(metric.span_.factor)})
    with pytest.raises(InputError, match="damaged: span_: factor has a zero on its diagonal"):
        pl.load(path)


def test_attributes_that_no_loading_knows_are_not_saved(path: Path) -> None:
    model = pl.PairSVC().fit(PAIRS, Y)
    model.note_ = "faces"
    with pytest.raises(InputError, match="no learnt attribute 'note_'; drop it, or write notes with about="):
        pl.save(model, path)


def test_parameters_that_could_not_be_loaded_are_not_saved(path: Path) -> None:
    for change, words in (
        ({"C": -1.0}, "C is -1.0, but must be"),
        ({"random_state": 2**63}, "cannot save random_state"),
    ):
        with pytest.raises(InputError, match=words):
            pl.save(pl.PairSVC().fit(PAIRS, Y).set_params(**change), path)
    with pytest.raises(InputError, match="write it as text"):
        pl.save(pl.EuclidBaseline(), path, about={"number": 10**30})
    assert not path.exists()


def test_a_parameter_of_code_is_refused_with_advice(path: Path) -> None:
    model = pl.PairSVC().fit(PAIRS, Y).set_params(base=lambda A, B: A @ B.T)
    with pytest.raises(InputError, match=r"cannot save base: .* must not hold code"):
        pl.save(model, path)


# --------------------------------------------------------------------------- the table itself


def test_every_class_has_a_schema_and_every_line_a_class() -> None:
    classes = [*ANY.values(), *VALUES.values()]
    families = {base.__name__ for kind in classes for base in kind.__mro__}
    assert set(FIELDS) <= families
    for kind in classes:
        schema = schema_of(kind)
        names = {*schema.parameters, *schema.learnt}
        lines = {name for base in kind.__mro__ for name in FIELDS.get(base.__name__, {})}
        own = kind.__module__.startswith("pairlearn.")
        assert not own or PLAIN not in schema.parameters.values(), kind
        assert FIELDS.get(kind.__name__, {}).keys() <= names, kind
        assert {name for name in lines if name.endswith("_")} <= names or not schema.learnt, kind


def test_safetensors_reads_what_is_written(path: Path) -> None:
    model = pl.PairSVC().fit(PAIRS, Y)
    pl.save(model, path)
    tensors = safetensors.numpy.load_file(path)
    np.testing.assert_array_equal(tensors["function_.coefficients"], model.dual_coef_)
    with persist.opened(path) as file:
        for name, array in file.tensors().items():
            np.testing.assert_array_equal(array, tensors[name])
