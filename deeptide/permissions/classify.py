"""The verdict on a whole shell line.

Invariant: the worst of every command, redirect, variable and unexplained part in it; wrapping a command in
another never makes it milder.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec

from deeptide.permissions.disclosure import Disclosure
from deeptide.permissions.evaluation import LOADED_VARIABLES
from deeptide.permissions.git_words import visits_files
from deeptide.permissions.levels import FINE, Level, Ruling, worst
from deeptide.permissions.places import Places
from deeptide.permissions.programs import Programs
from deeptide.permissions.readers import reads_only
from deeptide.permissions.segments import Redirect, Segment, names
from deeptide.permissions.shell_words import segments
from deeptide.permissions.wrappers import ELEVATING, SHELLS, unwrap
from deeptide.protocol.text import has_hidden, scrub
from deeptide.workspace.git_config import has_submodules, named_program

_CALM_VARIABLES = re.compile(
    r"LC_\w+|LANG|LANGUAGE|TZ|NO_COLOR|FORCE_COLOR|CLICOLOR|COLUMNS|LINES|TERM|CI|DEBUG|NODE_ENV|RUST_(BACKTRACE|LOG)"
    r"|PYTHON(UNBUFFERED|DONTWRITEBYTECODE|IOENCODING|UTF8|WARNINGS|HASHSEED)|GIT_(PAGER|TERMINAL_PROMPT)|PAGER"
)
_SHELL_OPTION = re.compile(r"-[ceuxlofn]+|--|--(norc|noprofile|posix|login)")
_FREE_WRAPPERS = names(
    "command builtin exec time nohup env nice ionice timeout gtimeout stdbuf setsid xargs noglob"
)
# Options of these that change how the program runs but nothing else; a value may be glued to the last letter.
_WRAPPER_OPTIONS = re.compile(
    r"-|--|-[0-9]+|-[pvirkswnftT0cI](\S*)|-[oe][L0-9]\w*|-[LPdEu]\S*|--(preserve-status|foreground|verbose|null"
    r"|no-run-if-empty|signal(=\S*)?|kill-after(=\S*)?|adjustment(=\S*)?|max-args(=\S*)?|max-procs(=\S*)?"
    r"|max-lines(=\S*)?|delimiter(=\S*)?|replace(=\S*)?|format(=\S*)?|portability|output=[L0-9]\w*"
    r"|error=[L0-9]\w*|input=[L0-9]\w*|ignore-environment)"
)


class Ruled(msgspec.Struct, frozen=True):
    """A part of the line and its ruling; `segment` is None for a part that no rule can name."""

    segment: Segment | None
    ruling: Ruling


class Classifier:
    def __init__(self, places: Places) -> None:
        self._places = places
        self._disclosure = Disclosure(places)

    def line(self, command: str, cwd: str = "") -> tuple[Ruled, ...]:
        """Every part of `command`, started in `cwd` (default: the workspace), with its ruling."""
        start = cwd or self._places.roots[0]
        analysis = segments(scrub(command).replace("\0", ""), cwd=start, home=self._places.home)
        ruled: list[Ruled] = []
        if has_hidden(command):
            ruled.append(_apart("hidden characters", "It holds characters that are not shown."))
        ruled.extend(_apart("not understood", f"In this line {problem}.") for problem in analysis.problems)
        ruled.extend(
            Ruled(None, Ruling(Level.ASK, "evaluation", f"In this line {doubt}.", clearable=False))
            for doubt in analysis.doubts
        )
        if analysis.bombs:
            bomb = Ruling(Level.REFUSE, "fork bomb", "It starts itself without end.", clearable=False)
            ruled.append(Ruled(None, bomb))
        programs = Programs(self._places, lambda text: self.level(text, start))
        for segment in analysis.segments:
            ruled.append(Ruled(segment, self._command(segment, programs)))
            ruled.extend(Ruled(None, self._redirect(redirect, segment)) for redirect in segment.redirects)
            ruled.extend(Ruled(None, ruling) for ruling in self._assigns(segment))
        return tuple(ruled)

    def level(self, command: str, cwd: str = "") -> Level:
        """The worst ruling on `command`."""
        return worst(part.ruling for part in self.line(command, cwd)).level

    def _command(self, segment: Segment, programs: Programs) -> Ruling:
        if not segment.args:
            return FINE
        name = segment.name
        if segment.args[0].dynamic or not name:
            return Ruling(
                Level.STRONG, "unknown program", "Which program runs is not known.", clearable=False
            )
        if segment.called:
            return FINE
        if name in {"source", "."} and any(arg.dynamic for arg in segment.rest):
            return Ruling(Level.STRONG, "shell", "A shell runs a script that is not known.", clearable=False)
        return worst(
            (self._disclosure.segment(segment), self._wrapper(segment) or self._plain(segment, programs))
        )

    def _plain(self, segment: Segment, programs: Programs) -> Ruling:
        inside = all(self._places.inside(cwd) for cwd in segment.cwds)
        if reads_only(segment, inside):
            git = self._named_programs(segment) if segment.name == "git" else FINE
            return worst((git, self._disclosure.reader(segment)))
        return programs.judge(segment)

    def _named_programs(self, segment: Segment) -> Ruling:
        """Reading with git runs what the repository's own settings name as filter, monitor or viewer."""
        deep = visits_files(segment.texts)
        for cwd in segment.cwds:
            program = named_program(Path(cwd))
            if not program and deep and has_submodules(Path(cwd)):
                program = "those of its submodules"
            if program:
                reason = f"The repository's own settings ({program}) may make git run a program."
                return Ruling(Level.ASK, "git settings", reason, clearable=False)
        return FINE

    def _wrapper(self, segment: Segment) -> Ruling | None:
        """The ruling on the wrapper alone; what it runs is a segment of its own."""
        name = segment.name
        if name in SHELLS:
            return self._shell(segment)
        inner = unwrap(name, segment.rest)
        if name == "alias" and any("=" in text for text in segment.texts):
            return Ruling(Level.STRONG, name, "A word of it stands for other words.", clearable=False)
        if name in {"alias", "trap", "eval"}:
            return Ruling(Level.ASK, name, "It makes text into a command.")
        if inner is None and name in {"command", "exec", "time", "nohup"} and not segment.rest:
            return FINE
        if inner is None or name in ELEVATING:
            return None
        if name in {"strace", "ltrace", "script", "parallel", "firejail", "nsenter"}:
            return Ruling(Level.ASK, name, f"{name} writes or connects besides.")
        if name not in _FREE_WRAPPERS:
            return Ruling(
                Level.ASK, name, "It may install, write or change things before it runs the program."
            )
        if inner.moved is not None and not inner.moved.known:
            return Ruling(Level.ASK, name, "The folder it runs in is not known.", clearable=False)
        given = segment.rest[: len(segment.rest) - len(inner.args)] if inner.args else segment.rest
        odd = [arg for arg in given if arg.text.startswith("-") and not _WRAPPER_OPTIONS.fullmatch(arg.text)]
        if name in {"time", "xargs"}:
            odd += [arg for arg in given if re.match(r"-[oa]|--(o|arg-file|process)", arg.text)]
        if odd or (inner.args and any(arg.leads for arg in given)):
            return Ruling(Level.ASK, name, "An option of it may write or change things.", clearable=False)
        if name == "env" and any(text.startswith(("-u", "--unset")) for text in segment.texts):
            return Ruling(Level.ASK, name, "It takes a variable away from the program.", clearable=False)
        return FINE

    def _shell(self, segment: Segment) -> Ruling:
        inner = unwrap(segment.name, segment.rest)
        options = [text for text in segment.texts if text.startswith("-")]
        if inner is not None and not all(_SHELL_OPTION.fullmatch(text) for text in options[:3]):
            return Ruling(
                Level.ASK, "shell", "An option of it reads a start-up file or changes how it reads the line."
            )
        if inner is not None or (segment.stdin is not None and not segment.rest and not segment.piped):
            return FINE
        script = next((arg for arg in segment.rest if not arg.text.startswith("-") or arg.leads), None)
        reads_stdin = any(re.match(r"-\w*s", text) for text in segment.texts)
        if script is None or reads_stdin:
            if segment.rest and set(segment.texts) <= {"--version", "--help"}:
                return FINE
            return Ruling(Level.STRONG, "shell", "A shell runs whatever it is given.", clearable=False)
        if script.dynamic:
            return Ruling(Level.STRONG, "shell", "A shell runs a script that is not known.", clearable=False)
        target = os.path.normpath(os.path.join(segment.cwds[0], script.text))
        if self._places.inside(target):
            return Ruling(Level.SANDBOXED, "shell script", "It runs a script of the project.")
        return Ruling(Level.ASK, "shell script", f"It runs {script.text}.")

    def _redirect(self, redirect: Redirect, segment: Segment) -> Ruling:
        target = redirect.target
        if redirect.operator.endswith("&") and re.fullmatch(r"\d+|-|\d+-", target.text):
            return FINE
        if not redirect.writes:
            if target.text.startswith(("/dev/tcp/", "/dev/udp/")):
                return self._places.write(target, segment.cwds)
            return self._disclosure.redirect(redirect, segment)
        ruling = self._places.write(target, segment.cwds)
        empties = (not segment.args and not segment.piped) or segment.name in {":", "true"}
        if empties and ruling.level is Level.SANDBOXED and redirect.operator in {">", ">|", "&>"}:
            return Ruling(Level.ASK, "redirect", f"It empties {target.text}.", clearable=False)
        if ruling.level is Level.SANDBOXED:
            return Ruling(Level.SANDBOXED, "redirect", f"It writes {target.text}.", clearable=False)
        return ruling

    def _assigns(self, segment: Segment) -> list[Ruling]:
        found = []
        for name, value in segment.assigns:
            if _CALM_VARIABLES.fullmatch(name) and not ("PAGER" in name and value.text not in {"cat", ""}):
                continue
            passed_on = bool(segment.args) and segment.name not in {"local", "declare", "readonly", "typeset"}
            if LOADED_VARIABLES.fullmatch(name) or passed_on:
                reason = f"{name} can change what a program does."
                found.append(Ruling(Level.ASK, "variable", reason, clearable=False))
        return found


def _apart(rule: str, reason: str) -> Ruled:
    return Ruled(None, Ruling(Level.STRONG, rule, reason, clearable=False))
