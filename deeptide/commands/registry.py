"""Finding a command by what was typed, and running it.

Invariant: names and aliases are unique, and a typing error is answered with the nearest names.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from deeptide.commands.command import Command, CommandContext
from deeptide.commands.results import Result
from deeptide.protocol.errors import UsageError

__all__ = ["Command", "CommandContext", "Registry"]


class Registry:
    """`groups`: heading → commands, in the order in which help shows them."""

    def __init__(self, groups: dict[str, Iterable[Command]]) -> None:
        self._groups = {heading: tuple(commands) for heading, commands in groups.items()}
        self._names: dict[str, Command] = {}
        for command in self.commands:
            for name in (command.name, *command.aliases):
                if name in self._names:
                    raise ValueError(f"two commands are called /{name}")
                self._names[name] = command

    @property
    def commands(self) -> tuple[Command, ...]:
        return tuple(command for commands in self._groups.values() for command in commands)

    def find(self, name: str) -> Command | None:
        """By name or alias, without the slash, any case."""
        return self._names.get(name.lower())

    def complete(self, prefix: str) -> tuple[Command, ...]:
        """Commands of which a name starts with `prefix`, then those of which an alias does."""
        typed = prefix.lower()
        by_name = [command for command in self.commands if command.name.startswith(typed)]
        by_alias = [
            command
            for command in self.commands
            if command not in by_name and any(alias.startswith(typed) for alias in command.aliases)
        ]
        return (*by_name, *by_alias)

    def help(self, name: str = "") -> str:
        """Markdown: every command by group, or all there is to say about one. Raises UsageError."""
        if name:
            return self.named(name.lstrip("/")).help()
        parts = []
        for heading, commands in self._groups.items():
            rows = "\n".join(f"- `{command.line}` {command.summary}" for command in commands)
            parts.append(f"## {heading}\n\n{rows}")
        return "\n\n".join(parts)

    async def dispatch(self, line: str, context: CommandContext) -> Result:
        """Run `/name argument`. Raises UsageError for an unknown or wrongly used command."""
        name, argument = split(line)
        command = self.named(name)
        if argument and not command.usage:
            raise UsageError(f"/{command.name} takes nothing after it.", f"Type /{command.name} alone.")
        try:
            return await command.run(context, argument)
        except UsageError as error:
            if error.advice:
                raise
            raise UsageError(str(error), f"Usage: {command.line}") from error

    def named(self, name: str) -> Command:
        """Raises UsageError with the nearest names."""
        command = self.find(name)
        if command is not None:
            return command
        near = self._near(name.lower())
        advice = f"Did you mean {' or '.join(f'/{one}' for one in near)}? " if near else ""
        raise UsageError(f"There is no command /{name}.", f"{advice}/help lists them all.")

    def _near(self, name: str) -> list[str]:
        """At most three names, each of another command: first what it may be the start of."""
        started = [command.name for command in self.complete(name)] if name else []
        close = [self._names[one].name for one in get_close_matches(name, self._names, 5, 0.6)]
        return list(dict.fromkeys([*started, *close]))[:3]


def split(line: str) -> tuple[str, str]:
    """`/name  the rest ` → (`name`, `the rest`). What is inside the rest is kept as typed."""
    words = line.strip().removeprefix("/").split(maxsplit=1)
    return (words[0] if words else ""), (words[1].strip() if len(words) > 1 else "")
