from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.protocol.approvals import Approval, Decision
from deeptide.protocol.events import (
    ApprovalAnswered,
    ApprovalRequested,
    AssistantMessage,
    Compacted,
    CompactionUndone,
    ContextWarning,
    CycleHandedOff,
    Event,
    NoteAppended,
    Notice,
    Record,
    Retrying,
    RewindUndone,
    Rewound,
    Steered,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    UnitsDropped,
    UserMessage,
)
from deeptide.protocol.messages import ToolCall, ToolResult, assistant
from deeptide.protocol.text import clean
from deeptide.transcript.blocks import (
    AnswerBlock,
    Block,
    Change,
    DividerBlock,
    NoteBlock,
    SummaryBlock,
    ThinkingBlock,
    ToolBlock,
    TurnBlock,
    UserBlock,
)
from deeptide.transcript.build import Transcript
from tests.deep import count
from tests.transcript.talks import Log, live, sessions, step, turn


def blocks_of(items: list[Record | Event] | list[Record]) -> tuple[Block, ...]:
    transcript = Transcript()
    transcript.apply_all(items)
    return transcript.blocks


def logged(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    return tuple(block for block in blocks if not block.id.startswith("live:"))


def replay(changes: list[Change]) -> list[Block]:
    """A second reader that knows the changes only."""
    shown: list[Block] = []
    for change in changes:
        at = next((i for i, block in enumerate(shown) if block.id == change.block.id), -1)
        if change.op == "update":
            assert at >= 0
            shown[at] = change.block
        elif change.op == "remove":
            assert at >= 0
            del shown[at]
        else:
            assert at < 0
            before = next((i for i, block in enumerate(shown) if block.id == change.before), len(shown))
            shown.insert(before, change.block)
    return shown


@settings(max_examples=count(60, 1500), deadline=None)
@given(sessions(), st.integers(0, 10_000))
def test_a_session_watched_live_and_replayed_gives_equal_blocks(records: list[Record], seed: int) -> None:
    assert logged(blocks_of(live(records, Random(seed)))) == blocks_of(records)


@settings(max_examples=count(60, 1500), deadline=None)
@given(sessions(), st.integers(0, 10_000))
def test_the_changes_alone_rebuild_the_blocks(records: list[Record], seed: int) -> None:
    transcript = Transcript()
    changes: list[Change] = []
    for item in live(records, Random(seed)):
        changes.extend(transcript.apply(item))
        assert replay(changes) == list(transcript.blocks)
    at_once = Transcript()
    assert replay(list(at_once.apply_all(live(records, Random(seed))))) == list(transcript.blocks)


@settings(max_examples=count(40, 1000), deadline=None)
@given(sessions(), st.data())
def test_a_rewind_shows_the_past_and_taking_it_back_shows_everything(
    records: list[Record], data: st.DataObject
) -> None:
    ends = [record.seq for record in records if isinstance(record.event, TurnEnded)]
    to = data.draw(st.sampled_from(ends))
    seq = len(records) + 1
    rewound = [*records, Record(seq, 2_000.0, Rewound(to, 3, "here"))]
    past = blocks_of([record for record in records if record.seq <= to])
    after = blocks_of(rewound)
    assert after[:-1] == past
    assert after[-1] == DividerBlock(f"d{seq}", "Rewound to here", after[-1].detail)  # type: ignore[attr-defined]
    undone = [
        *rewound,
        Record(seq + 1, 2_001.0, UserMessage("another way")),
        Record(seq + 2, 2_002.0, RewindUndone(seq)),
    ]
    assert blocks_of(undone) == blocks_of(records)


@settings(max_examples=count(40, 1000), deadline=None)
@given(sessions())
def test_every_text_in_a_block_is_clean_and_every_id_is_used_once(records: list[Record]) -> None:
    blocks = blocks_of(records)
    assert len({block.id for block in blocks}) == len(blocks)
    for block in blocks:
        for name in block.__struct_fields__:
            value = getattr(block, name)
            if isinstance(value, str) and name not in ("id", "call_id"):
                assert clean(value) == value


def test_a_turn_reads_in_the_order_in_which_it_happened() -> None:
    log = Log()
    turn(log, 1, "All good.")
    kinds = [type(block).__name__ for block in blocks_of(log.records)]
    assert kinds == [
        "UserBlock", "ThinkingBlock", "AnswerBlock", "ToolBlock", "ToolBlock", "AnswerBlock", "TurnBlock",
    ]  # fmt: skip
    foot = blocks_of(log.records)[-1]
    assert isinstance(foot, TurnBlock)
    assert (foot.calls, foot.usage.prompt, foot.reason) == (2, 200, "done")


def test_a_retry_drops_the_partial_answer_and_says_so() -> None:
    transcript = Transcript()
    log = Log().say(UserMessage("go"), TurnStarted(1), StepStarted(1, 1, "m", "low"))
    transcript.apply_all(log.records)
    transcript.apply_all([ThinkingDelta("so"), TextDelta("Half an ans")])
    transcript.apply(Retrying(1, 5, 2.0, "the stream broke"))
    assert [type(block) for block in transcript.blocks] == [UserBlock, NoteBlock]
    assert "1 of 5" in transcript.blocks[-1].text  # type: ignore[attr-defined]
    transcript.apply(TextDelta("Whole"))
    assert [type(block) for block in transcript.blocks] == [UserBlock, AnswerBlock]


def test_what_the_user_says_while_an_answer_streams_stands_below_it() -> None:
    transcript = Transcript()
    log = Log().say(UserMessage("go"), TurnStarted(1), StepStarted(1, 1, "m", "low"))
    transcript.apply_all(log.records)
    log.say(Steered("use tabs"))
    transcript.apply(log.records[-1])
    transcript.apply_all([TextDelta("I will "), TextDelta("use spaces")])
    log.say(AssistantMessage(assistant("I will use spaces"), "stop", "m"))
    transcript.apply(log.records[-1])
    assert [type(block) for block in transcript.blocks] == [UserBlock, AnswerBlock, UserBlock]
    assert transcript.blocks == blocks_of(log.records)


def test_an_escape_split_over_two_deltas_never_shows() -> None:
    transcript = Transcript()
    transcript.apply_all(Log().say(StepStarted(1, 1, "m", "low")).records)
    for piece in ("red: \x1b", "[31", "mhi\x1b]0;ti", "tle\x07 there\n", "more"):
        transcript.apply(TextDelta(piece))
        for block in transcript.blocks:
            assert isinstance(block, AnswerBlock)
            assert clean(block.markdown) == block.markdown
    assert block.markdown == "red: hi there\nmore"


def test_interrupted_and_cut_answers_are_marked_and_their_calls_get_no_card() -> None:
    for finish in ("interrupted", "cut"):
        log = Log().say(StepStarted(1, 1, "m", "low"))
        log.say(AssistantMessage(assistant("Half", calls=(ToolCall("c", "read"),)), finish, "m"))
        (block,) = blocks_of(log.records)
        assert isinstance(block, AnswerBlock)
        assert block.mark == finish


def test_a_card_follows_its_call_from_waiting_to_done() -> None:
    log = Log().say(StepStarted(1, 1, "m", "low"))
    log.say(AssistantMessage(assistant("", calls=(ToolCall("c", "shell", "{}"),)), "tool_calls", "m"))
    transcript = Transcript()
    transcript.apply_all(log.records)
    states = [transcript.blocks[0]]
    for item in (
        Record(3, 1.0, ToolStarted("c", "shell", "$ ls")),
        ToolOutput("c", "a\n"),
        ToolOutput("c", "b\n"),
        Record(4, 1.0, ToolFinished(ToolResult("c", "shell", "a\nb\n"), "ok", 3, "2 lines")),
        ToolOutput("c", "late\n"),
    ):
        transcript.apply(item)
        states.append(transcript.blocks[0])
    assert [block.status for block in states if isinstance(block, ToolBlock)] == [
        "waiting", "running", "running", "running", "ok", "ok",
    ]  # fmt: skip
    assert [block.output for block in states if isinstance(block, ToolBlock)] == [
        "", "", "a\n", "a\nb\n", "a\nb\n", "a\nb\n",
    ]  # fmt: skip


def test_a_running_tool_that_prints_without_end_keeps_only_its_last_lines() -> None:
    log = Log().say(ToolStarted("c", "shell", "$ yes"))
    transcript = Transcript()
    transcript.apply_all(log.records)
    for number in range(20_000):
        transcript.apply(ToolOutput("c", f"line {number}\n"))
    block = transcript.blocks[0]
    assert isinstance(block, ToolBlock)
    assert len(block.output) < 40_000
    assert block.output.endswith("line 19999\n")


def test_a_decision_leaves_one_line_on_the_card_with_its_rule_and_reason() -> None:
    for decision, expected in (
        (Decision("once"), "approved once · rule r1 · writes outside"),
        (Decision("deny", "not\nnow"), "denied: not now · rule r1 · writes outside"),
    ):
        log = Log().say(StepStarted(1, 1, "m", "low"))
        log.say(AssistantMessage(assistant("", calls=(ToolCall("c", "shell"),)), "tool_calls", "m"))
        log.say(ApprovalRequested(Approval("a", "c", "shell", "$ ls", rule="r1", reason="writes outside")))
        log.say(ApprovalAnswered("a", decision))
        (block,) = blocks_of(log.records)
        assert isinstance(block, ToolBlock)
        assert (block.trace, block.title) == (expected, "$ ls")


def test_facts_for_the_model_are_gathered_in_one_folded_note() -> None:
    log = Log().say(NoteAppended("date", "Monday"), NoteAppended("git", "main"), UserMessage("hi"))
    note, _ = blocks_of(log.records)
    assert note == NoteBlock("n1", "model", "Monday\nmain", label="date, git")


def test_a_failed_turn_says_what_happened_and_what_to_do() -> None:
    log = Log().say(TurnStarted(1), TurnEnded(1, "error", "No network.", "Try again."))
    (note,) = blocks_of(log.records)
    assert note == NoteBlock("e2", "error", "No network.", "Try again.")


def test_cards_left_open_by_a_turn_are_closed_with_it() -> None:
    log = Log().say(TurnStarted(1), ToolStarted("c", "shell", "$ sleep 9"), TurnEnded(1, "interrupted"))
    card, note = blocks_of(log.records)
    assert isinstance(card, ToolBlock)
    assert card.status == "cancelled"
    assert isinstance(note, NoteBlock)


def test_shrinking_acts_leave_one_block_each_and_a_compaction_can_be_undone() -> None:
    log = Log().say(
        Compacted(1, "the gist", "manual", 12, 84_000, 9_500),
        UnitsDropped((1, 2), "dropped", 900_000, 400_000),
        CycleHandedOff(2, "seed", "briefing", "path", 40, 900_000, 3_000),
        ContextWarning(90, 91.4, 914_000, 1_000_000, "m"),
        CompactionUndone(1),
    )
    summary, dropped, cycle, warning = blocks_of(log.records)
    assert isinstance(summary, SummaryBlock)
    assert (summary.detail, summary.undone) == ("12 entries · 84k → 9.5k tokens · by you", True)
    assert isinstance(dropped, DividerBlock)
    assert isinstance(cycle, SummaryBlock)
    assert isinstance(warning, NoteBlock)
    assert "91 %" in warning.text


def test_a_notice_is_shown_but_belongs_to_no_record() -> None:
    (block,) = blocks_of([Notice("Saved\x1b[0m.", "info")])
    assert block.id.startswith("live:")
    assert block.text == "Saved."  # type: ignore[attr-defined]


def test_a_delta_costs_the_same_at_any_length_of_the_answer() -> None:
    transcript = Transcript()
    transcript.apply_all(Log().say(StepStarted(1, 1, "m", "low")).records)
    for _ in range(50_000):
        (change,) = transcript.apply(TextDelta("word "))[-1:]
    block = change.block
    assert isinstance(block, AnswerBlock)
    assert not isinstance(block.source, str)
    assert block.source._whole is None, "a view must not be joined while it streams"
    assert len(block.source) == 250_000
    assert block.source.since(249_995) == "word "


def test_a_thought_is_given_its_share_of_the_time() -> None:
    log = Log()
    step(log, 1, 1, "x" * 30, "y" * 10)
    thought = blocks_of(log.records)[0]
    assert isinstance(thought, ThinkingBlock)
    assert thought.elapsed_ms == 500


def test_asking_prose_for_more_than_it_holds_gives_all_of_it() -> None:
    transcript = Transcript()
    transcript.apply(TextDelta("short"))
    (block,) = transcript.blocks
    assert isinstance(block, AnswerBlock)
    assert not isinstance(block.source, str)
    assert block.source.since(-400) == block.source.since(0) == "short"
