"""The commands that ship, in the order in which help shows them.

Invariant: this is the only list of them.
"""

from __future__ import annotations

from deeptide.commands.checkpoints import COMMANDS as CHECKPOINTS
from deeptide.commands.command import Command
from deeptide.commands.context import COMMANDS as CONTEXT
from deeptide.commands.control import COMMANDS as CONTROL
from deeptide.commands.info import COMMANDS as INFO
from deeptide.commands.info import help_command
from deeptide.commands.money import COMMANDS as MONEY
from deeptide.commands.picture import COMMANDS as PICTURE
from deeptide.commands.registry import Registry
from deeptide.commands.session import COMMANDS as SESSION


def standard() -> Registry:
    def named(name: str) -> Command:
        return registry.named(name)

    registry = Registry(
        {
            "Sessions": SESSION,
            "Context": (*CONTEXT, *PICTURE, *MONEY),
            "Going back": CHECKPOINTS,
            "Control": CONTROL,
            "Help": (help_command(named), *INFO),
        }
    )
    return registry
