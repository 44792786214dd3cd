"""Files are written all or nothing, and only where a file may be."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import pairlearn as pl
from pairlearn.data.locks import lock
from pairlearn.data.writing import DRAFT, write_whole
from pairlearn.errors import InputError, OutputError

SMALL = """
import resource, sys
import pairlearn as pl
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    pl.save(pl.EuclidBaseline(2.0), sys.argv[1])
except OSError as error:
    print(error)
"""


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def make_link_to_a_device(path: Path) -> None:
    path.symlink_to(os.devnull)


@pytest.mark.parametrize("name", ["n" * 300, "x\0y"])
def test_names_that_no_file_can_have(name: str, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="choose another name"):
        pl.save(pl.EuclidBaseline(), tmp_path / name)
    with pytest.raises(InputError, match="there is no model file"):
        pl.load(tmp_path / name)


def test_an_empty_name() -> None:
    with pytest.raises(InputError, match="is empty; give one"):
        write_whole("", b"x")


@pytest.mark.parametrize("make", [make_fifo, make_socket, make_link_to_a_device])
def test_special_files_are_no_targets(make, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "model"
    make(path)
    before = os.stat(path)
    with pytest.raises(InputError, match="name a regular file"):
        pl.save(pl.EuclidBaseline(), path)
    assert os.path.samestat(os.stat(path), before)
    assert stat.S_IFMT(os.stat(path).st_mode) != stat.S_IFREG


def test_orphans_go_with_the_next_file_and_drafts_of_living_writers_stay(tmp_path: Path) -> None:
    orphan, alive = tmp_path / DRAFT.format("0a"), tmp_path / DRAFT.format("0b")
    orphan.write_bytes(b"half")
    with open(alive, "xb") as file:
        assert lock(file)
        write_whole(tmp_path / "new", b"new")
        assert sorted(os.listdir(tmp_path)) == [alive.name, "new"]
    write_whole(tmp_path / "newer", b"new")
    assert sorted(os.listdir(tmp_path)) == ["new", "newer"]


def test_a_private_file_stays_private(tmp_path: Path) -> None:
    path = tmp_path / "private"
    path.write_bytes(b"old")
    path.chmod(0o600)
    write_whole(path, b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o600)


def test_a_name_may_be_as_long_as_the_file_system_allows(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"


def test_no_room_names_the_file_and_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    pl.save(pl.EuclidBaseline(1.0), path)
    done = subprocess.run([sys.executable, "-c", SMALL, path], capture_output=True, text=True, check=True)
    assert f"cannot write {path}" in done.stdout
    assert "make room" in done.stdout
    assert os.listdir(tmp_path) == [path.name]
    assert pl.load(path).threshold == 1.0
