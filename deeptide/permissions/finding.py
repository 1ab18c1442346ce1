"""What `find` (and `fd`) would do besides listing.

Invariant: a find with any action is judged by that action on the folders it starts from.
"""

from __future__ import annotations

import re

import msgspec

from deeptide.permissions.segments import Segment
from deeptide.permissions.words import Arg
from deeptide.permissions.wrappers import emptied

_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_FD_RUNS = frozenset({"-x", "-X", "--exec", "--exec-batch"})
_WRITES = frozenset({"-fprint", "-fprint0", "-fprintf", "-fls"})
_WIDE = frozenset({"-type", "-depth", "-d", "-mindepth", "-maxdepth", "-xdev", "-mount", "-print", "-print0"})
CODE_NAME = re.compile(
    r"[\w*?+-][\w.*?+-]*\.(py|pyi|ts|tsx|js|jsx|mjs|cjs|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|lua|sh|md"
    r"|rst|txt|css|scss|html|vue|svelte|sql|proto|ya?ml|toml|lock|mod|sum|gradle|cmake|tf|ex|exs|hs|ml|el|clj|dart)\Z"
)
"""A name or pattern that only files of source code and the like have."""
_LOGIC = frozenset({"-o", "-or", ",", "(", ")", "!", "-not", "-follow"})
_FLAGS_BEFORE_ROOTS = frozenset({"-H", "-L", "-P"})


class Find(msgspec.Struct, frozen=True):
    """`roots`: where it starts. `narrow`: a test picks only some files. `runs`: the commands of its actions.
    `plain`: all it finds is by name source code.
    `deletes`, `writes`: it has -delete, or an action that writes a list to a file."""

    roots: tuple[Arg, ...]
    narrow: bool
    runs: tuple[tuple[Arg, ...], ...]
    deletes: bool
    writes: bool
    plain: bool = False

    @classmethod
    def of(cls, segment: Segment) -> Find | None:
        """None if `segment` is no find."""
        if segment.name in {"fd", "fdfind"}:
            return cls._fd(segment)
        if segment.name not in {"find", "gfind"}:
            return None
        args = segment.rest
        start = next((i for i, arg in enumerate(args) if arg.text not in _FLAGS_BEFORE_ROOTS), len(args))
        end = next((i for i, arg in enumerate(args[start:], start) if _expression(arg)), len(args))
        runs, tests = _actions(args[end:], _RUNS)
        first = next((i for i, arg in enumerate(args[end:], end) if arg.text in _RUNS), len(args))
        return cls(
            roots=args[start:end] or (Arg.literal("."),),
            narrow=any(
                test.text.startswith("-") and test.text not in _WIDE | _WRITES | {"-delete"} for test in tests
            ),
            runs=runs,
            deletes=any(test.text == "-delete" for test in tests),
            writes=any(test.text in _WRITES for test in tests),
            plain=_plain(args[end:first]),
        )

    @classmethod
    def _fd(cls, segment: Segment) -> Find:
        runs, tests = _actions(segment.rest, _FD_RUNS)
        operands = [arg for arg in tests if not arg.text.startswith("-")]
        roots = tuple(operands[1:]) or (Arg.literal("."),)
        narrow = bool(operands) and operands[0].text not in {"", ".", ".*"}
        return cls(roots, narrow, runs, False, False)


def _plain(tests: tuple[Arg, ...]) -> bool:
    """Whether every file must pass a -name that names source code; alternatives only between such names."""
    texts = [test.text for test in tests if test.known and not test.dynamic]
    if len(texts) != len(tests):
        return False
    text = " ".join("\0" if " " in one else one for one in texts)
    text = re.sub(r"(?<!\S)(!|-not) -(i?name|i?path|type) \S+", "", text)
    named = r"-i?name \S+"
    group = rf"\( {named}(?: -(?:o|or) {named})* \)"
    found = re.findall(rf"(?<!\S)(?:{group}|{named})(?!\S)", text)
    left = re.sub(rf"(?<!\S)(?:{group}|{named})(?!\S)", "", text).split()
    one_name = len(found) == 1 and not _LOGIC & set(left)
    # Alternatives without brackets, if nothing else is asked of any of them.
    alternatives = re.fullmatch(rf"(?:-type f )?{named}(?: -(?:o|or) {named})*", text.strip())
    if not (one_name or alternatives):
        return False
    return all(CODE_NAME.match(pattern) for pattern in re.findall(r"-i?name (\S+)", " ".join(found) or text))


def _expression(arg: Arg) -> bool:
    return not arg.leads and arg.text[:1] in {"-", "(", "!", ")"}


def _actions(
    args: tuple[Arg, ...], starts: frozenset[str]
) -> tuple[tuple[tuple[Arg, ...], ...], tuple[Arg, ...]]:
    """The commands after -exec and its kin, up to `;` or `+`, and the other words."""
    runs: list[tuple[Arg, ...]] = []
    rest: list[Arg] = []
    index = 0
    while index < len(args):
        if args[index].text not in starts:
            rest.append(args[index])
            index += 1
            continue
        end = index + 1
        while (
            end < len(args)
            and args[end].text != ";"
            and not (args[end].text == "+" and args[end - 1].text == "{}")
        ):
            end += 1
        runs.append(tuple(emptied(arg, ("{}",)) for arg in args[index + 1 : end] if arg.text != "{}"))
        index = end + 1
    return tuple(run for run in runs if run), tuple(rest)
