"""What the user has allowed or forbidden, for this session or for good.

Invariant: an allow rule is never wider than its words say: for tools with subcommands it holds at least two
words, and it is never a bare interpreter, shell or wrapper. A deny rule may be as wide as its author likes.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import Literal, cast, get_args

import msgspec

from deeptide.permissions.segments import Segment, names
from deeptide.permissions.wrappers import SHELLS
from deeptide.protocol.errors import UsageError

RuleKind = Literal["run", "read", "write", "delete", "network", "tool"]
_KINDS: tuple[str, ...] = get_args(RuleKind)

_TWO_WORDS = names(
    """
    git npm pnpm yarn bun cargo go docker podman kubectl helm pip pip3 uv poetry pdm hatch gh make just rake
    gradle mvn dotnet swift terraform aws gcloud az brew gem bundle composer conda mise rustup systemctl
    """
)
_INTERPRETER = re.compile(
    r"(python[\d.]*|pypy3?|node|nodejs|ruby|perl|php|lua|deno|bun|tsx|Rscript|osascript)\Z"
)
_WHOLE = names(
    "rm rmdir mv cp ln chmod chown chgrp dd truncate rsync sed awk curl wget tar unzip kill find xargs tee"
)
_WRAPPERS = names(
    "sudo doas env nohup nice timeout time xargs exec eval command builtin stdbuf setsid source . ssh"
)
_PLAIN = re.compile(r"[\w@%+=:,./-]+\Z")
_SEPARATOR = "; "


class Rule(msgspec.Struct, frozen=True):
    """`pattern`: the first words of a command (run), a path or pattern of paths (read, write, delete), a host
    (network), a tool's name (tool)."""

    kind: RuleKind
    pattern: str
    allow: bool = True

    def __str__(self) -> str:
        return f"{self.kind} {self.pattern}"

    @classmethod
    def parse(cls, text: str, *, allow: bool = True) -> Rule:
        """`run git commit`, `write docs/*`, `network example.org`, `tool web`. UsageError if it cannot be
        one."""
        kind, _, pattern = text.strip().partition(" ")
        pattern = " ".join(pattern.split())
        if kind not in _KINDS or not pattern:
            raise UsageError(
                f"{text!r} is not a rule.", f"A rule is one of {', '.join(_KINDS)} and what it is for."
            )
        if allow and kind == "run" and not _narrow_enough(tuple(_words(pattern))):
            raise UsageError(
                f"The rule {text!r} would allow too much.",
                "Name the subcommand or script too, as in `run git commit`.",
            )
        return cls(cast(RuleKind, kind), pattern, allow)

    def fits_words(self, words: tuple[str, ...]) -> bool:
        wanted = tuple(_words(self.pattern))
        return self.kind == "run" and bool(wanted) and words[: len(wanted)] == wanted

    def fits(self, kind: str, target: str) -> bool:
        return self.kind == kind and (self.pattern == target or fnmatchcase(target, self.pattern))


class Rules:
    """`persist` is called with the text of each rule that is to hold for good."""

    def __init__(
        self,
        allow: Iterable[str] = (),
        deny: Iterable[str] = (),
        persist: Callable[[str], None] | None = None,
    ) -> None:
        self._allow = [Rule.parse(text) for text in allow]
        self._deny = [Rule.parse(text, allow=False) for text in deny]
        self._persist = persist

    @property
    def allowed(self) -> tuple[Rule, ...]:
        return tuple(self._allow)

    @property
    def denied(self) -> tuple[Rule, ...]:
        return tuple(self._deny)

    def add(self, scope: str, *, always: bool = False) -> None:
        """Stores the rules of a verdict's `scope` (several are parted by `; `); `always` persists them."""
        for text in scope.split(_SEPARATOR):
            rule = Rule.parse(text)
            if rule not in self._allow:
                self._allow.append(rule)
            if always and self._persist is not None:
                self._persist(str(rule))

    def deny(self, text: str) -> None:
        """Forbids for this session."""
        self._deny.append(Rule.parse(text, allow=False))

    def denies(self, kind: str, target: str) -> Rule | None:
        return next((rule for rule in self._deny if rule.fits(kind, target)), None)

    def allows(self, kind: str, target: str) -> Rule | None:
        return next((rule for rule in self._allow if rule.fits(kind, target)), None)

    def denies_run(self, segment: Segment) -> Rule | None:
        return next((rule for rule in self._deny if rule.fits_words(segment.words)), None)

    def allows_run(self, segment: Segment) -> Rule | None:
        """A word that is not written in the line itself fits no rule."""
        known = 0
        while known < len(segment.args) and not segment.args[known].dynamic:
            known += 1
        plainly = segment.args and segment.args[0].text == segment.name
        words = segment.words[:known] if plainly else ()
        return next((rule for rule in self._allow if rule.fits_words(words)), None)


def scope_of(segments: Iterable[Segment]) -> str:
    """The narrowest useful rules that would allow `segments`, or empty if there is none or too many."""
    found: list[str] = []
    for segment in segments:
        prefix = _prefix(segment)
        if not prefix:
            return ""
        found.append(f"run {' '.join(prefix)}")
    distinct = list(dict.fromkeys(found))
    return _SEPARATOR.join(distinct) if 0 < len(distinct) <= 3 else ""


def _prefix(segment: Segment) -> tuple[str, ...]:
    words = segment.words
    if not words or segment.args[0].text != segment.name or any(arg.dynamic for arg in segment.args[:3]):
        return ()
    if segment.name in _WHOLE or segment.name in _WRAPPERS:
        count = len(words)
    elif words[0] in _TWO_WORDS:
        count = 3 if len(words) > 2 and words[1] in {"run", "exec", "compose", "tool"} else 2
    elif _INTERPRETER.match(words[0]):
        count = 3 if words[1:2] == ("-m",) else 2
    else:
        count = 1
    prefix = words[:count]
    return prefix if all(_PLAIN.match(word) for word in prefix) and _narrow_enough(prefix) else ()


def _narrow_enough(words: tuple[str, ...]) -> bool:
    if not words:
        return False
    name = words[0].rpartition("/")[2]
    if name in SHELLS or name in _WRAPPERS or any(word in {"*", "-c", "-e", "--eval"} for word in words[:2]):
        return False
    if _INTERPRETER.match(name):
        return len(words) > 1 and (not words[1].startswith("-") or (words[1] == "-m" and len(words) > 2))
    if name in _TWO_WORDS or name in _WHOLE:
        return len(words) > 1 and not words[1].startswith("-") if name in _TWO_WORDS else len(words) > 1
    return True


def _words(pattern: str) -> list[str]:
    try:
        return shlex.split(pattern)
    except ValueError:
        return pattern.split()
