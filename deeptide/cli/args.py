"""argv to an Invocation.

Invariant: pure; it reads no file and no environment. Words that are no command and no flag are a prompt, and
a word that is nearly a command is refused rather than sent to the model.
"""

from __future__ import annotations

import argparse
import difflib
import itertools
import math
import shlex
from collections.abc import Sequence
from typing import NoReturn

from deeptide.cli.invocation import COMMANDS, Invocation
from deeptide.protocol.approvals import MODES
from deeptide.protocol.errors import UsageError

EFFORTS = ("off", "low", "high", "max")
OUTPUTS = ("text", "json", "stream-json")
NEAR = 0.75


class _Parser(argparse.ArgumentParser):
    def __init__(self, prog: str, description: str, epilog: str = "") -> None:
        super().__init__(
            prog=prog,
            description=description,
            epilog=epilog,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message[:1].upper()}{message[1:]}.", f"See `{self.prog} --help`.")


def parse(argv: Sequence[str]) -> Invocation:
    """What is to be done. Raises UsageError; `--help` prints and raises SystemExit(0)."""
    command, rest = _command_of(list(argv))
    if command == "emulator":
        # Its own parser reads these, so that `python -m deeptide.emulator` and this stay one thing.
        return Invocation(command=command, rest=rest)
    found = _parser(command).parse_args(rest, Invocation(command=command or "tui"))
    if found.print_mode and found.command == "tui":
        found.command = "exec"
    _check(found)
    if found.command == "tui" and "--" not in rest:
        _refuse_a_near_command(found.prompt)
    return found


def build_parser(command: str = "") -> argparse.ArgumentParser:
    """The parser of one command, or of the bare command line; for help and for tests of the surface."""
    return _parser(command)


def _command_of(argv: list[str]) -> tuple[str, list[str]]:
    """Splits off the command, also when session flags stand before it: `--model X exec "..."`."""
    for at, word in enumerate(argv):
        if word == "--":
            break
        if word not in COMMANDS:
            continue
        if at == 0 or _only_flags(argv[:at]):
            return word, argv[:at] + argv[at + 1 :]
        break
    return "", argv


def _only_flags(words: list[str]) -> bool:
    try:
        before = _parser("").parse_args(words, Invocation())
    except (UsageError, SystemExit):
        return False
    return not before.prompt


def _check(found: Invocation) -> None:
    if found.resume and found.go_on:
        raise UsageError("--resume and --continue say two different things.", "Give one of them.")
    if found.resume and any(blank in found.resume for blank in " \n\t"):
        raise UsageError(
            f"--resume takes a session's id, the start of one, or `latest`; it was given {found.resume!r}.",
            "Put the prompt before the flags.",
        )
    if found.yolo and found.mode not in (None, "yolo"):
        raise UsageError(f"--yolo and --mode {found.mode} say two different things.", "Give one of them.")
    if found.command == "tui" and found.output:
        raise UsageError("--output is for `deeptide exec`.", 'Write `deeptide exec "..."`, or add -p.')


def _refuse_a_near_command(words: list[str]) -> None:
    """`deeptide exce fix` is a slip; one quoted word with blanks in it is a prompt whatever it begins with."""
    if not words or not (words[0].isascii() and words[0].isalpha()):
        return
    near = difflib.get_close_matches(words[0].lower(), COMMANDS, n=1, cutoff=NEAR)
    # Several words are a sentence more often than a slip: "log the errors", "configure the linter".
    if near and (len(words) == 1 or _one_slip(words[0].lower(), near[0])):
        said = " ".join(words)
        raise UsageError(
            f"{words[0]!r} is not a command; did you mean `deeptide {near[0]}`?",
            f"To send it as a prompt, quote it: `deeptide {shlex.quote(said)}`."
            if len(words) > 1
            else f"To send it as a prompt write `deeptide -- {words[0]}`.",
        )


def _one_slip(typed: str, meant: str) -> bool:
    """Whether one letter is missing, too many or another, or two neighbours stand the wrong way round."""
    start = _alike(typed, meant)
    typed, meant = typed[start:], meant[start:]
    end = _alike(typed[::-1], meant[::-1])
    typed, meant = typed[: len(typed) - end], meant[: len(meant) - end]
    return max(len(typed), len(meant)) <= 1 or (len(typed) == 2 and typed == meant[::-1])


