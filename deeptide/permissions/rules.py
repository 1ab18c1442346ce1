"""What the user has allowed or forbidden, for this session or for good.

Invariant: an allow rule is never wider than its words say. A rule that came from an answer names one path
literally, one command word for word, or a tool of `prefixes` with further words that are listed there; what
cannot be written as such a rule is not offered. A deny rule may be as wide as its author likes.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import Literal, cast, get_args

import msgspec

from deeptide.permissions.prefixes import covered, known_prefix, one_word
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
_THREE_WORDS = names("run exec x dlx tool compose run-script")
_INTERPRETER = re.compile(
    r"(python[\d.]*|pypy3?|node|nodejs|ruby|perl|php|lua|deno|bun|tsx|Rscript|osascript)\Z"
)
_WHOLE = names(
    """
    rm rmdir mv cp ln chmod chown chgrp dd truncate shred install rsync sed gsed awk gawk mawk kill pkill killall
    find fd rg ag xargs tee sort split patch tar zip unzip 7z cpio curl wget http https xh nc ncat socat ftp scp
    sftp rclone vi vim nvim view ex ed emacs nano less more most man sqlite3 psql mysql redis-cli gdb lldb java
    irb ipython luajit tclsh expect julia groovy scala pwsh powershell tmux screen watch entr openssl
    """
)
_WRAPPERS = names(
    "sudo doas env nohup nice timeout time xargs exec eval command builtin stdbuf setsid source . ssh"
)
# Wrappers that change neither the words nor the program, or that are themselves asked about.
_TRANSPARENT = names(
    """
    sh bash dash ksh mksh ash
    env nice ionice nohup setsid time timeout gtimeout stdbuf unbuffer command builtin exec noglob eval
    uv poetry pdm pipenv hatch rye npm pnpm yarn conda mise asdf bundle
    """
)
_PLAIN = re.compile(r"[\w@%+=:,./-]+\Z")
_EXACTLY = "exactly "
_AMBIGUOUS = frozenset(';"\\`')
_LONGEST = 300
_MOST = 3


class Rule(msgspec.Struct, frozen=True):
    """`pattern`: the first words of a command (run), a path or pattern of paths (read, write, delete), a host
    (network), a tool's name (tool). `exact`: all the words, or the path itself and no pattern."""

    kind: RuleKind
    pattern: str
    allow: bool = True
    exact: bool = False

    def __str__(self) -> str:
        return f"{self.kind} {_EXACTLY if self.exact else ''}{self.pattern}"

    @classmethod
    def parse(cls, text: str, *, allow: bool = True) -> Rule:
        """`run git commit`, `run exactly rm -rf build`, `write docs/*`, `write exactly app/[id].ts`,
        `network example.org`, `tool web`. UsageError if it cannot be one."""
        kind, _, pattern = text.strip().partition(" ")
        pattern = " ".join(pattern.split()) if kind == "run" else pattern.strip()
        exact = pattern.startswith(_EXACTLY)
        pattern = pattern.removeprefix(_EXACTLY)
        if kind == "network":
            pattern = pattern.lower()
        if kind not in _KINDS or not pattern or (allow and not text.isprintable()):
            raise UsageError(
                f"{text!r} is not a rule.", f"A rule is one of {', '.join(_KINDS)} and what it is for."
            )
        if allow and kind == "run" and not _narrow_enough(_words(pattern), exact):
            raise UsageError(
                f"The rule {text!r} would allow too much.",
                "Name the subcommand or script too, as in `run git commit`.",
            )
        return cls(cast(RuleKind, kind), pattern, allow, exact)

    def forbids(self, segment: Segment) -> bool:
        """Whether a deny rule speaks of `segment`, with or without the folder of its program."""
        wanted = _words(self.pattern)
        written = tuple(arg.text for arg in segment.args)
        reach = None if self.exact else len(wanted)
        return self.kind == "run" and bool(wanted) and wanted in {segment.words[:reach], written[:reach]}

    def clears(self, segment: Segment, root: str) -> bool:
        """Whether an allow rule covers `segment`. `root`: the workspace, the one folder in which an exact rule
        holds."""
        wanted = _words(self.pattern)
        leading, following = segment.args[: len(wanted)], segment.args[len(wanted) :]
        written = tuple(arg.text for arg in leading)
        if self.kind != "run" or not wanted or written != wanted or not all(map(one_word, leading)):
            return False
        if segment.feed or not _TRANSPARENT.issuperset(segment.via):
            return False
        known = known_prefix(wanted)
        if self.exact or (known is None and _whole(wanted)):
            return not following and segment.cwds == (root,) and _reads_nothing(segment)
        return known is None or covered(known[1], following)

    def fits(self, kind: str, target: str) -> bool:
        if self.kind != kind:
            return False
        return self.pattern == target or (not self.exact and fnmatchcase(target, self.pattern))


