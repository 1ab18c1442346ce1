"""Where bash takes text for code without a command being written: sums, subscripts, tests and expansions.

Invariant: a whitelist of forms. bash evaluates what a variable holds when it stands in a sum, so a sum is plain only
if every assignment in the line to every name in it is a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from deeptide.permissions.reading import text_of
from deeptide.permissions.segments import names

if TYPE_CHECKING:
    from tree_sitter import Node

LOADED_VARIABLES = re.compile(
    r"\w*PATH|LD_\w+|DYLD_\w+|IFS|BASH\w*|ENV|PROMPT\w*|SHELL\w*|PS[0-4]|\w*PAGER|\w*EDITOR|VISUAL|GIT_\w+"
    r"|PYTHON(STARTUP|HOME)|PERL5\w*|RUBY\w*|HOME|PWD|OLDPWD|\w*(OPTIONS|OPTS?|FLAGS|WRAPPER|CONFIG\w*|RC)"
    r"|GLOBIGNORE|EXECIGNORE|POSIXLY_CORRECT|FUNCNEST|TMPDIR|MAGIC|LESS\w*|LOCPATH|HIST\w*|histchars|INPUTRC"
    r"|DEEPTIDE_\w+|DEEPSEEK_\w+|\w*PROXY|\w*_proxy|SSH_\w+|NODE_\w+|RIPGREP_\w+|GREP_\w+|GZIP|XZ_\w+|ZSTD_\w+|_"
)
"""Variables by which a program or the shell itself is made to do something else."""
NAME = re.compile(r"[A-Za-z_]\w*\Z")
NUMERIC = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_BINARY = NUMERIC | {"=", "==", "!=", "<", ">", "-nt", "-ot", "-ef", "=~", "-a", "-o"}
_UNARY = names("-a -b -c -d -e -f -g -h -k -p -r -s -t -u -w -x -G -L -N -O -S -z -n -o")
_SUM = re.compile(
    r"\$\{#\w+(?:\[[@*]\])?\}|\$[#?$!]|\$\{([A-Za-z_]\w*)\}|\$?([A-Za-z_]\w*)|0[xX][0-9a-fA-F]+|\d+|[-+*/%<>=!&|^~?:,()\[\]\"\s]"
)
_EXPANSION = re.compile(
    r"\$\{(?:[#]?[A-Za-z_]\w*(?:\[[^\]$`]*\])?|#?[?@*!$#\d-]+|![A-Za-z_]\w*\[[@*]\])"
    r"(?P<rest>:?[-+?].*|##?.*|%%?.*|//?.*|\^\^?.*|,,?.*|@[QUuL]|:(?P<cut>[^-+?=].*))?\}\Z",
    re.DOTALL,
)
_SPELLS = re.compile(r"@[PAEKak]\}|\$\{!|\$\[|\$\(\(|:?=[^}]*\}\S*\}")
_HIDDEN_COMMAND = re.compile(r"(?<!\\)(\$\(|`|<\(|>\()")
_LEAVES = frozenset({"regex", "word", "extglob_pattern"})
_NUMBER = re.compile(
    r"-?\d+\Z|\$\(\(.*\)\)\Z|\$\{#\w+(\[[@*]\])?\}\Z|\"?\$[#?]\"?\Z|\$\(seq [\d ]+\)\Z", re.DOTALL
)
_RANGE = re.compile(r"\{-?\d+\.\.-?\d+(\.\.\d+)?\}\Z")
_FILLS = names("read mapfile readarray getopts printf declare typeset local export readonly let wait coproc")


class Evaluations:
    """Call `look` for every syntax tree of a line, then read `doubts` and `problems`."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self._doubts: list[str] = []
        self._summed: set[str] = set()
        self._no_numbers: set[str] = set()

    @property
    def doubts(self) -> tuple[str, ...]:
        """What in the line may be more than it seems, each a clause."""
        found = list(self._doubts)
        if any(LOADED_VARIABLES.fullmatch(name) for name in self._summed):
            found.append("a sum changes a variable that programs obey")
        if self._summed & self._no_numbers:
            found.append("a sum counts with what may be no number")
        return tuple(dict.fromkeys(found))

    def look(self, root: Node) -> None:
        waiting = [root]
        while waiting:
            node = waiting.pop()
            self._node(node)
            waiting.extend(node.children)

    def _node(self, node: Node) -> None:
        kind = node.type
        if kind == "arithmetic_expansion":
            self._sum(re.sub(r"\A\$(\(\(|\[)|(\)\)|\])\Z", "", text_of(node)))
        elif kind == "expansion":
            self._expansion(text_of(node))
        elif kind == "subscript":
            self._subscript(text_of(node))
        elif kind == "test_command":
            self._test(node)
        elif kind == "variable_assignment":
            self._assignment(node)
        elif kind == "for_statement":
            self._loop(node)
        elif kind == "array":
            if "[" in text_of(node):
                self._doubts.append("an array is filled by computed places")
        elif kind in {"command", "declaration_command"}:
            self._fills(node)
        elif kind in _LEAVES and _HIDDEN_COMMAND.search(text_of(node)):
            self.problems.append("a command stands where it is not seen")
        if any(child.type == "((" for child in node.children):
            self._double_parentheses(node)

    def _double_parentheses(self, node: Node) -> None:
        raw = node.text or b""
        inner = raw.partition(b"((")[2]
        ends = [child for child in node.children if child.type == "))"]
        if ends:
            inner = inner[: ends[0].start_byte - node.start_byte - len(raw.partition(b"((")[0]) - 2]
        self._sum(inner.decode("ascii", "replace").replace(";", ","))

    def _sum(self, text: str) -> None:
        at = 0
        while at < len(text):
            found = _SUM.match(text, at)
            if found is None:
                self._doubts.append("a sum holds more than numbers and names")
                return
            name = found[1] or found[2]
            if name:
                self._summed.add(name)
            at = found.end()

    def _subscript(self, text: str) -> None:
        index = text.partition("[")[2].rpartition("]")[0]
        if index not in {"@", "*"}:
            self._sum(index)

    def _expansion(self, text: str) -> None:
        found = _EXPANSION.match(text)
        rest = found["rest"] or "" if found is not None else ""
        if found is None or _SPELLS.search(rest):
            self._doubts.append("a variable is expanded in a way that can run or change things")
        elif found["cut"] is not None:
            self._sum(found["cut"])
        elif _HIDDEN_COMMAND.search(rest) and not re.match(r":?[-+?]", rest):
            self.problems.append("a command stands where it is not seen")

    def _test(self, node: Node) -> None:
        if node.children and node.children[0].type == "[":
            self._single_brackets([text_of(word) for word in _operands(node)])
            return
        waiting = [node]
        while waiting:
            part = waiting.pop()
            waiting.extend(part.children)
            operator = next((text_of(c) for c in part.children if c.type == "test_operator"), "")
            others = [text_of(child) for child in part.children if child.type != "test_operator"]
            if operator in {"-v", "-R"} and not all(NAME.match(other) for other in others):
                self._doubts.append("a test evaluates what it is given")
            elif operator in NUMERIC:
                for other in others:
                    self._sum(other)

    def _single_brackets(self, words: list[str]) -> None:
        if odd_test(words):
            self._doubts.append("a test evaluates what it is given")
        for word in words:
            if re.fullmatch(r"\$\{?[A-Za-z_]\w*\}?", word):
                self._summed.add(word.strip("${}"))

    def _assignment(self, node: Node) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            return
        if value is None or not _NUMBER.match(text_of(value)):
            self._no_numbers.add(text_of(name).partition("[")[0])

    def _loop(self, node: Node) -> None:
        variable = node.child_by_field_name("variable")
        values = [text_of(child) for child in node.children_by_field_name("value")]
        if variable is not None and not (values and all(_NUMBER.match(v) or _RANGE.match(v) for v in values)):
            self._no_numbers.add(text_of(variable))

    def _fills(self, node: Node) -> None:
        words = [text_of(child) for child in node.children if child.type != "variable_assignment"]
        if any(word in _FILLS for word in words):
            self._no_numbers.update(word for word in words if NAME.match(word))
            if words[:1] == ["read"] or "read" in words:
                self._no_numbers.add("REPLY")


def odd_test(words: Iterable[str]) -> bool:
    """Whether `[` or `test` with these words (as written) may evaluate one: after -v or -R, or because a word that
    is not known may become such an operator."""
    given = list(words)
    for index, word in enumerate(given):
        after = given[index + 1] if index + 1 < len(given) else ""
        before = given[index - 1] if index else ""
        if word.strip("\"'") in {"-v", "-R"} and not NAME.match(after):
            return True
        if "$" not in word and "`" not in word:
            continue
        quoted = word.startswith('"') and word.endswith('"')
        plain = re.fullmatch(r"\$([#?]|\{?[A-Za-z_]\w*\}?|\{#\w+(\[[@*]\])?\})", word)
        if not (quoted or plain):
            return True
        if before not in _BINARY | _UNARY and after not in _BINARY and len(given) > 1:
            return True
    return False


def _operands(node: Node) -> list[Node]:
    """The words of `[ … ]` in their order."""
    found: list[Node] = []
    for child in node.children:
        if child.type in {"[", "]"}:
            continue
        if child.type in {
            "binary_expression",
            "unary_expression",
            "parenthesized_expression",
            "negated_command",
        }:
            found.extend(_operands(child))
        else:
            found.append(child)
    return found
