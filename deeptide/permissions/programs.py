"""The commands that do more than read: what each does, and how much it must be asked about.

Invariant: a program that is not here is asked about; this file can only make a verdict milder where the
reason is written beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from deeptide.permissions.finding import Find
from deeptide.permissions.git_words import Git, git_ruling
from deeptide.permissions.levels import FINE, Level, Ruling, worst
from deeptide.permissions.places import Places
from deeptide.permissions.segments import Segment, names
from deeptide.permissions.words import Arg, plain

_STRONG = names(
    """
    sudo doas pkexec su runuser chroot nsenter unshare systemd-run ssh scp sftp mosh nc ncat netcat socat
    telnet ftp shutdown reboot halt poweroff init systemctl service launchctl crontab at batch mount umount
    losetup swapon swapoff iptables nft ufw useradd userdel usermod groupadd groupdel passwd chpasswd visudo
    insmod rmmod modprobe sysctl pkill killall killall5 chattr shred srm apt apt-get aptitude dpkg yum dnf rpm
    pacman zypper apk snap flatpak port gpg pass security defaults csrutil osascript hdparm tmutil diskutil
    fdisk sfdisk cfdisk parted wipefs dropdb mkswap history
    """
)
_RUNS_PROJECT = names(
    """
    pytest tox nox make gmake ninja cmake ctest meson bazel buck2 ruff black mypy pyright isort flake8 pylint
    eslint prettier tsc jest vitest mocha ava rspec rake phpunit gradle gradlew mvn sbt javac rustc gcc g++
    clang cc ld rustfmt gofmt clang-format swiftc zig shellcheck pre-commit webpack vite rollup esbuild
    coverage
    """
)
_WRITES_OPERANDS = names("touch mkdir tee gtee")
_SUBCOMMANDS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    # Program: what runs the project's own code, and what cannot be taken back.
    "npm": (
        names("test t run run-script start"),
        names("publish unpublish deprecate login owner access token"),
    ),
    "pnpm": (names("test t run start"), names("publish login owner")),
    "yarn": (names("test run start build lint"), names("publish login owner")),
    "bun": (names("test run build"), names("publish")),
    "cargo": (names("build b test t check c clippy fmt run r bench doc"), names("publish yank login owner")),
    "go": (names("build test vet fmt run"), frozenset()),
    "dotnet": (names("build test run"), names("nuget")),
    "swift": (names("build test run"), frozenset()),
    "deno": (names("test run check lint fmt task"), names("publish deploy")),
    "docker": (frozenset(), names("system volume swarm push login rm rmi prune kill")),
    "podman": (frozenset(), names("system volume push login rm rmi prune kill")),
    "kubectl": (frozenset(), names("delete apply replace patch drain scale exec edit rollout")),
    "helm": (frozenset(), names("install upgrade uninstall delete rollback")),
    "terraform": (names("fmt validate"), names("apply destroy import state taint")),
    "tofu": (names("fmt validate"), names("apply destroy import state taint")),
    "mise": (names("run r watch tasks"), frozenset()),
    "gem": (frozenset(), names("push yank owner")),
    "twine": (frozenset(), names("upload")),
    "poetry": (frozenset(), names("publish")),
    "uv": (frozenset(), names("publish")),
    "flyctl": (frozenset(), names("deploy destroy")),
    "vercel": (frozenset(), names("deploy rm remove")),
    "heroku": (frozenset(), names("destroy")),
}
_INTERPRETERS = re.compile(
    r"(python[\d.]*|pypy3?|node|nodejs|ruby|perl|php|lua|deno|bun|tsx|ts-node|Rscript|osascript)\Z"
)
_INLINE = re.compile(r"-[A-Za-z]*[ceEpr]\Z|--eval|--print|eval\Z")
_LOST_ONLINE = re.compile(r"\b(delete|destroy|remove|rm|rb|terminate\S*|purge|archive|merge|close)\b")
_LITERAL = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'")
_ERASING = re.compile(
    r"rmtree|unlink|remove|rmdir|removedirs|rm_rf|rm_r\b|rmSync|rimraf|delete|truncate|remove_dir_all|system|popen"
    r"|subprocess|exec|spawn|check_call|check_output|`"
)


class Programs:
    """`line` judges a shell line that stands inside the code of another language."""

    def __init__(self, places: Places, line: Callable[[str], Level]) -> None:
        self._places = places
        self._line = line
        self._table: dict[str, Callable[[Segment], Ruling]] = {
            **dict.fromkeys(
                names("rm unlink rmdir shred srm rimraf trash del trash-put trashy rip wipe scrub"),
                self._delete,
            ),
            **dict.fromkeys(("cp", "install", "ditto"), self._copy),
            **dict.fromkeys(("chmod", "chown", "chgrp", "chattr", "setfacl"), self._mode),
            **dict.fromkeys(("find", "gfind"), self._find),
            "mv": self._move,
            "ln": self._link,
            "dd": self._dd,
            **dict.fromkeys(
                ("tar", "gtar", "bsdtar", "zip", "7z", "7za", "7zz", "gio", "gvfs-trash"), self._pack
            ),
            "rsync": self._rsync,
            "truncate": self._truncate,
            "git": self._git,
            "sed": self._sed,
            "sort": self._sort,
            "uniq": self._uniq,
            "gh": self._gh,
            "diskutil": self._diskutil,
            "fdisk": self._disk,
            **dict.fromkeys(("sfdisk", "cfdisk", "parted", "wipefs", "blkdiscard", "mkswap"), self._disk),
        }

    def judge(self, segment: Segment) -> Ruling:
        """The ruling on a command that is not proved to read."""
        name = segment.name
        if name.startswith(("mkfs", "newfs", "mke2fs")):
            return _refuse("device", f"{name} erases a disk.")
        special = self._table.get(name)
        if special is not None:
            return special(segment)
        if name in _STRONG:
            return Ruling(Level.STRONG, name, f"{name} reaches beyond this project.", clearable=False)
        if name in _WRITES_OPERANDS:
            base = Ruling(Level.SANDBOXED, name, "It writes in the workspace.")
            return worst((self._writes(_operands(segment), segment), base))
        if _INTERPRETERS.match(name):
            return self._interpreter(segment)
        if name in _SUBCOMMANDS:
            return _subcommand(segment)
        if name in _RUNS_PROJECT:
            return Ruling(Level.SANDBOXED, name, f"{name} runs the project's own code.")
        if name in {"aws", "gcloud", "az", "doctl", "fly", "wrangler"} and _LOST_ONLINE.search(
            " ".join(segment.texts)
        ):
            return Ruling(Level.STRONG, name, "It changes things online that cannot be brought back.", False)
        return Ruling(Level.ASK, name, f"{name} is not on the list of commands that only read.")

    # ---- files ---------------------------------------------------------------------------------------

    def _delete(self, segment: Segment) -> Ruling:
        base = Ruling(Level.ASK, "delete", "It deletes files.")
        if segment.name in {"shred", "srm"}:
            base = Ruling(Level.STRONG, segment.name, "It destroys data beyond recovery.", clearable=False)
        forced = any(re.match(r"-[a-zA-Z]*[rRf]|--(rec|fo)", text) for text in segment.texts)
        deep = forced or segment.name not in {"rm", "unlink", "rmdir"}
        targets = [self._places.delete(arg, segment.cwds, deep=deep) for arg in _operands(segment)]
        fed = [self._places.delete(a, segment.cwds, narrow=segment.narrow, deep=deep) for a in segment.feed]
        return worst((*targets, *fed, base))

    def _writes(self, args: tuple[Arg, ...], segment: Segment) -> Ruling:
        return worst(self._places.write(arg, segment.cwds) for arg in args)

    def _copy(self, segment: Segment) -> Ruling:
        base = Ruling(Level.SANDBOXED, segment.name, "It writes in the workspace.")
        return worst((self._writes(_destination(segment), segment), base))

    def _link(self, segment: Segment) -> Ruling:
        base = Ruling(Level.ASK, "ln", "A link may lead out of the workspace.")
        return worst((self._writes(_destination(segment), segment), base))

    def _move(self, segment: Segment) -> Ruling:
        into = _destination(segment)
        sources = [arg for arg in _operands(segment) if arg not in into]
        gone = worst(self._places.delete(arg, segment.cwds, deep=arg.leads) for arg in sources)
        arrives = self._writes(into, segment)
        if gone.rule == "workspace wipe" and arrives.rule != "edit":
            return _refuse("workspace wipe", "It would move everything out of the workspace.")
        return worst((gone, arrives, Ruling(Level.ASK, "mv", "It may overwrite what is there.")))

    def _mode(self, segment: Segment) -> Ruling:
        targets = _operands(segment)[1:] or _operands(segment)
        deep = any(re.match(r"-[a-zA-Z]*R|--rec", text) for text in segment.texts)
        hits = worst(self._places.delete(arg, segment.cwds, deep=deep) for arg in (*targets, *segment.feed))
        base = Ruling(Level.ASK, segment.name, "It changes who may use files.")
        if hits.level is Level.REFUSE and not deep and "device" not in hits.rule:
            return Ruling(Level.STRONG, hits.rule, "It changes who may use a system folder.", clearable=False)
        if hits.level is Level.REFUSE:
            return _refuse(hits.rule, hits.reason.replace("destroy", "change the permissions of"))
        return base if hits.rule in {"workspace wipe", "git data"} else worst((hits, base))

    def _find(self, segment: Segment) -> Ruling:
        find = Find.of(segment)
        if find is None or not (find.deletes or find.writes):
            return FINE
        base = Ruling(Level.ASK, "find", "It deletes or writes files.")
        if not find.deletes:
            return base
        hits = (self._places.delete(a, segment.cwds, narrow=find.narrow, deep=True) for a in find.roots)
        return worst((*hits, base))

    def _dd(self, segment: Segment) -> Ruling:
        if any(arg.text.startswith("of=") and not arg.known for arg in segment.rest):
            return Ruling(Level.STRONG, "dd", "What it overwrites is not known.", clearable=False)
        targets = [Arg.literal(text[3:]) for text in segment.texts if text.startswith("of=")]
        return worst(
            (self._writes(tuple(targets), segment), Ruling(Level.ASK, "dd", "It overwrites a file."))
        )

    def _rsync(self, segment: Segment) -> Ruling:
        base = Ruling(Level.ASK, "rsync", "It may overwrite files or reach another machine.")
        into = _destination(segment)
        emptied: tuple[Arg, ...] = ()
        if any(text.startswith("--remove-s") for text in segment.texts):
            emptied = tuple(arg for arg in _operands(segment) if arg not in into)
        if any(text.startswith("--del") for text in segment.texts):
            emptied += into
        local = [arg for arg in emptied if not re.match(r"[^/]+:", arg.text)]
        gone = worst(self._places.delete(arg, segment.cwds, deep=True) for arg in local)
        if any(re.match(r"[^/]*:", arg.text) for arg in _operands(segment)):
            return worst((gone, base))
        return worst((gone, self._writes(into, segment), base))

    def _pack(self, segment: Segment) -> Ruling:
        """Archivers that take away what they pack, and `gio trash`."""
        base = Ruling(
            Level.ASK, segment.name, f"{segment.name} is not on the list of commands that only read."
        )
        texts = segment.texts
        takes = {
            "zip": any(re.match(r"-[a-zA-Z]*m|--move", text) for text in texts),
            "gio": texts[:1] in {("trash",), ("remove",)},
            "gvfs-trash": True,
        }
        if not takes.get(segment.name, any(text.startswith(("--remove-f", "-sdel")) for text in texts)):
            return base
        operands = _operands(segment)[1 if segment.name == "gio" else 0 :]
        hits = (self._places.delete(arg, segment.cwds, deep=True) for arg in (*operands, *segment.feed))
        return worst((*hits, base))

    def _truncate(self, segment: Segment) -> Ruling:
        many = any(re.search(r"[*?\[]", value) for arg in _operands(segment) for value in arg.values)
        level = Level.STRONG if many or segment.feed else Level.ASK
        base = Ruling(level, "truncate", "It empties files.", clearable=level is Level.ASK)
        return worst((self._writes(_operands(segment)[-1:], segment), base))

    def _sed(self, segment: Segment) -> Ruling:
        edits = any(re.match(r"-[nErsuz]*i|--in-place", text) for text in segment.texts)
        base = Ruling(
            Level.ASK, "sed", "It edits files in place." if edits else "A sed script can write and run."
        )
        return worst((self._writes(_operands(segment)[1:], segment), base)) if edits else base

    def _sort(self, segment: Segment) -> Ruling:
        texts = segment.texts
        into = [
            arg
            for before, arg in zip(texts, segment.rest[1:], strict=False)
            if re.match(r"-[a-zA-Z]*o\Z", before)
        ]
        into += [Arg.literal(text.partition("=")[2]) for text in texts if text.startswith("--o")]
        into += [Arg.literal(text[2:]) for text in texts if re.match(r"-o.", text)]
        if not into or any(text.startswith("--c") and "prog" in text for text in texts):
            return Ruling(Level.ASK, "sort", "An option makes it run a program or write elsewhere.")
        return worst(
            (self._writes(tuple(into), segment), Ruling(Level.SANDBOXED, "sort -o", "It writes a file."))
        )

    def _uniq(self, segment: Segment) -> Ruling:
        base = Ruling(Level.SANDBOXED, "uniq", "Its second file is overwritten.")
        return worst((self._writes(_operands(segment)[1:], segment), base))

    # ---- programs ------------------------------------------------------------------------------------

    def _git(self, segment: Segment) -> Ruling:
        ruling = git_ruling(segment.texts)
        if not all(self._places.inside(cwd) for cwd in segment.cwds):
            away = Ruling(Level.ASK, "git elsewhere", "It works on another repository.", clearable=False)
            ruling = worst((away, ruling))
        git = Git.of(segment.texts)
        if git.sub == "clean" and ruling.level is Level.STRONG:
            operands = [arg for arg in segment.rest if arg.text in git.operands]
            hits = worst(self._places.delete(arg, segment.cwds) for arg in operands)
            return hits if hits.level is Level.REFUSE else ruling
        return ruling

    def _interpreter(self, segment: Segment) -> Ruling:
        code = [text for text in segment.texts if "\n" in text]
        for before, text in zip(segment.texts, segment.texts[1:], strict=False):
            if _INLINE.match(before):
                code.append(text)
        glued = [text[2:] for text in segment.texts if re.match(r"-[ceE].", text)]
        code += [*glued, segment.stdin or ""]
        refused = worst(self._inline(text, segment) for text in code if text)
        if refused.level is Level.REFUSE:
            return refused
        script = next((text for text in segment.texts if not text.startswith("-")), "")
        if any(code) or not script or any(arg.leads for arg in segment.rest[:1]):
            strong = segment.piped and not script and not any(code)
            level = Level.STRONG if strong else Level.ASK
            return Ruling(level, f"{segment.name} code", "It runs code given in the line.", clearable=False)
        module = re.search(r"-m (\S+)", " ".join(segment.texts))
        if module and module[1] in {"pip", "ensurepip", "venv", "http.server", "twine"}:
            return Ruling(Level.ASK, f"{segment.name} -m {module[1]}", "It installs, serves or sends things.")
        return Ruling(Level.SANDBOXED, segment.name, "It runs the project's own code.")

    def _inline(self, code: str, segment: Segment) -> Ruling:
        """Refused if it seems to erase a protected place; code can hide anything, so never milder than
        asked."""
        if not _ERASING.search(code):
            return FINE
        for found in _LITERAL.finditer(code):
            literal = found[1] if found[1] is not None else found[2]
            value = Arg(literal, literal, (literal,))
            if self._places.delete(value, segment.cwds).level is Level.REFUSE:
                return _refuse("inline code", f"Its code would erase {plain(literal)}.")
            if (
                re.search(r"\b(rm|dd|mkfs|shred|find|chmod|mv)\b", literal)
                and self._line(literal) is Level.REFUSE
            ):
                return _refuse("inline code", f"Its code would run {literal}.")
        return FINE

    def _gh(self, segment: Segment) -> Ruling:
        if _LOST_ONLINE.search(" ".join(segment.texts)):
            return Ruling(
                Level.STRONG, "gh", "It changes things online that cannot be brought back.", clearable=False
            )
        return Ruling(Level.ASK, "gh", "It talks to another machine.")

    def _diskutil(self, segment: Segment) -> Ruling:
        text = " ".join(segment.texts[:2]).lower()
        if re.match(r"(apfs )?(erase|partition|zero|secureerase|random|delete|reformat)", text):
            return _refuse("device", "It erases a disk.")
        return Ruling(Level.STRONG, "diskutil", "It manages disks.", clearable=False)

    def _disk(self, segment: Segment) -> Ruling:
        if set(segment.texts) & {"-l", "--list", "-h", "--help", "-V", "--version"}:
            return Ruling(Level.STRONG, segment.name, "It reads the disks.", clearable=False)
        return _refuse("device", f"{segment.name} changes a disk.")


def _subcommand(segment: Segment) -> Ruling:
    name = segment.name
    sub = next((text for text in segment.texts if not text.startswith(("-", "+"))), "")
    project, final = _SUBCOMMANDS[name]
    rule = f"{name} {sub}".strip()
    if sub in final:
        return Ruling(Level.STRONG, rule, "It changes things that cannot be brought back.", clearable=False)
    if name in {"docker", "podman"} and re.search(
        r"--privileged|docker\.sock|(-v|--volume)[= ]?/:", " ".join(segment.texts)
    ):
        return Ruling(Level.STRONG, rule, "It gives a container the whole machine.", clearable=False)
    if sub in project:
        return Ruling(Level.SANDBOXED, rule, "It runs the project's own code.")
    return Ruling(Level.ASK, rule, "It may use the network or run code of others.")


def _refuse(rule: str, reason: str) -> Ruling:
    return Ruling(Level.REFUSE, rule, reason, clearable=False)


def _operands(segment: Segment) -> tuple[Arg, ...]:
    """The words that are no options; all after `--`."""
    found: list[Arg] = []
    closed = False
    for arg in segment.rest:
        if arg.text == "--" and not closed:
            closed = True
        elif closed or not arg.text.startswith("-") or arg.text == "-" or arg.leads:
            found.append(arg)
    return tuple(found)


def _destination(segment: Segment) -> tuple[Arg, ...]:
    """Where cp, mv and ln write: the folder of -t, or the last reading of the last operand."""
    for before, arg in zip(segment.texts, segment.rest[1:], strict=False):
        if before in {"-t", "--target-directory"}:
            return (arg,)
    for text in segment.texts:
        if text.startswith("--target-directory="):
            return (Arg.literal(text.partition("=")[2]),)
    operands = _operands(segment)
    if len(operands) == 1 and len(operands[0].values) > 1:
        last = operands[0].values[-1]
        return (Arg(operands[0].raw, plain(last), (last,), operands[0].dynamic, operands[0].leads),)
    return operands[-1:]
