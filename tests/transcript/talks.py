"""Made-up sessions for the tests: records as a log would hold them, and the live events that went before.

`live(records, random)` gives the same session as a front end would have seen it: each record, preceded by the
pieces of text that it gathers up.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from hypothesis import strategies as st

from deeptide.protocol.approvals import Approval, Decision
from deeptide.protocol.events import (
    DURABLE,
    ApprovalAnswered,
    ApprovalRequested,
    AssistantMessage,
    Compacted,
    Event,
    NoteAppended,
    PlanChanged,
    Record,
    Retrying,
    Steered,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from deeptide.protocol.messages import ToolCall, ToolResult, assistant
from deeptide.protocol.plan import Plan, PlanItem
from deeptide.protocol.usage import Money, Usage


class Log:
    """Numbers the events and keeps a clock."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def say(self, *events: DURABLE) -> Log:
        for event in events:
            seq = len(self.records) + 1
            self.records.append(Record(seq, 1_000.0 + seq, event))
        return self


def step(log: Log, turn: int, number: int, text: str, thinking: str = "", calls: Sequence[str] = ()) -> None:
    wanted = tuple(ToolCall(f"c{turn}.{number}.{i}", name, '{"path": "a"}') for i, name in enumerate(calls))
    log.say(
        StepStarted(turn, number, "deepseek-flash", "low"),
        AssistantMessage(
            assistant(text, thinking=thinking, calls=wanted),
            "tool_calls" if calls else "stop",
            "deepseek-flash",
            Usage(100, 10, 90, 10),
            Money(0.001),
            elapsed_ms=2_000,
        ),
    )
    for call in wanted:
        log.say(
            ToolStarted(call.id, call.name, f"{call.name} a", call.arguments),
            ToolFinished(ToolResult(call.id, call.name, "one\ntwo"), "ok", 5, "2 lines"),
        )


def turn(log: Log, number: int, text: str = "Done.") -> None:
    log.say(UserMessage(f"Question {number}"), TurnStarted(number))
    step(log, number, 1, "Looking.", "Hm.", ("read", "shell"))
    step(log, number, 2, text)
    log.say(TurnEnded(number, "done"))


def live(records: Sequence[Record], random: Random) -> list[Record | Event]:
    """The records with plausible live events between them: deltas in random pieces, retries that void them."""
    seen: list[Record | Event] = []
    for record in records:
        event = record.event
        if isinstance(event, AssistantMessage):
            if random.random() < 0.3:
                seen.extend(_deltas(event, random)[: random.randrange(4)])
                seen.append(Retrying(1, 5, 0.5, "HTTP 503"))
            deltas = _deltas(event, random)
            aside = _asides(seen)
            if aside:
                at = random.randrange(len(deltas) + 1)
                seen[-len(aside) :] = [*deltas[:at], *aside, *deltas[at:]]
            else:
                seen.extend(deltas)
        if isinstance(event, ToolFinished) and random.random() < 0.7:
            seen.append(ToolOutput(event.result.call_id, "on\x1b[1me\n"))
        seen.append(record)
    return seen


def _asides(seen: list[Record | Event]) -> list[Record | Event]:
    """What was logged since the step began: the response was being received all the while."""
    for back in range(len(seen)):
        item = seen[len(seen) - 1 - back]
        if isinstance(item, Record) and isinstance(item.event, StepStarted):
            return seen[len(seen) - back :]
    return []


def _deltas(event: AssistantMessage, random: Random) -> list[Event]:
    out: list[Event] = [ThinkingDelta(piece) for piece in pieces(event.message.thinking, random)]
    out.extend(TextDelta(piece) for piece in pieces(event.message.text, random))
    out.extend(ToolCallDelta(i, call.name, 5) for i, call in enumerate(event.message.tool_calls))
    return out


def pieces(text: str, random: Random) -> list[str]:
    found: list[str] = []
    while text:
        size = random.choice((1, 2, 3, 7, 40))
        found.append(text[:size])
        text = text[size:]
    return found


words = st.text(alphabet="ab* `\n#->|1.你好\x1b[0m\r\u202e\u200d✌️", max_size=60)


@st.composite
def sessions(draw: st.DrawFn) -> list[Record]:
    log = Log()
    for number in range(1, draw(st.integers(1, 4)) + 1):
        log.say(NoteAppended("date", "today"), UserMessage(draw(words)), TurnStarted(number))
        for at in range(1, draw(st.integers(1, 3)) + 1):
            _step(draw, log, number, at)
        reason = draw(st.sampled_from(("done", "interrupted", "error")))
        log.say(TurnEnded(number, reason, "It broke." if reason == "error" else ""))
        if draw(st.booleans()):
            log.say(Compacted(len(log.records), draw(words), "manual", 3, 900, 100))
    return log.records


def _step(draw: st.DrawFn, log: Log, number: int, at: int) -> None:
    log.say(StepStarted(number, at, "m", "low"))
    if draw(st.integers(0, 3)) == 0:
        log.say(Steered(draw(words)))
    names = draw(st.lists(st.sampled_from(("read", "shell", "edit")), max_size=3))
    calls = tuple(ToolCall(f"call_{i}", name) for i, name in enumerate(names))
    finish = draw(st.sampled_from(("stop", "length", "interrupted", "cut")))
    message = assistant(draw(words), thinking=draw(words), calls=calls)
    log.say(AssistantMessage(message, finish, "m", elapsed_ms=900))
    if finish in ("interrupted", "cut"):
        return
    for call in calls:
        log.say(ApprovalRequested(Approval(f"a{len(log.records)}", call.id, call.name, f"$ {call.name}")))
        asked = log.records[-1].event
        assert isinstance(asked, ApprovalRequested)
        choice = draw(st.sampled_from(("once", "session", "deny")))
        log.say(ApprovalAnswered(asked.approval.id, Decision(choice, draw(words))))
        if choice != "deny":
            log.say(ToolStarted(call.id, call.name, f"{call.name} x"))
        result = ToolResult(call.id, call.name, draw(words))
        log.say(ToolFinished(result, "ok" if choice != "deny" else "denied", 5, "", draw(words)))
    if draw(st.booleans()):
        log.say(PlanChanged(Plan((PlanItem(draw(words)),))))
