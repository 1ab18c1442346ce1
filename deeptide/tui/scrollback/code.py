"""Colours for source code, lexed line by line so that an open fence costs only its new lines.

Pygments keeps no state between calls; here the state stack of a lexer is carried from line to line, so a
string or a comment over many lines keeps its colour. What a lexer matches with one pattern over several lines
is coloured as if each line stood alone.

Invariant: the colours of a line depend on that line and the lines before it only, however they were fed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import import_module
from typing import Any

Token = tuple[int, int, str]
"""(start, end, kind): `kind` is a key of `Inks.syntax`."""

Stack = tuple[str, ...]
ROOT: Stack = ("root",)

LONGEST = 2_000
"""A line longer than this many characters is not coloured."""

_KINDS = (
    ("Comment", "comment"),
    ("Literal.String", "string"),
    ("Literal.Number", "number"),
    ("Keyword.Type", "type"),
    ("Keyword", "keyword"),
    ("Name.Function", "function"),
    ("Name.Class", "type"),
    ("Name.Builtin", "type"),
    ("Name.Decorator", "function"),
    ("Name.Tag", "keyword"),
    ("Name.Attribute", "function"),
    ("Name.Exception", "type"),
    ("Operator.Word", "keyword"),
    ("Operator", "operator"),
    ("Punctuation", "operator"),
    ("Generic.Inserted", "string"),
    ("Generic.Deleted", "number"),
    ("Generic.Heading", "keyword"),
    ("Generic.Subheading", "function"),
)


@lru_cache(512)
def _kind(token: Any) -> str:
    name = str(token).removeprefix("Token.")
    return next((kind for prefix, kind in _KINDS if name == prefix or name.startswith(prefix + ".")), "")


def _pygments(module: str) -> Any:
    """Imported on first use: pygments costs 20 ms that the first paint must not wait for."""
    return import_module(f"pygments.{module}")


@lru_cache(64)
def lexer_for(language: str) -> Any:
    """The Pygments lexer for the words after a fence, or None for plain text and for names nobody knows.
    Never guesses from the code."""
    name = (language.split() or [""])[0].strip("{}.,:").lower()
    if name in ("", "text", "plain", "plaintext", "txt", "output", "console"):
        return None
    lexers = _pygments("lexers")
    try:
        return lexers.get_lexer_by_name(name, stripnl=False, ensurenl=False)
    except _pygments("util").ClassNotFound:
        return None


def lex_line(language: str, line: str, stack: Stack) -> tuple[list[Token], Stack]:
    """The tokens of one line (without its line break) and the state after it."""
    lexer = lexer_for(language)
    if lexer is None or len(line) > LONGEST:
        return [], stack
    if not _is_plain_regex(lexer):
        return _joined((start, kind, text) for start, kind, text in lexer.get_tokens_unprocessed(line)), ROOT
    states = list(stack)
    found = _joined(_walk(lexer, line + "\n", states))
    length = len(line)
    return [(start, min(end, length), kind) for start, end, kind in found if start < length], tuple(states)


@lru_cache(64)
def _is_plain_regex(lexer: Any) -> bool:
    regex = _pygments("lexer").RegexLexer
    method = getattr(type(lexer), "get_tokens_unprocessed", None)
    return isinstance(lexer, regex) and method is regex.get_tokens_unprocessed


def _joined(tokens: Iterator[tuple[int, Any, str]]) -> list[Token]:
    out: list[Token] = []
    for start, token, text in tokens:
        kind = _kind(token)
        if not kind or not text:
            continue
        if out and out[-1][2] == kind and out[-1][1] == start:
            out[-1] = (out[-1][0], start + len(text), kind)
        else:
            out.append((start, start + len(text), kind))
    return out


def _walk(lexer: Any, text: str, states: list[str]) -> Iterator[tuple[int, Any, str]]:
    """Runs the lexer's own state machine over `text`, leaving the states it ends in in `states`."""
    position, limit = 0, len(text)
    machine: dict[str, list[tuple[Callable[..., Any], Any, Any]]] = lexer._tokens
    while position < limit:
        for match, action, following in machine.get(states[-1], machine["root"]):
            found = match(text, position)
            if not found or (found.end() == position and following is None):
                continue
            if action is not None:
                if callable(action) and not _is_token(action):
                    yield from action(lexer, found)
                else:
                    yield position, action, found.group()
            position = found.end()
            if following is not None:
                _follow(following, states)
            break
        else:
            if text[position] == "\n":
                del states[1:]
                states[:] = ["root"]
            position += 1


def _is_token(action: Any) -> bool:
    return isinstance(action, tuple)


def _follow(following: Any, states: list[str]) -> None:
    if isinstance(following, tuple):
        for state in following:
            if state == "#pop":
                if len(states) > 1:
                    states.pop()
            elif state == "#push":
                states.append(states[-1])
            else:
                states.append(state)
    elif isinstance(following, int):
        if abs(following) >= len(states):
            del states[1:]
        else:
            del states[following:]
    elif following == "#push":
        states.append(states[-1])
