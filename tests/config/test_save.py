"""One setting written back, everything else kept."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deeptide.config.load import load
from deeptide.config.paths import Paths, find_paths
from deeptide.config.save import save
from deeptide.config.schema import all_settings
from deeptide.protocol.errors import ConfigError
from tests.deep import count


@pytest.fixture
def paths(own_home: Path) -> Paths:
    own_home.mkdir()
    return find_paths()


def saved(paths: Paths, before: str, key: str, value: object) -> str:
    paths.config_file.write_bytes(before.encode())
    save(paths, key, value)
    return paths.config_file.read_bytes().decode()


def test_a_first_setting_makes_the_file_and_its_folder(tmp_path: Path) -> None:
    paths = find_paths({}, tmp_path / "new" / "home")
    save(paths, "ui.theme", "light")
    assert paths.config_file.read_text() == '[ui]\ntheme = "light"\n'


def test_comments_and_order_stay(paths: Paths) -> None:
    before = (
        "# mine\n[ui] # looks\n# bright\ntheme = 'dark'   # for now, #1\nbell = false\n\n[model]\nname='x'\n"
    )
    after = saved(paths, before, "ui.theme", "light")
    assert after == before.replace("theme = 'dark'", 'theme = "light"')


def test_a_hash_inside_a_value_is_not_taken_for_a_comment(paths: Paths) -> None:
    after = saved(paths, "[model]\nname = 'a#b' # c\n", "model.name", "d")
    assert after == '[model]\nname = "d" # c\n'


def test_a_character_that_only_looks_like_a_line_end_is_none(paths: Paths) -> None:
    after = saved(paths, "[model]\nname = 'a\x85b\u2028c'\n", "model.name", "d\x85e")
    assert after == '[model]\nname = "d\x85e"\n'


def test_a_key_is_added_to_its_table_and_a_table_to_the_end(paths: Paths) -> None:
    assert saved(paths, "[ui]\nbell = true\n", "ui.theme", "dark") == '[ui]\ntheme = "dark"\nbell = true\n'
    assert saved(paths, "[ui]\nbell = true", "model.name", "x") == (
        '[ui]\nbell = true\n\n[model]\nname = "x"\n'
    )
    assert saved(paths, "[ui]", "ui.bell", False) == "[ui]\nbell = false\n"


def test_line_endings_are_kept(paths: Paths) -> None:
    assert saved(paths, "[ui]\r\nbell = true\r\n", "ui.bell", "off") == "[ui]\r\nbell = false\r\n"


@pytest.mark.parametrize(
    "before",
    [
        'model = {name = "x"}\n',
        'model.name = "x"\n',
        '[model]\nname = """\nx"""\n',
        "[permissions]\ndeny = [\n  'a',\n]\n",
    ],
)
def test_a_form_that_cannot_be_changed_safely_is_left_alone_and_the_line_is_told(
    paths: Paths, before: str
) -> None:
    paths.config_file.write_text(before)
    key, value = ("permissions.deny", ["b"]) if "deny" in before else ("model.name", "y")
    with pytest.raises(ConfigError) as caught:
        save(paths, key, value)
    assert paths.config_file.read_text() == before
    assert str(paths.config_file) in str(caught.value) and "yourself: " in caught.value.advice


def test_a_wrong_key_or_value_writes_nothing(paths: Paths) -> None:
    for key, value in (("ui.thme", "x"), ("ui.theme", "pink"), ("context.soft_limit", "many")):
        with pytest.raises(ConfigError):
            save(paths, key, value)
    assert not paths.config_file.exists()


CHOICES = {
    "model.name": st.text(st.characters(codec="utf-8"), min_size=1, max_size=12).filter(str.strip),
    "context.soft_limit": st.integers(10, 99),
    "ui.bell": st.booleans(),
    "limits.max_cost_session": st.floats(0, 1e6),
    "permissions.deny": st.lists(st.text(st.characters(codec="utf-8"), max_size=8), max_size=3),
}


@settings(
    max_examples=count(60, 3000), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    st.lists(
        st.sampled_from(sorted(CHOICES)).flatmap(lambda k: st.tuples(st.just(k), CHOICES[k])), max_size=5
    )
)
def test_what_is_saved_is_what_is_loaded_and_nothing_else_changes(
    paths: Paths, changes: list[tuple[str, object]]
) -> None:
    before = "# top\n[context]\nevict_at = 75 # low\n\n[ui]\ntheme = 'light'\n# end\n"
    paths.config_file.write_text(before, encoding="utf-8")
    wanted: dict[str, object] = {}
    for key, value in changes:
        save(paths, key, value)
        wanted[key] = value
    found = load(paths, environ={}).settings
    for key in all_settings():
        section, _, name = key.partition(".")
        value = getattr(getattr(found, section), name)
        if key in wanted:
            expected = wanted[key]
            expected = expected.strip() if isinstance(expected, str) else expected
            assert value == (tuple(expected) if isinstance(expected, list) else expected)
    text = paths.config_file.read_text(encoding="utf-8")
    assert text.startswith("# top\n[context]\n") and "evict_at = 75 # low\n" in text and "# end\n" in text
    assert tomllib.loads(text)["ui"]["theme"] == "light"
