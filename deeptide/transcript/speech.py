"""The response that is being received: its open blocks while it streams, its final blocks when it is logged.

Invariant: the final blocks come from the record alone; what was streamed is only kept if it says the same.
Blocks of a response stand before whatever else was said while it was being received.
"""

from __future__ import annotations

from typing import Literal

from deeptide.protocol.events import AssistantMessage, TextDelta, ThinkingDelta, ToolCallDelta
from deeptide.protocol.messages import ToolCall
from deeptide.protocol.text import clean
from deeptide.transcript.blocks import AnswerBlock, Block, Mark, ThinkingBlock, ToolBlock
from deeptide.transcript.prose import Growth, Prose
from deeptide.transcript.shelf import Shelf

_MARKS: dict[str, Mark] = {
    "interrupted": "interrupted",
    "cut": "cut",
    "length": "length",
    "content_filter": "content_filter",
}


class Speech:
    """`key` names the response in block ids: the seq of its StepStarted, then `.2` and so on when a step has
    more than one response."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._step = 0
        self._heard = 0
        self._growth: dict[str, Growth] = {}
        self._writing: set[str] = set()
        self._aside: list[str] = []
        self.open = False

    def begin(self, seq: int) -> None:
        """A request is about to be sent; what is said from now on stands after its response."""
        self._step, self._heard, self.open = seq, 0, True
        self._forget()
        self._aside.clear()

    def aside(self, name: str) -> None:
        """A block that is not of the response was put on the shelf while the response was open."""
        if self.open:
            self._aside.append(name)

    @property
    def _key(self) -> str:
        return f"{self._step}.{self._heard + 1}" if self._heard else str(self._step)

    def _put(self, block: Block, seq: int) -> None:
        """Thinking stands before the answer, the answer before its calls, all of them before asides."""
        kind, _, key = block.id.partition(":")
        cards = self._cards()
        if kind == "call":
            index = _index(key)
            cards = tuple(name for name in cards if _index(name) > index)
        answer = (f"answer:{self._key}",) if kind == "think" else ()
        later = (*answer, *cards, *self._aside)
        before = next((name for name in later if self._shelf.get(name) is not None), "")
        self._shelf.put(block, seq, before)

    def _cards(self) -> tuple[str, ...]:
        return tuple(sorted(self._writing, key=_index))

    # ---- while it streams --------------------------------------------------------------------------------

    def hear(self, event: TextDelta | ThinkingDelta | ToolCallDelta, seq: int) -> None:
        match event:
            case ThinkingDelta():
                self._grow("think", event.text, seq)
            case TextDelta():
                self._grow("answer", event.text, seq)
            case ToolCallDelta():
                self._write(event, seq)

    def _grow(self, kind: Literal["think", "answer"], text: str, seq: int) -> None:
        growth = self._growth.setdefault(kind, Growth())
        growth.append(text)
        source = growth.view()
        if not source:
            return
        name = f"{kind}:{self._key}"
        if kind == "think":
            self._put(ThinkingBlock(name, source, open=True), seq)
            return
        if thinking := self._open_thinking():
            self._shelf.update(ThinkingBlock(thinking.id, thinking.source))
        self._put(AnswerBlock(name, source, open=True), seq)

    def _open_thinking(self) -> ThinkingBlock | None:
        block = self._shelf.get(f"think:{self._key}")
        return block if isinstance(block, ThinkingBlock) and block.open else None

    def _write(self, event: ToolCallDelta, seq: int) -> None:
        if thinking := self._open_thinking():
            self._shelf.update(ThinkingBlock(thinking.id, thinking.source))
        name = f"call:{self._key}.{event.index}"
        self._writing.add(name)
        said = clean(event.name)
        summary = f"{event.size:,} characters" if event.size else ""
        block = ToolBlock(name, "", said, said, status="writing", summary=summary)
        self._put(block, seq)

    def drop(self) -> None:
        """The partial response is void: it will be sent again from the start."""
        for name in (f"think:{self._key}", f"answer:{self._key}", *self._writing):
            self._shelf.remove(name)
        self._forget()

    def _forget(self) -> None:
        self._growth.clear()
        self._writing.clear()

    # ---- when it is logged -------------------------------------------------------------------------------

    def settle(self, event: AssistantMessage, seq: int) -> list[tuple[str, ToolCall]]:
        """Puts the final blocks and returns the ids of the cards with their calls. The calls of a broken
        response will never run and get no card."""
        mark = _MARKS.get(event.finish, "")
        thinking, answer = clean(event.message.thinking), clean(event.message.text)
        calls = () if mark in ("interrupted", "cut") else event.message.tool_calls
        written = len(thinking) + len(answer) + sum(len(call.arguments) for call in calls)
        share = round(event.elapsed_ms * len(thinking) / written) if written else 0
        if thinking.strip():
            name = f"think:{self._key}"
            self._put(ThinkingBlock(name, self._said("think", thinking), share), seq)
        else:
            self._shelf.remove(f"think:{self._key}")
        if answer.strip() or mark in ("length", "content_filter"):
            name = f"answer:{self._key}"
            self._put(AnswerBlock(name, self._said("answer", answer), mark=mark), seq)
        else:
            self._shelf.remove(f"answer:{self._key}")
        return self._final_cards(calls, seq)

    def _said(self, kind: str, text: str) -> str | Prose:
        """The streamed text if it says the same: whoever drew it then knows that nothing is new."""
        growth = self._growth.get(kind)
        streamed = growth.view() if growth else None
        return streamed if streamed is not None and streamed == text else text

    def _final_cards(self, calls: tuple[ToolCall, ...], seq: int) -> list[tuple[str, ToolCall]]:
        cards: list[tuple[str, ToolCall]] = []
        for index, call in enumerate(calls):
            name = f"call:{self._key}.{index}"
            self._writing.discard(name)
            title = clean(call.name)
            self._put(ToolBlock(name, call.id, title, title, clean(call.arguments)), seq)
            cards.append((name, call))
        for name in tuple(self._writing):
            self._shelf.remove(name)
        self._forget()
        self._heard += 1
        self.open = False
        self._aside.clear()
        return cards


def _index(name: str) -> int:
    """The number of a call in its response, from the id of its card."""
    return int(name.rpartition(".")[2])
