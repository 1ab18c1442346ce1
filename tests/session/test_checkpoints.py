"""The grammar of /checkpoint and the order in which a selector is read."""

from __future__ import annotations

import pytest

from deeptide.protocol.errors import UsageError
from deeptide.session.checkpoints import AUTOMATIC, NAMED, Checkpoints, Verb, parse_verb


@pytest.mark.parametrize(
    ("text", "verb"),
    [
        ("", Verb("save")),
        ("list", Verb("list")),
        ("LIST", Verb("list")),
        ("clear", Verb("clear")),
        ("help", Verb("help")),
        ("save", Verb("save", "")),
        ("save before refactor", Verb("save", "before refactor")),
        ("drop 2", Verb("drop", "2")),
        ('drop "my label"', Verb("drop", '"my label"')),
        ("drop latest", Verb("drop", "latest")),
        ("drop table users", Verb("save", "drop table users")),
        ("reset db before migration", Verb("save", "reset db before migration")),
        ("list of things", Verb("save", "list of things")),
        ("clear skies", Verb("save", "clear skies")),
        ("help me", Verb("save", "help me")),
        ("改接口之前", Verb("save", "改接口之前")),
        ("12", Verb("save", "12")),
        ("deadbeef", Verb("save", "deadbeef")),
    ],
)
def test_a_verb_counts_only_alone_or_with_what_it_needs(text: str, verb: Verb) -> None:
    assert parse_verb(text) == verb


def test_drop_alone_asks_which_one() -> None:
    with pytest.raises(UsageError, match="which checkpoint"):
        parse_verb("drop")


def points(*labels: str) -> Checkpoints:
    clock = iter(range(1000))
    store = Checkpoints(lambda: float(next(clock)))
    for seq, label in enumerate(labels, 1):
        store.save(label, seq, seq)
    return store


def test_the_selector_is_read_in_its_order() -> None:
    store = points("one", "2", "three", "")
    listed = store.list()
    assert store.find("") == store.find("latest") == listed[-1]
    assert store.find("2") == listed[1], "a position wins over a label"
    assert store.find("#1") == listed[0]
    assert store.find('"2"') == listed[1]
    assert store.find("three") == listed[2]
    assert store.find(listed[0].id.upper()) == listed[0]
    assert store.find(listed[0].id[:6]) == listed[0]


def test_a_number_past_the_end_is_no_position() -> None:
    store = points("a")
    with pytest.raises(UsageError, match="No checkpoint is '7'"):
        store.find("7")


def test_an_ambiguous_prefix_lists_its_candidates() -> None:
    store = points(*(str(n) + "x" for n in range(20)))
    for first in "0123456789abcdef":
        same = [point for point in store.list() if point.id.startswith(first)]
        for point in same:
            twins = [other for other in same if other.id[:2] == point.id[:2]]
            if len(twins) > 1 and not point.id[:2].isdigit():
                with pytest.raises(UsageError, match=r"fits \d"):
                    store.find(point.id[:2])
                return


def test_not_found_says_what_there_is() -> None:
    with pytest.raises(UsageError) as caught:
        points("alpha").find("omega")
    assert "alpha" in caught.value.advice
    with pytest.raises(UsageError, match="no checkpoints yet"):
        Checkpoints().find("")


@pytest.mark.parametrize("label", ["x" * 65, "two\nlines"])
def test_a_wrong_label_is_refused_with_a_reason(label: str) -> None:
    with pytest.raises(UsageError, match="label"):
        Checkpoints().save(label, 1, 1)


def test_a_taken_label_is_refused_and_nothing_is_lost() -> None:
    store = points("same")
    with pytest.raises(UsageError, match="already called"):
        store.save("same", 9, 9)
    assert len(store.list()) == 1


def test_the_oldest_goes_first_and_automatic_ones_have_their_own_ring() -> None:
    store = points(*(f"p{n}" for n in range(NAMED + 3)))
    for n in range(AUTOMATIC + 4):
        store.take("before rewind", 100 + n, 0)
    saved = [point for point in store.list() if not point.automatic]
    automatic = [point for point in store.list() if point.automatic]
    assert [point.label for point in saved] == [f"p{n}" for n in range(3, NAMED + 3)]
    assert [point.seq for point in automatic] == list(range(104, 100 + AUTOMATIC + 4))


def test_drop_and_clear() -> None:
    store = points("a", "b")
    assert store.drop("a").label == "a"
    assert [point.label for point in store.list()] == ["b"]
    assert store.clear() == 1
    assert store.list() == []
