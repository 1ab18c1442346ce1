"""Rules: narrow when they allow, as wide as wanted when they forbid."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.permissions.rules import Rule, Rules, rule_for
from deeptide.protocol.errors import UsageError, WorkspaceError
from tests.deep import count


@pytest.mark.parametrize(
    "text",
    [
        "run python",
        "run bash",
        "run git",
        "run npm",
        "run sudo ls",
        "run env",
        "run node -e",
        "run python -c",
        "run rm",
        "run xargs",
        "run /usr/bin/python3",
        "run git -C",
        "run eval",
        "run sh x.sh",
        "run python -m",
        "run uv run",
        "run npm exec",
        "run vim",
        "run exactly sudo ls",
        "run exactly bash",
        "run exactly python",
        "run a\nb",
    ],
)
def test_a_rule_that_would_allow_too_much_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        Rules().add(text)
    assert caught.value.advice


@pytest.mark.parametrize("text", ["", "run", "fly away", "write ", "run  "])
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        Rule.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "run git commit",
        "run pytest",
        "run python x.py",
        "run python -m pytest",
        "write a b",
        "run exactly rm -rf build",
        "write exactly [a]*",
        "write a  b",
        "run exactly exactly x",
    ],
)
def test_a_good_rule_reads_as_it_was_written(text: str) -> None:
    assert str(Rule.parse(text)) == text


def test_a_forbidding_rule_may_be_wide() -> None:
    rules = Rules(deny=("run git", "run bash"))
    assert [str(rule) for rule in rules.denied] == ["run git", "run bash"]


def test_always_persists_each_rule_and_session_none() -> None:
    kept: list[str] = []
    rules = Rules(persist=kept.append)
    rules.add("run pytest")
    assert kept == []
    rules.add("run git add", "run git commit", always=True)
    assert kept == ["run git add", "run git commit"]
    assert [str(rule) for rule in rules.allowed] == ["run pytest", "run git add", "run git commit"]


def test_a_path_pattern_fits_by_its_wildcards() -> None:
    rule = Rule.parse("write docs/*.md")
    assert rule.fits("write", "docs/a.md")
    assert not rule.fits("write", "src/a.md")
    assert not rule.fits("read", "docs/a.md")


def test_an_exact_path_is_no_pattern() -> None:
    rule = Rule.parse("write exactly *")
    assert rule.fits("write", "*")
    assert not rule.fits("write", "src/a.py")


def test_none_of_several_rules_is_stored_when_one_is_none() -> None:
    rules = Rules()
    with pytest.raises(UsageError):
        rules.add("run pytest", "run npm")
    assert rules.allowed == ()


def test_a_rule_that_cannot_be_persisted_holds_for_the_session() -> None:
    def full(_: str) -> None:
        raise WorkspaceError("The disk is full.", "Make room.")

    rules = Rules(persist=full)
    with pytest.raises(WorkspaceError):
        rules.add("run pytest", "write a", always=True)
    assert [str(rule) for rule in rules.allowed] == ["run pytest", "write a"]


@pytest.mark.parametrize(
    "target",
    ["", "a; write *", "a\nwrite *", "a ", " a", 'a"b', "a\\b", "a\u202eb", "a\u3000b", "`a`", "x" * 400],
)
def test_a_target_that_could_be_read_in_two_ways_gets_no_rule(target: str) -> None:
    assert rule_for("write", target) == ()


NAMES = st.text(st.sampled_from("ab*?[]!; \t\n/.~'-") | st.characters(), min_size=1, max_size=12)


@settings(max_examples=count(150, 5000))
@given(NAMES | NAMES.map("exactly {}".format), NAMES)
def test_the_rule_for_a_target_fits_that_target_alone(target: str, other: str) -> None:
    offered = rule_for("write", target)
    rules = Rules()
    rules.add(*offered)
    assert (rules.allows("write", target) is not None) == bool(offered)
    assert other == target or rules.allows("write", other) is None
    assert rules.allows("read", target) is None
    assert not any(";" in text for text in offered)
