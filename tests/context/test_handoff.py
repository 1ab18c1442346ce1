"""The hand-off: the shape of its request, what makes a briefing valid, archive before swap, and the seed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from deeptide.context.asking import Answer, Skipped
from deeptide.context.assemble import Fold
from deeptide.context.compaction import compact
from deeptide.context.cycle_state import work, working_set
from deeptide.context.handoff import BRIEFING_CAP, NO_SUMMARY, briefing_in, hand_off
from deeptide.context.ledger import FileNote, Ledger, Place, build
from deeptide.model.tokens import estimate
from deeptide.prompts.library import Library
from deeptide.protocol.events import DURABLE, Compacted, CycleHandedOff, Pinned, PlanChanged, UserMessage
from deeptide.protocol.plan import Plan, PlanItem
from deeptide.recall.archive import list_cycles, read
from tests.context.talk import Writer, call, fold_of, said, session, started, turn

TEXTS = Library()
PROSE = "We keep SQLite because the worker restarts nightly. Threads failed: the driver is not reentrant."
BLOCK = f"<carry_forward>\n{PROSE}\n</carry_forward>"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    for name in (
        "src/parse.py",
        "src/deep/inner/far.py",
        "README.md",
        "node_modules/x/index.js",
        ".git/HEAD",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    (root / "linked").symlink_to(root / "src")
    return root


def talk(workspace: Path, turns: int = 3) -> list[DURABLE]:
    events: list[DURABLE] = [started(workspace=str(workspace))]
    for number in range(1, turns + 1):
        events += turn(number, f"please do thing number {number}")
    return events


async def handed(fold: Fold, directory: Path, *answers: Answer | str, pending: str = "") -> CycleHandedOff:
    event = await hand_off(
        fold, complete=Writer(*answers), texts=TEXTS, archive_dir=directory, pending=pending
    )
    assert isinstance(event, CycleHandedOff), event
    return event


# ---- the request ---------------------------------------------------------------------------------------


async def test_the_detached_request_has_exactly_this_shape(repository: Path, tmp_path: Path) -> None:
    writer = Writer(BLOCK)
    await hand_off(
        fold_of(talk(repository)),
        complete=writer,
        texts=TEXTS,
        archive_dir=tmp_path / "c",
        model="deepseek-flash",
    )
    [ask] = writer.asked
    assert (ask.model, ask.max_tokens, ask.temperature, ask.effort, ask.tools) == (
        "deepseek-flash",
        4096,
        0.2,
        "off",
        (),
    )
    assert [message.role for message in ask.messages] == ["system", "user"]
    assert ask.messages[0].text == TEXTS.text("cycle_handoff_briefing")
    text = ask.messages[1].text
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert headings == [
        "Briefing Request", "Cycle State (Auto-Preserved)", "Work", "Repo Working Set", "Ledger", "Prior Summary",
    ]  # fmt: skip
    for entry in ("- README.md (file)", "- src (dir)", "- src/parse.py (file)"):
        assert entry in text
    for tool in ("recall_archive", "read_archive", "ask_user", "tool_call", "cwl_recall"):
        assert tool not in text
    assert "please do thing number 1" in text
    assert "answer 3" in text
    assert NO_SUMMARY in text


async def test_an_earlier_narrative_takes_the_place_of_the_sentence(repository: Path, tmp_path: Path) -> None:
    events = talk(repository, 6)
    narrative = "## Goal\nAccept tabs everywhere, as the user's files hold them."
    event = await compact(fold_of(events), complete=Writer(narrative), texts=TEXTS, trigger="manual")
    assert isinstance(event, Compacted)
    writer = Writer(BLOCK)
    await hand_off(fold_of([*events, event]), complete=writer, texts=TEXTS, archive_dir=tmp_path / "c")
    text = writer.asked[0].messages[1].text
    assert narrative in text
    assert NO_SUMMARY not in text
    assert "please do thing number 1" in text


# ---- the briefing --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("no block at all", "no <carry_forward>"),
        ("<carry_forward>\nnever closed", "not closed"),
        ("<carry_forward>\n\n</carry_forward>", "empty"),
        ("<carry_forward>\n...\n</carry_forward>", "placeholder"),
        ("<carry_forward>\n[your briefing here]\n</carry_forward>", "placeholder"),
        (f"<carry_forward>\n{BLOCK}\n</carry_forward>", "more than one"),
        (f"<carry_forward>{PROSE}</carry_forward>", "lines of their own"),
        (f"```\n{BLOCK}\n```", "code fence"),
    ],
)
def test_a_block_that_cannot_be_used_is_refused_with_the_reason(text: str, reason: str) -> None:
    briefing, why = briefing_in(text)
    assert briefing == ""
    assert reason in why


def test_a_good_block_is_taken_with_its_inner_fences() -> None:
    inner = f"{PROSE}\n```sh\nmake\n```"
    assert briefing_in(f"Here it is:\n  <carry_forward>  \n{inner}\n</carry_forward>\n") == (inner, "")
    assert briefing_in("<carry_forward>\n我们保留 SQLite，因为进程每晚重启。\n</carry_forward>")[
        0
    ].startswith("我们")


async def test_a_bad_briefing_is_asked_for_once_more_with_the_stricter_words(
    repository: Path, tmp_path: Path
) -> None:
    writer = Writer("prose without tags", BLOCK)
    event = await hand_off(
        fold_of(talk(repository)), complete=writer, texts=TEXTS, archive_dir=tmp_path / "c"
    )
    assert isinstance(event, CycleHandedOff)
    assert TEXTS.text("cycle_handoff_retry") in writer.asked[1].messages[1].text
    assert len(writer.asked[1].messages) == 2


async def test_after_two_bad_ones_the_live_conversation_is_asked(repository: Path, tmp_path: Path) -> None:
    fold, writer = fold_of(talk(repository)), Writer("bad", Answer(text=BLOCK, finish="length"), BLOCK)
    event = await hand_off(fold, complete=writer, texts=TEXTS, archive_dir=tmp_path / "c", model="other")
    assert isinstance(event, CycleHandedOff)
    inline = writer.asked[2]
    assert inline.messages[:-1] == fold.messages()
    assert "CONTEXT CHECKPOINT COMPACTION" in inline.messages[-1].text
    assert inline.model == ""


@pytest.mark.parametrize("bad", ["bad", Answer(error="no connection"), Answer(text=BLOCK, called_tool=True)])
async def test_without_a_briefing_the_cycle_goes_on_and_nothing_is_written(
    bad: Answer | str, repository: Path, tmp_path: Path
) -> None:
    event = await hand_off(
        fold_of(talk(repository)),
        complete=Writer(bad, bad, bad, bad),
        texts=TEXTS,
        archive_dir=tmp_path / "c",
    )
    assert isinstance(event, Skipped)
    assert "no usable briefing" in event.reason
    assert not (tmp_path / "c").exists()


async def test_a_briefing_over_the_cap_is_cut_at_a_sentence(repository: Path, tmp_path: Path) -> None:
    long = f"<carry_forward>\n{(PROSE + ' ') * 300}\n</carry_forward>"
    event = await handed(fold_of(talk(repository)), tmp_path / "c", long)
    assert estimate(event.briefing) <= BRIEFING_CAP
    assert re.search(r"(nightly|reentrant)\.\n\[the rest of this briefing was cut\]$", event.briefing)


async def test_a_cycle_in_which_nothing_was_said_is_not_handed_off(tmp_path: Path) -> None:
    event = await hand_off(fold_of([started()]), complete=Writer(), texts=TEXTS, archive_dir=tmp_path / "c")
    assert isinstance(event, Skipped)


async def test_a_cycle_does_not_end_while_a_call_is_open(tmp_path: Path) -> None:
    fold = fold_of([*session(1), UserMessage("go"), said("", call("a", path="x"))])
    event = await hand_off(fold, complete=Writer(), texts=TEXTS, archive_dir=tmp_path / "c")
    assert isinstance(event, Skipped)
    assert "still running" in event.reason


# ---- archive and swap ----------------------------------------------------------------------------------


async def test_everything_is_archived_before_the_swap_at_the_addresses_recall_uses(
    repository: Path, tmp_path: Path
) -> None:
    events = talk(repository)
    event = await handed(fold_of(events), tmp_path / "c", BLOCK)
    archive = read(tmp_path / "c" / event.archive)
    assert (archive.cycle, archive.briefing, archive.intact) == (1, PROSE, True)
    fold = fold_of([*events, event])
    assert event.messages == len(archive.messages) == len(fold.departed)
    for gone in fold.departed:
        assert gone.cycle == archive.cycle
        assert archive.messages[gone.index] == gone.entry.message


async def test_what_was_folded_earlier_is_in_the_archive_too(repository: Path, tmp_path: Path) -> None:
    events = talk(repository, 6)
    folded = await compact(fold_of(events), complete=Writer(), texts=TEXTS, trigger="hard")
    assert isinstance(folded, Compacted)
    event = await handed(fold_of([*events, folded]), tmp_path / "c", BLOCK)
    texts = [message.text for message in read(tmp_path / "c" / event.archive).messages]
    assert "please do thing number 1" in texts
    assert len(texts) == len(fold_of(events).entries)


async def test_a_failed_write_aborts_the_swap(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "c").write_text("a file where the folder should be")
    event = await hand_off(
        fold_of(talk(repository)), complete=Writer(BLOCK), texts=TEXTS, archive_dir=tmp_path / "c"
    )
    assert isinstance(event, Skipped)
    assert "archive could not be written" in event.reason


async def test_numbers_count_on_and_no_archive_is_written_over(repository: Path, tmp_path: Path) -> None:
    events, directory = talk(repository), tmp_path / "c"
    for number in (1, 2, 3):
        event = await handed(fold_of(events), directory, BLOCK)
        assert event.cycle == number
        events += [event, *turn(number + 10, f"cycle {number + 1} work")]
    assert [archive.cycle for archive in list_cycles(directory)] == [1, 2, 3]
    assert len({(gone.cycle, gone.index) for gone in fold_of(events).departed}) == len(
        fold_of(events).departed
    )


async def test_the_seed_is_one_user_message_with_state_briefing_and_what_waits(
    repository: Path, tmp_path: Path
) -> None:
    events = [*talk(repository), Pinned("never touch vendor/")]
    event = await handed(fold_of(events), tmp_path / "c", BLOCK, pending="and now the docs?")
    fold = fold_of([*events, event])
    system, seed = fold.messages()
    assert system.text == "You are an agent."
    assert seed.role == "user"
    for part in (
        PROSE,
        "- Mode: ask",
        f"- Workspace: {repository}",
        "never touch vendor/",
        "- src/parse.py (file)",
    ):
        assert part in seed.text
    assert seed.text.endswith("and now the docs?")
    assert fold.open_calls() == ()
    assert fold.used() == event.tokens_after < event.tokens_before


# ---- the state -----------------------------------------------------------------------------------------


def note(seq: int, path: str) -> FileNote:
    return FileNote(Place(seq, 1, seq), path, "read")


def test_the_working_set_is_what_was_touched_topped_up_to_eight_and_byte_stable(repository: Path) -> None:
    ledger = Ledger(files=(note(1, "src/deep/inner/far.py"), note(2, "gone.py"), note(3, "src/parse.py")))
    text = working_set(ledger, repository)
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    assert lines == [
        "- src/parse.py (file)", "- src/deep/inner/far.py (file)", "- README.md (file)", "- linked (dir)",
        "- src (dir)", "- src/deep (dir)",
    ]  # fmt: skip
    assert working_set(ledger, repository) == text
    for n in range(20):
        (repository / f"file{n:02}.txt").write_text("x")
    assert working_set(ledger, repository).count("\n- ") == 7


def test_paths_outside_the_workspace_are_not_in_the_working_set(repository: Path) -> None:
    text = working_set(Ledger(files=(note(1, "../secret"), note(2, "/etc/passwd"))), repository)
    assert "secret" not in text
    assert "passwd" not in text


def test_an_unreadable_workspace_is_said_to_be_empty(tmp_path: Path) -> None:
    assert "(the workspace is empty)" in working_set(Ledger(), tmp_path / "nowhere")


def test_without_a_plan_three_standard_steps_stand_and_with_one_its_boxes() -> None:
    lines = work(fold_of(session(1))).splitlines()
    assert [line[:3] for line in lines] == ["[~]", "[ ]", "[ ]"]
    plan = Plan((PlanItem("a", "completed"), PlanItem("b", "in_progress"), PlanItem("c")))
    assert work(fold_of([started(), PlanChanged(plan)])) == "[x] a\n[~] b\n[ ] c"


def test_the_ledger_of_a_hand_off_holds_what_is_still_in_view() -> None:
    fold = fold_of([started(), UserMessage("only words")])
    assert [item.text for item in build(fold, fold.entries).said] == ["only words"]
