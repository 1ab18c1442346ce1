"""Finding and reading again what has left the conversation.

Invariant: what is read is the message as logged; nothing found is presented as an instruction.
"""

from __future__ import annotations

from deeptide.permissions.intents import Intent
from deeptide.protocol.errors import ToolError
from deeptide.recall.search import Found
from deeptide.tools.tool import Args, Offered, Output, ToolContext, one_line

_PAGE = 20_000
_DEFAULT = 3
_MOST = 10


class RecallArchive(Offered):
    name = "recall_archive"

    def __init__(self, description: str) -> None:
        properties = {
            "query": {"type": "string", "description": "Words that occur in what you look for"},
            "cycle": {"type": "integer", "minimum": 0, "description": "Only this cycle"},
            "max_results": {"type": "integer", "minimum": 1, "description": "Default 3, at most 10"},
        }
        super().__init__(description, properties, ("query",))

    def title(self, args: Args) -> str:
        return f"recall {one_line(args['query'])}"

    def intents(self, args: Args, ctx: ToolContext) -> tuple[Intent, ...]:
        return (Intent("memory", "archive", args["query"]),)

    async def run(self, args: Args, ctx: ToolContext) -> Output:
        if not args["query"].strip():
            raise ToolError("The query is empty.", "Give words that occur in what you look for.")
        wanted = min(args.get("max_results", _DEFAULT), _MOST)
        found = await ctx.recall.search(args["query"], args.get("cycle"), wanted)
        count = len(found.hits)
        return Output(_told(found), summary="1 hit" if count == 1 else f"{count} hits")


def _told(found: Found) -> str:
    rows = [
        f"[cycle {hit.cycle} · message {hit.index} · {hit.role} · score {hit.score:.2f}]\n{hit.excerpt}"
        for hit in found.hits
    ]
    if found.note:
        rows.append(found.note)
    return "\n\n".join(rows) or "Nothing was found."


class ReadArchive(Offered):
    name = "read_archive"

    def __init__(self, description: str) -> None:
        properties = {
            "cycle": {"type": "integer", "minimum": 0},
            "message_index": {"type": "integer", "minimum": 0},
            "page": {"type": "integer", "minimum": 1},
        }
        super().__init__(description, properties, ("cycle", "message_index"))

    def title(self, args: Args) -> str:
        return f"recall message {args['message_index']} of cycle {args['cycle']}"

    def intents(self, args: Args, ctx: ToolContext) -> tuple[Intent, ...]:
        return (Intent("memory", "archive", f"{args['cycle']}:{args['message_index']}"),)

    async def run(self, args: Args, ctx: ToolContext) -> Output:
        cycle, index, page = args["cycle"], args["message_index"], args.get("page", 1)
        text = await ctx.recall.read(cycle, index)
        if text is None:
            raise ToolError(
                f"There is no message {index} in cycle {cycle}.", "Use the numbers that recall_archive gave."
            )
        pages = max(1, -(-len(text) // _PAGE))
        if page > pages:
            raise ToolError(f"The message has {pages} pages; there is no page {page}.", "Use a smaller page.")
        part = text[(page - 1) * _PAGE : page * _PAGE]
        more = f" · page {page} of {pages}" if pages > 1 else ""
        return Output(f"[cycle {cycle} · message {index}{more}]\n{part}", summary=f"{len(part):,} characters")
