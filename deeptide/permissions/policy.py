"""The judge: what a call would touch, the rules and the mode in; a verdict that names its reason out.

Invariant: refuse and deny hold in every mode and beat every allow rule; the worst intent decides; nothing is
allowed because it was not understood.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Literal

import msgspec

from deeptide.permissions.classify import Classifier, Ruled
from deeptide.permissions.intents import Intent
from deeptide.permissions.levels import Level, Ruling
from deeptide.permissions.places import Places
from deeptide.permissions.rules import Rule, RuleKind, Rules, rule_for, rules_for
from deeptide.permissions.secrets import guarded
from deeptide.permissions.segments import Segment
from deeptide.permissions.words import Arg
from deeptide.protocol.approvals import Mode
from deeptide.protocol.text import scrub
from deeptide.workspace.roots import Roots

Action = Literal["allow", "ask", "ask_strong", "deny", "refuse"]
_WEIGHT: dict[Action, int] = {"allow": 0, "ask": 1, "ask_strong": 2, "deny": 3, "refuse": 4}
_AN_ALLOW_RULE = "your rule"


class Verdict(msgspec.Struct, frozen=True):
    """`ask_strong` is asked every time. `deny` (a rule, or plan mode) and `refuse` (never) go to the model
    with `reason`. `rule`: what decided. `rules`: what `session` or `always` would store, empty if they make
    no sense; `scope` shows them."""

    action: Action
    rule: str = ""
    reason: str = ""
    rules: tuple[str, ...] = ()

    @property
    def scope(self) -> str:
        """The rules in a row; none of them holds a `;`."""
        return "; ".join(self.rules)


class Policy:
    """`sandboxed`: commands run behind a wall that was proved to hold, so that what stays inside need not
    ask."""

    def __init__(self, roots: Roots, home: Path, rules: Rules, *, sandboxed: bool = False) -> None:
        self.rules = rules
        self.sandboxed = sandboxed
        self._roots = roots
        self._home = os.path.realpath(home)
        self._places = Places((str(root) for root in roots.all), self._home)
        self._classifier = Classifier(self._places)

    def judge(self, tool: str, read_only: bool, intents: Iterable[Intent], mode: Mode) -> Verdict:
        """The verdict on one call of `tool`. `read_only`: the tool itself never changes anything."""
        denied = self.rules.denies("tool", tool)
        if denied is not None:
            return _denied(str(denied))
        intents = tuple(intents)
        verdicts = [self._intent(intent, mode, read_only) for intent in intents]
        if not verdicts:
            verdicts = [self._unknown_tool(tool, read_only, mode)]
        worst = max(verdicts, key=lambda verdict: _WEIGHT[verdict.action])
        if worst.action in {"allow", "ask"} and (asked := self._asked(tool, intents)) is not None:
            return Verdict("ask", f"{_AN_ALLOW_RULE} `{asked}`", "You want to be asked about it.")
        if worst.action == "ask" and (rule := self.rules.allows("tool", tool)) is not None:
            return Verdict("allow", f"{_AN_ALLOW_RULE} `{rule}`", "You allowed it.")
        if worst.action == "ask":
            offered = [verdict.rules for verdict in verdicts if verdict.action == "ask"]
            rules = tuple(dict.fromkeys(chain.from_iterable(offered))) if all(offered) else ()
            return msgspec.structs.replace(worst, rules=rules)
        return worst

    def _asked(self, tool: str, intents: tuple[Intent, ...]) -> Rule | None:
        """The first `ask` rule that speaks of the call."""
        rule = self.rules.asks("tool", tool)
        for intent in intents:
            if rule is not None:
                break
            if intent.kind == "run":
                start = str(self._roots.resolve(intent.detail)) if intent.detail else ""
                segments = (part.segment for part in self._classifier.line(intent.target, start))
                rule = next((r for s in segments if s is not None and (r := self.rules.asks_run(s))), None)
            elif intent.kind in {"read", "write", "delete"}:
                path = str(self._roots.resolve(intent.target))
                shown = self._roots.relative(path)
                rule = self.rules.asks(intent.kind, shown) or self.rules.asks(intent.kind, path)
            else:
                rule = self.rules.asks(intent.kind, intent.target)
        return rule

    def _unknown_tool(self, tool: str, read_only: bool, mode: Mode) -> Verdict:
        if read_only:
            return Verdict("allow", "only reads", f"{tool} only reads.")
        ruling = Ruling(Level.ASK, "tool", f"{tool} may change things.")
        return self._by_mode(ruling, mode, rule_for("tool", tool))

    def _intent(self, intent: Intent, mode: Mode, read_only: bool) -> Verdict:
        if intent.kind in {"ask", "memory"}:
            return Verdict("allow", "harmless", "It touches nothing outside the talk.")
        if intent.kind == "run":
            return self._run(intent, mode)
        if intent.kind == "network":
            return self._network(intent, mode)
        if "\0" in intent.target or scrub(intent.target) != intent.target:
            return Verdict("deny", "not a path", "The path holds characters that no file name can have.")
        path = str(self._roots.resolve(intent.target))
        shown = self._roots.relative(path)
        for name in {path, shown}:
            denied = self.rules.denies(intent.kind, name)
            if denied is not None:
                return _denied(str(denied))
        if intent.kind == "read":
            return self._read(path, shown, mode)
        return self._change(intent, path, shown, mode)

    def _read(self, path: str, shown: str, mode: Mode) -> Verdict:
        if not guarded(path, self._home):
            return Verdict("allow", "only reads", f"It reads {shown}.")
        rule = self.rules.allows("read", shown) or self.rules.allows("read", path)
        if rule is not None:
            return Verdict("allow", f"{_AN_ALLOW_RULE} `{rule}`", "You allowed it.")
        action: Action = "allow" if mode == "yolo" else "ask"
        return Verdict(
            action, "secret file", f"{shown} may hold secrets.", rule_for("read", _named(path, shown))
        )

    def _change(self, intent: Intent, path: str, shown: str, mode: Mode) -> Verdict:
        if intent.kind == "delete":
            ruling = self._places.delete(Arg.literal(path), (path,))
        else:
            ruling = self._places.write_path(path)
        outside = not self._places.inside(path)
        if ruling.level in {Level.ASK, Level.STRONG} and (outside or ruling.rule == "git data"):
            ruling = Ruling(Level.STRONG, ruling.rule, ruling.reason, clearable=False)
        rule = self.rules.allows(intent.kind, shown) or self.rules.allows(intent.kind, path)
        if rule is not None and ruling.level <= Level.ASK:
            ruling = Ruling(Level.AUTO, f"{_AN_ALLOW_RULE} `{rule}`", "You allowed it.")
            return self._by_mode(ruling, "ask" if mode != "plan" else mode, (), edit=True)
        if ruling.rule == "edit":
            ruling = Ruling(Level.SANDBOXED, "edit", f"It changes {shown}.")
        kind: RuleKind = "delete" if intent.kind == "delete" else "write"
        return self._by_mode(ruling, mode, rule_for(kind, _named(path, shown)), edit=True)

    def _network(self, intent: Intent, mode: Mode) -> Verdict:
        host = intent.target.partition("://")[2] or intent.target
        host = re.split(r"[/?#\\]", host, maxsplit=1)[0].rpartition("@")[2].lower()
        denied = self.rules.denies("network", host)
        if denied is not None:
            return _denied(str(denied))
        rule = self.rules.allows("network", host)
        if rule is not None:
            return Verdict("allow", f"{_AN_ALLOW_RULE} `{rule}`", "You allowed it.")
        return self._by_mode(
            Ruling(Level.ASK, "network", f"It talks to {host}."), mode, rule_for("network", host)
        )

    # ---- commands ------------------------------------------------------------------------------------

    def _run(self, intent: Intent, mode: Mode) -> Verdict:
        start = str(self._roots.resolve(intent.detail)) if intent.detail else ""
        parts = self._classifier.line(intent.target, start)
        for part in parts:
            denied = self.rules.denies_run(part.segment) if part.segment is not None else None
            if denied is not None and not any(p.ruling.level is Level.REFUSE for p in parts):
                return _denied(str(denied))
        cleared, left = self._cleared(parts)
        open_parts = [part for part in left if part.ruling.level > self._free(mode)]
        if not open_parts:
            rule = f"{_AN_ALLOW_RULE} `{cleared}`" if cleared else "only reads"
            reason = "You allowed it." if cleared else "It only reads."
            if mode == "plan" and cleared:
                return _planning("run a command that does more than read.")
            return Verdict("allow", rule, reason)
        worst = max(open_parts, key=lambda part: (part.ruling.level, not part.ruling.clearable)).ruling
        asked = [part.segment for part in open_parts if part.segment is not None and part.ruling.clearable]
        nameable = len(asked) == len(open_parts) and all(map(self._stays, asked))
        rules = rules_for(asked, self._places.roots[0]) if nameable else ()
        return self._by_mode(worst, mode, rules)

    def _cleared(self, parts: tuple[Ruled, ...]) -> tuple[str, list[Ruled]]:
        """The last allow rule that lifted a part, and the parts that no rule lifted."""
        cleared, left = "", []
        for part in parts:
            lifts = part.ruling.clearable and Level.AUTO < part.ruling.level <= Level.ASK
            rule = None
            if lifts and part.segment is not None and self._stays(part.segment):
                rule = self.rules.allows_run(part.segment, self._places.roots[0])
            if rule is None:
                left.append(part)
            else:
                cleared = str(rule)
        return cleared, left

    def _stays(self, segment: Segment) -> bool:
        """A rule speaks of the project: elsewhere the same words start other programs."""
        return bool(segment.cwds) and all(self._places.inside(cwd) for cwd in segment.cwds)

    def _free(self, mode: Mode) -> Level:
        """The highest level of a command that runs unasked."""
        return Level.SANDBOXED if self.sandboxed and mode in {"auto-edit", "yolo"} else Level.AUTO

    def _by_mode(self, ruling: Ruling, mode: Mode, rules: tuple[str, ...], *, edit: bool = False) -> Verdict:
        level = ruling.level
        if level is Level.REFUSE:
            return Verdict("refuse", ruling.rule, f"{ruling.reason} This is never done, in no mode.")
        if mode == "plan":
            return _planning(f"do this: {ruling.reason}")
        if level is Level.STRONG:
            return Verdict("ask_strong", ruling.rule, ruling.reason)
        if level is Level.AUTO:
            return Verdict("allow", ruling.rule, ruling.reason)
        if mode == "yolo":
            return Verdict("allow", "yolo mode", "You chose to be asked about nothing but the gravest.")
        if edit and mode == "auto-edit" and level is Level.SANDBOXED:
            return Verdict("allow", "auto-edit mode", "Edits in the workspace need no question in this mode.")
        return Verdict("ask", ruling.rule, ruling.reason, rules)


def _named(path: str, shown: str) -> str:
    """The name of a path in a rule: a folder called `~` in the workspace is shown like the home."""
    return path if shown.startswith("~") else shown


def _denied(rule: str) -> Verdict:
    return Verdict(
        "deny", f"your rule `{rule}`", f"The user's rule `{rule}` forbids this. Find another way or ask."
    )


def _planning(what: str) -> Verdict:
    reason = (
        f"Plan mode is on: only reading is allowed, and the call would {what} "
        "Finish the plan, then let the user leave plan mode."
    )
    return Verdict("deny", "plan mode", reason)
