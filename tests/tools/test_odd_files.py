"""FIFOs, sockets, devices and files that the kernel makes up: no search waits for one, and each is called by
what it is."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from deeptide.tools.listing import unending_below
from tests.tools.test_search import both  # noqa: F401  (the fixture: with ripgrep and without)
from tests.tools.workbench import Workbench

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


@pytest.fixture
def odd(both: Workbench) -> Workbench:  # noqa: F811
    """A folder with one of each, and one plain file."""
    os.mkfifo(both.root / "pipe")
    (both.root / "to-pipe").symlink_to("pipe")
    (both.root / "zero").symlink_to("/dev/zero")
    listener = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(both.root)
    try:
        listener.bind("sock")
    finally:
        os.chdir(here)
        listener.close()
    both.file("plain.txt", "hello\n")
    return both


@pytest.mark.parametrize(
    ("name", "kind"), [("pipe", "a FIFO"), ("to-pipe", "a FIFO"), ("zero", "a device"), ("sock", "a socket")]
)
async def test_what_is_no_regular_file_is_refused_by_what_it_is(odd: Workbench, name: str, kind: str) -> None:
    said = await odd.refused("grep", pattern="x", path=name)
    assert f"is {kind}, not a regular file; it was not opened" in said
    assert kind in await odd.refused("glob", pattern="*", path=name)
    assert kind in await odd.refused("list", path=name)


async def test_a_folder_that_holds_some_is_searched_around_them(odd: Workbench) -> None:
    assert await odd.text("grep", pattern="hello|^$|.") == "plain.txt:1:hello"
    assert await odd.text("grep", pattern="hello", glob="*") == "plain.txt:1:hello"
    assert await odd.text("glob", pattern="*") == "plain.txt"


async def test_list_says_what_each_is(odd: Workbench) -> None:
    rows = (await odd.text("list")).splitlines()
    assert {"pipe  (a FIFO)", "sock  (a socket)", "to-pipe -> pipe", "zero -> /dev/zero"} <= set(rows)


async def test_a_fifo_in_the_place_of_an_ignore_file_is_not_waited_for(both: Workbench) -> None:  # noqa: F811
    os.mkfifo(both.root / ".gitignore")
    both.file("a.txt", "hello\n")
    assert "a.txt" in await both.text("list")
    assert await both.text("glob", pattern="*") == "a.txt"
    assert await both.text("grep", pattern="hello") == "a.txt:1:hello"


@linux
async def test_a_file_of_the_kernel_is_searched_when_it_ends_and_its_folders_are_not(both: Workbench) -> None:  # noqa: F811
    assert "/proc/version:1:Linux" in await both.text("grep", pattern="^Linux", path="/proc/version")
    for path in ("/proc", "/proc/self", "/sys/kernel"):
        assert "made up by the kernel" in await both.refused("grep", pattern="x", path=path)


@linux
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may open it")
async def test_a_file_of_the_kernel_that_waits_for_more_is_not_waited_for(both: Workbench) -> None:  # noqa: F811
    (both.root / "log").symlink_to("/proc/kmsg")
    with pytest.raises(Exception, match=r"kmsg"):
        await both.output("grep", pattern="x", path="log")


async def test_a_file_that_is_too_large_to_search_is_refused_not_passed_over(both: Workbench) -> None:  # noqa: F811
    with open(both.root / "large", "wb") as file:
        file.truncate(65_000_000)
    assert "65,000,000 bytes" in await both.refused("grep", pattern="x", path="large")


def test_a_search_from_the_top_leaves_the_kernels_places_out() -> None:
    assert unending_below(Path("/")) == (Path("/proc"), Path("/sys"))
    assert unending_below(Path("/home")) == () == unending_below(Path("/proc"))
