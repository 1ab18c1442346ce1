"""A shell line taken apart into the commands it would run, wherever they stand.

Invariant: fails closed. Every command node anywhere is a segment, text handed to another shell is parsed
again, and what the grammar does not explain is a problem that the judge asks about.
"""

from __future__ import annotations

import functools
from itertools import pairwise
from typing import TYPE_CHECKING

from deeptide.permissions.reading import shielded
from deeptide.permissions.segments import Analysis
from deeptide.permissions.walk import Walker

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_TEXTS = frozenset({"string", "translated_string", "heredoc_body", "expansion", "heredoc_redirect"})
_REPAIRS = 40
_LONGEST = 100_000


@functools.cache
def _parser() -> Parser:
    # Imported when the first command is judged: a session that runs none need not pay for the grammar.
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def segments(command: str, *, cwd: str = "/", home: str = "/root") -> Analysis:
    """Takes `command` apart as bash would read it when started in `cwd` by a user whose home is `home`."""
    walker = Walker(parse, cwd, home)
    try:
        walker.line(command)
    except RecursionError:
        walker.give_up("it is nested too deeply")
    return walker.analysis()


def parse(command: str) -> tuple[Node, str]:
    """The syntax tree and what is wrong with it (empty if nothing).

    The grammar's code can crash the process on characters beyond the first plane and takes foreign spaces for
    spaces, which bash does not: it gets them written out in ASCII (see `shielded`). It also glues a line that
    starts with a backslash to the one before it, and some lines that follow a pipeline, without saying so. A
    space before such a backslash helps the first; a `;` where a line break lies bare inside one command the
    second.
    """
    if len(command) > _LONGEST:
        return _parser().parse(b"").root_node, "there is too much to judge"
    source = shielded(command.replace("\n\\", "\n \\")).encode("ascii")
    root = _parser().parse(source).root_node
    for _ in range(_REPAIRS):
        at = _bare_newline(root, source)
        if at is None:
            break
        source = source[:at] + b";" + source[at:]
        root = _parser().parse(source).root_node
    else:
        return root, "a line break lies inside a command"
    if root.has_error and b"$((" in source:
        # No sum, then: bash reads it once more as a subshell in a substitution.
        root = _parser().parse(source.replace(b"$((", b"$( (")).root_node
        return root, "a calculation is not understood"
    if root.has_error:
        return root, "something is not complete or not understood"
    return root, "a part is not explained by the grammar" if _unexplained(root, source) else ""


def _bare_newline(root: Node, source: bytes) -> int | None:
    """Where a line break separates two words of one command node without a backslash before it."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        waiting.extend(node.children)
        if node.type != "command":
            continue
        for left, right in pairwise(node.children):
            if left.type in {"heredoc_redirect", "heredoc_body"}:
                continue
            gap = source[left.end_byte : right.start_byte]
            at = gap.find(b"\n")
            while at >= 0 and gap[at - 1 : at] == b"\\":
                at = gap.find(b"\n", at + 1)
            if at >= 0:
                return left.end_byte + at
    return None


def _unexplained(root: Node, source: bytes) -> bool:
    """Whether anything but white space lies between the nodes, where no one would judge it."""
    if _gap(source[: root.start_byte]) or _gap(source[root.end_byte :]):
        return True
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if not node.children or node.type in _TEXTS:
            continue
        waiting.extend(node.children)
        pairs = pairwise(node.children)
        if node.type == "command" and any(_torn(left, right) for left, right in pairs):
            return True
        if node.type == "concatenation" and any(_grows(left, right) for left, right in pairs):
            return True
        edges = [
            node.start_byte,
            *(edge for c in node.children for edge in (c.start_byte, c.end_byte)),
            node.end_byte,
        ]
        if any(_gap(source[start:end]) for start, end in zip(edges[::2], edges[1::2], strict=True)):
            return True
    return False


def _torn(left: Node, right: Node) -> bool:
    """One word of bash that the grammar counts as two."""
    words = {left.type, right.type}.isdisjoint(
        {"variable_assignment", "file_redirect", "herestring_redirect"}
    )
    return words and left.end_byte == right.start_byte


def _grows(left: Node, right: Node) -> bool:
    """`$X{a,b}`: bash expands the braces first, into the variables `$Xa` and `$Xb`."""
    return left.type == "simple_expansion" and (right.text or b"").startswith(b"{")


def _gap(text: bytes) -> bool:
    return bool(text.replace(b"\\\n", b"").strip(b" \t\n"))
