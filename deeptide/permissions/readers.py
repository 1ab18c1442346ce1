"""The commands that only read, each with the options that would make it do more.

Invariant: a command is free only if its name is here and every option of it was thought of; a new option of a
new version is at worst asked about.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from deeptide.permissions.evaluation import LOADED_VARIABLES, NAME, odd_test
from deeptide.permissions.finding import Find
from deeptide.permissions.git_words import git_reads
from deeptide.permissions.segments import Segment, names
from deeptide.permissions.words import Arg, plain

# Neither an option nor an operand of these writes, runs or sends anything.
_FREE = names(
    """
    cat head tail wc ls pwd echo true false basename dirname realpath readlink stat cut tr nl
    tac rev paste join comm fold expand unexpand fmt column cmp diff md5sum sha1sum sha224sum sha256sum
    sha384sum sha512sum b2sum cksum sum du df which whereis type id whoami groups uname nproc arch uptime free
    seq sleep od hexdump strings zcat bzcat xzcat zstdcat grep egrep fgrep zgrep bzgrep xzgrep lsof lsblk
    lscpu locale getconf tty cd pushd popd chdir dirs shift return exit break
    continue jobs umask times : disown colrm look tsort
    numfmt factor pathchk sw_vers vm_stat cal
    """
)
# Letters of short options and beginnings of long options that make a reader do more.
_VETTED: dict[str, tuple[str, tuple[str, ...]]] = {
    "sort": ("oT", ("--output", "--compress-program", "--temporary-directory", "--files0-from")),
    "tree": ("oR", ("--output",)),
    "rg": ("z", ("--pre", "--search-zip", "--hostname-bin")),
    "ag": ("z", ("--pager", "--search-zip")),
    "file": ("C", ("--compile",)),
    "date": ("s", ("--set",)),
    "base64": ("o", ("--output",)),
    "xxd": ("r", ("--revert", "-revert")),
    "yq": ("is", ("--inplace", "--split-exp")),
    "jq": ("fL", ("--from-file", "--library-path")),
    "fd": ("xX", ("--exec", "--exec-batch")),
    "fdfind": ("xX", ("--exec", "--exec-batch")),
    "tokei": ("", ()),
    "cloc": ("", ("--exec", "--out", "--report-file", "--diff", "--extract-with", "--config")),
    "csplit": ("", ()),
    "nm": ("", ("--plugin",)),
    "objdump": ("", ()),
    "readelf": ("", ()),
    "ldd": ("", ()),
    "pgrep": ("", ()),
}
_NEVER_FREE = frozenset({"csplit", "ldd"})
_ANSWER_FILES = frozenset({"nm", "objdump", "readelf"})
_SCRIPTED = names("sed awk gawk mawk nawk jq yq")
_ONE_OPERAND = {"xxd", "hostname"}
_VERSION = frozenset({"--version", "-V", "-v", "version", "-version"})
_VERSIONED = names(
    """
    python python3 node npm bun deno ruby perl php java javac go rustup gcc g++
    clang make cmake ninja docker kubectl helm terraform aws gcloud gh pip pip3 uv poetry ruff mypy
    black tsc eslint jq rg fd tar curl wget bash zsh sh vim nvim emacs code sqlite3 psql mysql redis-cli
    ffmpeg convert dotnet swift tmux
    """
)
_LISTS: dict[str, frozenset[str]] = {
    "pip": frozenset({"list", "show", "freeze", "check"}),
    "pip3": frozenset({"list", "show", "freeze", "check"}),
    "npm": frozenset({"ls", "list", "prefix", "root"}),
    "go": frozenset({"version"}),
    "rustup": frozenset({"show"}),
    "brew": frozenset({"list", "--prefix"}),
    "conda": frozenset({"list"}),
}
_LIST_OPTIONS = re.compile(
    r"-[alfvgm1]|--(format(=\w+)?|json|freeze|columns|user|local|not-required|depth(=\d+)?|all|long|parseable|verbose"
    r"|files|global|versions)"
)
_SED_SCRIPT = re.compile(r"(\d+|\$)?(,(\d+|\$|\+\d+))?p(;(\d+|\$)?(,(\d+|\$|\+\d+))?p)*\Z")
_AWK_ACTS = re.compile(r"system|getline|[|>@]|ENVIRON|close|fflush|PROCINFO|extension")


def reads_only(segment: Segment, inside: bool) -> bool:
    """Whether `segment` does nothing but read. `inside`: it runs in the workspace."""
    name = segment.name
    if not name:
        return not segment.args
    if segment.args[0].text not in {name, f"/bin/{name}", f"/usr/bin/{name}"}:
        return False
    if name in _VERSIONED and len(segment.rest) == 1 and segment.texts[0] in _VERSION:
        return True
    if name in _FREE:
        return True
    builtin = _BUILTINS.get(name)
    if builtin is not None:
        return builtin(segment)
    if any(arg.leads or (arg.dynamic and arg.text.startswith("-")) for arg in segment.rest):
        return False
    if name in _SCRIPTED and any(arg.dynamic for arg in segment.rest):
        return False
    special = _SPECIAL.get(name)
    if special is not None:
        return special(segment)
    if name == "git":
        return inside and git_reads(segment.texts)
    if name in _LISTS:
        fine = all(_LIST_OPTIONS.fullmatch(text) for text in segment.texts[1:] if text.startswith("-"))
        return bool(segment.rest) and segment.texts[0] in _LISTS[name] and fine
    return name in _VETTED and name not in _NEVER_FREE and _options_are_fine(segment, *_VETTED[name])


def _options_are_fine(segment: Segment, letters: str, longs: tuple[str, ...]) -> bool:
    for text in segment.texts:
        if text == "--":
            break
        if text.startswith("--"):
            option = text.partition("=")[0]
            if any(long.startswith(option) or option == long for long in longs):
                return False
        elif text.startswith("-") and (any(letter in text[1:] for letter in letters) or text in longs):
            return False
    operands = [text for text in segment.texts if not text.startswith("-")]
    if segment.name in _ANSWER_FILES and any(text.startswith("@") for text in segment.texts):
        return False
    return not (segment.name in _ONE_OPERAND and len(operands) > 1)


def _sed(segment: Segment) -> bool:
    texts = [text for text in segment.texts if text not in {"-n", "-E", "-r", "-nE", "--quiet", "--silent"}]
    if len(texts) == len(segment.texts) or not texts:
        return False
    if texts[0] == "-e":
        texts = texts[1:]
    return bool(texts) and bool(_SED_SCRIPT.match(texts[0])) and not any(t.startswith("-") for t in texts[1:])


def _awk(segment: Segment) -> bool:
    texts = list(segment.texts)
    while texts and texts[0].startswith("-"):
        option = texts.pop(0)
        if option in {"-F", "-v"} and texts:
            texts.pop(0)
        elif not option.startswith(("-F", "-v")):
            return False
    return bool(texts) and not _AWK_ACTS.search(texts[0]) and not any(t.startswith("-") for t in texts[1:])


def _uniq(segment: Segment) -> bool:
    operands = 0
    texts = list(segment.texts)
    while texts:
        text = texts.pop(0)
        if text in {"-f", "-s", "-w"} and texts:
            texts.pop(0)
        elif not text.startswith("-"):
            operands += 1
    return operands <= 1


def _find(segment: Segment) -> bool:
    find = Find.of(segment)
    return find is not None and not (find.deletes or find.writes or "-fls" in segment.texts)


def _tar(segment: Segment) -> bool:
    texts = segment.texts
    options = [text for text in texts[1:] if text.startswith("-")]
    plain_options = all(
        re.fullmatch(r"-[vzjJf]+|--(verbose|wildcards|exclude=.*|file=[^:]*)", o) for o in options
    )
    return _tar_lists(texts) and plain_options and not any(":" in text for text in texts)


def _tar_lists(texts: tuple[str, ...]) -> bool:
    return bool(texts) and re.fullmatch(r"-?[vzjJf]*t[vzjJf]*|--list", texts[0]) is not None


def _ps(segment: Segment) -> bool:
    """The BSD option `e` shows environments."""
    return not any("e" in text for text in segment.texts if not text.startswith("-") and text.isalpha())


def _hostname(segment: Segment) -> bool:
    return not segment.rest or set(segment.texts) <= {"-f", "-s", "-i", "-I", "-d"}


def _unzip(segment: Segment) -> bool:
    return bool(segment.rest) and segment.texts[0] in {"-l", "-v", "-Z", "-t"}


def _command(segment: Segment) -> bool:
    return bool(segment.rest) and segment.texts[0] in {"-v", "-V"}


def _assigns_plainly(segment: Segment) -> bool:
    """`local`, `declare` and their kin: plain names and assignments, and no attribute that evaluates."""
    options = [text for text in segment.texts if text.startswith("-")]
    names_ = [arg for arg in segment.rest if not arg.text.startswith("-")]
    return all(re.fullmatch(r"-[rgaAlux]+", text) for text in options) and all(
        _plain_name(arg) for arg in names_
    )


def _export(segment: Segment) -> bool:
    """What is handed to programs is judged as a variable before a program is."""
    return all(_plain_name(arg) for arg in segment.rest)


def _plain_name(arg: Arg) -> bool:
    known = not arg.dynamic and NAME.match(arg.text) is not None
    return known and LOADED_VARIABLES.fullmatch(arg.text) is None


def _read(segment: Segment) -> bool:
    options: list[str] = []
    operands: list[Arg] = []
    waiting = list(segment.rest)
    while waiting:
        arg = waiting.pop(0)
        if arg.dynamic:
            return False
        if arg.text.startswith("-") and not operands:
            options.append(arg.text)
            if re.fullmatch(r"-[rs]*[pndtu]", arg.text) and waiting:
                waiting.pop(0)
        else:
            operands.append(arg)
    fine = all(re.fullmatch(r"-[rsa]+|-[rs]*[pndtu].*", text, re.DOTALL) for text in options)
    return fine and all(_plain_name(arg) for arg in operands)


def _mapfile(segment: Segment) -> bool:
    return all(arg.text in {"-t", "-d", "", "\0"} or _plain_name(arg) for arg in segment.rest)


def _unset(segment: Segment) -> bool:
    return all(arg.text == "-v" or _plain_name(arg) for arg in segment.rest)


def _printf(segment: Segment) -> bool:
    first = segment.rest[0] if segment.rest else None
    return first is None or (first.known and not any(value.startswith("-v") for value in first.values))


def _test(segment: Segment) -> bool:
    if any(plain(value) in {"-v", "-R"} for arg in segment.rest if arg.dynamic for value in arg.values):
        return False
    return not odd_test(arg.raw for arg in segment.rest if arg.text != "]")


def _set(segment: Segment) -> bool:
    return all(
        re.fullmatch(r"[-+][euxvfnC]*o?|pipefail|errexit|nounset|xtrace|noglob", t) for t in segment.texts
    )


def _shopt(segment: Segment) -> bool:
    return all(
        re.fullmatch(r"-[supq]|nullglob|globstar|failglob|nocaseglob|nocasematch", t) for t in segment.texts
    )


def _hash(segment: Segment) -> bool:
    return segment.texts in {(), ("-r",)}


def _wait(segment: Segment) -> bool:
    return all(
        re.fullmatch(r"-n|-f|%?\d+", text) or arg.raw in {"$!", "$$"}
        for text, arg in zip(segment.texts, segment.rest, strict=True)
    )


def _yq(segment: Segment) -> bool:
    return _options_are_fine(segment, *_VETTED["yq"]) and not any(
        re.search(r"load|env|eval|file|system", text) for text in segment.texts
    )


def _jq(segment: Segment) -> bool:
    return _options_are_fine(segment, *_VETTED["jq"]) and not any(
        re.search(r"\benv\b|\$ENV|\$__|\b(input_filename|include|import)\b", text) for text in segment.texts
    )


def _date(segment: Segment) -> bool:
    """An operand without + sets the clock."""
    operands = [text for text in segment.texts if not text.startswith(("-", "+"))]
    valued = any(text in {"-d", "-r", "-f", "--date", "-I", "-j"} for text in segment.texts)
    return _options_are_fine(segment, *_VETTED["date"]) and (not operands or valued)


_BUILTINS: dict[str, Callable[[Segment], bool]] = {
    **dict.fromkeys(("local", "declare", "typeset", "readonly"), _assigns_plainly),
    "export": _export,
    "read": _read,
    "mapfile": _mapfile,
    "readarray": _mapfile,
    "unset": _unset,
    "printf": _printf,
    "test": _test,
    "[": _test,
    "set": _set,
    "shopt": _shopt,
    "hash": _hash,
    "wait": _wait,
}
_SPECIAL: dict[str, Callable[[Segment], bool]] = {
    "sed": _sed,
    "awk": _awk,
    "gawk": _awk,
    "mawk": _awk,
    "nawk": _awk,
    "uniq": _uniq,
    "find": _find,
    "gfind": _find,
    "tar": _tar,
    "ps": _ps,
    "hostname": _hostname,
    "unzip": _unzip,
    "command": _command,
    "jq": _jq,
    "yq": _yq,
    "date": _date,
}
