"""Reads prompt files, fills their named slots and fingerprints them, so that no prompt text lives in code.

Invariant: strict both ways (a slot left unfilled and a value without a slot both raise), and a slot's value is
never read as a template, so file or user text cannot smuggle a slot or an include in.
"""

from __future__ import annotations

import hashlib
import re
from functools import cached_property
from pathlib import Path

from deeptide.protocol.errors import DeepTideError

_INCLUDE = re.compile(r"\{\{>([a-z_]+)\}\}")
_SLOT = re.compile(r"\{\{([a-z_]+)\}\}")


class PromptError(DeepTideError):
    """A prompt file is missing, or the slots given are not the slots it names."""


def locate(package: Path) -> Path:
    """The folder of prompt files for the `deeptide` package at `package`.

    In a checkout `prompts/` beside `pyproject.toml` wins; an installed package has its copy in
    `deeptide/prompts/text`. The checkout wins because an editable install leaves a stale copy behind.
    """
    checkout = package.parent / "prompts"
    if (package.parent / "pyproject.toml").is_file() and checkout.is_dir():
        return checkout
    return package / "prompts" / "text"


class Library:
    """Every prompt text by name (`system`, `compaction`, ...), tool descriptions by tool name.

    Texts are read once, at first use; they do not change while the process lives.
    """

    def __init__(self, root: Path | None = None) -> None:
        self.root = root or locate(Path(__file__).resolve().parent.parent)

    @cached_property
    def _texts(self) -> dict[str, str]:
        files = sorted(self.root.rglob("*.md"), key=lambda file: file.relative_to(self.root).as_posix())
        if not files:
            raise PromptError(f"No prompt files were found in {self.root}.", "Install DeepTide again.")
        return {
            file.relative_to(self.root).with_suffix("").as_posix(): _normal(file.read_bytes())
            for file in files
        }

    def text(self, name: str, /, **slots: str) -> str:
        """The prompt `name`, `{{>other}}` replaced by that prompt and each `{{slot}}` by its value, stripped.

        Raises PromptError for an unknown name and for a missing or an unknown slot.
        """
        template = self._template(name, ())
        wanted = set(_SLOT.findall(template))
        missing, unknown = sorted(wanted - slots.keys()), sorted(slots.keys() - wanted)
        if missing or unknown:
            faults = [f"slot {slot!r} was not given" for slot in missing]
            faults += [f"slot {slot!r} is not in the text" for slot in unknown]
            raise PromptError(f"The prompt {name!r} cannot be filled: {', '.join(faults)}.")
        return _SLOT.sub(lambda match: slots[match.group(1)], template).strip()

    def tool(self, name: str) -> str:
        """The description of the tool `name`. Raises PromptError if there is none."""
        return self.text(f"tools/{name}")

    def fingerprint(self) -> str:
        """sha256 (hex) over the names and the texts of all prompts, in name order."""
        digest = hashlib.sha256()
        for name, text in self._texts.items():
            digest.update(f"{name}\0{text}\0".encode())
        return digest.hexdigest()

    def _template(self, name: str, opened: tuple[str, ...]) -> str:
        if name in opened:
            raise PromptError(f"The prompt {name!r} includes itself: {' > '.join((*opened, name))}.")
        text = self._texts.get(name)
        if text is None:
            known = ", ".join(self._texts)
            raise PromptError(f"There is no prompt named {name!r} in {self.root}.", f"Known: {known}.")
        return _INCLUDE.sub(lambda match: self._template(match.group(1), (*opened, name)), text)


def _normal(data: bytes) -> str:
    return data.decode("utf-8-sig").replace("\r\n", "\n").strip()
