"""Choosing the answer: by order, by turn, by what the user said, from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from deeptide.emulator.emulator import Emulator
from deeptide.emulator.script import Call, Fault, Line, Say, Script, echo, last_user_text
from deeptide.protocol.errors import ConfigError
from tests.fakes.scripts import post, request


async def said(emulator: Emulator, text: str = "hello") -> str:
    reply = await post(emulator, request({"role": "user", "content": text}))
    return str(reply.json()["choices"][0]["message"]["content"])


async def test_without_a_script_the_user_is_echoed() -> None:
    assert await said(Emulator(), "你好") == "You said: 你好"


async def test_answers_come_in_order_and_the_end_is_said() -> None:
    emulator = Emulator(Script.of([Say("a"), Say("b")]))
    assert [await said(emulator) for _ in range(3)] == [
        "a", "b", "[emulator] the script has no answer for request 3.",
    ]  # fmt: skip
    assert await said(Emulator(Script.of([], rest=echo)), "x") == "You said: x"


async def test_a_refused_request_uses_up_nothing() -> None:
    emulator = Emulator(Script.of([Say("a")]))
    assert (await post(emulator, b"{")).status_code == 400
    assert await said(emulator) == "a"


async def test_conditions_come_before_order() -> None:
    emulator = Emulator(
        Script([
            Line(Say("plain 1")),
            Line(Say("fixed"), match="(?i)fix"),
            Line(Say("third"), turn=3),
            Line(Say("once"), match="once", times=1),
            Line(Say("plain 2")),
        ])
    )  # fmt: skip
    asked = ["please FIX", "x", "y", "once", "once", "fix"]
    assert [await said(emulator, text) for text in asked] == [
        "fixed", "plain 1", "third", "once", "plain 2", "fixed",
    ]  # fmt: skip


async def test_a_function_is_a_script() -> None:
    emulator = Emulator(lambda request, n: Say(f"{n}: {request['model']}"))
    assert [await said(emulator) for _ in range(2)] == ["1: deepseek-flash", "2: deepseek-flash"]


def test_the_last_user_text_joins_parts() -> None:
    parts = [
        {"type": "text", "text": "a"},
        {"type": "image_url", "image_url": {"url": "x"}},
        {"type": "text", "text": "b"},
    ]
    messages = [{"role": "user", "content": "old"}, {"role": "user", "content": parts}, {"role": "assistant"}]
    assert last_user_text({"messages": messages}) == "ab"
    assert last_user_text({}) == ""


JSONL = """
# a comment
{"text": "Hello", "thinking": "t"}
{"match": "go", "calls": [{"name": "read", "args": {"path": "a"}}, {"name": "x", "args": "{bad", "id": "i"}]}
{"turn": 4, "times": 1, "text": "z", "fault": {"kind": "stall", "at": 5}, "wire": {"chunk": 2}}
"""
TOML = """
[[say]]
text = "Hello"
thinking = "t"

[[say]]
match = "go"
calls = [{ name = "read", args = { path = "a" } }, { name = "x", args = "{bad", id = "i" }]
"""


@pytest.mark.parametrize(("name", "text"), [("s.jsonl", JSONL), ("s.toml", TOML)])
async def test_a_script_is_read_from_a_file(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    script = Script.from_file(path)
    going = script(request({"role": "user", "content": "go on"}), 1)
    assert going.calls == (Call("read", {"path": "a"}), Call("x", "{bad", "i"))
    assert script(request(), 2) == Say("Hello", "t")
    if name == "s.jsonl":
        assert script(request(), 4).fault == Fault("stall", at=5)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.jsonl", '{"text": "x"}\n{"txt": "y"}', ["line 2", "unknown key 'txt'"]),
        ("a.jsonl", "{nope", ["line 1", "not JSON"]),
        ("a.jsonl", "[1]", ["line 1", "an object is expected"]),
        ("a.jsonl", '{"text": 5}', ["line 1", "str"]),
        ("a.jsonl", '{"fault": {"kind": "explode"}}', ["line 1", "explode"]),
        ("a.toml", "[[say]]\nturn = 'x'", ["say 1", "int"]),
        ("a.toml", "=", ["not TOML"]),
    ],
)
def test_a_wrong_script_names_its_file_and_line(
    tmp_path: Path, name: str, text: str, words: list[str]
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        Script.from_file(path)
    for word in (name, *words):
        assert word in str(caught.value)


def test_a_missing_script_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Cannot read the script"):
        Script.from_file(tmp_path / "none.jsonl")
