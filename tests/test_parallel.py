"""Work by several processes gives what one gives, in the same order, and its errors."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path

import pytest

from generator.build import Options, build
from generator.load import load
from generator.parallel import CHUNKS, mapped, processes

from . import golden

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("things", [0, 1, 2, 7, CHUNKS + 1, 2 * CHUNKS + 5])
def test_results_stand_in_the_order_of_the_things(things: int, count: int) -> None:
    assert mapped(lambda n: str(n * n), range(things), count) == [str(n * n) for n in range(things)]


def test_more_than_one_process_works() -> None:
    # The first thing that the parent takes waits until the child has taken one.
    reading, writing = os.pipe()

    def work(number: int) -> int:
        if os.getpid() == here:
            return int.from_bytes(os.read(reading, 8), "big")
        os.write(writing, os.getpid().to_bytes(8, "big"))
        return os.getpid()

    here = os.getpid()
    one, other = mapped(work, (0, 1), 2)
    assert one == other != here


@pytest.mark.parametrize("at", [0, 1, 50, 99])
def test_an_error_comes_out_wherever_it_was(at: int) -> None:
    def work(number: int) -> int:
        if number == at:
            raise ValueError(f"number {number}")
        return number

    with pytest.raises(ValueError, match=f"number {at}"):
        mapped(work, range(100), 2)


def test_an_error_of_another_process_comes_out() -> None:
    here = os.getpid()
    reading, writing = os.pipe()

    def work(number: int) -> int:
        # The parent waits until the child has taken a thing, too.
        if os.getpid() == here:
            os.read(reading, 1)
            return number
        os.write(writing, b"x")
        raise ValueError("from the child")

    with pytest.raises(ValueError, match="from the child"):
        mapped(work, (0, 1), 2)


def test_a_process_that_dies_is_told() -> None:
    here = os.getpid()
    reading, writing = os.pipe()

    def work(number: int) -> int:
        if os.getpid() != here:
            os.write(writing, b"x")
            os.kill(os.getpid(), signal.SIGKILL)
        os.read(reading, 1)
        return number

    with pytest.raises(ChildProcessError, match="ended early"):
        mapped(work, (0, 1), 2)


def test_as_many_as_are_wanted() -> None:
    assert processes(3) == 3
    assert processes() >= 1


def test_two_processes_read_and_find_what_one_does() -> None:
    one, two = load(golden.CONTENT), load(golden.CONTENT, 2)
    assert [each.entry for each in two[0].entries] == [each.entry for each in one[0].entries]
    assert two[1] == one[1]
    for each, other in zip(one[0].entries, two[0].entries, strict=True):
        assert dict(each.positions.places) == dict(other.positions.places)
        assert dict(each.positions.scalars) == dict(other.positions.scalars)


def test_a_build_leaves_the_collector_as_it_was(tmp_path: Path) -> None:
    before = gc.get_threshold()
    for content in (golden.CONTENT, tmp_path / "nothing"):
        assert build(Options(content=content, out=tmp_path / "site")).ok == (content is golden.CONTENT)
        assert gc.isenabled()
        assert gc.get_threshold() == before


def test_two_processes_write_the_same_bytes(tmp_path: Path) -> None:
    sites = []
    for jobs in (1, 2):
        out = tmp_path / f"site-{jobs}"
        assert build(Options(content=golden.CONTENT, out=out, jobs=jobs)).ok
        files = (path for path in out.rglob("*") if path.is_file() and "pagefind" not in path.parts)
        sites.append({path.relative_to(out): path.read_bytes() for path in files})
    assert sites[0] == sites[1]
