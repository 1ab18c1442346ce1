"""The verdict on a whole shell line.

Invariant: the worst of every command, redirect, variable and unexplained part in it; wrapping a command in
another never makes it milder.
"""

from __future__ import annotations

import os
import re

import msgspec

from deeptide.permissions.levels import FINE, Level, Ruling, worst
from deeptide.permissions.places import Places
from deeptide.permissions.programs import Programs
from deeptide.permissions.readers import reads_only
from deeptide.permissions.secrets import SECRET_VARIABLE
from deeptide.permissions.segments import Redirect, Segment, names
from deeptide.permissions.shell_words import segments
from deeptide.permissions.wrappers import ELEVATING, SHELLS, unwrap
from deeptide.protocol.text import has_hidden, scrub

_CALM_VARIABLES = re.compile(
    r"LC_\w+|LANG|LANGUAGE|TZ|NO_COLOR|FORCE_COLOR|CLICOLOR|COLUMNS|LINES|TERM|CI|DEBUG|NODE_ENV|RUST_(BACKTRACE|LOG)"
    r"|PYTHON(UNBUFFERED|DONTWRITEBYTECODE|IOENCODING|UTF8|WARNINGS|HASHSEED)|GIT_(PAGER|TERMINAL_PROMPT)|PAGER"
)
_LOADED_VARIABLES = re.compile(
    r"PATH|LD_\w+|DYLD_\w+|IFS|BASH_ENV|ENV|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|CDPATH|PS4|\w*PAGER|\w*EDITOR|VISUAL"
    r"|GIT_\w+|PYTHON(PATH|STARTUP|HOME)|NODE_OPTIONS|PERL5(LIB|OPT)|RUBY(LIB|OPT)|JAVA_TOOL_OPTIONS|HOME|GOFLAGS"
)
_SHOWS_ENVIRONMENT = names("env printenv set export declare typeset")
_CONTENT_FREE = names(
    "rm mv cp touch mkdir ls stat find test [ chmod git echo printf cd rmdir ln unlink file basename"
)


class Ruled(msgspec.Struct, frozen=True):
    """A part of the line and its ruling; `segment` is None for a part that no rule can name."""

    segment: Segment | None
    ruling: Ruling


