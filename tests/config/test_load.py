"""The layers over the defaults, and what is said when one of them is wrong."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
import tomli_w
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deeptide.config.load import SHORT, load
from deeptide.config.paths import Paths, find_paths, project_file
from deeptide.config.schema import Settings, all_settings
from deeptide.protocol.errors import ConfigError
from tests.deep import count


@pytest.fixture
def paths(own_home: Path) -> Paths:
    own_home.mkdir()
    return find_paths()


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def refused(paths: Paths, **more: object) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load(paths, **more)  # type: ignore[arg-type]
    assert caught.value.exit_code == 2
    return caught.value


def test_without_any_file_the_defaults_hold(paths: Paths) -> None:
    loaded = load(paths, environ={})
    assert loaded.settings == Settings()
    assert loaded.sources == {} and loaded.notices == ()


def test_each_layer_wins_over_the_one_before(paths: Paths, tmp_path: Path) -> None:
    write(paths.config_file, 'model.name = "mine"\ncontext.soft_limit = 70\nlimits.max_turns = 5\n')
    write(project_file(tmp_path), 'model.name = "project"\nlimits.max_turns = 6\n')
    environ = {"DEEPTIDE_MODEL": "environment"}
    flags = {"limits.max_turns": 7}
    loaded = load(paths, tmp_path, trusted=True, environ=environ, flags=flags)
    assert loaded.settings.model.name == "environment"
    assert loaded.settings.context.soft_limit == 70
    assert loaded.settings.limits.max_turns == 7
    assert loaded.sources["context.soft_limit"] == str(paths.config_file)
    assert loaded.sources["model.name"] == "environment DEEPTIDE_MODEL"
    assert loaded.sources["limits.max_turns"] == "command line"


def test_a_project_file_is_read_only_in_a_trusted_folder_and_that_is_said(
    paths: Paths, tmp_path: Path
) -> None:
    write(project_file(tmp_path), 'model.name = "project"\n')
    loaded = load(paths, tmp_path, trusted=False, environ={})
    assert loaded.settings.model.name == Settings().model.name
    assert str(project_file(tmp_path)) in loaded.notices[0] and "--trust" in loaded.notices[0]


@pytest.mark.parametrize("line", ['model.base_url = "http://evil.example"', 'permissions.mode = "yolo"'])
def test_a_project_file_may_not_choose_where_the_key_goes_or_start_in_yolo(
    paths: Paths, tmp_path: Path, line: str
) -> None:
    write(project_file(tmp_path), line + "\n")
    error = refused(paths, workspace=tmp_path, trusted=True, environ={})
    assert str(project_file(tmp_path)) in str(error) and line.split(" ")[0] in str(error)


def test_a_project_file_may_choose_a_careful_mode(paths: Paths, tmp_path: Path) -> None:
    write(project_file(tmp_path), 'permissions.mode = "plan"\n')
    assert load(paths, tmp_path, trusted=True, environ={}).settings.permissions.mode == "plan"


def test_an_unknown_key_names_the_file_and_the_nearest_key(paths: Paths) -> None:
    write(paths.config_file, "[context]\nsoft_limt = 70\n")
    error = refused(paths, environ={})
    assert str(paths.config_file) in str(error)
    assert "context.soft_limt is not a setting; did you mean context.soft_limit?" in str(error)
    assert "--example" in error.advice


def test_an_unknown_section_names_the_nearest_one(paths: Paths) -> None:
    write(paths.config_file, "[permission]\nmode = 'plan'\n")
    assert "did you mean permissions?" in str(refused(paths, environ={}))


def test_a_key_in_the_wrong_section_names_the_right_one(paths: Paths) -> None:
    write(paths.config_file, "[ui]\nauto_compact = true\n")
    assert "did you mean context.auto_compact?" in str(refused(paths, environ={}))


def test_a_section_that_is_a_value_says_how_a_section_is_written(paths: Paths) -> None:
    write(paths.config_file, "model = 'deepseek-flash'\n")
    assert "model must be a table, like [model]" in str(refused(paths, environ={}))


@pytest.mark.parametrize(
    ("line", "allowed"),
    [
        ("context.soft_limit = 5", "a whole number from 10 to 99"),
        ("context.soft_limit = '85'", "a whole number from 10 to 99"),
        ("context.soft_limit = 85.5", "a whole number from 10 to 99"),
        ("context.automatic = 'sometimes'", "one of guard, ladder, ask, off"),
        ("permissions.mode = 'root'", "one of plan, ask, auto-edit, yolo"),
        ("permissions.allow = 'read'", "a list of texts"),
        ("permissions.allow = [1]", "a list of texts"),
        ("limits.max_cost_session = -1", "a number, at least 0"),
        ("limits.max_cost_session = nan", "a number, at least 0"),
        ("limits.max_cost_session = inf", "a number, at least 0"),
        ("model.base_url = 'api.deepseek.com'", "an address that starts with http:// or https://"),
        ("model.name = ' '", "text that is not empty"),
        ("ui.bell = 1", "true or false"),
    ],
)
def test_a_wrong_value_names_file_key_and_what_is_allowed(paths: Paths, line: str, allowed: str) -> None:
    write(paths.config_file, line + "\n")
    error = str(refused(paths, environ={}))
    assert error.startswith(str(paths.config_file)) and line.split(" ")[0] in error
    assert f"allowed: {allowed}." in error


def test_broken_toml_names_the_file_and_the_line(paths: Paths) -> None:
    write(paths.config_file, "[model]\nname = \n")
    error = refused(paths, environ={})
    assert str(paths.config_file) in str(error) and "line 2" in str(error)


def test_a_file_that_is_not_text_is_named(paths: Paths) -> None:
    paths.config_file.write_bytes(b"# caf\xe9\n")
    assert f"{paths.config_file} is not UTF-8 text (byte 6)" in str(refused(paths, environ={}))


def test_a_byte_order_mark_is_no_error(paths: Paths) -> None:
    paths.config_file.write_bytes(b"\xef\xbb\xbf[model]\nname = 'x'\n")
    assert load(paths, environ={}).settings.model.name == "x"


def test_a_folder_in_place_of_the_file_is_a_readable_error(paths: Paths) -> None:
    paths.config_file.mkdir()
    assert str(paths.config_file) in str(refused(paths, environ={}))


def test_a_pipe_in_place_of_the_file_does_not_hang(paths: Paths) -> None:
    os.mkfifo(paths.config_file)
    assert str(paths.config_file) in str(refused(paths, environ={}))


def test_a_model_entry_takes_what_it_is_given_and_leaves_the_rest_open(paths: Paths) -> None:
    write(paths.config_file, '[models."llama 3"]\nwindow = 8192\n')
    entry = load(paths, environ={}).settings.models["llama 3"]
    assert entry.window == 8192 and entry.max_output is None


def test_a_wrong_model_entry_names_its_model(paths: Paths) -> None:
    write(paths.config_file, '[models."x.y"]\nwindw = 8192\n')
    assert 'models."x.y".windw is not a setting; did you mean models."x.y".window?' in str(
        refused(paths, environ={})
    )
    write(paths.config_file, '[models."x.y"]\nwindow = 0\n')
    assert 'models."x.y".window is 0; allowed: a whole number, at least 1.' in str(refused(paths, environ={}))


def test_a_foreign_variable_is_noticed_with_the_nearest_name(paths: Paths) -> None:
    loaded = load(paths, environ={"DEEPTIDE_LIMITS_MAX_TURN": "3", "DEEPTIDE_HOME": "/x", "OTHER": "1"})
    assert loaded.notices == (
        "The environment variable DEEPTIDE_LIMITS_MAX_TURN is not a setting; "
        "did you mean DEEPTIDE_LIMITS_MAX_TURNS?",
    )


def test_every_setting_has_a_variable_and_words_for_true_and_lists_are_read(paths: Paths) -> None:
    environ = {
        "DEEPTIDE_UI_BELL": "off",
        "DEEPTIDE_PERMISSIONS_DENY": "shell(rm), write ,",
        "DEEPTIDE_LIMITS_MAX_COST_TURN": "0.5",
        "DEEPTIDE_MODE": "plan",
        "DEEPTIDE_MODEL": "",
    }
    found = load(paths, environ=environ).settings
    assert found.ui.bell is False
    assert found.permissions.deny == ("shell(rm)", "write")
    assert found.permissions.mode == "plan"
    assert found.limits.max_cost_turn == 0.5
    assert found.model.name == Settings().model.name


def test_a_wrong_variable_is_named(paths: Paths) -> None:
    error = refused(paths, environ={"DEEPTIDE_UI_BELL": "loud"})
    assert 'environment DEEPTIDE_UI_BELL: ui.bell is "loud"; allowed: true or false.' in str(error)


def test_the_long_name_wins_over_the_short_one_in_any_order(paths: Paths) -> None:
    pairs = [("DEEPTIDE_MODEL", "short"), ("DEEPTIDE_MODEL_NAME", "long")]
    for environ in (dict(pairs), dict(reversed(pairs))):
        assert load(paths, environ=environ).settings.model.name == "long"


def test_short_names_stand_for_settings_that_exist() -> None:
    assert set(SHORT.values()) <= set(all_settings())


def test_a_threshold_that_can_never_act_is_noticed(paths: Paths) -> None:
    flags = {"context.automatic": "ladder", "context.auto_compact": True}
    assert "auto_compact_at (95) will never act" in load(paths, environ={}, flags=flags).notices[0]


def values() -> st.SearchStrategy[object]:
    leaves = (
        st.none().map(lambda _: [])
        | st.booleans()
        | st.integers(-5, 200)
        | st.floats(allow_nan=True)
        | st.sampled_from(["guard", "ask", "high", "", "yolo", "USD", "http://h"])
        | st.text(
            st.characters(codec="utf-8", exclude_characters="\x7f", exclude_categories=["Cc"]), max_size=8
        )
    )
    return leaves | st.lists(leaves, max_size=2)


KEYS = [key.split(".") for key in all_settings()] + [["model", "nam"], ["modell", "name"], ["models", "x"]]


@settings(
    max_examples=count(80, 4000), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(st.lists(st.tuples(st.sampled_from(KEYS), values()), max_size=6))
def test_any_file_either_loads_to_valid_settings_or_is_a_readable_error(
    paths: Paths, pairs: list[tuple[list[str], object]]
) -> None:
    data: dict[str, dict[str, object]] = {}
    for (section, name), value in pairs:
        data.setdefault(section, {})[name] = value
    paths.config_file.write_text(tomli_w.dumps(data), encoding="utf-8")
    try:
        found = load(paths, environ={}).settings
    except ConfigError as error:
        assert str(paths.config_file) in str(error)
        return
    assert msgspec.json.decode(msgspec.json.encode(found), type=Settings) == found
