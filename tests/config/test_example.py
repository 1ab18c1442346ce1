"""The example file is made from the schema."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import msgspec

from deeptide.config.example import example
from deeptide.config.load import load
from deeptide.config.paths import find_paths
from deeptide.config.schema import Settings, all_settings

ROOT = Path(__file__).resolve().parents[2]


def test_the_example_in_the_checkout_is_the_one_the_schema_makes() -> None:
    made = subprocess.run(
        [sys.executable, "-m", "deeptide.config"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert made.stdout == example()
    assert (ROOT / "config.example.toml").read_text(encoding="utf-8") == example(), (
        "run `python -m deeptide.config > config.example.toml`"
    )


def test_the_example_uncommented_gives_exactly_the_defaults(own_home: Path) -> None:
    lines = [re.sub(r"^# ", "", line) for line in example().splitlines() if not line.startswith("##")]
    own_home.mkdir()
    paths = find_paths()
    paths.config_file.write_text("\n".join(lines), encoding="utf-8")
    found = load(paths, environ={}).settings
    assert msgspec.structs.replace(found, models={}) == Settings()
    assert None not in msgspec.structs.asdict(found.models["my-model"]).values()


def test_the_example_as_it_stands_sets_nothing() -> None:
    assert all(table == {} for table in tomllib.loads(example()).values())


def test_every_setting_has_a_meaning_of_one_line_and_says_what_is_allowed() -> None:
    for setting in all_settings().values():
        assert setting.meaning.endswith(".") and "\n" not in setting.meaning, setting.key
        assert setting.allowed, setting.key
