"""A question from the model to the human.

Invariant: the answer the model reads is the human's own words, or says plainly that there was none.
"""

from __future__ import annotations

import uuid

from deeptide.permissions.intents import Intent
from deeptide.protocol.approvals import Approval
from deeptide.protocol.errors import ToolError
from deeptide.protocol.text import clean
from deeptide.tools.tool import Args, Offered, Output, ToolContext, one_line


class AskUser(Offered):
    name = "ask_user"

    def __init__(self, description: str) -> None:
        options = {"type": "array", "items": {"type": "string"}}
        super().__init__(description, {"question": {"type": "string"}, "options": options}, ("question",))

    def title(self, args: Args) -> str:
        return f"ask: {one_line(args['question'])}"

    def intents(self, args: Args, ctx: ToolContext) -> tuple[Intent, ...]:
        return (Intent("ask", args["question"]),)

    async def run(self, args: Args, ctx: ToolContext) -> Output:
        question = clean(args["question"]).strip()
        if not question:
            raise ToolError("The question is empty; nobody was asked.", "Give the question.")
        options = tuple(dict.fromkeys(one_line(clean(option)) for option in args.get("options", ())))
        decision = await ctx.ask(
            Approval(
                id=uuid.uuid4().hex[:12],
                call_id=ctx.call_id,
                tool=self.name,
                title=one_line(question),
                kind="question",
                preview=question,
                options=tuple(option for option in options if option),
            )
        )
        answer = clean(decision.text).strip()
        if decision.choice == "deny":
            said = f" and said: {answer}" if answer else ""
            return Output(f"The user did not answer the question{said}.", is_error=True, summary="no answer")
        if not answer:
            return Output("The user agreed without further words.", summary="agreed")
        return Output(f"The user answered: {answer}", summary=one_line(answer, 40))
