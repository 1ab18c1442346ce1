"""The questions panel: may this call run, or what does the model want to know.

Invariant: no key answers that was pressed within GRACE_S of the question's appearing or of the key before it: who
types on does not answer, and what they type goes where they were writing. Every question that is pending is asked
exactly once, and nothing about a call is hidden from the one who must decide.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.widgets import Input, Static

from deeptide.protocol.approvals import Approval, Decision
from deeptide.protocol.text import visible
from deeptide.tui.keys import NEWLINE, STEER
from deeptide.tui.widgets.choices import Choice, Choices, typed_letter
from deeptide.tui.widgets.preview import HIDDEN_WARNING, draw, is_hiding, rows_before_change

GRACE_S = 0.3
WRITE = "write"
WRITING = ("enter", "backspace", *NEWLINE, *STEER)
"""Keys of writing that type no character."""
LOW, TIGHT = 22, 14
"""With fewer rows to itself nothing is spaced out; with even fewer the lower border goes."""
ASK_REASON = "Why not? (may stay empty) · Enter sends · Esc back"
ASK_ANSWER = "Your answer; Enter sends, Esc goes back"


def choices_for(approval: Approval) -> list[Choice]:
    """The answers in their order. For a permission the highlighted first one is `once`; `session` and
    `always` are offered only with a rule to store."""
    if approval.kind == "question":
        options = [
            Choice(str(number), visible(option), f"option {number}")
            for number, option in enumerate(approval.options[:8], 1)
        ]
        return [*options, Choice("t", "Type an answer", WRITE), Choice("n", "Do not answer", "deny")]
    found = [Choice("y", "Yes, once", "once")]
    if approval.scope and not approval.strong:
        scope = visible(approval.scope)
        found.append(Choice("s", "Yes, in this session", "session", scope))
        found.append(Choice("a", "Always in this folder", "always", scope))
    return [*found, Choice("n", "No …", WRITE, "with a reason, if you like")]


class ApprovalPanel(Vertical, can_focus=True):
    COMPONENT_CLASSES = {
        f"approval--{role}" for role in ("plain", "prompt", "add", "remove", "head", "alarm", "warn")
    }

    class Answered(Message):
        def __init__(self, approval_id: str, decision: Decision) -> None:
            super().__init__()
            self.approval_id = approval_id
            self.decision = decision

    class TypedThrough(Message):
        """A key that belongs to whatever was being written. `character` is empty if it types none."""

        def __init__(self, key: str, character: str) -> None:
            super().__init__()
            self.key = key
            self.character = character

    class Emptied(Message):
        """The last question is answered; the focus is free."""

    def __init__(self, *, now: Callable[[], float] = monotonic) -> None:
        super().__init__(id="approval")
        self.grace_s = GRACE_S
        self._now = now
        self._stirred_at = 0.0
        self._pending: tuple[Approval, ...] = ()
        self._current: Approval | None = None
        self._answered: set[str] = set()
        self._rows = 0
        self._at: int | None = None
        self.display = False

    def compose(self) -> ComposeResult:
        yield Static(id="approval-title", markup=False)
        with VerticalScroll(id="approval-scroll", can_focus=False):
            yield Static(id="approval-preview", markup=False)
        yield Static(id="approval-why", markup=False)
        yield Choices()
        yield Input(id="approval-words", compact=True)

    # ---- what is asked ---------------------------------------------------------------------------------

    @property
    def current(self) -> Approval | None:
        return self._current

    def show(self, pending: tuple[Approval, ...]) -> None:
        """All open questions, oldest first. Those answered here and not yet gone are not asked again."""
        self._answered &= {approval.id for approval in pending}
        self._pending = tuple(one for one in pending if one.id not in self._answered)
        first = self._pending[0] if self._pending else None
        if first is None:
            if self._current is not None:
                self._current = None
                self.display = False
                self.post_message(self.Emptied())
            return
        if self._current is None or self._current.id != first.id:
            self._ask(first)
        else:
            self._draw_count(first)

    def _ask(self, approval: Approval) -> None:
        self._current = approval
        self._stirred_at = self._now()
        self.set_class(approval.strong, "-strong")
        self.set_class(approval.kind == "question", "-question")
        self._draw_count(approval)
        self._draw_title(approval)
        self.query_one("#approval-preview", Static).update(draw(approval, self._role))
        self.query_one("#approval-scroll").display = bool(approval.preview)
        self._draw_why(approval)
        self.query_one(Choices).show(choices_for(approval))
        self._write(None)
        self.display = True
        self.fit(self._rows or self.screen.size.height)
        self._at = None
        self.focus(scroll_visible=False)

    def _role(self, role: str) -> Style:
        return self.get_component_rich_style(f"approval--{role}", partial=True)

    def _draw_count(self, approval: Approval) -> None:
        several = f"  1 of {len(self._pending)}" if len(self._pending) > 1 else ""
        head = "The agent asks" if approval.kind == "question" else f"Allow {visible(approval.tool)}?"
        title = f"{head}{several}".replace("[", "\\[")
        if title != self.border_title:
            self.border_title = title

    def _draw_title(self, approval: Approval) -> None:
        title = self.query_one("#approval-title", Static)
        title.display = not (approval.preview_kind == "command" and approval.title.startswith("$"))
        title.update(Text(visible(approval.title)))

    def fit(self, rows: int) -> None:
        """Keep within `rows`. Only the preview gives way: the answers are always in sight."""
        self._rows = rows
        self.set_class(rows < LOW, "-low")
        self.set_class(rows < TIGHT, "-tight")
        scroll = self.query_one("#approval-scroll")
        fixed = self.outer_size.height - scroll.outer_size.height
        if not self.outer_size.height or not scroll.outer_size.height:
            fixed = len(self.query_one(Choices).choices) + (4 if rows < LOW else 7)
        height = max(1, rows - fixed)
        if scroll.styles.max_height is None or scroll.styles.max_height.value != height:
            scroll.styles.max_height = height
        else:
            self._to_first_change()

    def _to_first_change(self) -> None:
        """Begin a diff where it begins to differ; what stands before it is a PgUp away."""
        approval, scroll = self._current, self.query_one("#approval-scroll", VerticalScroll)
        most = scroll.max_scroll_y
        if approval is None or self._at == most:
            # Nothing has changed but, perhaps, where the reader has scrolled to.
            return
        width = self.query_one("#approval-preview").content_size.width
        row = min(most, rows_before_change(approval, width))
        scroll.scroll_to(y=row, animate=False, immediate=True)
        self._at = most

    def _draw_why(self, approval: Approval) -> None:
        text = Text(end="")
        if is_hiding(approval):
            text.append(HIDDEN_WARNING + "\n", self._role("warn"))
        parts = [part for part in (approval.reason, approval.rule and f"rule: {approval.rule}") if part]
        text.append("  ".join(visible(part) for part in parts))
        why = self.query_one("#approval-why", Static)
        why.display = bool(text)
        why.update(text)

    # ---- keys ------------------------------------------------------------------------------------------

    @property
    def in_grace(self) -> bool:
        return self._now() - self._stirred_at < self.grace_s

    def on_key(self, event: events.Key) -> None:
        if self._current is None or event.key in ("ctrl+c", "shift+tab"):
            return
        words = self.query_one("#approval-words", Input)
        if words.has_focus:
            if event.key == "escape":
                event.stop()
                self._write(None)
                self.focus(scroll_visible=False)
            return
        event.stop()
        event.prevent_default()
        # When it was pressed, not when we get round to it: a busy screen must not turn typing into an answer.
        pressed = min(self._now(), event.time)
        if pressed - self._stirred_at < self.grace_s:
            self._stirred_at = max(pressed, self._stirred_at)
            self._let_through(event)
        else:
            self._answer_key(event)

    def _let_through(self, event: events.Key) -> None:
        character = event.character if event.is_printable and event.character else ""
        if character or event.key in WRITING:
            self.post_message(self.TypedThrough(event.key, character))

    def _answer_key(self, event: events.Key) -> None:
        choices = self.query_one(Choices)
        scroll = self.query_one("#approval-scroll", VerticalScroll)
        match event.key:
            case "up" | "down":
                choices.move(-1 if event.key == "up" else 1)
            case "pageup":
                scroll.scroll_page_up(animate=False)
            case "pagedown":
                scroll.scroll_page_down(animate=False)
            case "escape":
                self._decide(Decision("deny"))
            case "enter":
                if choices.chosen:
                    self._choose(choices.chosen)
            case _:
                letter = typed_letter(event)
                if choice := choices.by_letter(letter):
                    self._choose(choice)
                else:
                    self._stirred_at = self._now()
                    self._let_through(event)

    def on_choices_clicked(self, event: Choices.Clicked) -> None:
        event.stop()
        if not self.in_grace:
            self._choose(event.choice)

    def _choose(self, choice: Choice) -> None:
        if self._current is None:
            return
        match choice.value:
            case "write":
                self._write(ASK_ANSWER if self._current.kind == "question" else ASK_REASON)
            case "once" | "session" | "always" | "deny" as value:
                self._decide(Decision(value))
            case _:
                option = self._current.options[int(choice.letter) - 1]
                self._decide(Decision("once", option))

    def _write(self, prompt: str | None) -> None:
        words = self.query_one("#approval-words", Input)
        words.display = prompt is not None
        words.value = ""
        if prompt is not None:
            self.query_one(Choices).choose(WRITE)
            words.placeholder = prompt
            words.focus(scroll_visible=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self._current is None:
            return
        words = event.value.strip()
        if self._current.kind == "question":
            if words:
                self._decide(Decision("once", words))
        else:
            self._decide(Decision("deny", words))

    def _decide(self, decision: Decision) -> None:
        if self._current is None:
            return
        answered = self._current.id
        self._answered.add(answered)
        self.post_message(self.Answered(answered, decision))
        self.show(self._pending)
