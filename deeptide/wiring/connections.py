"""The connections to model endpoints, each made at its first use.

Invariant: a session asks the endpoint it was started with unless the user names another, so a resumed talk is never
sent to somebody else; and a key goes only to the host it is meant for.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from deeptide.agent.equipment import ModelClient
from deeptide.config.auth import Key
from deeptide.model.errors import MissingKey

if TYPE_CHECKING:
    import httpx


class Connections:
    """`key_for(base_url)` finds the key; with a `transport` (demo, tests) none is needed."""

    def __init__(self, key_for: Callable[[str], Key], transport: httpx.AsyncBaseTransport | None) -> None:
        self._key_for = key_for
        self._transport = transport
        self._clients: dict[str, ModelClient] = {}
        self._lock = asyncio.Lock()

    def to(self, base_url: str) -> Callable[[], Awaitable[ModelClient]]:
        """A function that gives the client for one endpoint. It raises MissingKey."""
        return lambda: self._get(base_url)

    async def _get(self, base_url: str) -> ModelClient:
        async with self._lock:
            if base_url not in self._clients:
                key = Key("demo", "demo") if self._transport else self._key_for(base_url)
                if not key.value:
                    raise MissingKey(f"There is no API key for {base_url}.")
                # Imported in a thread and only now: the library takes half a second.
                module = await asyncio.to_thread(importlib.import_module, "deeptide.model.client")
                self._clients[base_url] = module.Client(
                    base_url=base_url, key=key.value, key_source=key.source, transport=self._transport
                )
            return self._clients[base_url]

    async def warm(self) -> None:
        """Import what the first request will need."""
        await asyncio.to_thread(importlib.import_module, "deeptide.model.client")

    def forget(self) -> None:
        """A key was changed: the next use looks for it again. What is under way goes on."""
        self._clients = {}

    async def close(self) -> None:
        clients, self._clients = self._clients, {}
        for client in clients.values():
            await client.close()
