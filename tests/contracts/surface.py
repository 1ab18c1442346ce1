"""The public surface as text. `python -m tests.contracts.surface` prints what belongs in `surface.txt`."""

from __future__ import annotations

import sys
import typing
from collections.abc import Iterator

from deeptide.cli.args import build_parser
from deeptide.cli.invocation import COMMANDS
from deeptide.commands.standard import standard as standard_commands
from deeptide.config.load import SHORT
from deeptide.config.schema import ModelEntry, all_settings, settings_of
from deeptide.headless.exits import Exit
from deeptide.headless.formats import Header, Result
from deeptide.prompts.library import Library
from deeptide.protocol.events import DURABLE, LIVE
from deeptide.tools.registry import standard as standard_tools
from deeptide.tui.keys import TABLE as KEYS


def surface() -> str:
    """One line each: what users, scripts and stored sessions rely on."""
    return "\n".join(lines()) + "\n"


def lines() -> Iterator[str]:
    yield "# A line that changes or goes breaks someone. A new line is a promise."
    for kind, union in (("durable", DURABLE), ("live", LIVE)):
        for event in typing.get_args(union):
            yield f"event {event.__struct_config__.tag} ({kind}): {', '.join(event.__struct_fields__)}"
    for struct in (Header, Result):
        yield f"line {struct.__struct_config__.tag}: {', '.join(struct.__struct_fields__)}"
    for code in Exit:
        yield f"exit {code.value}: {code.name}"
    for setting in (*all_settings().values(), *settings_of('models."NAME"', ModelEntry)):
        yield f"setting {setting.key}: {setting.allowed}"
    for name, key in SHORT.items():
        yield f"variable {name}: {key}"
    for command in ("", *COMMANDS):
        flags = [flag for action in build_parser(command)._actions for flag in action.option_strings]
        yield f"command line {command or '(none)'}: {' '.join(sorted(flags))}"
    for command in standard_commands().commands:
        yield f"command /{' /'.join((command.name, *command.aliases))}"
    for line in KEYS:
        yield f"key {line.shown} ({line.where}): {line.summary}"
    for schema in standard_tools(Library()).schemas:
        yield f"tool {schema.name}"


if __name__ == "__main__":
    sys.stdout.write(surface())
