"""Tools of which one approval may stand for many calls, and the further words such a call may hold.

Invariant: a further word that is not listed here, or whose number of words or reach is not plain from the line,
is never covered: an unlisted option may run a program, read another configuration or write elsewhere.
"""

from __future__ import annotations

import re

import msgspec

from deeptide.permissions.segments import names
from deeptide.permissions.words import Arg


class Extras(msgspec.Struct, frozen=True):
    """`flags`: options that stand alone or hold `=value`. `letters`: short options that may be run together.
    `valued`: options whose value may be the next word. `messages`: those of them that only take text, which
    may be worked out by the shell. `operands`: names in the folder or below it may follow."""

    flags: frozenset[str] = frozenset()
    letters: str = ""
    valued: frozenset[str] = frozenset()
    messages: frozenset[str] = frozenset()
    operands: bool = True


_PYTEST = Extras(
    names(
        """--quiet --verbose --exitfirst --lf --last-failed --ff --failed-first --nf --sw --stepwise --no-header
        --no-summary --tb --maxfail --durations --co --collect-only --color --showlocals --disable-warnings
        --timeout -ra -rA -rf -rs -rx"""
    ),
    "qvxsl",
    names("-k -m -n"),
)
_CARGO = Extras(
    names(
        """--release --all --workspace --all-targets --all-features --no-default-features --lib --bins --tests
        --examples --benches --quiet --verbose --locked --offline --frozen --keep-going --no-run --no-fail-fast
        --check --nocapture --no-capture --test-threads --ignored --include-ignored --exact --no-deps"""
    ),
    "qv",
    names("-p --package --features -F --bin --test --example -j --jobs --exclude --profile -D -W -A"),
)
_GO = Extras(
    names("-v -race -short -failfast -cover"), "", names("-run -count -timeout -bench -tags -p -parallel")
)
_SCRIPT = Extras(names("--silent"))
_KNOWN: dict[tuple[str, ...], Extras] = {
    ("git", "add"): Extras(names("--all --update --verbose --dry-run --intent-to-add"), "AuvnN"),
    ("git", "commit"): Extras(
        names("--all --verbose --quiet --signoff --allow-empty"),
        "avqs",
        names("-m --message"),
        names("-m --message"),
    ),
    ("pytest",): _PYTEST,
    ("python", "-m", "pytest"): _PYTEST,
    ("python3", "-m", "pytest"): _PYTEST,
    ("mypy",): Extras(names("--strict --pretty --no-color-output --show-error-codes")),
    ("ruff", "check"): Extras(
        names("--fix --no-fix --diff --statistics --quiet --select --ignore"), "q", names("--select --ignore")
    ),
    ("ruff", "format"): Extras(names("--check --diff --quiet"), "q"),
    ("tsc",): Extras(names("--noEmit --strict --pretty"), operands=False),
    **{("npm", verb): _SCRIPT for verb in ("test", "t")},
    ("pnpm", "test"): _SCRIPT,
    ("yarn", "test"): _SCRIPT,
    **{("cargo", verb): _CARGO for verb in ("build", "b", "check", "c", "test", "t", "clippy", "fmt", "doc")},
    **{("go", verb): _GO for verb in ("build", "test", "vet")},
}
_RUNNERS = frozenset({"uv", "poetry", "pdm", "pipenv", "hatch", "rye"})
_NEAR = re.compile(r"(?![-/:])[\w%+:,./\[\] -]+\Z")
_SEVERAL_WORDS = re.compile(r"\$@|\$\{@|@\]|@\}")


def known_prefix(words: tuple[str, ...]) -> tuple[tuple[str, ...], Extras] | None:
    """The words at the start of `words` that name a tool of the table, and what may follow them. A runner
    (`uv run`) may stand before."""
    start = 2 if len(words) > 2 and words[0] in _RUNNERS and words[1] == "run" else 0
    for end in range(start + 1, start + 4):
        extras = _KNOWN.get(words[start:end])
        if extras is not None:
            return words[:end], extras
    return None


def covered(extras: Extras, args: tuple[Arg, ...]) -> bool:
    """Whether all of `args`, what follows the known words, are listed."""
    index = 0
    while index < len(args):
        arg = args[index]
        index += 1
        if not one_word(arg):
            return False
        option = _takes_next(extras, arg.text)
        if option:
            if index >= len(args) or not _value(args[index], text=option in extras.messages):
                return False
            index += 1
        elif not _alone(extras, arg.text):
            return False
    return True


def one_word(arg: Arg) -> bool:
    """Whether the program gets exactly `arg.text`: nothing in it is filled in, matched or multiplied."""
    return not arg.dynamic and len(arg.values) == 1 and not set("*?[") & set(arg.values[0])


def _value(arg: Arg, *, text: bool) -> bool:
    if one_word(arg):
        return True
    inner = re.sub(r"\\.", "", arg.raw[1:-1], flags=re.DOTALL)
    quoted = len(arg.raw) > 1 and arg.raw[0] == arg.raw[-1] == '"' and '"' not in inner
    return text and quoted and not _SEVERAL_WORDS.search(arg.raw)


def _takes_next(extras: Extras, word: str) -> str:
    """The option whose value is the next word: `-m`, or the last of `-am`."""
    if word in extras.valued:
        return word
    cluster, last = word[1:-1], f"-{word[-1:]}"
    fits = re.match(r"-\w+\Z", word) and last in extras.valued and set(cluster) <= set(extras.letters)
    return last if fits and cluster else ""


def _alone(extras: Extras, word: str) -> bool:
    name, equals, _ = word.partition("=")
    if word == "--" or name in extras.flags or (equals and name in extras.valued):
        return True
    if re.match(r"-\w+\Z", word) and set(word[1:]) <= set(extras.letters):
        return True
    return extras.operands and bool(_NEAR.match(word)) and ".." not in word.split("/") and "://" not in word