class Classifier:
    def __init__(self, places: Places) -> None:
        self._places = places

    def line(self, command: str, cwd: str = "") -> tuple[Ruled, ...]:
        """Every part of `command`, started in `cwd` (default: the workspace), with its ruling."""
        start = cwd or self._places.roots[0]
        analysis = segments(scrub(command).replace("\0", ""), cwd=start, home=self._places.home)
        ruled: list[Ruled] = []
        if has_hidden(command):
            ruled.append(_apart("hidden characters", "It holds characters that are not shown."))
        ruled.extend(_apart("not understood", f"In this line {problem}.") for problem in analysis.problems)
        if analysis.bombs:
            bomb = Ruling(Level.REFUSE, "fork bomb", "It starts itself without end.", clearable=False)
            ruled.append(Ruled(None, bomb))
        programs = Programs(self._places, lambda text: self.level(text, start))
        functions = frozenset(analysis.functions)
        for segment in analysis.segments:
            ruled.append(Ruled(segment, self._command(segment, programs, functions)))
            ruled.extend(Ruled(None, self._redirect(redirect, segment)) for redirect in segment.redirects)
            ruled.extend(Ruled(None, ruling) for ruling in self._assigns(segment))
        return tuple(ruled)

    def level(self, command: str, cwd: str = "") -> Level:
        """The worst ruling on `command`."""
        return worst(part.ruling for part in self.line(command, cwd)).level

    def _command(self, segment: Segment, programs: Programs, functions: frozenset[str]) -> Ruling:
        if not segment.args:
            return FINE
        name = segment.name
        if segment.args[0].dynamic or not name:
            return Ruling(
                Level.STRONG, "unknown program", "Which program runs is not known.", clearable=False
            )
        if name in functions:
            return FINE
        if name in {"source", "."} and any(arg.dynamic for arg in segment.rest):
            return Ruling(Level.STRONG, "shell", "A shell runs a script that is not known.", clearable=False)
        return worst((self._secrets(segment), self._wrapper(segment) or self._plain(segment, programs)))

    def _plain(self, segment: Segment, programs: Programs) -> Ruling:
        inside = all(self._places.inside(cwd) for cwd in segment.cwds)
        if reads_only(segment, inside):
            return FINE
        return programs.judge(segment)

    def _wrapper(self, segment: Segment) -> Ruling | None:
        """The ruling on the wrapper alone; what it runs is a segment of its own."""
        name = segment.name
        if name in SHELLS:
            return self._shell(segment)
        inner = unwrap(name, segment.rest)
        if name in {"alias", "trap"} or (
            inner is None and name in {"command", "exec", "eval", "time", "nohup"}
        ):
            return FINE
        if inner is None or name in ELEVATING:
            return None
        if name in {"strace", "ltrace", "script", "parallel", "firejail", "nsenter"}:
            return Ruling(Level.ASK, name, f"{name} writes or connects besides.")
        if name in {
            "uv",
            "poetry",
            "pdm",
            "pipenv",
            "hatch",
            "rye",
            "npm",
            "pnpm",
            "yarn",
            "conda",
            "mise",
            "asdf",
        }:
            return Ruling(Level.ASK, name, "It may install packages first.")
        return FINE

    def _shell(self, segment: Segment) -> Ruling:
        inner = unwrap(segment.name, segment.rest)
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

    def _secrets(self, segment: Segment) -> Ruling:
        name = segment.name
        if name in _SHOWS_ENVIRONMENT and self._shows_environment(segment):
            return Ruling(Level.ASK, "environment", "It shows the environment, which may hold secrets.")
        if name not in _CONTENT_FREE or name == "git":
            for arg in segment.rest:
                found = self._places.secret(arg, segment.cwds)
                if found:
                    return Ruling(Level.ASK, "secret file", f"{found} may hold secrets.", clearable=False)
            if self._searches_secrets(segment):
                return Ruling(Level.ASK, "secret file", "It also searches .env, which may hold secrets.")
        if name in {"echo", "printf", "cat"} and any(SECRET_VARIABLE.search(arg.raw) for arg in segment.rest):
            return Ruling(Level.ASK, "secret variable", "It shows a variable that may hold a secret.")
        return FINE

    def _shows_environment(self, segment: Segment) -> bool:
        if segment.name in {"set", "typeset", "export", "declare"}:
            return not segment.assigns and all(re.match(r"-[pxf]*\Z", text) for text in segment.texts)
        return unwrap(segment.name, segment.rest) is None

    def _searches_secrets(self, segment: Segment) -> bool:
        """`grep -r` reads hidden files; `rg` does with --hidden or -uu."""
        flags = " ".join(text for text in segment.texts if text.startswith("-"))
        deep = r"(^|\s)-[a-zA-Z]*[rR]|--(dereference-)?recursive"
        wide = {"grep": deep, "egrep": deep, "fgrep": deep, "rg": r"--hidden|-uu|--no-ignore|(^|\s)-\w*\."}
        if segment.name not in wide or not re.search(wide[segment.name], flags):
            return False
        folders = [text for text in segment.texts if not text.startswith("-")][1:] or ["."]
        return any(
            os.path.exists(os.path.join(c, folder, ".env")) for c in segment.cwds for folder in folders
        )

    def _redirect(self, redirect: Redirect, segment: Segment) -> Ruling:
        target = redirect.target
        if redirect.operator.endswith("&") and re.fullmatch(r"\d+|-|\d+-", target.text):
            return FINE
        if not redirect.writes:
            if target.text.startswith(("/dev/tcp/", "/dev/udp/")):
                return self._places.write(target, segment.cwds)
            if self._places.secret(target, segment.cwds):
                return Ruling(Level.ASK, "secret file", f"{target.text} may hold secrets.", clearable=False)
            return FINE
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
            if _LOADED_VARIABLES.fullmatch(name) or (
                segment.args and segment.name not in {"local", "export"}
            ):
                if segment.name in {"declare", "readonly", "typeset"} and not _LOADED_VARIABLES.fullmatch(
                    name
                ):
                    continue
                reason = f"{name} can change what a program does."
                found.append(Ruling(Level.ASK, "variable", reason, clearable=False))
        return found


def _apart(rule: str, reason: str) -> Ruled:
    return Ruled(None, Ruling(Level.STRONG, rule, reason, clearable=False))
