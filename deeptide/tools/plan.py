"""The plan that the agent keeps and the user sees.

Invariant: a call replaces the whole plan; nothing of the old one is carried over.
"""

from __future__ import annotations

from deeptide.permissions.intents import Intent
from deeptide.protocol.errors import ToolError
from deeptide.protocol.plan import Plan, PlanItem
from deeptide.protocol.text import clean
from deeptide.tools.tool import Args, Offered, Output, ToolContext, one_line


class Todo(Offered):
    name = "todo"

    def __init__(self, description: str) -> None:
        status = {"type": "string", "enum": ("pending", "in_progress", "completed")}
        item = {
            "type": "object",
            "properties": {"text": {"type": "string"}, "status": status},
            "required": ("text", "status"),
        }
        super().__init__(description, {"items": {"type": "array", "items": item}}, ("items",))

    def title(self, args: Args) -> str:
        return "todo"

    def intents(self, args: Args, ctx: ToolContext) -> tuple[Intent, ...]:
        return (Intent("memory", "plan"),)

    async def run(self, args: Args, ctx: ToolContext) -> Output:
        items = tuple(PlanItem(one_line(clean(item["text"]), 300), item["status"]) for item in args["items"])
        if any(not item.text for item in items):
            raise ToolError("An item has no text; the plan is unchanged.", "Give every item a text.")
        plan = Plan(items)
        running = sum(1 for item in items if item.status == "in_progress")
        remark = f"\n[{running} items are in_progress; keep one at a time]" if running > 1 else ""
        text = plan.render() or "The plan is empty now."
        return Output(text + remark, summary=_done(args), plan=plan)


def _done(args: Args) -> str:
    done = sum(1 for item in args["items"] if item["status"] == "completed")
    return f"{done}/{len(args['items'])}"
