"""What a git command would do.

Invariant: reading is proved by subcommand and options; what loses work without a way back is asked every
time.
"""

from __future__ import annotations

import re

import msgspec

from deeptide.permissions.levels import Level, Ruling
from deeptide.permissions.segments import names

_READS = names(
    """
    status log diff show blame annotate shortlog describe rev-parse rev-list ls-files ls-tree cat-file grep
    name-rev merge-base for-each-ref show-ref show-branch count-objects whatchanged range-diff cherry
    diff-tree diff-index diff-files check-ignore check-attr version
    """
)
# Abbreviations of long options are options too.
_ACTING = (
    "--output",
    "--ext-diff",
    "--textconv",
    "--open-files-in-pager",
    "--paginate",
    "--exec",
    "--upload-pack",
    "--no-index",
    "--filters",
)
# These look at the files themselves, and so into other repositories inside this one.
_VISITS = names("status diff diff-files diff-index describe whatchanged ls-files grep")
_QUIET_GLOBALS = frozenset(
    {"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects"}
)
_VALUED_GLOBALS = frozenset(
    {"-c", "-C", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"}
)
_NETWORK = names("fetch pull clone push ls-remote remote submodule send-email request-pull archive")
_LISTS_BY = r"list|(no-)?contains|(no-)?merged|points-at"
_SHOWN_HOW = r"--(all|remotes|verbose|show-current|ignore-case|(no-)?color|(no-)?column|sort|format)(=.*)?"
_BRANCH_LISTS = re.compile(rf"-[arv]+|{_SHOWN_HOW}")
_BRANCH_PICKS = re.compile(rf"-[arv]*l[arv]*|--({_LISTS_BY})(=.*)?")
_TAG_LISTS = re.compile(_SHOWN_HOW)
_TAG_PICKS = re.compile(rf"-l|-n\d*|--({_LISTS_BY})(=.*)?")
_CONFIG_GETS = frozenset({"--get", "--get-all", "--get-regexp", "--get-urlmatch", "-l", "--list"})
_CONFIG_OPTIONS = re.compile(
    r"-z|--(local|global|system|worktree|null|name-only|show-origin|show-scope|show-names|includes|bool|int|path|type=\w+"
    r"|all|regexp|default=.*)"
)


class Git(msgspec.Struct, frozen=True):
    """`before`: options before the subcommand; `sub`: it, or empty; `rest`: what follows."""

    before: tuple[str, ...]
    sub: str
    rest: tuple[str, ...]

    @classmethod
    def of(cls, texts: tuple[str, ...]) -> Git:
        index = 0
        while index < len(texts) and texts[index].startswith("-"):
            index += 2 if texts[index] in _VALUED_GLOBALS else 1
        sub = texts[index] if index < len(texts) else ""
        return cls(texts[:index], sub, texts[index + 1 :])

    def has(self, *options: str) -> bool:
        """Whether one of `options` is given: long ones also abbreviated, short ones also in a cluster."""
        for text in self.rest:
            if text == "--":
                return False
            name = text.partition("=")[0]
            for option in options:
                if option.startswith("--"):
                    if len(name) >= 3 and option.startswith(name) and name.startswith("--"):
                        return True
                elif text.startswith("-") and not text.startswith("--") and option[1] in text[1:]:
                    return True
        return False

    @property
    def operands(self) -> tuple[str, ...]:
        return tuple(text for text in self.rest if not text.startswith("-"))


def git_reads(texts: tuple[str, ...]) -> bool:
    """Whether `git` with these arguments only reads."""
    git = Git.of(texts)
    if not set(git.before) <= _QUIET_GLOBALS:
        return False
    if not git.sub:
        return git.before == ()
    if any(text.startswith("-O") for text in git.rest) or _acts(git.rest):
        return False
    if git.sub in _READS:
        return True
    first = git.rest[0] if git.rest else ""
    lists = {
        "stash": first in {"list", "show"},
        "worktree": first == "list",
        "remote": git.rest in {(), ("-v",), ("--verbose",)} or first == "get-url",
        "reflog": not {"expire", "delete", "drop"} & set(git.rest),
        "notes": first in {"", "list", "show"},
        "bisect": git.rest == ("log",),
        "branch": _lists(git, _BRANCH_LISTS, _BRANCH_PICKS),
        "tag": _lists(git, _TAG_LISTS, _TAG_PICKS),
        "config": _gets(git),
    }
    return lists.get(git.sub, False)


def _lists(git: Git, options: re.Pattern[str], picks: re.Pattern[str]) -> bool:
    """Every option only lists, and there are names only beside one that picks from the list."""
    given = [text for text in git.rest if text.startswith("-")]
    fine = all(options.fullmatch(text) or picks.fullmatch(text) for text in given)
    return fine and (not git.operands or any(picks.fullmatch(text) for text in given))


def _gets(git: Git) -> bool:
    given = [text for text in git.rest if text.startswith("-")]
    asks = any(text in _CONFIG_GETS for text in given) or git.rest[:1] in {("get",), ("list",)}
    return asks and all(text in _CONFIG_GETS or _CONFIG_OPTIONS.fullmatch(text) for text in given)


def visits_files(texts: tuple[str, ...]) -> bool:
    """Whether git may look at the working files, or at what submodules hold."""
    git = Git.of(texts)
    return git.sub in _VISITS or git.has("--submodule", "--recurse-submodules")


def _acts(rest: tuple[str, ...]) -> bool:
    options = [text.partition("=")[0] for text in rest if text.startswith("--") and text != "--"]
    return any(len(option) > 3 and acting.startswith(option) for option in options for acting in _ACTING)


def git_ruling(texts: tuple[str, ...]) -> Ruling:
    """The ruling on a git command that is not proved to read."""
    git = Git.of(texts)
    if any("ext::" in text for text in texts):
        return _strong("git runs a program", "The ext:: transport runs a program.")
    lost = _losing(git)
    if lost:
        return _strong("git loses work", lost)
    if git.sub in _NETWORK:
        return Ruling(Level.ASK, f"git {git.sub}", "It talks to another machine.")
    if any(option.partition("=")[0] in {"-c", "--config-env", "--exec-path"} for option in git.before):
        return Ruling(Level.ASK, "git -c", "Settings given to git can run programs.", clearable=False)
    if git.before and not set(git.before) <= _QUIET_GLOBALS:
        return Ruling(Level.ASK, "git elsewhere", "It works on another repository.", clearable=False)
    if git.sub == "add" or (git.sub == "diff" and git.has("--output")):
        return Ruling(Level.SANDBOXED, f"git {git.sub}", "It writes in the workspace.")
    return Ruling(Level.ASK, f"git {git.sub}".strip(), "It changes the repository.")


def _strong(rule: str, reason: str) -> Ruling:
    return Ruling(Level.STRONG, rule, reason, clearable=False)


def _losing(git: Git) -> str:
    """What work is lost for good, or empty."""
    first = git.rest[0] if git.rest else ""
    if git.sub == "push":
        refs = git.operands[1:]
        forced = git.has("--force", "--force-with-lease", "--delete", "--mirror", "--prune", "-f", "-d")
        return (
            "It rewrites or deletes what others have."
            if forced or any(r[:1] in {":", "+"} for r in refs)
            else ""
        )
    checks: dict[str, bool] = {
        "reset": git.has("--hard", "--merge", "--keep"),
        "checkout": "--" in git.rest or "." in git.operands or git.has("-f", "--force", "--ours", "--theirs"),
        "switch": git.has("-f", "--force", "--discard-changes"),
        "restore": not set(git.rest) & {"--staged", "-S"} or git.has("--worktree", "-W"),
        "clean": not git.has("-n", "--dry-run"),
        "stash": first in {"drop", "clear"},
        "branch": git.has("-D", "-M", "-f", "--force") or (git.has("--delete") and git.has("--force")),
        "tag": git.has("-d", "--delete", "-f", "--force"),
        "worktree": first == "remove" and git.has("-f", "--force"),
        "reflog": first in {"expire", "delete"},
        "gc": git.has("--prune", "--aggressive"),
        "prune": True,
        "filter-branch": True,
        "filter-repo": True,
        "update-ref": True,
        "submodule": first in {"deinit", "foreach"},
        "rm": git.has("-f", "--force"),
    }
    return "It throws away work that git cannot bring back." if checks.get(git.sub, False) else ""
