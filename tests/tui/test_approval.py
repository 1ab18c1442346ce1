"""The questions panel: what it shows, what it takes for an answer, and what it ignores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.style import Style
from textual import events
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Input, Static

from deeptide.protocol.approvals import Approval, Decision
from deeptide.protocol.text import has_hidden
from deeptide.tui.palette import DARK
from deeptide.tui.widgets.approval import GRACE_S, ApprovalPanel, choices_for
from deeptide.tui.widgets.choices import Choices
from deeptide.tui.widgets.preview import draw
from tests.deep import count

SHELL = Approval("1", "c1", "shell", "$ make", preview="make", preview_kind="command", scope="shell(make *)")
SECOND = Approval("2", "c2", "edit", "edit a.py", preview="-a\n+b", preview_kind="diff")
QUESTION = Approval("3", "c3", "ask_user", "Which one?", kind="question", options=("left", "右边"))


class Bench(App[None]):
    CSS_PATH = [Path(__file__).parents[2] / "deeptide" / "tui" / name for name in ("app.tcss", "panels.tcss")]

    def __init__(self) -> None:
        super().__init__()
        self.register_theme(DARK.theme())
        self.theme = DARK.theme().name
        self.time = 0.0
        self.panel = ApprovalPanel(now=lambda: self.time)
        self.answers: list[tuple[str, Decision]] = []
        self.through: list[str] = []
        self.emptied = 0

    def compose(self) -> ComposeResult:
        yield self.panel

    def on_approval_panel_answered(self, event: ApprovalPanel.Answered) -> None:
        self.answers.append((event.approval_id, event.decision))

    def on_approval_panel_typed_through(self, event: ApprovalPanel.TypedThrough) -> None:
        self.through.append(event.character or event.key)

    def on_approval_panel_emptied(self) -> None:
        self.emptied += 1


@pytest.fixture
async def pilot() -> AsyncIterator[Pilot[None]]:
    async with Bench().run_test(size=(80, 24)) as pilot:
        yield pilot


def bench(pilot: Pilot[None]) -> Bench:
    assert isinstance(pilot.app, Bench)
    return pilot.app


async def ask(pilot: Pilot[None], *approvals: Approval, wait: float = 2 * GRACE_S) -> None:
    bench(pilot).panel.show(approvals)
    bench(pilot).time += wait
    await pilot.pause()


def text_of(pilot: Pilot[None], name: str) -> str:
    return str(bench(pilot).panel.query_one(name, Static).render())


@pytest.mark.parametrize(
    ("key", "choice"),
    [("y", "once"), ("s", "session"), ("a", "always"), ("escape", "deny"), ("enter", "once")],
)
async def test_each_key_gives_its_answer(pilot: Pilot[None], key: str, choice: str) -> None:
    await ask(pilot, SHELL)
    await pilot.press(key)
    assert bench(pilot).answers == [("1", Decision(choice))]  # type: ignore[arg-type]
    assert not bench(pilot).panel.display
    assert bench(pilot).emptied == 1


async def test_keys_in_the_first_moment_answer_nothing(pilot: Pilot[None]) -> None:
    await ask(pilot, SHELL, wait=GRACE_S / 2)
    await pilot.press("y", "enter", "escape", "a")
    assert bench(pilot).answers == []
    assert bench(pilot).through == ["y", "enter", "a"]
    bench(pilot).time += 2 * GRACE_S
    await pilot.press("y")
    assert bench(pilot).answers == [("1", Decision("once"))]


async def test_who_types_on_never_answers_however_long(pilot: Pilot[None]) -> None:
    await ask(pilot, SHELL, wait=0)
    words = "yes a yes s, say n or y y"
    for letter in words:
        bench(pilot).time += 0.04
        bench(pilot).panel.post_message(events.Key(letter, letter))
        await pilot.pause()
    await pilot.press("backspace", "enter")
    assert bench(pilot).answers == []
    assert bench(pilot).through == [*words, "backspace", "enter"]
    bench(pilot).time += GRACE_S
    await pilot.press("y")
    assert bench(pilot).answers == [("1", Decision("once"))]


async def test_a_word_begun_after_a_pause_does_not_answer_with_its_second_letter(pilot: Pilot[None]) -> None:
    await ask(pilot, SHELL)
    await pilot.press(*"hay")
    assert bench(pilot).answers == []
    assert bench(pilot).through == [*"hay"]


async def test_the_next_question_has_its_own_first_moment(pilot: Pilot[None]) -> None:
    await ask(pilot, SHELL, SECOND)
    await pilot.press("y", "y")
    assert bench(pilot).answers == [("1", Decision("once"))]
    assert bench(pilot).panel.current == SECOND
    bench(pilot).time += 2 * GRACE_S
    await pilot.press("y")
    assert [answered for answered, _ in bench(pilot).answers] == ["1", "2"]


async def test_an_answered_question_is_not_asked_again_while_it_is_still_pending(pilot: Pilot[None]) -> None:
    await ask(pilot, SHELL)
    await pilot.press("y")
    await ask(pilot, SHELL)
    assert bench(pilot).panel.current is None


async def test_a_question_that_was_taken_back_goes_away(pilot: Pilot[None]) -> None:
    await ask(pilot, SHELL)
    await ask(pilot)
    assert not bench(pilot).panel.display
    assert bench(pilot).answers == []


async def test_several_questions_are_counted(pilot: Pilot[None]) -> None:
    await ask(pilot, SHELL, SECOND)
    assert "1 of 2" in str(bench(pilot).panel.border_title)


async def test_n_takes_a_reason_that_goes_with_the_denial(pilot: Pilot[None]) -> None:
    await ask(pilot, SHELL)
    await pilot.press("n")
    await pilot.press(*"use ninja", "enter")
    assert bench(pilot).answers == [("1", Decision("deny", "use ninja"))]


async def test_n_and_enter_denies_without_a_reason(pilot: Pilot[None]) -> None:
    await ask(pilot, SHELL)
    await pilot.press("n", "enter")
    assert bench(pilot).answers == [("1", Decision("deny"))]


async def test_escape_from_the_reason_goes_back_to_the_answers(pilot: Pilot[None]) -> None:
    await ask(pilot, SHELL)
    await pilot.press("n", "escape", "y")
    assert bench(pilot).answers == [("1", Decision("once"))]


async def test_while_a_reason_is_written_the_no_is_highlighted(pilot: Pilot[None]) -> None:
    await ask(pilot, SHELL)
    await pilot.press("n")
    chosen = bench(pilot).panel.query_one(Choices).chosen
    assert chosen is not None
    assert chosen.letter == "n"


async def test_letters_in_a_reason_are_not_answers(pilot: Pilot[None]) -> None:
    await ask(pilot, SHELL)
    await pilot.press("n", "y", "a")
    assert bench(pilot).answers == []
    assert bench(pilot).panel.query_one(Input).value == "ya"


async def test_a_full_width_letter_from_an_input_method_counts(pilot: Pilot[None]) -> None:
    await ask(pilot, SHELL)
    bench(pilot).panel.post_message(events.Key("ｙ", "ｙ"))
    await pilot.pause()
    assert bench(pilot).answers == [("1", Decision("once"))]


async def test_arrows_and_enter_choose_too(pilot: Pilot[None]) -> None:
    await ask(pilot, SHELL)
    await pilot.press("down", "enter")
    assert bench(pilot).answers == [("1", Decision("session"))]


async def test_a_question_of_the_model_is_answered_by_number_or_in_words(pilot: Pilot[None]) -> None:
    await ask(pilot, QUESTION)
    await pilot.press("2")
    assert bench(pilot).answers == [("3", Decision("once", "右边"))]
    await ask(pilot)
    await ask(pilot, QUESTION)
    await pilot.press("t", *"both", "enter")
    assert bench(pilot).answers[-1] == ("3", Decision("once", "both"))


async def test_an_empty_answer_in_words_is_not_sent(pilot: Pilot[None]) -> None:
    await ask(pilot, QUESTION)
    await pilot.press("t", "enter")
    assert bench(pilot).answers == []


def test_a_strong_question_offers_no_rule_to_store() -> None:
    strong = Approval("1", "c", "shell", "$ x", scope="shell(x)", strong=True)
    assert [choice.value for choice in choices_for(strong)] == ["once", "write"]


async def test_escapes_are_written_out_and_announced(pilot: Pilot[None]) -> None:
    await ask(
        pilot, Approval("1", "c", "shell", "$ x", preview="echo \x1b[8mrm\u202e", preview_kind="command")
    )
    assert "echo \\x1b[8mrm\\u202e" in text_of(pilot, "#approval-preview")
    assert "control or invisible" in text_of(pilot, "#approval-why")


async def test_markup_in_a_title_is_text(pilot: Pilot[None]) -> None:
    await ask(pilot, Approval("1", "c", "[red]x", "[link=http://a]click[/link]", reason="[b]why[/b]"))
    assert text_of(pilot, "#approval-title") == "[link=http://a]click[/link]"
    assert "[b]why[/b]" in text_of(pilot, "#approval-why")


@given(
    st.text(alphabet=st.one_of(st.characters(), st.sampled_from("\x1b\x07\u202e\u200b\n+-@ "))),
    st.sampled_from(["text", "command", "diff"]),
)
@settings(max_examples=count(200, 5000), deadline=None)
def test_a_preview_hides_nothing_and_lets_nothing_act(preview: str, kind: str) -> None:
    approval = Approval("1", "c", "x", "x", preview=preview, preview_kind=kind)  # type: ignore[arg-type]
    drawn = draw(approval, lambda role: Style()).plain
    assert not has_hidden(drawn)
    kept = [letter for letter in preview.removesuffix("\n") if not has_hidden(letter) and letter not in "\t"]
    rest = iter(drawn)
    assert all(letter in rest for letter in kept)


@pytest.mark.parametrize("rows", [12, 16, 24, 50])
async def test_the_answers_are_in_sight_at_any_height(rows: int) -> None:
    async with Bench().run_test(size=(80, rows)) as pilot:
        long = "\n".join(f"+line {number}" for number in range(200))
        await ask(
            pilot, Approval("1", "c", "edit", "edit", preview=long, preview_kind="diff", scope="edit(**)")
        )
        await pilot.pause()
        choices = bench(pilot).panel.query_one("Choices")
        assert choices.region.height == 4
        assert choices.region.bottom <= rows
