"""Pictures by example id: found in the folder, never outside of it, and only PNG or JPEG of a bearable size."""

from __future__ import annotations

import builtins
import os
import struct
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairlearn.errors import InputError
from pairlearn.report.pictures import (
    DAMAGED,
    ENORMOUS,
    FOREIGN,
    MISSING,
    OUTSIDE,
    TOO_LARGE,
    NoPictureError,
    _path,
    find_pictures,
)
from pairlearn.report.png import MOST_BYTES, _chunk, data_uri, png

SMALL = png(np.eye(4))
JPEG = b"\xff\xd8\xff\xe0 no more than a start"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """faces/ with a few files, beside a file that is nobody's business."""
    faces = tmp_path / "faces"
    (faces / "ann").mkdir(parents=True)
    (faces / "plain").write_bytes(SMALL)
    (faces / "one.png").write_bytes(SMALL)
    (faces / "two.jpg").write_bytes(JPEG)
    (faces / "three.jpeg").write_bytes(JPEG)
    (faces / "ann" / "ann_0001.png").write_bytes(SMALL)
    (tmp_path / "secret.png").write_bytes(SMALL)
    return faces


def noise(side: int = 400) -> bytes:
    return png(np.random.default_rng(0).integers(0, 256, (side, side, 3), dtype=np.uint8))


def test_files_are_found_by_id_with_and_without_an_ending(folder: Path) -> None:
    found = find_pictures(folder, {"plain", "one", "one.png", "two", "three", "ann/ann_0001", "nobody"})
    assert found.files == {
        "plain": SMALL, "one": SMALL, "one.png": SMALL, "two": JPEG, "three": JPEG, "ann/ann_0001": SMALL,
    }  # fmt: skip
    assert found.without == {MISSING: 1}
    assert found.warnings("faces") == [
        {
            "code": "pictures",
            "text": "pictures in faces: 1 of 7 examples of the worst errors have no file there",
            "systems": [],
        }
    ]


@pytest.mark.parametrize("key", ["../secret", "../secret.png", "ann/../../secret", "ann/../one", "{root}/secret.png"])
def test_ids_do_not_lead_out_of_the_folder(folder: Path, key: str) -> None:
    found = find_pictures(folder, {key.format(root=folder.parent)})
    assert (found.files, found.without) == ({}, {OUTSIDE: 1})


def test_links_do_not_lead_out_of_the_folder(folder: Path) -> None:
    (folder / "file.png").symlink_to(folder.parent / "secret.png")
    (folder / "up").symlink_to(folder.parent)
    (folder / "inner.png").symlink_to(folder / "one.png")
    (folder / "broken.png").symlink_to(folder / "gone.png")
    (folder / "circle.png").symlink_to(folder / "circle.png")
    found = find_pictures(folder, {"file", "up/secret", "inner", "broken", "circle"})
    assert found.files == {"inner": SMALL}
    assert found.without == {OUTSIDE: 2, MISSING: 2}


def test_a_folder_that_is_itself_a_link_is_used(folder: Path) -> None:
    (folder.parent / "link").symlink_to(folder)
    assert find_pictures(folder.parent / "link", {"one"}).files == {"one": SMALL}


def test_odd_ids_are_missing_not_an_error(folder: Path) -> None:
    os.mkfifo(folder / "pipe.png")
    odd = {"a\0b", "x" * 5000, "ann", ".", "\udce9", "pipe", "<img src=x>", "ann//", "~root"}
    assert find_pictures(folder, odd).without == {MISSING: len(odd)}


@settings(deadline=None)
@given(st.lists(st.sampled_from(["..", ".", "/", "ann", "a", "\\", "~", "C:", "secret.png", "one"]), min_size=1))
def test_no_id_ever_leaves_the_folder(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    root = tmp_path_factory.getbasetemp() / "anywhere"
    (root / "inner" / "ann").mkdir(parents=True, exist_ok=True)
    for place in (root, root / "inner", root / "inner" / "ann"):
        (place / "secret.png").write_bytes(SMALL)
    inner = (root / "inner").resolve()
    for key in ("/".join(parts), "".join(parts)):
        with suppress(NoPictureError):
            assert os.path.realpath(_path(inner, key)).startswith(f"{inner}{os.sep}")


def test_other_types_are_skipped_whatever_their_name(folder: Path) -> None:
    (folder / "page.png").write_text("<svg onload=alert(1)>")
    (folder / "empty.jpg").write_bytes(b"")
    found = find_pictures(folder, {"page", "empty", "one"})
    assert (set(found.files), found.without) == ({"one"}, {FOREIGN: 2})


def test_a_large_picture_is_shrunk_by_pillow(folder: Path) -> None:
    pillow = pytest.importorskip("PIL.Image")
    (folder / "large.png").write_bytes(noise())
    small = find_pictures(folder, {"large"}).files["large"]
    assert len(small) <= MOST_BYTES
    assert data_uri(small).startswith("data:image/jpeg")
    assert max(pillow.open(BytesIO(small)).size) == 128


def test_without_pillow_large_pictures_are_skipped_and_counted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_pillow(name: str, *args: Any, **more: Any) -> Any:
        if name.startswith("PIL"):
            raise ImportError(name)
        return real(name, *args, **more)

    monkeypatch.setattr(builtins, "__import__", without_pillow)
    for name in ("one", "two"):
        (folder / f"large {name}.png").write_bytes(noise())
    found = find_pictures(folder, {"large one", "large two", "one"})
    assert (set(found.files), found.without) == ({"one"}, {TOO_LARGE: 2})
    assert "2 of 3 examples of the worst errors have a file above 50,000 bytes" in found.warnings(folder)[0]["text"]


def test_damaged_and_enormous_pictures_are_skipped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("PIL.Image")
    (folder / "torn.png").write_bytes(noise()[:100_000])
    for side in (8_000, 10_000, 30_000):  # Pillow accepts the first, warns of the second and refuses the third
        header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
        content = b"".join(_chunk(*part) for part in ((b"IHDR", header), (b"IDAT", bytes(60_000)), (b"IEND", b"")))
        (folder / f"bomb {side}.png").write_bytes(SMALL[:8] + content)
    assert find_pictures(folder, {"torn", "bomb 8000", "bomb 10000", "bomb 30000"}).without == {ENORMOUS: 3, DAMAGED: 1}
    monkeypatch.setattr("pairlearn.report.pictures.MOST_READ", 60_000)
    assert find_pictures(folder, {"torn"}).without == {ENORMOUS: 1}


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        find_pictures(tmp_path / "no", {"one"})
