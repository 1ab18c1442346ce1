"""A model that does one long chore by what it has seen, not by a script position: it can be killed anywhere.

For every file of the repository: read it, replace `old_name` by `new_name`, now and then search, run a command or
update the plan. Which step comes next is read from the history of the request alone, so a resumed session goes on
where the record says it stands.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from deeptide.emulator.says import Call, Say

OLD, NEW = "old_name", "new_name"


class Chore:
    """A script for the emulator: `files` in order; says `All done.` when each is known to hold the new name."""

    def __init__(self, files: Sequence[str]) -> None:
        self._files = list(files)

    def __call__(self, request: dict[str, Any], n: int) -> Say:
        seen = _History(request["messages"])
        for number, path in enumerate(self._files):
            if path in seen.done:
                continue
            state = seen.last_read.get(path)
            if state is None:
                return Say(f"Reading {path}.", thinking="一步一步来。", calls=self._look(number, path))
            if OLD not in state:
                continue
            return Say(
                calls=(Call("edit", {"path": path, "edits": [{"old": OLD, "new": NEW, "all": True}]}),)
            )
        if not seen.checked:
            return Say("Checking.", calls=(Call("shell", {"command": f"grep -rl {OLD} src | wc -l"}),))
        return Say("All done.")

    def _look(self, number: int, path: str) -> tuple[Call, ...]:
        calls = [Call("read", {"path": path})]
        if number % 3 == 0:
            calls.append(Call("grep", {"pattern": OLD, "path": path}))
        if number % 5 == 0:
            calls.append(Call("shell", {"command": f"wc -l {path}"}))
        if number % 7 == 0:
            items = [{"text": f"文件 {number}", "status": "in_progress"}]
            calls.append(Call("todo", {"items": items}))
        return tuple(calls)


class _History:
    """What the messages of one request say about each file."""

    def __init__(self, messages: list[dict[str, Any]]) -> None:
        self.done: set[str] = set()
        self.last_read: dict[str, str] = {}
        self.checked = False
        calls: dict[str, tuple[str, dict[str, Any]]] = {}
        for message in messages:
            for call in message.get("tool_calls") or ():
                calls[call["id"]] = (call["function"]["name"], json.loads(call["function"]["arguments"]))
            if message["role"] == "tool":
                name, args = calls[message["tool_call_id"]]
                self._result(name, args, message["content"])

    def _result(self, name: str, args: dict[str, Any], content: str) -> None:
        path = args.get("path", "")
        if name == "edit":
            # Whatever became of it, the file itself is asked again, so a lost result costs one more read.
            self.last_read.pop(path, None)
        elif name == "read" and "sha " in content:
            self.last_read[path] = content
            if OLD not in content:
                self.done.add(path)
        elif name == "shell" and "grep -rl" in args.get("command", ""):
            self.checked = True