class Rules:
    """`persist` is called with the text of each rule that is to hold for good."""

    def __init__(
        self,
        allow: Iterable[str] = (),
        deny: Iterable[str] = (),
        persist: Callable[[str], None] | None = None,
        ask: Iterable[str] = (),
    ) -> None:
        self._allow = [Rule.parse(text) for text in allow]
        self._deny = [Rule.parse(text, allow=False) for text in deny]
        self._ask = [Rule.parse(text, allow=False) for text in ask]
        self._persist = persist

    @property
    def allowed(self) -> tuple[Rule, ...]:
        return tuple(self._allow)

    @property
    def denied(self) -> tuple[Rule, ...]:
        return tuple(self._deny)

    def add(self, *texts: str, always: bool = False) -> None:
        """Stores all the rules of a verdict or, with UsageError, none; `always` persists them. When that
        fails they hold for the session all the same."""
        rules = [Rule.parse(text) for text in texts]
        self._allow.extend(rule for rule in dict.fromkeys(rules) if rule not in self._allow)
        if always and self._persist is not None:
            for rule in rules:
                self._persist(str(rule))

    def deny(self, text: str) -> None:
        """Forbids for this session."""
        self._deny.append(Rule.parse(text, allow=False))

    def asks(self, kind: str, target: str) -> Rule | None:
        """What must be asked whatever would allow it."""
        return next((rule for rule in self._ask if rule.fits(kind, target)), None)

    def asks_run(self, segment: Segment) -> Rule | None:
        return next((rule for rule in self._ask if rule.forbids(segment)), None)

    def denies(self, kind: str, target: str) -> Rule | None:
        return next((rule for rule in self._deny if rule.fits(kind, target)), None)

    def allows(self, kind: str, target: str) -> Rule | None:
        return next((rule for rule in self._allow if rule.fits(kind, target)), None)

    def denies_run(self, segment: Segment) -> Rule | None:
        return next((rule for rule in self._deny if rule.forbids(segment)), None)

    def allows_run(self, segment: Segment, root: str) -> Rule | None:
        return next((rule for rule in self._allow if rule.clears(segment, root)), None)


def rule_for(kind: RuleKind, target: str) -> tuple[str, ...]:
    """The one rule that names `target` literally; none if its text could be read in two ways."""
    exact = bool(set("*?[") & set(target)) or target.startswith(_EXACTLY)
    return _offer(Rule(kind, target, exact=exact))


def rules_for(segments: Iterable[Segment], root: str) -> tuple[str, ...]:
    """The narrowest useful rules that would allow `segments`, or none if one has none or there are too many."""
    found: list[str] = []
    for segment in segments:
        offered = _rule_for_command(segment, root)
        if not offered:
            return ()
        found.extend(offered)
    distinct = tuple(dict.fromkeys(found))
    return distinct if len(distinct) <= _MOST else ()


def _rule_for_command(segment: Segment, root: str) -> tuple[str, ...]:
    words = tuple(arg.text for arg in segment.args)
    known = known_prefix(words)
    candidates = [Rule("run", " ".join(known[0]))] if known is not None else []
    if all(_PLAIN.match(word) for word in words):
        candidates.append(Rule("run", " ".join(words), exact=True))
    return next((_offer(rule) for rule in candidates if rule.clears(segment, root)), ())


def _offer(rule: Rule) -> tuple[str, ...]:
    """`rule` as text, if it is read back as the same rule, shows all it holds and stays one among several."""
    text = str(rule)
    if not text.isprintable() or _AMBIGUOUS & set(text) or len(text) > _LONGEST:
        return ()
    try:
        return (text,) if Rule.parse(text) == rule else ()
    except UsageError:
        return ()


def _reads_nothing(segment: Segment) -> bool:
    """What a program reads can be its orders (`sqlite3 x.db < f`), and no rule holds it."""
    return segment.stdin is None and not segment.piped and all(each.writes for each in segment.redirects)


def _whole(words: tuple[str, ...]) -> bool:
    name = words[0].rpartition("/")[2]
    return name in _WHOLE or bool(_INTERPRETER.match(name))


def _narrow_enough(words: tuple[str, ...], exact: bool) -> bool:
    if not words:
        return False
    name = words[0].rpartition("/")[2]
    if name in SHELLS or name in _WRAPPERS or name.startswith("-"):
        return False
    if not exact and any(word in {"*", "-c", "-e", "--eval"} for word in words[:2]):
        return False
    if _INTERPRETER.match(name) and (
        len(words) < 2 or (words[1].startswith("-") and not (words[1] == "-m" and len(words) > 2))
    ):
        return False
    if exact:
        return True
    if name in _TWO_WORDS:
        return (
            len(words) > 1
            and not words[1].startswith("-")
            and (len(words) > 2 or words[1] not in _THREE_WORDS)
        )
    return name not in _WHOLE or len(words) > 1


def _words(pattern: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(pattern))
    except ValueError:
        return tuple(pattern.split())
