"""Whether a repository's own settings could make git run a program.

Invariant: a whitelist, and nothing is run to find out. A setting, file or layout that is not known to be harmless
counts as one that names a program; what the user has set for all repositories is the user's own affair.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

_LARGEST = 1_000_000
_HEADER = re.compile(r'\[([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\\n]|\\["\\])*)")?\]\Z')
_SETTING = re.compile(r"([A-Za-z][A-Za-z0-9-]*)(?:\s*=\s*(.*))?\Z")
# Lower-case keys with the middle part of a three-part key left out; a section alone stands for all of it.
_HARMLESS = re.compile(
    r"(user|branch|init|pull|push|fetch|commit|tag|merge|rebase|rerere|gc|pack|index|color|column|advice|i18n|http"
    r"|receive|transfer|feature|help|apply|maintenance|submodule|gui|gitflow|gitgraph|github)(\.\w[\w-]*)+"
    r"|core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf"
    r"|eol|safecrlf|quotepath|abbrev|longpaths|untrackedcache|splitindex|preloadindex|commitgraph|multipackindex"
    r"|sparsecheckout|sparsecheckoutcone|excludesfile|attributesfile|whitespace|compression|loosecompression"
    r"|bigfilethreshold|trustctime|checkstat|protecthfs|protectntfs|sharedrepository|commentchar|hookspath)"
    r"|remote\.(url|fetch|pushurl|push|tagopt|prune|prunetags|mirror|skipdefaultupdate|gh-resolved)"
    r"|diff\.(algorithm|renames|renamelimit|colormoved|mnemonicprefix|noprefix|context|interhunkcontext)"
    r"|log\.(date|decorate|follow|abbrevcommit)|status\.(short|branch|showuntrackedfiles|relativepaths)"
    r"|extensions\.(objectformat|refstorage)|lfs\.(repositoryformatversion|access|locksverify)"
)
_NEVER = re.compile(r"merge\.(driver|tool|guitool|cmd)|gpg\..*|.*\.(command|cmd|program|helper)")
_BOOLEAN = frozenset({"", "true", "false", "yes", "no", "on", "off", "0", "1"})
_HOOK = "post-index-change"
_HEAD = re.compile(rb"ref: refs/\S+\n\Z|[0-9a-f]{40,64}\n\Z")
_SUBMODULE = b"\x00\x00\xe0\x00"


class Repository(msgspec.Struct, frozen=True):
    """`top`: the working tree. `folder`: its git folder, `shared`: the one with the settings (another only for
    an added worktree). `bare`: found in the working folder itself, as git does for a folder that looks like
    one."""

    top: Path
    folder: Path
    shared: Path
    bare: bool = False

    @property
    def certain(self) -> bool:
        """Whether git, too, takes it for a repository."""
        head = self.folder / "HEAD"
        whole = (self.shared / "objects").is_dir() and (self.shared / "refs").is_dir()
        return whole and head.is_file() and _HEAD.match(head.read_bytes()[:1000]) is not None

    @classmethod
    def around(cls, start: Path) -> Repository | None:
        """The repository that git would use in `start`; None if there is none."""
        for place in (start, *start.parents):
            dot = place / ".git"
            if os.path.lexists(dot):
                folder = _pointed(dot)
                found = cls(place, folder, _shared(folder))
                if not found.certain:
                    # git would pass it over and look further up.
                    raise ValueError(dot)
                return found
            if os.path.lexists(place / "HEAD") and os.path.lexists(place / "objects"):
                return cls(place, place, place, bare=True)
        return None


def named_program(start: Path) -> str:
    """What in the repository around `start` could make a reading git command run a program, in a few words;
    empty if nothing could."""
    try:
        repository = Repository.around(Path(os.path.realpath(start)))
        if repository is None:
            return ""
        if repository.bare:
            return "a repository without a working tree"
        return _suspect(repository)
    except (OSError, ValueError):
        return "settings that cannot be read"


def has_submodules(start: Path) -> bool:
    """Whether git may look into other repositories inside this one, each with settings of its own."""
    try:
        repository = Repository.around(Path(os.path.realpath(start)))
        if repository is None or not repository.folder.is_dir():
            return False
        indexes = [repository.folder / "index", *repository.folder.glob("sharedindex.*")]
        return any(index.is_file() and _SUBMODULE in index.read_bytes() for index in indexes)
    except OSError:
        return True


def _suspect(repository: Repository) -> str:
    hooks = repository.shared / "hooks"
    for key, value in _settings(repository.shared / "config"):
        if key in {"core.worktree", "core.hookspath"} and re.search(r"[#;\"\\%]", value):
            return key
        if key == "core.worktree":
            place = os.path.realpath(repository.folder / value)
            if place == os.path.realpath(repository.top):
                continue
            return "core.worktree"
        if key == "core.fsmonitor" and value.lower() in _BOOLEAN:
            continue
        if key == "core.hookspath":
            hooks = repository.top / os.path.expanduser(value)
        if _NEVER.fullmatch(key) or not _HARMLESS.fullmatch(key):
            return key
    if os.path.lexists(hooks / _HOOK):
        return f"the hook {_HOOK}"
    if os.path.lexists(repository.folder / "config.worktree"):
        return "settings of one worktree"
    return ""


def _settings(path: Path) -> Iterator[tuple[str, str]]:
    """Key (lower case, middle part left out) and value. ValueError for what is not plainly readable."""
    if not os.path.lexists(path):
        return
    if not stat.S_ISREG(os.stat(path).st_mode) or os.path.getsize(path) > _LARGEST:
        raise ValueError(path)
    section = ""
    for line in path.read_bytes().decode("utf-8").replace("\r\n", "\n").split("\n"):
        text = line.strip(" \t")
        if not text or text[0] in "#;":
            continue
        if "\r" in text or text.endswith("\\"):
            raise ValueError(line)
        header = _HEADER.match(text)
        if header is not None:
            section = header[1].lower().partition(".")[0]
            continue
        setting = _SETTING.match(text)
        if setting is None or not section:
            raise ValueError(line)
        yield f"{section}.{setting[1].lower()}", (setting[2] or "").strip('"')


def _pointed(dot: Path) -> Path:
    """The git folder that `.git` is, or that the file `.git` names."""
    if not dot.is_file():
        return dot
    text = dot.read_bytes()[:_LARGEST].decode("utf-8")
    if not text.startswith("gitdir: "):
        raise ValueError(dot)
    return Path(os.path.realpath(dot.parent / text[8:].rstrip("\n\r")))


def _shared(folder: Path) -> Path:
    common = folder / "commondir"
    if not common.is_file():
        return folder
    return Path(os.path.realpath(folder / common.read_text("utf-8").rstrip("\n")))
