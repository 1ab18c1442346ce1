"""What the papers say is what the project does."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from deeptide import __version__
from tests.contracts.source import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
CHINESE = (ROOT / "README.zh.md").read_text(encoding="utf-8")


def command(name: str) -> str:
    found = re.search(rf"<!-- {name} command -->\n```\n(.+?)\n```", README, re.S)
    assert found, f"README.md has no {name} command"
    return found.group(1)


def test_each_readme_command_starts_from_a_bare_python_and_does_everything() -> None:
    for name in ("run", "test"):
        text = command(name)
        assert "\n" not in text and text.startswith("python3 -m venv .venv && ")
        assert "pip install" in text
    assert command("run").endswith("deeptide demo")
    assert "pytest" in command("test")


def test_both_readmes_give_the_same_commands() -> None:
    assert command("run") in CHINESE and command("test") in CHINESE


def test_ci_runs_the_readmes_own_test_command() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    found = re.search(r"command=\$\((awk .+ README\.md)\)", script)
    assert found, ".ci/run does not take its test command from the README"
    out = subprocess.run(["bash", "-c", found.group(1)], capture_output=True, text=True, cwd=ROOT, check=True)
    assert out.stdout.strip() == command("test")


@pytest.mark.parametrize("name", ["run", "deep"])
def test_the_ci_scripts_can_be_started(name: str) -> None:
    path = ROOT / ".ci" / name
    assert os.access(path, os.X_OK)
    subprocess.run(["bash", "-n", str(path)], check=True)


@pytest.mark.parametrize(
    "paper", ["README.md", "README.zh.md", "AGENTS.md", "docs/headless.md", "bench/README.md"]
)
def test_every_file_a_paper_points_to_exists(paper: str) -> None:
    folder = (ROOT / paper).parent
    for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / paper).read_text(encoding="utf-8")):
        assert (folder / target).exists(), f"{paper} points to {target}"


def test_the_change_log_knows_this_version() -> None:
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
