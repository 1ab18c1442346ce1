"""The walk through a shell syntax tree that keeps what bash would know: folder, variables, who feeds whom.

Invariant: it never decides; what it cannot follow it reports as a problem.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from deeptide.permissions.evaluation import NAME, Evaluations
from deeptide.permissions.feeding import UNKNOWN, fed, spoken, unfed
from deeptide.permissions.finding import Find
from deeptide.permissions.grammar import INERT, LOOPS, MAYBE, SEQUENCES, WORDS, judged, place
from deeptide.permissions.reading import Reader, text_of
from deeptide.permissions.segments import Analysis, Redirect, Segment, names
from deeptide.permissions.state import State
from deeptide.permissions.words import Arg, plain
from deeptide.permissions.wrappers import FEEDING, SHELLS, unwrap

if TYPE_CHECKING:
    from tree_sitter import Node

_DEEPEST = 8
_MOST_SEGMENTS = 400
_FILLS = names("read mapfile readarray getopts printf declare typeset local export readonly let")
_RESERVED = names("{ } ! if then else elif fi while until do done for case esac select function in")


_WORDS_IN_A_ROW = re.compile(r"[A-Za-z_]\w*\s+(-?[A-Za-z_~/]|[\"'$])")


class Walker:
    """Call `line`, then `analysis`."""

    def __init__(self, parse: Callable[[str], tuple[Node, str]], cwd: str, home: str) -> None:
        self._parse = parse
        self._state = State(cwd, home)
        self._reader = Reader(self._state, self._visit, self.give_up)
        self._segments: list[Segment] = []
        self._problems: list[str] = []
        self._bombs: list[str] = []
        self._evaluations = Evaluations()
        self._seen: set[tuple[int, int]] = set()
        self._maybe = 0
        self._bodies: dict[str, list[Node]] = {}
        self._calling: tuple[str, ...] = ()
        self._depth = 0

    def analysis(self) -> Analysis:
        problems = tuple(dict.fromkeys([*self._problems, *self._evaluations.problems]))
        return Analysis(tuple(self._segments), problems, tuple(self._bombs), self._evaluations.doubts)

    def line(self, command: str) -> None:
        """A whole command line, from the user's call or from inside another one."""
        if self._depth >= _DEEPEST:
            self._problems.append("shells are nested too deeply")
            return
        self._depth += 1
        root, problem = self._parse(command)
        if problem:
            self._problems.append(problem)
        self._evaluations.look(root)
        outer, self._seen = self._seen, set()
        self._visit(root)
        if any(place(node) not in self._seen for node in judged(root)):
            self._problems.append("there is a part that is not understood")
        self._seen = outer
        self._depth -= 1

    def give_up(self, problem: str) -> None:
        self._problems.append(problem)

    # ---- statements ----------------------------------------------------------------------------------

    def _visit(self, node: Node) -> None:
        kind = node.type
        if kind in MAYBE:
            self._maybe += 1
            if kind in LOOPS:
                self._forget(node)
        self._statement(node, kind)
        if kind in MAYBE:
            self._maybe -= 1

    def _forget(self, node: Node) -> None:
        """What is assigned later in a loop or a function may hold when an earlier part of it runs again."""
        waiting = list(node.children)
        while waiting:
            child = waiting.pop()
            waiting.extend(child.children)
            name = child.child_by_field_name("name") if child.type == "variable_assignment" else None
            if name is not None:
                self._state.assign(text_of(name), ("",), known=False)

    def _statement(self, node: Node, kind: str) -> None:
        if kind == "arithmetic_expansion" or (node.children and node.children[0].type == "(("):
            self._arithmetic(node)
        elif kind in SEQUENCES:
            self._sequence(node)
        elif kind == "list":
            self._list(node)
        elif kind == "pipeline":
            self._pipeline([child for child in node.children if child.is_named])
        elif kind in {"subshell", "command_substitution", "process_substitution"}:
            with self._state.scope():
                self._sequence(node)
        elif kind == "redirected_statement":
            self._redirected(node)
        elif kind in {"command", "declaration_command", "unset_command"}:
            self._command(node, ())
        elif kind in {"variable_assignment", "variable_assignments"}:
            self._bare_assignment(node)
        elif kind == "for_statement":
            self._for(node)
        elif kind == "function_definition":
            self._function(node)
        elif kind in INERT or not node.is_named:
            self._reader.substitutions(node)
        else:
            self._problems.append(f"there is a part ({kind.lower()}) that is not understood")
            for child in node.children:
                self._visit(child)

    def _arithmetic(self, node: Node) -> None:
        """bash takes `$((` for a subshell in a substitution when it is no sum: two words in a row are none."""
        self._reader.substitutions(node)
        text = text_of(node).lstrip("$([").rstrip(")] ")
        if _WORDS_IN_A_ROW.search(text):
            self._problems.append("a calculation is not understood")
            with self._state.scope():
                self.line(text)

    def _sequence(self, node: Node) -> None:
        """One after the other; a `cd` may have failed when the next one runs."""
        for child in node.children:
            before = self._state.cwds
            self._visit(child)
            self._state.merge(before)

    def _list(self, node: Node, redirects: list[Node] | None = None) -> None:
        before = self._state.cwds
        for child in node.children:
            if child.type == "||":
                self._state.merge(before)
            if redirects and child.end_byte == node.end_byte:
                self._with_redirects(child, redirects)
            else:
                self._visit(child)

    def _pipeline(
        self, stages: list[Node], first: int | None = None, redirects: list[Node] | None = None
    ) -> None:
        start = len(self._segments) if first is None else first
        for number, stage in enumerate(stages):
            before = len(self._segments)
            upstream = tuple(self._segments[start:before])
            with self._state.scope():
                if redirects and number == len(stages) - 1:
                    self._with_redirects(stage, redirects)
                else:
                    self._visit(stage)
            if number or first is not None:
                self._connect(upstream, before)

    def _connect(self, upstream: tuple[Segment, ...], since: int) -> None:
        """Tells the segments from `since` on what the commands before the pipe may hand them."""
        for index in range(since, len(self._segments)):
            segment = self._segments[index]
            if any(wrapper in FEEDING for wrapper in segment.via):
                feed, narrow, plainly = fed(upstream)
                before_pipe = tuple(arg for arg in segment.feed if arg is not UNKNOWN)
                self._segments[index] = _with(
                    segment, feed=before_pipe + feed, narrow=narrow, piped=True, plainly_fed=plainly
                )
            elif segment.name in SHELLS and segment.stdin is None:
                text = spoken(upstream)
                self._segments[index] = _with(segment, piped=True, stdin=text)
                if text is not None:
                    with self._state.scope():
                        self.line(text)
            else:
                self._segments[index] = _with(segment, piped=True)

    def _redirected(self, node: Node, outer: list[Node] | None = None) -> None:
        redirects = [child for child in node.children if child.type.endswith("_redirect")]
        body = next((child for child in node.children if child not in redirects and child.is_named), None)
        before = len(self._segments)
        self._with_redirects(body, [*redirects, *(outer or ())])
        for redirect in redirects:
            self._rest_of_heredoc(redirect, before)

    def _with_redirects(self, body: Node | None, redirects: list[Node]) -> None:
        """The grammar hangs redirects on a whole list or pipeline; bash on its last command."""
        if body is None or not redirects:
            found, _, _ = self._redirects(redirects)
            self._emit(Segment(redirects=found, cwds=self._state.cwds))
        elif body.type in {"command", "declaration_command"}:
            self._command(body, tuple(redirects))
        elif body.type == "list":
            self._list(body, redirects)
        elif body.type == "pipeline":
            self._pipeline([child for child in body.children if child.is_named], redirects=redirects)
        elif body.type == "redirected_statement":
            self._redirected(body, redirects)
        else:
            self._visit(body)
            found, _, _ = self._redirects(redirects)
            self._emit(Segment(redirects=found, cwds=self._state.cwds, piped=True))

    def _rest_of_heredoc(self, redirect: Node, before: int) -> None:
        """The grammar puts what follows `<<EOF` on its line inside the redirect."""
        if redirect.type != "heredoc_redirect":
            return
        for child in redirect.children:
            if child.type == "pipeline":
                self._pipeline([stage for stage in child.children if stage.is_named], before)
            elif child.type in {"command", "list", "redirected_statement", "subshell", "compound_statement"}:
                self._visit(child)

    def _for(self, node: Node) -> None:
        name = node.child_by_field_name("variable")
        values: list[str] = []
        known = True
        for child in node.children_by_field_name("value"):
            word = self._reader.word(child)
            values.extend(word.values)
            known = known and word.known
        if name is not None:
            known = known and bool(values)
            self._state.assign(text_of(name), tuple(plain(value) for value in values), known=known)
            unknown = Arg(text_of(name), "", ("",), True, True, False)
            self._emit(Segment(assigns=((text_of(name), unknown),), cwds=self._state.cwds))
        for child in node.children:
            if child.type in {"do_group", "compound_statement"}:
                self._sequence(child)

    def _function(self, node: Node) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or body is None:
            self._problems.append("there is a function that is not understood")
            return
        before, cwds = len(self._segments), self._state.cwds
        if self._maybe == 1:
            # Nothing but the definition itself stands around it: from here on the name is this function.
            self._state.functions += (text_of(name),)
        self._forget(node)
        self._visit(body)
        self._bodies.setdefault(text_of(name), []).append(body)
        # Where it changes to when it is called is not followed further than this.
        self._state.merge(cwds)
        redirects = [child for child in node.children if child.type.endswith("_redirect")]
        if redirects:
            found, _, _ = self._redirects(redirects)
            self._emit(Segment(redirects=found, cwds=self._state.cwds, piped=True))
        calls = [segment for segment in self._segments[before:] if segment.name == text_of(name)]
        if len(calls) > 1 or (calls and b"&" in (body.text or b"")):
            self._bombs.append(text_of(name))

    def _bare_assignment(self, node: Node) -> None:
        found = node.children if node.type == "variable_assignments" else [node]
        assigns = tuple(pair for child in found if (pair := self._reader.assignment(child)) is not None)
        self._assign(assigns)
        self._emit(Segment(assigns=assigns, cwds=self._state.cwds))

    def _assign(self, assigns: tuple[tuple[str, Arg], ...]) -> None:
        for name, value in assigns:
            self._state.assign(name, tuple(plain(v) for v in value.values), known=value.known)

    # ---- one command ---------------------------------------------------------------------------------

    def _command(self, node: Node, outer: tuple[Node, ...]) -> None:
        self._seen.add(place(node))
        args: list[Arg] = []
        assigns: list[tuple[str, Arg]] = []
        redirects = list(outer)
        for child in node.children:
            if child.type == "variable_assignment":
                pair = self._reader.assignment(child)
                if pair is not None:
                    assigns.append(pair)
            elif child.type.endswith("_redirect"):
                redirects.append(child)
            elif child.type == "command_name":
                args.extend(self._reader.word(part) for part in child.children)
            elif child.type == "comment":
                continue
            elif child.type in WORDS or not child.is_named:
                args.append(self._reader.word(child))
            else:
                self._problems.append("there is a part that is not understood")
                self._visit(child)
        found, extra, stdin = self._redirects(redirects)
        if node.type == "declaration_command":
            self._assign(tuple(assigns))
        segment = Segment((*args, *extra), tuple(assigns), found, self._state.cwds, stdin=stdin)
        self._emit(segment)

    def _redirects(self, nodes: list[Node]) -> tuple[tuple[Redirect, ...], tuple[Arg, ...], str | None]:
        """The redirects, the words that the grammar wrongly counts to them, and the text on standard
        input."""
        found: list[Redirect] = []
        extra: list[Arg] = []
        stdin: str | None = None
        for node in nodes:
            self._seen.add(place(node))
            if node.type == "herestring_redirect":
                words = [self._reader.word(child) for child in node.children if child.is_named]
                stdin = words[0].text if words else ""
                if words and words[0].dynamic:
                    self._problems.append("text fed to a command is not known")
            elif node.type == "heredoc_redirect":
                stdin, more = self._heredoc(node, found)
                extra.extend(more)
            else:
                operator = next((text_of(child) for child in node.children if not child.is_named), "")
                targets = [self._reader.word(child) for child in node.children_by_field_name("destination")]
                if targets:
                    found.append(Redirect(operator, targets[0]))
                extra.extend(targets[1:])
        return tuple(found), tuple(extra), stdin

    def _heredoc(self, node: Node, found: list[Redirect]) -> tuple[str, list[Arg]]:
        text = ""
        extra: list[Arg] = []
        for child in node.children:
            if child.type == "heredoc_body":
                text = text_of(child)
                self._reader.substitutions(child)
            elif child.type == "file_redirect":
                more, words, _ = self._redirects([child])
                found.extend(more)
                extra.extend(words)
            elif child.type in {
                "word",
                "string",
                "raw_string",
                "concatenation",
                "number",
                "simple_expansion",
            }:
                extra.append(self._reader.word(child))
        return text, extra

    def _emit(self, segment: Segment) -> None:
        """Adds `segment`, follows what it does to the shell, and takes apart what it runs itself."""
        if len(self._segments) >= _MOST_SEGMENTS:
            self._problems.append("there are too many commands to judge")
            return
        segment = self._elsewhere(segment)
        name = segment.name
        called = bool(segment.args) and segment.args[0].raw in self._state.functions
        segment = _with(segment, called=called and not segment.via)
        self._segments.append(segment)
        self._fill(segment)
        self._call(name)
        if name in _RESERVED and segment.args[0].raw == name:
            # The grammar takes `time {`, `coproc {` and the like for a program and its words.
            self._problems.append(f"`{name}` stands where it is not understood")
            self._emit(_with(segment, args=segment.rest, redirects=()))
            return
        if name in {"cd", "pushd", "popd", "chdir"}:
            self._state.change_folder(segment)
        elif name == "alias":
            for arg in segment.rest:
                if "=" in arg.text:
                    self._inner_line(Arg.literal(arg.text.partition("=")[2]), ())
        elif name == "trap" and segment.rest and len(segment.rest) > 1:
            with self._state.later():
                self._inner_line(segment.rest[0], ())
        elif name in SHELLS and segment.stdin is not None:
            self._inner_line(Arg.literal(segment.stdin), ())
        find = Find.of(segment) if name in {"find", "gfind", "fd", "fdfind"} else None
        if find is not None:
            for args in find.runs:
                via = (*segment.via, name)
                fed = {"feed": find.roots, "narrow": find.narrow, "plainly_fed": find.plain}
                self._emit(_with(segment, args=args, via=via, redirects=(), **fed))
            return
        inner = unwrap(name, segment.rest) if name else None
        if inner is None:
            return
        via = (*segment.via, name)
        if inner.text is not None:
            self._inner_line(inner.text, via, segment)
            return
        if name in FEEDING:
            given = segment.rest[: len(segment.rest) - len(inner.args)]
            segment = _with(segment, feed=segment.feed + unfed(segment.stdin, given))
        cwds = self._state.folders(inner.moved, segment.cwds) if inner.moved is not None else segment.cwds
        self._emit(
            _with(
                segment,
                args=inner.args,
                via=via,
                cwds=cwds,
                redirects=(),
                assigns=segment.assigns + inner.assigns,
            )
        )

    def _call(self, name: str) -> None:
        """A function's body once more, with the folder and the variables of the call."""
        if name not in self._bodies or name in self._calling:
            return
        seen, calling = set(self._seen), self._calling
        self._calling = (*calling, name)
        for body in list(self._bodies[name]):
            self._forget(body)
            before = self._state.cwds
            self._visit(body)
            self._state.merge(before)
        self._seen, self._calling = seen, calling

    def _fill(self, segment: Segment) -> None:
        """The variables that a command gives a value that is not known."""
        if segment.name in _FILLS or (segment.name == "wait" and "-p" in segment.texts):
            for text in (*segment.texts, "REPLY", "MAPFILE"):
                if NAME.match(text):
                    self._state.assign(text, ("",), known=False)

    def _elsewhere(self, segment: Segment) -> Segment:
        """`git -C DIR …` is git run in DIR."""
        while segment.name == "git" and len(segment.rest) > 1 and segment.texts[0] == "-C":
            cwds = self._state.folders(segment.rest[1], segment.cwds)
            segment = _with(segment, args=(segment.args[0], *segment.rest[2:]), cwds=cwds)
        return segment

    def _inner_line(self, text: Arg, via: tuple[str, ...], outer: Segment | None = None) -> None:
        if text.dynamic:
            self._problems.append("a shell runs text that is not known")
        before = len(self._segments)
        with self._state.scope():
            self.line(text.text)
        for index in range(before, len(self._segments)):
            segment = self._segments[index]
            feed, narrow = (outer.feed, outer.narrow) if outer is not None else (segment.feed, segment.narrow)
            self._segments[index] = _with(segment, via=via + segment.via, feed=feed, narrow=narrow)


def _with(segment: Segment, **changes: object) -> Segment:
    fields = {name: getattr(segment, name) for name in segment.__struct_fields__}
    return Segment(**{**fields, **changes})
