"""Getting a session onto the stage: the house, trust, the key, then a new or a stored talk.

Invariant: the app can be typed into all the while; what keeps a first session from opening ends the app with that
error, and what keeps a later one from opening leaves the current one where it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from deeptide.protocol.errors import SessionError
from deeptide.tui.ports import House, HouseFactory, Start
from deeptide.tui.screens.ask import trust
from deeptide.tui.screens.login import Login

if TYPE_CHECKING:
    from deeptide.session.session import Session

AskScreen = Callable[[Screen[Any]], Coroutine[Any, Any, Any]]


class Refused(SessionError):
    """The user does not want to go on; nothing went wrong."""

    exit_code = 0


async def open_house(factory: HouseFactory, ask: AskScreen) -> House:
    """Build it in a thread and settle what must be settled before a session can start."""
    house = await asyncio.to_thread(factory)
    if house.needs_trust():
        answer = await ask(trust(house.workspace))
        if answer == "quit":
            raise Refused("Nothing was started.")
        await asyncio.to_thread(house.trust, answer == "yes")
    if house.needs_key():
        await settle_key(house, ask)
    return house


async def settle_key(house: House, ask: AskScreen, reason: str = "") -> bool:
    """Ask for a key and keep it; false if the user will do it later."""
    key = await ask(Login(reason))
    if not key:
        return False
    await asyncio.to_thread(house.save_key, key)
    return True


async def first_session(house: House, start: Start) -> Session:
    """The session to begin with. `pick` begins with a new one, over which the picker is shown."""
    if start.how == "resume":
        return await house.resume(start.selector or "latest")
    return await house.new()


async def next_session(house: House, to: str, argument: str) -> Session:
    return await (house.resume(argument or "latest") if to == "resume" else house.new())
