"""Programs that run other programs: what they would run.

Invariant: a wrapper is only taken off, never believed; whatever stands inside is judged as if it stood alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

import msgspec

from deeptide.permissions.segments import names
from deeptide.permissions.words import Arg

SHELLS = names("sh bash dash zsh ksh mksh ash fish csh tcsh rbash")

# Options that take a value in the next word, by wrapper; then how many operands stand before the program.
_WRAPPERS: dict[str, tuple[str, int]] = {
    "sudo": ("-u -g -h -p -C -r -t -T -D -R -U --user --group --host --prompt --chdir --chroot", 0),
    "doas": ("-u -C", 0),
    "pkexec": ("--user", 0),
    "env": ("-u -C --unset --chdir", 0),
    "nohup": ("", 0),
    "setsid": ("", 0),
    "command": ("", 0),
    "builtin": ("", 0),
    "exec": ("-a", 0),
    "coproc": ("", 0),
    "noglob": ("", 0),
    "nice": ("-n --adjustment", 0),
    "ionice": ("-c -n -p --class --classdata", 0),
    "chrt": ("-T -P -D", 1),
    "taskset": ("", 1),
    "time": ("-f -o --format --output", 0),
    "timeout": ("-k -s --kill-after --signal", 1),
    "gtimeout": ("-k -s --kill-after --signal", 1),
    "stdbuf": ("-i -o -e --input --output --error", 0),
    "unbuffer": ("", 0),
    "caffeinate": ("-t -w", 0),
    "xargs": (
        "-I -i -L -n -P -s -d -E -a --max-args --max-procs --delimiter --replace --arg-file --max-lines",
        0,
    ),
    "parallel": ("-j --jobs -I -N -n -S --sshlogin", 0),
    "strace": ("-o -e -p -s -u", 0),
    "ltrace": ("-o -e -p -s -u", 0),
    "busybox": ("", 0),
    "toybox": ("", 0),
    "chroot": ("", 1),
    "unshare": ("-R -w -S -G", 0),
    "nsenter": ("-t -S -G", 0),
    "systemd-run": ("-p --unit --property -u", 0),
    "firejail": ("", 0),
    "npx": ("-p --package", 0),
    "bunx": ("", 0),
    "pnpx": ("", 0),
    "uvx": ("--from --with --python", 0),
    "dbus-run-session": ("", 0),
    "xvfb-run": ("-n -s -e -f -w", 0),
}
ELEVATING = names("sudo doas pkexec su runuser chroot nsenter unshare systemd-run")
_RUNNERS: dict[str, frozenset[str]] = {
    "uv": frozenset({"run"}),
    "poetry": frozenset({"run"}),
    "pdm": frozenset({"run"}),
    "pipenv": frozenset({"run"}),
    "pipx": frozenset({"run"}),
    "hatch": frozenset({"run"}),
    "rye": frozenset({"run"}),
    "conda": frozenset({"run"}),
    "bundle": frozenset({"exec"}),
    "mise": frozenset({"exec", "x"}),
    "asdf": frozenset({"exec"}),
    "npm": frozenset({"exec", "x"}),
    "pnpm": frozenset({"exec", "dlx"}),
    "yarn": frozenset({"exec", "dlx"}),
}
FEEDING = frozenset({"xargs", "parallel"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")


class Inner(msgspec.Struct, frozen=True):
    """What a wrapper runs: `args` as a command, or `text` as a shell line. `moved`: in another folder."""

    args: tuple[Arg, ...] = ()
    text: Arg | None = None
    assigns: tuple[tuple[str, Arg], ...] = ()
    moved: Arg | None = None


def unwrap(name: str, args: tuple[Arg, ...]) -> Inner | None:
    """What the wrapper `name` with the arguments `args` (without its name) runs; None if it is no wrapper or
    runs nothing (`command -v x`, `env` alone)."""
    if name in SHELLS:
        return _shell_text(args)
    if name in {"eval", "watch", "su", "runuser", "script", "flock"}:
        return _text_wrapper(name, args)
    if name in _RUNNERS:
        return _runner(name, args)
    if name not in _WRAPPERS or (name == "command" and args and args[0].text in {"-v", "-V"}):
        return None
    valued, operands = _WRAPPERS[name]
    index, moved = _skip_options(args, frozenset(valued.split()))
    if name in {"env", "command"} or name in ELEVATING:
        split = next((arg for arg in args[:index] if arg.text in {"-S", "--split-string"}), None)
        if split is not None and index < len(args):
            return Inner(text=args[index])
        glued = next(
            (a for a in args[:index] if a.text.startswith(("-S", "--split-string=")) and len(a.text) > 2),
            None,
        )
        if glued is not None and name == "env":
            return Inner(text=Arg.literal(re.sub("^(-S|--split-string=)", "", glued.text)))
    slots = {"{}"} if name in FEEDING else set()
    if name == "xargs":
        slots |= {text[2:] for arg in args[:index] if (text := arg.text).startswith("-I") and len(text) > 2}
        slots |= {after.text for before, after in pairwise(args[:index]) if before.text in {"-I", "-J"}}
    index, before = _skip_assignments(args, index)
    index, after = _skip_assignments(args, index + operands)
    if index >= len(args):
        return None
    return Inner(
        args=tuple(emptied(arg, slots) for arg in args[index:]), assigns=(*before, *after), moved=moved
    )


def _skip_assignments(args: tuple[Arg, ...], index: int) -> tuple[int, list[tuple[str, Arg]]]:
    """`NAME=value` words before the program; taken as such for every wrapper, though only some read them so."""
    found = []
    while index < len(args) and _ASSIGNMENT.match(args[index].text):
        variable, _, value = args[index].text.partition("=")
        found.append((variable.rstrip("+"), Arg.literal(value)))
        index += 1
    return index, found


def _runner(name: str, args: tuple[Arg, ...]) -> Inner | None:
    """`uv run [options] PROGRAM …` and its kin."""
    if not args or args[0].text not in _RUNNERS[name]:
        return None
    index, _ = _skip_options(args[1:], frozenset({"-p", "-n", "--with", "--group", "--extra", "--python"}))
    return Inner(args=args[1 + index :]) if args[1 + index :] else None


def _skip_options(args: tuple[Arg, ...], valued: frozenset[str]) -> tuple[int, Arg | None]:
    index, moved = 0, None
    while index < len(args) and args[index].text.startswith("-") and not args[index].leads:
        option = args[index].text
        index += 1
        if option == "--":
            break
        if option in valued and index < len(args):
            if option in {"-C", "-D", "--chdir"}:
                moved = args[index]
            index += 1
        elif option.startswith("--chdir="):
            moved = Arg.literal(option.partition("=")[2])
    return index, moved


def _shell_text(args: tuple[Arg, ...]) -> Inner | None:
    """`-c TEXT`, also as `-lc` or `-o pipefail -ec`."""
    index = 0
    while index < len(args) and args[index].text[:1] in {"-", "+"}:
        option = args[index].text
        index += 1
        if not option.startswith("--") and "c" in option[1:]:
            while index < len(args) and args[index].text[:1] in {"-", "+"}:
                index += 2 if args[index].text in {"-o", "+o", "-O", "+O"} else 1
            return Inner(text=args[index]) if index < len(args) else None
        if option in {"-o", "+o", "-O", "+O", "--rcfile", "--init-file"}:
            index += 1
    return None


def _text_wrapper(name: str, args: tuple[Arg, ...]) -> Inner | None:
    if name in {"eval", "watch"}:
        index, _ = _skip_options(args, frozenset({"-n", "--interval"}))
        return Inner(text=joined(args[index:])) if args[index:] else None
    for index, arg in enumerate(args[:-1]):
        if arg.text in {"-c", "--command"}:
            return Inner(text=args[index + 1])
    if name == "flock":
        index, _ = _skip_options(args, frozenset({"-w", "-E", "--timeout"}))
        return Inner(args=args[index + 1 :]) if args[index + 1 :] else None
    return None


def emptied(arg: Arg, slots: Iterable[str]) -> Arg:
    """`arg` with the places that get filled later (`{}`) as unknown, which means empty."""
    for slot in slots:
        if slot and slot in arg.text:
            values = tuple(dict.fromkeys(value.replace(slot, "") for value in arg.values))
            arg = Arg(
                arg.raw, arg.text.replace(slot, ""), values, True, arg.leads or arg.text.startswith(slot)
            )
    return arg


def joined(args: tuple[Arg, ...]) -> Arg:
    """Several words as the one line that eval reads."""
    text = " ".join(arg.text for arg in args)
    return Arg(text, text, (text,), any(arg.dynamic for arg in args), bool(args) and args[0].leads)
