"""Syntax nodes to words: quotes taken off, variables and substitutions filled in.

Invariant: a command inside a word is visited exactly when the word is read, so none is missed or judged
twice.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from deeptide.permissions.state import State
from deeptide.permissions.words import Arg, Word
from deeptide.protocol.text import scrub

if TYPE_CHECKING:
    from tree_sitter import Node

_FOREIGN = re.compile(r"[^\t\n\x20-\x7e]")
_SHIELDED = re.compile(r"\^u([0-9a-f]{1,6})\^")
PIPE = "/dev/fd/63"
"""The name of the pipe that `<(…)` stands for."""
_SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution"})


class Reader:
    """`visit` is called with each command substitution in a word, `problem` with what cannot be followed."""

    def __init__(self, state: State, visit: Callable[[Node], None], problem: Callable[[str], None]) -> None:
        self._state = state
        self._visit = visit
        self._problem = problem

    def word(self, node: Node) -> Arg:
        word = Word(text_of(node))
        self._fill(word, node, quoted=False)
        arg = word.finish(self._state.home, self._state.cwds[0])
        if word.overflow:
            self._problem("a word can become too many things")
        return arg

    def assignment(self, node: Node) -> tuple[str, Arg] | None:
        """`NAME=value` as a pair; None if `node` is none."""
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            return None
        arg = self.word(value) if value is not None else Arg.literal("")
        adds = (node.text or b"")[len(name.text or b"") :].startswith(b"+=")
        if adds or name.type == "subscript" or (value is not None and value.type == "array"):
            arg = Arg(arg.raw, arg.text, arg.values, True, arg.leads, False)
        return text_of(name).partition("[")[0], arg

    def substitutions(self, node: Node) -> None:
        """Visits the commands that run inside `node`, which itself runs nothing."""
        for child in node.children:
            if child.type in _SUBSTITUTIONS:
                self._visit(child)
            else:
                self.substitutions(child)

    def _fill(self, word: Word, node: Node, quoted: bool) -> None:
        kind = node.type
        if kind in {"string", "concatenation", "translated_string", "command_name"}:
            self._fill_parts(word, node, quoted or kind == "string")
        elif kind == "raw_string":
            word.add(text_of(node)[1:-1], "q")
        elif kind == "ansi_c_string":
            word.add(_ansi_c(text_of(node)), "q")
        elif kind in {"simple_expansion", "expansion"}:
            self.substitutions(node)
            values, known = self._state.expanded(text_of(node))
            word.choose(values, quoted=quoted, known=known)
        elif kind == "process_substitution":
            self._visit(node)
            word.choose((PIPE,), quoted=quoted, known=True)
        elif kind in _SUBSTITUTIONS or kind == "arithmetic_expansion":
            self._visit(node)
            word.choose(("",), quoted=quoted)
        elif kind in {"string_content", "heredoc_content"}:
            word.add(re.sub(r'\\([$`"\\\n])', lambda m: m[1].strip("\n"), text_of(node)), "q")
        else:
            self.substitutions(node)
            _add_bare(word, text_of(node), "q" if quoted else "b")

    def _fill_parts(self, word: Word, node: Node, quoted: bool) -> None:
        """The children and, in a string, the white space that the grammar leaves between them."""
        at = node.start_byte
        raw = node.text or b""
        for child in node.children:
            if quoted and child.start_byte > at:
                gap = raw[at - node.start_byte : child.start_byte - node.start_byte]
                word.add(unshielded(gap.decode("ascii", "replace")), "q")
            at = child.end_byte
            if child.is_named or child.type not in {'"', "$", '$"'}:
                self._fill(word, child, quoted)


def shielded(text: str) -> str:
    """`text` in printable ASCII: every other character as a word character that bash gives no meaning,
    either."""
    return _FOREIGN.sub(lambda found: f"^u{ord(found[0]):x}^", text)


def unshielded(text: str) -> str:
    return _SHIELDED.sub(lambda found: _character(int(found[1], 16), found[0]), text)


def _character(code: int, otherwise: str) -> str:
    """Only what `shielded` can have written is taken back."""
    foreign = code < 0x20 or 0x7F <= code < 0x110000
    return chr(code) if foreign and code not in (9, 10) else otherwise


def text_of(node: Node) -> str:
    return unshielded((node.text or b"").decode("ascii", "replace"))


def _add_bare(word: Word, text: str, kind: str) -> None:
    """Bare text, in which a backslash quotes the next character and swallows a line break."""
    at = 0
    while at < len(text):
        if text[at] == "\\" and at + 1 < len(text):
            if text[at + 1] != "\n":
                word.add(text[at + 1], "q")
            at += 2
        else:
            word.add(text[at], kind)
            at += 1


def _ansi_c(text: str) -> str:
    """`$'…'`; like bash it ends at a NUL."""
    body = text[2:-1]
    try:
        body = codecs.decode(body.encode("latin-1", "backslashreplace"), "unicode_escape")
    except UnicodeDecodeError:
        pass
    return scrub(body).partition("\0")[0]
