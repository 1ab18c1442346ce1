"""Rules: narrow when they allow, as wide as wanted when they forbid."""

from __future__ import annotations

import pytest

from deeptide.permissions.rules import Rule, Rules
from deeptide.protocol.errors import UsageError


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
    "text", ["run git commit", "run pytest", "run python x.py", "run python -m pytest", "write a b"]
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
    rules.add("run git add; run git commit", always=True)
    assert kept == ["run git add", "run git commit"]
    assert [str(rule) for rule in rules.allowed] == ["run pytest", "run git add", "run git commit"]


def test_a_word_that_only_begins_alike_does_not_fit() -> None:
    rule = Rule.parse("run git com")
    assert rule.fits_words(("git", "com"))
    assert not rule.fits_words(("git", "commit"))
    assert not rule.fits_words(("git",))


def test_a_path_pattern_fits_by_its_wildcards() -> None:
    rule = Rule.parse("write docs/*.md")
    assert rule.fits("write", "docs/a.md")
    assert not rule.fits("write", "src/a.md")
    assert not rule.fits("read", "docs/a.md")
