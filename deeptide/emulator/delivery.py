"""Events to network writes: pace, bursts, cuts, and every way a stream goes wrong.

Invariant: without a fault the concatenated bytes are the same for any burst and split. A fault happens after
exactly `at` deltas.
"""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable

from deeptide.emulator.frames import Frame
from deeptide.emulator.says import Fault, Say, Wire
from deeptide.emulator.tables import QUEUE_LIMIT_S

Sleep = Callable[[float], Awaitable[None]]
KEEP_ALIVE_S = 10.0
_ENDING = ("reset", "reset_after_headers", "eof", "stall", "error_object", "plain_tail")
_ERROR = '{"error":{"message":"%s","type":"server_error","param":null,"code":"internal_error"}}'


class Reset(Exception):
    """The connection is to be torn down here, without a last chunk."""


async def stream(say: Say, wire: Wire, frames: Iterable[Frame], sleep: Sleep) -> AsyncIterator[bytes]:
    """The body of a streamed reply. Raises Reset where the script wants the connection torn."""
    newline = "\r\n" if wire.crlf else "\n"
    async for wait in queued(say, sleep, f": keep-alive{newline}{newline}".encode()):
        yield wait
    pending = ""
    waiting = 0
    zipped = say.fault is not None and say.fault.kind == "gzip"
    for event in _with_fault(say.fault, frames):
        if isinstance(event, Frame):
            pending += f"data: {event.data}{newline}{newline}"
            waiting += 1
            if say.delay and event.kind == "delta":
                await sleep(say.delay)
            if (zipped or (waiting < wire.burst and not say.delay)) and event.data != "[DONE]":
                continue
        elif event.kind == "plain_tail":
            pending += event.message or "upstream connect error or disconnect/reset before headers"
        if pending:
            for piece in _cut(pending.encode(), wire, say.fault):
                yield piece
            pending, waiting = "", 0
        if isinstance(event, Fault):
            async for piece in _end(event, sleep):
                yield piece
            return
    if pending:
        for piece in _cut(pending.encode(), wire, say.fault):
            yield piece


async def queued(say: Say, sleep: Sleep, sign: bytes) -> AsyncIterator[bytes]:
    """Signs of life before the answer. Raises Reset when the wait passes the service's limit."""
    for _ in range(say.keep_alive):
        yield sign
    left, passed = say.queue, 0.0
    while left > 0:
        if passed >= QUEUE_LIMIT_S:
            raise Reset
        step = min(KEEP_ALIVE_S, left)
        await sleep(step)
        left -= step
        passed += step
        yield sign


def _with_fault(fault: Fault | None, frames: Iterable[Frame]) -> Iterable[Frame | Fault]:
    """The events up to the fault, then the fault; faults that only change the text are applied in place."""
    sent = 0
    kind = fault.kind if fault else ""
    for frame in frames:
        if fault and kind in _ENDING:
            due = frame.kind == "end" or (frame.kind == "delta" and sent >= fault.at)
            if due or kind == "reset_after_headers":
                yield fault
                return
        if kind == "no_finish" and frame.kind == "end" and frame.data != "[DONE]":
            continue
        if kind == "no_done" and frame.data == "[DONE]":
            continue
        if fault and frame.kind == "delta":
            if sent == fault.at and kind == "bad_json":
                yield Frame(frame.data[: len(frame.data) // 2], "end")
            if sent == fault.at and kind == "data_comment":
                yield Frame(": keep-alive", "end")
            sent += 1
        yield frame


async def _end(fault: Fault, sleep: Sleep) -> AsyncIterator[bytes]:
    if fault.kind == "stall":
        if fault.seconds < 0:
            await asyncio.Event().wait()
        await sleep(fault.seconds)
        raise Reset
    if fault.kind == "error_object":
        text = fault.message or "The server had an error while processing your request."
        yield f"data: {_ERROR % text}\n\n".encode()
    if fault.kind == "reset":
        yield b'data: {"id":"'
        raise Reset
    if fault.kind == "reset_after_headers":
        raise Reset


def _cut(data: bytes, wire: Wire, fault: Fault | None) -> list[bytes]:
    if fault and fault.kind == "gzip":
        return [gzip.compress(data, mtime=0)]
    if fault and fault.kind == "split_utf8":
        return _inside_characters(data)
    if not wire.split:
        return [data]
    return [data[at : at + wire.split] for at in range(0, len(data), wire.split)]


def _inside_characters(data: bytes) -> list[bytes]:
    """Cut after the first byte of every character of more than one byte."""
    out, start = [], 0
    for at, byte in enumerate(data):
        if byte >= 0xC0:
            out.append(data[start : at + 1])
            start = at + 1
    return [*out, data[start:]]
