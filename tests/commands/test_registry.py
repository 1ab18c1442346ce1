"""Names, help and dispatch of commands."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.commands.command import Command, CommandContext, confirmed
from deeptide.commands.registry import Registry, split
from deeptide.commands.results import Nothing, Result, Text
from deeptide.commands.standard import standard
from deeptide.protocol.errors import UsageError
from tests.deep import count

NAMES = """
new/clear sessions resume rename export copy quit/exit
compact/compress auto-compact pin cycle cycles recall context cost cache
checkpoint/snap/snapshot checkpoints rewind undo redo
mode model effort plan queue steer permissions
help/? status doctor login
"""


async def echo(context: CommandContext, argument: str) -> Result:
    return Text(argument)


async def choosy(context: CommandContext, argument: str) -> Result:
    raise UsageError("not that")


SMALL = Registry(
    {
        "One": [Command("say", "<words>", "Say it", echo, ("tell",))],
        "Two": [Command("bare", "", "Nothing after it", echo), Command("choosy", "[x]", "Refuse", choosy)],
    }
)
NOWHERE: CommandContext = None  # type: ignore[assignment]


def test_the_command_names_are_the_pinned_ones() -> None:
    found = {"/".join((command.name, *command.aliases)) for command in standard().commands}
    assert found == set(NAMES.split())


def test_every_command_says_what_it_does_and_help_shows_it() -> None:
    registry = standard()
    whole = registry.help()
    for command in registry.commands:
        assert command.summary and not command.summary.endswith(".")
        assert f"- `{command.line}` {command.summary}" in whole
        one = registry.help(command.name)
        assert command.line in one and command.detail in one
        assert all(f"`/{alias}`" in one for alias in command.aliases)


def test_no_two_commands_share_a_name() -> None:
    with pytest.raises(ValueError, match="/say"):
        Registry({"x": [Command("say", "", "a", echo), Command("tell", "", "b", echo, ("say",))]})


def test_completion_offers_names_before_aliases_and_each_once() -> None:
    registry = standard()
    assert [command.name for command in registry.complete("c")] == [
        "copy", "compact", "cycle", "cycles", "context", "cost", "cache", "checkpoint", "checkpoints", "new",
    ]  # fmt: skip
    assert registry.complete("SNAP")[0].name == "checkpoint"
    assert len(registry.complete("")) == len(registry.commands)
    assert registry.complete("zzz") == ()
    assert registry.find("EXIT") == registry.find("quit") and registry.find("nope") is None


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("/compact  keep  the API ", ("compact", "keep  the API")),
        ("/help", ("help", "")),
        ("/pin\n中文 两行\nx", ("pin", "中文 两行\nx")),
        ("/", ("", "")),
        ("", ("", "")),
    ],
)
def test_a_line_is_a_name_and_the_rest_as_typed(line: str, parts: tuple[str, str]) -> None:
    assert split(line) == parts


async def test_dispatch_finds_by_alias_and_any_case() -> None:
    assert await SMALL.dispatch("/TELL  a  b ", NOWHERE) == Text("a  b")


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("/compat", "/compact"),
        ("/undoo", "/undo"),
        ("/cheque", ""),
        ("/sta", "/status"),
        ("/exot", "/quit"),
        ("/", ""),
    ],
)
async def test_an_unknown_command_is_answered_with_the_nearest_names(typed: str, near: str) -> None:
    with pytest.raises(UsageError) as caught:
        await standard().dispatch(typed, NOWHERE)
    assert str(caught.value) == f"There is no command {typed}."
    assert near in caught.value.advice and "/help" in caught.value.advice
    assert caught.value.advice.count("/") <= 4


async def test_a_command_that_takes_nothing_refuses_an_argument() -> None:
    with pytest.raises(UsageError, match="/bare takes nothing after it"):
        await SMALL.dispatch("/bare x", NOWHERE)
    assert await SMALL.dispatch("/bare", NOWHERE) == Text("")


async def test_a_wrong_argument_is_answered_with_the_usage() -> None:
    with pytest.raises(UsageError) as caught:
        await SMALL.dispatch("/choosy y", NOWHERE)
    assert caught.value.advice == "Usage: /choosy [x]"


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("yolo --yes", ("yolo", True)), ("--yes", ("", True)), ("a--yes", ("a--yes", False)),
        ("--yes a", ("--yes a", False)), ("", ("", False)),
    ],
)  # fmt: skip
def test_a_confirmation_is_the_last_word(argument: str, expected: tuple[str, bool]) -> None:
    assert confirmed(argument) == expected


@given(st.text(max_size=40))
@settings(max_examples=count(100, 3000))
def test_any_name_is_found_or_refused_with_words(text: str) -> None:
    registry = standard()
    try:
        assert registry.named(text).name
    except UsageError as error:
        assert str(error) and error.advice


def test_nothing_is_a_value() -> None:
    assert Nothing() == Nothing()
