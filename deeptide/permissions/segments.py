"""The pieces a shell line is taken apart into.

Invariant: they are values; who reads them needs neither the parser nor the line.
"""

from __future__ import annotations

import msgspec

from deeptide.permissions.words import Arg

MAYBE_ANYWHERE = "?"
"""A working folder that is not known."""


def names(text: str) -> frozenset[str]:
    """The words of a table."""
    return frozenset(text.split())


class Redirect(msgspec.Struct, frozen=True):
    """`operator` as written, without the descriptor: `>`, `>>`, `<`, `&>`, `>&`, ..."""

    operator: str
    target: Arg

    @property
    def writes(self) -> bool:
        return ">" in self.operator


class Segment(msgspec.Struct, frozen=True):
    """One simple command. `args`: the program first; empty for a bare redirect or assignment.

    `cwds`: the folders it may run in. `feed`: operands it gets from elsewhere (find's folders for `-exec`,
    the command before `| xargs`); `narrow`: only some of what lies there. `via`: the wrappers taken off,
    outermost first. `stdin`: the text it reads, where that is written in the line. `piped`: it reads from
    another command. `plainly_fed`: what it gets from elsewhere are names that hold no secrets. `called`: the
    program is a function of the line, whose body is judged where it stands.
    """

    args: tuple[Arg, ...] = ()
    assigns: tuple[tuple[str, Arg], ...] = ()
    redirects: tuple[Redirect, ...] = ()
    cwds: tuple[str, ...] = ()
    feed: tuple[Arg, ...] = ()
    narrow: bool = False
    via: tuple[str, ...] = ()
    stdin: str | None = None
    piped: bool = False
    plainly_fed: bool = False
    called: bool = False

    @property
    def name(self) -> str:
        """The program without its folder; empty if there is none."""
        return self.args[0].text.rpartition("/")[2] if self.args else ""

    @property
    def rest(self) -> tuple[Arg, ...]:
        return self.args[1:]

    @property
    def texts(self) -> tuple[str, ...]:
        """The arguments as text, without the program."""
        return tuple(arg.text for arg in self.args[1:])

    @property
    def words(self) -> tuple[str, ...]:
        """Program and arguments as text, for the rules of the user."""
        return (self.name, *self.texts) if self.args else ()


class Analysis(msgspec.Struct, frozen=True):
    """`problems`: what in the line is not understood, each a clause; with any, the line is asked about every
    time. `doubts`: what may be more than it seems,
    likewise; asked about once. `bombs`: names of functions that start themselves twice."""

    segments: tuple[Segment, ...] = ()
    problems: tuple[str, ...] = ()
    bombs: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