def _alike(one: str, other: str) -> int:
    """How many letters both begin with."""
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _parser(command: str) -> _Parser:
    if not command:
        return _main_parser()
    parser = _Parser(f"deeptide {command}", f"{COMMANDS[command]}.")
    match command:
        case "exec":
            _prompt(parser, "what to do; `-` is what standard input holds, and so is giving nothing")
            _session_flags(parser)
        case "demo":
            _resume_flags(parser)
        case "login" | "logout":
            parser.add_argument("--base-url", type=_url, metavar="URL", help="the endpoint the key is for")
        case "sessions":
            _sessions(parser)
        case "config":
            _config(parser)
    return parser


def _main_parser() -> _Parser:
    lines = "\n".join(f"  {name:<10} {text}" for name, text in COMMANDS.items())
    parser = _Parser(
        "deeptide",
        "A terminal coding agent for DeepSeek.",
        f"commands:\n{lines}\n\n`deeptide COMMAND --help` says more. Files and settings: `deeptide doctor`.",
    )
    _prompt(parser, "the first message of the session")
    parser.add_argument("-V", "--version", action="store_true", help="print the version and exit")
    parser.add_argument("-p", "--print", dest="print_mode", action="store_true", help="the same as `exec`")
    _session_flags(parser)
    return parser


def _prompt(parser: _Parser, text: str) -> None:
    parser.add_argument("prompt", nargs="*", help=text)


def _session_flags(parser: _Parser) -> None:
    add = parser.add_argument
    _resume_flags(parser)
    add("--model", "-m", metavar="NAME", help="model id or alias")
    add("--effort", choices=EFFORTS, help="how much the model thinks")
    add("--mode", choices=MODES, help="what may run without asking")
    add("--yolo", action="store_true", help="the same as --mode yolo: nothing is asked")
    add("--base-url", type=_url, metavar="URL", help="any OpenAI-compatible endpoint")
    add("--trust", action="store_true", help="trust this folder: its settings and instructions apply")
    add("--cwd", "-C", metavar="DIR", help="work in this folder")
    add("--max-turns", type=_count, metavar="N", help="most requests to the model in one turn")
    add("--max-cost", type=_amount, metavar="AMOUNT", help="most money this run may cost")
    add("--output", "-o", choices=OUTPUTS, help="form of `exec`'s output (default text)")
    add("--json", dest="output", action="store_const", const="json", help="the same as --output json")


def _resume_flags(parser: _Parser) -> None:
    add = parser.add_argument
    add(
        "--resume",
        "-r",
        nargs="?",
        const="",
        metavar="ID",
        help="go on with a session: id, start of one, latest",
    )
    add(
        "--continue",
        "-c",
        dest="go_on",
        action="store_true",
        help="go on with the latest session of this folder",
    )


def _sessions(parser: _Parser) -> None:
    parser.add_argument("action", nargs="?", choices=("list", "delete"), default="list", help="default: list")
    parser.add_argument("selector", nargs="?", default="", help="with delete: id, start of one, or latest")
    parser.add_argument("--all", action="store_true", dest="everywhere", help="of all folders")
    parser.add_argument("--json", dest="output", action="store_const", const="json", help="one JSON array")
    parser.add_argument("--yes", "-y", action="store_true", help="do not ask")
    parser.add_argument("--cwd", "-C", metavar="DIR", help="of this folder")


def _config(parser: _Parser) -> None:
    parser.add_argument("action", nargs="?", choices=("show", "get", "set", "path"), default="show")
    parser.add_argument("key", nargs="?", default="", help="for example context.soft_limit")
    parser.add_argument("value", nargs="?", default=None)
    parser.add_argument("--example", action="store_true", help="print a settings file with every default")
    parser.add_argument("--cwd", "-C", metavar="DIR", help="as seen from this folder")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def _amount(text: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        amount = math.nan
    if not 0 < amount < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not an amount above 0, like 0.50")
    return amount


def _url(text: str) -> str:
    if not text.startswith(("http://", "https://")) or len(text) < 9:
        raise argparse.ArgumentTypeError(f"{text!r} does not start with http:// or https://")
    return text
