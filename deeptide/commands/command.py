"""One command, and what it may use.

Invariant: name, usage, summary and detail are the only source of every help text.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from deeptide.commands.results import Result
from deeptide.config.paths import Paths, find_paths
from deeptide.config.schema import Settings
from deeptide.model.catalog import Catalog, ModelSpec
from deeptide.protocol.errors import UsageError
from deeptide.session.session import Session
from deeptide.session.store import Store

YES = "--yes"
"""The word by which a confirmed command is dispatched again."""


@dataclass(frozen=True)
class CommandContext:
    """The session the command was typed in, and the house around it."""

    session: Session
    store: Store
    version: str
    settings: Settings
    catalog: Catalog

    @property
    def spec(self) -> ModelSpec:
        """The model in force."""
        return self.catalog.resolve(self.session.fold.model).spec

    @property
    def workspace(self) -> str:
        started = self.session.fold.started
        return started.workspace if started else ""

    @property
    def paths(self) -> Paths:
        """Where this house keeps its files."""
        usual, home = find_paths(), self.store.root.parent
        return usual if usual.home == home else find_paths(home=home)


Run = Callable[[CommandContext, str], Awaitable[Result]]


@dataclass(frozen=True)
class Command:
    """`usage` is what follows the name (empty: nothing may). `detail` is Markdown, more lines of help.
    `run(context, argument)` gets what was typed after the name, stripped; it raises DeepTideError."""

    name: str
    usage: str
    summary: str
    run: Run
    aliases: tuple[str, ...] = ()
    detail: str = ""

    @property
    def line(self) -> str:
        """`/name usage`."""
        return f"/{self.name} {self.usage}".rstrip()

    def help(self) -> str:
        also = f"\n\nAlso: {', '.join(f'`/{name}`' for name in self.aliases)}." if self.aliases else ""
        detail = f"\n\n{self.detail}" if self.detail else ""
        return f"`{self.line}`\n\n{self.summary}.{detail}{also}"


def confirmed(argument: str) -> tuple[str, bool]:
    """The argument without `--yes` at its end, and whether it was there."""
    words = argument.rstrip()
    if words == YES:
        return "", True
    if words.endswith(f" {YES}"):
        return words[: -len(YES)].rstrip(), True
    return argument, False


def needed(argument: str, what: str) -> str:
    """`argument`, which must not be empty. `what` names it: `a title`."""
    if not argument:
        raise UsageError(f"This needs {what}.")
    return argument
