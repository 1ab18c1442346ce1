"""What the terminal app asks of the house it lives in.

The app is built against these shapes and never constructs a session, a client or a store itself, so the first
frame is painted before a house exists, and a test can hand it any house made of real pieces.

Invariant: nothing here is imported at run time from another room but protocol; every other type is for the type
checker only, so this file costs the first paint nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import msgspec

if TYPE_CHECKING:
    from deeptide.commands.results import Result
    from deeptide.config.schema import Settings
    from deeptide.session.session import Session


class Start(msgspec.Struct, frozen=True):
    """What to show first: a `new` session, a stored one (`resume`; id, prefix or `latest`), or the picker.
    `prompt` is said as soon as it is open."""

    how: Literal["new", "resume", "pick"] = "new"
    selector: str = ""
    prompt: str = ""


class CommandInfo(Protocol):
    """A slash command as listed. `usage` is its arguments (`[focus]`), empty if it takes none."""

    @property
    def name(self) -> str: ...
    @property
    def aliases(self) -> tuple[str, ...]: ...
    @property
    def usage(self) -> str: ...
    @property
    def summary(self) -> str: ...

    def help(self) -> str:
        """All there is to say about it, as Markdown."""
        ...


class CommandList(Protocol):
    def complete(self, prefix: str) -> Sequence[CommandInfo]: ...
    def find(self, name: str) -> CommandInfo | None: ...


class Point(Protocol):
    """A checkpoint as listed. `at` is Unix seconds."""

    @property
    def id(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def seq(self) -> int: ...
    @property
    def at(self) -> float: ...
    @property
    def messages(self) -> int: ...
    @property
    def automatic(self) -> bool: ...


class Turn(Protocol):
    """A turn that can be taken back: rewinding to `seq` takes `words` and all after them. `at` is Unix seconds."""

    @property
    def seq(self) -> int: ...
    @property
    def words(self) -> str: ...
    @property
    def at(self) -> float: ...
    @property
    def messages(self) -> int: ...


class Listed(Protocol):
    """A stored session as listed. `updated` is Unix seconds."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def workspace(self) -> str: ...
    @property
    def updated(self) -> float: ...
    @property
    def turns(self) -> int: ...
    @property
    def first(self) -> str: ...
    @property
    def last(self) -> str: ...
    @property
    def model(self) -> str: ...


class ModelChoice(Protocol):
    """A model that can be picked. `window` is in tokens."""

    @property
    def id(self) -> str: ...
    @property
    def window(self) -> int: ...
    @property
    def efforts(self) -> tuple[str, ...]: ...


class House(Protocol):
    """Everything the app needs, made by `wiring`. Methods that touch the disk (`sessions`, `save_key`, `trust`)
    are called in a thread; all others from the event loop."""

    @property
    def workspace(self) -> Path: ...
    @property
    def commands(self) -> CommandList: ...
    @property
    def settings(self) -> Settings: ...
    @property
    def hint(self) -> str:
        """A sentence for an empty talk: what to say first (the demo has one); mostly empty."""
        ...

    def needs_trust(self) -> bool:
        """Whether this folder holds instructions or settings of its own and nobody has been asked yet."""
        ...

    def trust(self, yes: bool) -> None: ...

    def needs_key(self) -> bool:
        """Whether the endpoint wants a key and none was found."""
        ...

    def save_key(self, key: str) -> Path:
        """Store the key in the 0600 auth file, use it from the next request on, and return the file."""
        ...

    def models(self) -> Sequence[ModelChoice]: ...

    def sessions(self) -> Sequence[Listed]:
        """All stored sessions, newest first."""
        ...

    async def new(self) -> Session: ...
    async def resume(self, selector: str) -> Session: ...

    async def warm(self) -> None:
        """Import what the first request needs, in a thread."""
        ...

    async def command(self, line: str, session: Session) -> Result:
        """Dispatch `/name arguments`; raises UsageError for an unknown or wrong command."""
        ...

    def show_notices(self, session: Session) -> None:
        """Publish what the reader should know into the session, once."""
        ...

    async def close(self) -> None: ...


HouseFactory = Callable[[], House]
"""Called once, in a thread, after the first paint; may raise DeepTideError."""
